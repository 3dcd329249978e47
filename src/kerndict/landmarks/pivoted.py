"""The pivoted Cholesky factorisation of a kernel matrix."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf

from kerndict._arrays import Array, at_least, namespace, on_host, to_host

#: Steps on a device between two looks at how much is left.
STEPS = 512


def pivoted_factor(K: Array, limit: float) -> tuple[Array, NDArray, NDArray]:
    """Return R upper triangular with ``K = R'R`` on the rows kept, these, and the others.

    The row that those before it represent worst comes next; no more are kept once less than the
    limit is left of all.
    """
    if not on_host(K):
        return _on_device(K, limit)
    factor, pivots, rank, _ = dpstrf(K, tol=limit, lower=0, overwrite_a=0)
    return np.triu(factor[:rank, :rank]), pivots[:rank] - 1, pivots[rank:] - 1


def _on_device(K: Array, limit: float) -> tuple[Array, NDArray, NDArray]:
    """Compute row after row of R, without a look at what comes out: looks take time."""
    xp, n = namespace(K), K.shape[0]
    R, left = xp.zeros_like(K), xp.asarray(xp.linalg.diagonal(K), copy=True)
    places = xp.arange(n, device=K.device)
    pivots, squares = xp.zeros_like(places), xp.zeros_like(left)
    done = 0
    for j in range(n):
        best = xp.reshape(xp.argmax(left), (1,))
        square = xp.take(left, best, axis=0)
        row = xp.take(K, best, axis=0)[0, :]
        if j:
            along = xp.take(R[:j, :], best, axis=1)[:, 0]
            row = row - along @ R[:j, :]
        row = row / xp.sqrt(at_least(square, limit))  # what is smaller is cut off below
        R[j, :] = row
        left = xp.where(places == best, -xp.inf, left - row * row)
        pivots[j : j + 1], squares[j : j + 1] = best, square
        done = j + 1
        if done % STEPS == 0 and not float(square[0]) > limit:
            break
    kept = to_host(squares[:done]) > limit
    rank = done if kept.all() else int(np.argmin(kept))
    order = to_host(pivots[:rank])
    R = xp.triu(xp.take(R[:rank, :], pivots[:rank], axis=1))
    return R, order, np.setdiff1d(np.arange(n), order)
