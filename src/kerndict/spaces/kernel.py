"""The feature space of a kernel: atoms are combinations of mapped training rows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils import gen_batches

from kerndict._arrays import beside, namespace, on_host
from kerndict._stack import Stack
from kerndict._state import stored
from kerndict.kernels import Kernel
from kerndict.preparation import Preparation
from kerndict.spaces.base import Space


class DualSpace(Space):
    """What both kinds of kernel space share: atoms are dual, (rows of the class, n_atoms)."""

    atom_name: ClassVar[str] = "dual_dictionaries"
    atom_shape: ClassVar[str] = "N_i n_i"
    atoms_are_rows: ClassVar[bool] = False
    fit_indices: NDArray

    def correlations(self, X: NDArray, atoms: Sequence[NDArray]) -> Iterator[NDArray]:
        K = self._with_training_rows(X)
        if not on_host(K):
            stack = Stack.of(atoms)
            yield stack.join(stack.split(K) @ stack.blocks)
            return
        start = 0
        for A in atoms:
            yield K[:, start : start + len(A)] @ A
            start += len(A)

    def _with_training_rows(self, X: NDArray) -> NDArray:
        """Return the kernel of rows with all training rows, in the order of the model."""
        raise NotImplementedError

    def training_weights(
        self, codes: NDArray, atoms: NDArray, training_codes: NDArray | None
    ) -> NDArray:
        """Return ``A x``: their sum over the mapped training rows is the approximation itself."""
        return codes @ atoms.T

    def atom_rows(self, atoms: Sequence[NDArray], samples: NDArray | None) -> list[NDArray]:
        groups = np.split(self._samples(samples), np.cumsum([len(A) for A in atoms])[:-1])
        images = []
        for A, group in zip(atoms, groups, strict=True):
            sizes = np.abs(A).sum(axis=0)
            images.append((A / np.where(sizes > 0, sizes, 1)).T @ group)
        return images

    def _samples(self, samples: NDArray | None) -> NDArray:
        """Return the training rows in the order of the model."""
        raise NotImplementedError

    def atom_products(self, atoms: Sequence[NDArray], K: NDArray | None) -> Iterator[NDArray]:
        """Yield ``A_i'K_i. A``, the kernel in chunks of rows within the working memory."""
        block = self._training_block(K)
        duals = [A.astype(np.float64, copy=False) for A in atoms]
        ends = np.cumsum([len(A) for A in duals])
        rows = max(1, int(get_config()["working_memory"] * 2**20 // (16 * ends[-1])))
        for A, end in zip(duals, ends, strict=True):
            product = np.zeros((A.shape[1], ends[-1]))
            for part in gen_batches(len(A), rows):
                product += A[part].T @ block(np.arange(end - len(A), end)[part])
            pieces = np.split(product, ends[:-1], axis=1)
            yield np.hstack([piece @ B for piece, B in zip(pieces, duals, strict=True)])

    def _training_block(self, K: NDArray | None) -> Callable[[NDArray], NDArray]:
        """Return a function of training rows: their kernel with all training rows."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class ComputedKernel(Space):
    """What spaces share whose kernel is computed with the training rows that they keep."""

    n_features: int
    kernel: Kernel
    rows: NDArray
    #: The training rows as the kernel takes them; the same array where it takes them as they are.
    _centred: NDArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_centred", self.kernel.centred(self.rows))

    def __getstate__(self) -> dict[str, Any]:
        return {name: item for name, item in vars(self).items() if name != "_centred"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    @property
    def preparation(self) -> Preparation | None:  # type: ignore[override]
        """What rows go through first."""
        return self.kernel.preparation

    def check(self, X: NDArray) -> None:
        if not callable(self.kernel.name):
            self.energies(X)

    def energies(self, X: NDArray) -> NDArray:
        with np.errstate(over="ignore"):
            energies = self.kernel.diagonal(X)
        xp = namespace(energies)
        if not xp.all(xp.isfinite(energies)):
            raise ValueError(
                f"k(y, y) of kernel={self.kernel.name!r} overflows {X.dtype} on some rows: scale "
                "the features down."
            )
        return energies

    def _with_training_rows(self, X: NDArray) -> NDArray:
        return self.kernel.between(self.kernel.centred(X), self._centred)

    def numbers_per_row(self) -> int:
        copies = 2 if callable(self.kernel.name) else 1
        changed = (self.kernel.shift is not None) + 3 * (self.kernel.preparation is not None)
        if not on_host(self.rows):
            copies = 3  # functions of a kernel write into arrays of their own
        return copies * self.rows.shape[0] + changed * self.n_features


@dataclass(frozen=True, kw_only=True)
class KernelSpace(ComputedKernel, DualSpace):
    """The space of a kernel that can be computed; ``rows`` are the training rows."""

    n_features: int = stored("count", name="n_features_in", sizes="m")
    kernel: Kernel
    fit_indices: NDArray = stored("index", "N")
    rows: NDArray = stored("precision", "N m", name="X_fit")
    _centred: NDArray = field(init=False, repr=False)

    def _samples(self, samples: NDArray | None) -> NDArray:
        return self.rows

    def _training_block(self, K: NDArray | None) -> Callable[[NDArray], NDArray]:
        return lambda rows: self.kernel.between(self._centred[rows], self._centred)


@dataclass(frozen=True, kw_only=True)
class PrecomputedSpace(DualSpace):
    """The space of a kernel whose matrices are given; its ``rows`` are kernel values.

    ``training_diagonal`` is k(y, y) where all training rows have the same, or None: then it is
    not known of new rows either.
    """

    n_features: int = stored("count", name="n_features_in", sizes="m")
    fit_indices: NDArray = stored("order", "N")
    training_diagonal: float | None = stored("real", optional=True)

    @property
    def energies_known(self) -> bool:
        """Whether the space can tell k(y, y) of new rows."""
        return self.training_diagonal is not None

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if shape[1:] != (self.n_features,):
            raise ValueError(
                f"kernel='precomputed' needs the kernel of the samples with all "
                f"{self.n_features} training samples, got X of shape {shape}: give K(X, X_train)."
            )

    @property
    def preparation(self) -> None:  # type: ignore[override]
        """None: kernel values are taken as they are."""
        return None

    def check(self, X: NDArray) -> None:
        """Take kernel values as they are."""

    def energies(self, X: NDArray) -> NDArray | None:
        if self.training_diagonal is None:
            return None
        return namespace(X).full_like(X[:, 0], self.training_diagonal)

    def _with_training_rows(self, X: NDArray) -> NDArray:
        if on_host(X):
            return X[:, self.fit_indices]
        return namespace(X).take(X, beside(self.fit_indices, X), axis=1)

    def numbers_per_row(self) -> int:
        return len(self.fit_indices)

    def _samples(self, samples: NDArray | None) -> NDArray:
        n_train = len(self.fit_indices)
        if samples is None:
            raise ValueError(
                "kernel='precomputed' keeps no training samples: give those behind the "
                "kernel matrix as X=..., in the order given to fit."
            )
        if len(samples) != n_train:
            raise ValueError(
                f"X has {len(samples)} rows: give the {n_train} training samples, in the order "
                "given to fit."
            )
        return samples[self.fit_indices]

    def _training_block(self, K: NDArray | None) -> Callable[[NDArray], NDArray]:
        n_train, order = len(self.fit_indices), self.fit_indices
        if K is None:
            raise ValueError(
                "kernel='precomputed' does not keep the kernel matrix of the training samples: "
                "give the one given to fit as K=..."
            )
        if K.shape != (n_train, n_train):
            raise ValueError(
                f"K has shape {K.shape}: give the kernel matrix of the {n_train} training "
                f"samples, shape ({n_train}, {n_train}), in the order given to fit."
            )
        matrix = K
        return lambda rows: matrix[np.ix_(order[rows], order)]
