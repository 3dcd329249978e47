"""Training rows in the space of a kernel: one kernel matrix for a fit and its folds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from kerndict._arrays import eps, namespace
from kerndict.core.blocks import KernelMatrix
from kerndict.core.kernel import NEGATIVE, KernelProblem
from kerndict.kernels import Kernel
from kerndict.spaces.base import TrainingSet
from kerndict.spaces.linear import divide_codes


@dataclass(frozen=True)
class KernelTrainingSet(TrainingSet):
    """The kernel matrix of training rows grouped by class, and the rows left out of a fold.

    A fold is a subset that refers to the matrix of the whole.  ``energies`` holds k(y, y) of all
    rows; ``left_out`` the places of rows left out, per class.
    """

    K: KernelMatrix
    energies: NDArray
    left_out: list[NDArray]
    roots: NDArray | None = None

    @classmethod
    def from_rows(
        cls, kernel: Kernel, X: NDArray, sizes: NDArray, weights: NDArray | None = None
    ) -> Self:
        """Compute the kernel matrix of rows grouped by class, ``sizes`` of each."""
        if callable(kernel.name):
            K = kernel.matrix(X, X)
            check_symmetric(kernel.name, K)
            return cls.from_matrix(K, np.arange(len(K)), sizes, weights)
        panels = kernel.panels(X, sizes.tolist())
        return cls._whole(KernelMatrix.from_panels(panels, sizes.tolist(), X.dtype), weights)

    @classmethod
    def from_matrix(
        cls, K: NDArray, order: NDArray, sizes: NDArray, weights: NDArray | None = None
    ) -> Self:
        """Take a kernel matrix; ``order`` puts its rows behind one another by class."""

        def panels() -> Iterator[NDArray]:
            start = 0
            for size in sizes.tolist():
                yield K[np.ix_(order[start:], order[start : start + size])]
                start += size

        return cls._whole(KernelMatrix.from_panels(panels(), sizes.tolist(), K.dtype), weights)

    @classmethod
    def _whole(cls, K: KernelMatrix, weights: NDArray | None) -> Self:
        roots = None if weights is None else np.sqrt(weights).astype(K.dtype)
        if roots is not None:
            K.scale(roots)
        return cls(K, K.diagonal(), [np.empty(0, np.int64)] * len(K.sizes), roots)

    @property
    def dtype(self) -> np.dtype:  # type: ignore[override]
        """The precision of the kernel matrix."""
        return self.K.dtype

    @property
    def sizes(self) -> NDArray:  # type: ignore[override]
        """The rows of each class that take part."""
        return np.array(self.K.sizes)

    def problem(self, incoherent: bool) -> KernelProblem:
        return KernelProblem(self.K)

    def without(self, left_out: NDArray) -> Self:
        parts = np.split(left_out, np.cumsum(self.sizes)[:-1])
        members = [np.flatnonzero(~part) for part in parts]
        return type(self)(
            self.K.subset(members), self.energies[left_out], [np.flatnonzero(p) for p in parts]
        )

    def unweighted(
        self, atoms: Sequence[NDArray], codes: Sequence[NDArray]
    ) -> tuple[list[NDArray], list[NDArray]]:
        if self.roots is None:
            return list(atoms), list(codes)
        parts = np.split(self.roots, np.cumsum([len(A) for A in atoms])[:-1])
        duals = [A * part[:, None] for A, part in zip(atoms, parts, strict=True)]
        return duals, divide_codes(codes, self.roots)

    def grams(self, atoms: Sequence[NDArray]) -> list[NDArray]:
        wide = (A.astype(np.float64, copy=False) for A in atoms)
        return [(A.T @ self.K.own_block(i) @ A).astype(self.dtype) for i, A in enumerate(wide)]

    def full_gram(self, atoms: Sequence[NDArray]) -> NDArray:
        return self.K.gram(atoms)

    def left_out_correlations(self, atoms: Sequence[NDArray]) -> NDArray:
        return self.K.correlations(atoms, self.left_out)

    def left_out_energies(self) -> NDArray:
        return self.energies


def check_symmetric(name: object, K: NDArray) -> None:
    """Check a kernel matrix of the training rows; ``name`` is that of the kernel."""
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(
            "kernel='precomputed' needs the square kernel matrix of the training samples, "
            f"got X of shape {K.shape}: give K(X_train, X_train)."
        )
    xp, blocks = namespace(K), gen_batches(K.shape[0], 256)  # no second matrix of the size of K
    worst = max(float(xp.max(xp.abs(K[rows, :] - K[:, rows].T))) for rows in blocks)
    rounding = max(NEGATIVE, np.sqrt(eps(K.dtype)))
    if worst > rounding * float(max(xp.max(K), -xp.min(K))):
        raise ValueError(
            f"kernel={name!r} is not symmetric on the training samples: K and its "
            f"transpose differ by up to {worst:.3g}. Give a symmetric, positive semidefinite "
            "kernel."
        )


def constant_diagonal(energies: NDArray) -> float | None:
    """Return the one value of k(y, y), or None when there are several."""
    xp = namespace(energies)
    spread = xp.max(energies) - xp.min(energies)
    constant = spread <= 100 * eps(energies.dtype) * xp.max(xp.abs(energies))
    return float(energies[0]) if constant else None
