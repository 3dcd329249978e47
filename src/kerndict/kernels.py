"""Kernel matrices and their diagonals; signals are rows, as in the public API."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The kernels with a name; a callable ``k(X, Z) -> matrix`` is the fifth kind.
KERNELS = ("rbf", "poly", "linear", "precomputed")

_DIAGONAL_BLOCK = 32


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters settled.

    ``"rbf"`` exp(-|x - y|^2 / 2 sigma^2), ``"poly"`` (x'y + coef0)^degree, ``"linear"``
    x'y, or a callable.  ``"precomputed"`` has no matrix to compute.
    """

    name: str | Callable[[NDArray, NDArray], Any]
    sigma: float = 1.0
    degree: int = 2
    coef0: float = 1.0

    def matrix(self, X: NDArray, Z: NDArray) -> NDArray:
        """Return K (len(X), len(Z)) in the precision of X."""
        if callable(self.name):
            K = np.asarray(self.name(X, Z))
            if K.shape != (len(X), len(Z)):
                raise ValueError(
                    f"kernel={self.name!r} returned an array of shape {K.shape} for "
                    f"{len(X)} and {len(Z)} rows: it must return one of shape "
                    f"({len(X)}, {len(Z)})."
                )
            K = K.astype(X.dtype)
        else:
            K = X @ Z.T
            if self.name == "rbf":
                K = self._rbf(K, X, Z)
            elif self.name == "poly":
                with np.errstate(over="ignore"):  # an error below says what to do
                    K += X.dtype.type(self.coef0)
                    K **= self.degree
        if self.name not in ("rbf", "linear") and not np.all(np.isfinite(K)):
            raise ValueError(
                f"kernel={self.name!r} gave values that are infinite or NaN: scale the "
                "features down, or change the kernel's parameters."
            )
        return K

    def _rbf(self, K: NDArray, X: NDArray, Z: NDArray) -> NDArray:
        # exp(-|x - z|^2 / 2 sigma^2) = exp((x'z - |x|^2 / 2 - |z|^2 / 2) / sigma^2)
        K -= _half_squares(X)[:, None]
        K -= _half_squares(Z)
        np.minimum(K, 0, out=K)
        K *= X.dtype.type(self.sigma**-2)
        np.exp(K, out=K)
        if X is Z:
            np.fill_diagonal(K, 1)
        return K

    def diagonal(self, X: NDArray) -> NDArray:
        """Return k(x, x) for every row, without the matrix."""
        if self.name == "rbf":
            return np.ones(len(X), X.dtype)
        if callable(self.name):
            blocks = (X[k : k + _DIAGONAL_BLOCK] for k in range(0, len(X), _DIAGONAL_BLOCK))
            return np.concatenate([np.diagonal(self.matrix(B, B)) for B in blocks])
        squares = 2 * _half_squares(X)
        if self.name == "poly":
            return (squares + X.dtype.type(self.coef0)) ** self.degree
        return squares


def _half_squares(X: NDArray) -> NDArray:
    return np.einsum("ij,ij->i", X, X) / 2


def median_distance(X: NDArray, rng: np.random.RandomState, max_rows: int = 2000) -> float:
    """Return the median Euclidean distance over pairs of at most max_rows rows of X.

    Equal rows are left out; 1.0 when no two rows differ.
    """
    if len(X) > max_rows:
        X = X[rng.choice(len(X), max_rows, replace=False)]
    X = X.astype(np.float64)
    _, same = np.unique(X, axis=0, return_inverse=True)
    X -= X.mean(axis=0)
    scale = np.abs(X).max()
    i, k = np.triu_indices(len(X), 1)
    differ = same[i] != same[k]
    if not differ.any():
        return 1.0
    X /= scale
    halves = _half_squares(X)
    squared = 2 * np.maximum(halves[:, None] + halves - X @ X.T, 0)
    return float(scale * np.sqrt(np.median(squared[i[differ], k[differ]])))
