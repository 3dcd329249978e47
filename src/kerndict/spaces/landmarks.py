"""The space that landmarks span: rows are told by their kernel with some training rows only."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kerndict._state import stored
from kerndict.kernels import Kernel
from kerndict.spaces.kernel import ComputedKernel


@dataclass(frozen=True, kw_only=True)
class LandmarkSpace(ComputedKernel):
    """The span of the mapped landmarks; atoms are in coordinates of it, (q, n_atoms).

    Parameters
    ----------
    n_features : the numbers in a row
    kernel : that of the space, ``"linear"`` for features themselves
    fit_indices : (M,), the rows given to `fit` that are landmarks, in the order of ``rows``
    rows : (M, m), the landmarks
    basis : (M, p), coordinates are ``k(y, landmarks) basis``; the first q are orthonormal, behind
        them may stand linear functions of a row that a rule asks for
    n_coordinates : q
    """

    atom_name: ClassVar[str] = "atoms"
    atom_shape: ClassVar[str] = "q n_i"
    atoms_are_rows: ClassVar[bool] = False

    n_features: int = stored("count", name="n_features_in", sizes="m")
    kernel: Kernel
    fit_indices: NDArray = stored("index", "M", name="landmark_indices")
    rows: NDArray = stored("precision", "M m", name="landmarks")
    basis: NDArray = stored("precision", "M p")
    n_coordinates: int = stored("count", sizes="q")
    _centred: NDArray = field(init=False, repr=False)

    def correlations(self, X: NDArray, atoms: Sequence[NDArray]) -> Iterator[NDArray]:
        Z = self._with_training_rows(X) @ self.basis
        return (Z[:, : A.shape[0]] @ A for A in atoms)

    def numbers_per_row(self) -> int:
        return super().numbers_per_row() + self.basis.shape[1]

    def atom_products(self, atoms: Sequence[NDArray], K: NDArray | None) -> Iterator[NDArray]:
        every = np.hstack(atoms).astype(np.float64, copy=False)
        return (A.T.astype(np.float64, copy=False) @ every for A in atoms)

    def atom_rows(self, atoms: Sequence[NDArray], samples: NDArray | None) -> list[NDArray]:
        found = []
        for A in atoms:
            dual = self.dual(A)
            if self.kernel.name != "linear":
                sizes = np.abs(dual).sum(axis=0)
                found.append((dual / np.where(sizes > 0, sizes, 1)).T @ self.rows)
                continue
            told, preparation = dual.T @ self._centred, self.kernel.preparation
            found.append(told if preparation is None else preparation.undone(told))
        return found

    def training_weights(
        self, codes: NDArray, atoms: NDArray, training_codes: NDArray | None
    ) -> NDArray:
        """Return the combination of the landmarks that the approximation is."""
        return codes @ self.dual(atoms).T

    def dual(self, atoms: NDArray) -> NDArray:
        """Return atoms as combinations of the landmarks, (M, n_atoms)."""
        return self.basis[:, : atoms.shape[0]] @ atoms

    def listed_rows(self, start: int, count: int) -> NDArray:
        return self.fit_indices
