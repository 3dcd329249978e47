"""The space of features itself: atoms are rows of features, products are plain."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import host_dtype, namespace, on_host, side_by_side
from kerndict._state import stored
from kerndict.core.linear import LinearProblem
from kerndict.kernels import Kernel
from kerndict.preparation import Preparation
from kerndict.spaces.base import Space, TrainingSet

_LINEAR = Kernel("linear")


@dataclass(frozen=True, kw_only=True)
class LinearSpace(Space):
    """Features, prepared or as they are; atoms are (n_features, n_atoms)."""

    atom_name: ClassVar[str] = "dictionaries"
    atom_shape: ClassVar[str] = "m n_i"
    atoms_are_rows: ClassVar[bool] = True

    n_features: int = stored("count", name="n_features_in", sizes="m")
    fit_indices: NDArray | None = None
    preparation: Preparation | None = None

    def check(self, X: NDArray) -> None:
        squared_norms(X)

    def energies(self, X: NDArray) -> NDArray:
        return squared_norms(self._prepared(X))

    def correlations(self, X: NDArray, atoms: Sequence[NDArray]) -> Iterator[NDArray]:
        X = self._prepared(X)
        if not on_host(X):
            return iter([X @ side_by_side(atoms)])
        return (X @ D for D in atoms)

    def _prepared(self, X: NDArray) -> NDArray:
        return X if self.preparation is None else self.preparation(X)

    def numbers_per_row(self) -> int:
        return 0 if self.preparation is None else 3 * self.n_features

    def atom_products(self, atoms: Sequence[NDArray], K: NDArray | None) -> Iterator[NDArray]:
        every = np.hstack(atoms).astype(np.float64, copy=False)
        return (D.T.astype(np.float64, copy=False) @ every for D in atoms)

    def atom_rows(self, atoms: Sequence[NDArray], samples: NDArray | None) -> list[NDArray]:
        if self.preparation is None:
            return [D.T for D in atoms]
        return [self.preparation.undone(D.T) for D in atoms]

    def training_weights(
        self, codes: NDArray, atoms: NDArray, training_codes: NDArray | None
    ) -> NDArray | None:
        """Return the cosines between the codes and those of the training rows."""
        if training_codes is None:
            return None
        cosines = codes @ training_codes.T
        cosines /= _norms(codes)[:, None]
        cosines /= _norms(training_codes)
        return cosines


@dataclass(frozen=True)
class LinearTrainingSet(TrainingSet):
    """Training rows (N, m) grouped by class, and those left out."""

    X: NDArray
    sizes: NDArray
    left_out: NDArray
    roots: NDArray | None = None

    @classmethod
    def from_rows(cls, X: NDArray, sizes: NDArray, weights: NDArray | None = None) -> Self:
        """Take rows grouped by class, ``sizes`` of each.

        ``weights`` are those of the rows, None for 1 each.

        Raises
        ------
        ValueError
            Their squares overflow, or all of them underflow.
        """
        check_squares(X)
        if weights is None:
            return cls(X, sizes, X[:0])
        roots = np.sqrt(weights).astype(X.dtype)
        return cls(X * roots[:, None], sizes, X[:0], roots)

    @property
    def dtype(self) -> np.dtype:  # type: ignore[override]
        """The precision of the rows."""
        return self.X.dtype

    def problem(self, incoherent: bool) -> LinearProblem:
        groups = np.split(self.X, np.cumsum(self.sizes)[:-1])
        return LinearProblem([group.T for group in groups], incoherent)

    def without(self, left_out: NDArray) -> Self:
        labels = np.repeat(np.arange(len(self.sizes)), self.sizes)
        sizes = np.bincount(labels[~left_out], minlength=len(self.sizes))
        return type(self)(self.X[~left_out], sizes, self.X[left_out])

    def unweighted(
        self, atoms: Sequence[NDArray], codes: Sequence[NDArray]
    ) -> tuple[list[NDArray], list[NDArray]]:
        return list(atoms), divide_codes(codes, self.roots)

    def grams(self, atoms: Sequence[NDArray]) -> list[NDArray]:
        wide = (D.astype(np.float64, copy=False) for D in atoms)
        return [(D.T @ D).astype(self.dtype) for D in wide]

    def full_gram(self, atoms: Sequence[NDArray]) -> NDArray:
        D = np.hstack(atoms).astype(np.float64, copy=False)
        return D.T @ D

    def left_out_correlations(self, atoms: Sequence[NDArray]) -> NDArray:
        return np.hstack([self.left_out @ D for D in atoms])

    def left_out_energies(self) -> NDArray:
        return _LINEAR.diagonal(self.left_out)


def check_squares(X: NDArray) -> None:
    """Raise a ValueError where the squares of rows overflow, or all of them underflow."""
    squares, largest = squared_norms(X), _largest(X)
    if largest > 0 and namespace(X).max(squares) < float(np.finfo(host_dtype(X.dtype)).tiny):
        raise ValueError(
            f"X holds values up to {largest:.3g} only, whose squares underflow "
            f"{X.dtype}: scale the features up."
        )


def divide_codes(codes: Sequence[NDArray], roots: NDArray | None) -> list[NDArray]:
    """Return the codes of rows from those of ``roots`` times the rows, one array per class."""
    if roots is None or not codes:
        return list(codes)
    parts = np.split(roots, np.cumsum([len(X) for X in codes])[:-1])
    return [X / part[:, None] for X, part in zip(codes, parts, strict=True)]


def squared_norms(X: NDArray) -> NDArray:
    """Return the squared norm of every row, or say that it overflows."""
    xp = namespace(X)
    with np.errstate(over="ignore"):
        squares = _LINEAR.diagonal(X)
    if not xp.all(xp.isfinite(squares)):
        raise ValueError(
            f"X holds values up to {_largest(X):.3g}, whose squares overflow {X.dtype}: "
            "scale the features down."
        )
    return squares


def _largest(X: NDArray) -> float:
    """Return the largest magnitude, without a copy of X."""
    if X.shape[0] == 0:
        return 0.0
    xp = namespace(X)
    return float(max(xp.max(X), -xp.min(X)))


def _norms(rows: NDArray) -> NDArray:
    """Return the norm of each row, 1 for a row of zeros."""
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.where(norms > 0, norms, 1)
