"""Landmarks: training rows that stand for all others."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from kerndict.kernels import Kernel

#: Rows of a class that are drawn in any case, where there are landmarks enough for that.
PER_CLASS = 10
#: Of rows that others represent less than the limit is left; of an indefinite kernel, so much more.
NOT_ROUNDING = 100


@dataclass(frozen=True)
class Landmarks:
    """Landmarks in the order in which a pivoted Cholesky factorisation takes them.

    Each is the one that those before it represent worst; those that add nothing but rounding are
    left out.

    Parameters
    ----------
    kernel : that of the space
    rows : (M, m)
    indices : (M,), the rows that they were
    factor : (M, M), upper triangle R with ``K = R'R``, K their kernel matrix
    """

    kernel: Kernel
    rows: NDArray
    indices: NDArray
    factor: NDArray

    @classmethod
    def from_rows(cls, kernel: Kernel, rows: NDArray, indices: NDArray) -> Self:
        """Order rows, and leave out those that others represent.

        Raises
        ------
        ValueError
            No row has any energy, or the kernel is not positive semidefinite on the rows.
        """
        K = kernel.matrix(rows, rows).astype(np.float64)
        K = (K + K.T) / 2
        limit = float(np.sqrt(np.finfo(rows.dtype).eps)) * max(float(np.diagonal(K).max()), 0.0)
        factor, pivots, rank, _ = dpstrf(K, tol=limit, lower=0, overwrite_a=0)
        if rank == 0 or limit == 0:
            raise ValueError(
                f"kernel={kernel.name!r} is zero on all landmarks: k(y, y) must be > 0."
            )
        kept, rest = pivots[:rank] - 1, pivots[rank:] - 1
        R = np.triu(factor[:rank, :rank])
        told = solve_triangular(R, K[np.ix_(kept, rest)], trans="T", check_finite=False)
        left = K[np.ix_(rest, rest)] - told.T @ told
        if np.abs(left).max(initial=0) > NOT_ROUNDING * limit:
            raise ValueError(
                f"kernel={kernel.name!r} is not positive semidefinite on the landmarks: give a "
                "kernel that is, such as 'rbf', or 'poly' with coef0 >= 0."
            )
        return cls(kernel, rows[kept], indices[kept], R)

    def correlations(self, X: NDArray) -> NDArray:
        """Return the kernel of rows with the landmarks, (len(X), M)."""
        return self.kernel.matrix(X, self.rows)


def draw(labels: NDArray, count: int, rng: np.random.RandomState) -> NDArray:
    """Return the places of ``count`` rows, in ascending order; every class is among them.

    Ten of each class, or all, are drawn before the rest where that takes no more than half of
    them.
    """
    if count >= len(labels):
        return np.arange(len(labels))
    shuffled = rng.permutation(len(labels))
    grouped = shuffled[np.argsort(labels[shuffled], kind="stable")]
    sizes = np.bincount(labels)
    sizes = sizes[sizes > 0]
    each = min(PER_CLASS, max(1, count // (2 * len(sizes))))
    rank = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    first = grouped[rank < each][:count]
    rest = shuffled[~np.isin(shuffled, first)]
    return np.sort(np.concatenate([first, rest[: count - len(first)]]))
