"""A symmetric matrix of all signals in panels: one (N, N_i) array per class, of its columns.

A block, the rows of one class in the panel of another, is then contiguous, so that products with
all blocks of a panel run in compiled code, without an interpreter between two small products.
"""

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from kerndict.core._jit import INLINE, JIT, ORDERED
from kerndict.core.vectors import BYTES, at, fma, load, spread, store

#: Up to so many columns, products with their own transpose are left to :func:`_square`: BLAS
#: is made for wider ones, and reaches half of the processor's speed here.
NARROW = 64
#: The tile of such a product that stays in the 32 registers of AVX-512: rows, and numbers in its
#: two vectors.  With fewer registers it is right, and slower.
_HEIGHT, _WIDTH = 8, 2 * BYTES // 8


class BlockDiagonal:
    """The matrix ``diag(F_1, ..., F_C)``, whose blocks may be replaced one by one.

    Parameters
    ----------
    blocks : list of (n_i, r_i)
    dtype : of the products
    """

    def __init__(self, blocks: Sequence[NDArray], dtype: np.dtype) -> None:
        self._dtype = dtype
        self._heights, self._widths = np.array([F.shape for F in blocks]).T.copy()
        self._ends = np.cumsum(self._heights * self._widths)
        self._flat = np.empty(self._ends[-1], dtype)
        for i, F in enumerate(blocks):
            self.replace(i, F)

    def block(self, i: int) -> NDArray:
        """Return block i, which may be written to."""
        shape = self._heights[i], self._widths[i]
        return self._flat[self._ends[i] - shape[0] * shape[1] : self._ends[i]].reshape(shape)

    def replace(self, i: int, F: NDArray) -> None:
        """Let F take the place of block i, which has its shape."""
        self.block(i)[:] = F

    def times(self, panel: NDArray, first: int = 0, last: int | None = None) -> NDArray:
        """Return blocks ``first`` to ``last`` (not included) times their rows of the panel.

        ``panel`` is (r_1 + ... + r_C, any), in the dtype of the products.
        """
        last = len(self._heights) if last is None else last
        rows = int(self._heights[first:last].sum())
        # _square reads on where a row ends.
        space = np.empty(rows * panel.shape[1] + _WIDTH, self._dtype)
        space[-_WIDTH:] = 0
        out = space[:-_WIDTH].reshape(rows, panel.shape[1])
        panel = np.ascontiguousarray(panel)
        if out.size:
            _times(self._flat, self._ends, self._heights, self._widths, panel, first, last, out)
        return out

    def square(self, panel: NDArray, first: int, last: int) -> NDArray:
        """Return ``M'M`` of ``M = times(...)``, in double precision."""
        M = self.times(panel, first, last)
        n = M.shape[1]
        if not M.size:
            return np.zeros((n, n))
        if n > NARROW or M.dtype != np.float64:
            P = dsyrk(1.0, M.T.astype(np.float64, copy=False), lower=1)
            return P + np.tril(P, -1).T
        P = np.empty((-(-n // _WIDTH) * _WIDTH,) * 2)
        _square(M, P)
        return P[:n, :n]


@njit(**ORDERED)
def _square(M, P):  # type: ignore[no-untyped-def]
    """Write ``M'M`` to P, whose sides are rounded up: tiles below the diagonal, then the rest.

    The last tile reads past the columns of M: ``_WIDTH`` numbers behind it must be readable.
    """
    rows, n = M.shape
    for i in range(0, n, _HEIGHT):
        for j in range(0, i + _HEIGHT, _WIDTH):
            _square_tile(at(M, i), at(M, j), rows, n, at(P, i * len(P) + j), len(P))
    for i in range(n):
        for j in range(i):
            P[j, i] = P[i, j]


@njit(**INLINE)
def _square_tile(x, y, rows, n, out, step):  # type: ignore[no-untyped-def]
    """Write the sum of ``x[k n + i] * y[k n + j]`` over the rows k to ``out[i step + j]``."""
    a = b = c = d = e = f = g = h = spread(0.0, 2)
    for _ in range(rows):
        t = load(y, 0, 2)
        a, b, c, d = fma(x[0], t, a), fma(x[1], t, b), fma(x[2], t, c), fma(x[3], t, d)
        e, f, g, h = fma(x[4], t, e), fma(x[5], t, f), fma(x[6], t, g), fma(x[7], t, h)
        x, y = at(x, n), at(y, n)
    i = 0
    for row in (a, b, c, d, e, f, g, h):
        store(out, i, row)
        i += step


@njit(**JIT)
def _times(flat, ends, heights, widths, panel, first, last, out):  # type: ignore[no-untyped-def]
    row = 0
    start = np.sum(widths[:first])
    for i in range(first, last):
        n, r = heights[i], widths[i]
        F = flat[ends[i] - n * r : ends[i]].reshape(n, r)
        if n * r > 0:
            np.dot(F, panel[start : start + r], out[row : row + n])
        else:
            out[row : row + n] = 0
        row += n
        start += r
