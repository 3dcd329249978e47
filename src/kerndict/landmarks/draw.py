"""Landmarks: training rows that stand for all others."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf
from sklearn.utils import gen_batches

from kerndict._state import stored
from kerndict.kernels import Kernel

#: Rows of a class that are drawn in any case, where there are landmarks enough for that.
PER_CLASS = 10
#: A landmark that adds less than this, of the largest k(y, y), is left out: sums of kernel values
#: tell such small parts with rounding only.
LOST = 1e-6
#: Numbers of a kernel matrix that are held at a time.
AT_A_TIME = 2**22
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
    factor: NDArray = stored("real", "M M", name="learner.factor")

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
        largest = max(float(np.diagonal(K).max()), 0.0)
        limit = largest * max(LOST, float(np.sqrt(np.finfo(rows.dtype).eps)))
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

    def coordinates(self, X: NDArray, basis: NDArray) -> NDArray:
        """Return the kernel of rows with the landmarks times a basis, in the precision of X.

        Of the kernel only some rows are held at a time.
        """
        basis = basis.astype(X.dtype, copy=False)
        Z = np.empty((len(X), basis.shape[1]), X.dtype)
        for part in gen_batches(len(X), max(1, AT_A_TIME // len(basis))):
            np.matmul(self.correlations(X[part]), basis, out=Z[part])
        return Z


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
