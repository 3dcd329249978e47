"""Landmarks: training rows that stand for all others."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from kerndict._arrays import cast, eps, namespace, on_host, solve_upper, take
from kerndict._state import stored
from kerndict.kernels import Kernel
from kerndict.landmarks.pivoted import pivoted_factor

#: Rows of a class that are drawn in any case, where there are landmarks enough for that.
PER_CLASS = 10
#: A landmark that adds less than this, of the largest k(y, y), is left out: sums of kernel values
#: tell such small parts with rounding only.
LOST = 1e-6
#: Numbers of a kernel matrix that are held at a time, on the host and on a device.
AT_A_TIME, AT_A_TIME_ON_DEVICE = 2**22, 2**26
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
        xp, K = namespace(rows), cast(kernel.matrix(rows, rows), np.float64)
        K = (K + K.T) / 2
        largest = max(float(xp.max(xp.linalg.diagonal(K))), 0.0)
        limit = largest * max(LOST, float(np.sqrt(eps(rows.dtype))))
        R, kept, rest = pivoted_factor(K, limit)
        if not len(kept) or limit == 0:
            raise ValueError(
                f"kernel={kernel.name!r} is zero on all landmarks: k(y, y) must be > 0."
            )
        if len(rest):
            beyond = take(K.T, rest).T
            told = solve_upper(R, take(beyond, kept), transposed=True)
            left = take(beyond, rest) - told.T @ told
        if len(rest) and float(xp.max(xp.abs(left))) > NOT_ROUNDING * limit:
            raise ValueError(
                f"kernel={kernel.name!r} is not positive semidefinite on the landmarks: give a "
                "kernel that is, such as 'rbf', or 'poly' with coef0 >= 0."
            )
        return cls(kernel, take(rows, kept), indices[kept], R)

    def correlations(self, X: NDArray) -> NDArray:
        """Return the kernel of rows with the landmarks, (len(X), M)."""
        return self.kernel.matrix(X, self.rows)

    def coordinates(self, X: NDArray, basis: NDArray) -> NDArray:
        """Return the kernel of rows with the landmarks times a basis, in the precision of X.

        Of the kernel only some rows are held at a time.
        """
        n_rows, basis = X.shape[0], cast(basis, X.dtype, copy=False)
        at_a_time = AT_A_TIME if on_host(X) else AT_A_TIME_ON_DEVICE
        parts = gen_batches(n_rows, max(1, at_a_time // basis.shape[0]))
        if not on_host(X):
            products = [self.correlations(X[part, :]) @ basis for part in parts]
            return namespace(X).concat(products) if products else X[:, :0] @ basis[:0, :]
        Z = np.empty((n_rows, basis.shape[1]), X.dtype)
        for part in parts:
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
