"""Symmetric and block-diagonal matrices in blocks of classes, and their products.

A block, the rows of one class in the columns of another, is contiguous, so that products with
many blocks run in compiled code, without an interpreter between two small products.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from kerndict._jit import compiled
from kerndict.pursuit import NARROW, narrow_gram


class BlockTriangle:
    """A symmetric matrix in blocks, of which those on and below the diagonal are kept.

    They lie in panels, one behind the other: panel i holds the columns of class i, from its own
    rows down to the last, (N - start_i, N_i).

    Parameters
    ----------
    sizes : N_i, the rows of each class
    dtype : of the entries, which are not set yet
    """

    def __init__(self, sizes: Sequence[int], dtype: np.dtype) -> None:
        self.sizes = np.asarray(sizes, np.int64)
        self.dtype = dtype
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])
        heights = self.starts[-1] - self.starts[:-1]
        self._ends = np.cumsum(heights * self.sizes)
        self._flat = np.empty(self._ends[-1], dtype)

    def panel(self, i: int) -> NDArray:
        """Return the columns of class i from its own rows down, which may be written to."""
        shape = int(self.starts[-1] - self.starts[i]), int(self.sizes[i])
        return self._flat[self._ends[i] - shape[0] * shape[1] : self._ends[i]].reshape(shape)

    def block(self, k: int, i: int) -> NDArray:
        """Return the rows of class k in the columns of class i, k at or beyond i."""
        return self.panel(i)[self.starts[k] - self.starts[i] : self.starts[k + 1] - self.starts[i]]

    def left_of(self, i: int, left: "BlockDiagonal", out: NDArray) -> None:
        """Write ``F_l B_li`` of all classes l before i to ``out``, F the blocks of ``left``.

        They are kept as ``B_il``, in the panels of the classes l.
        """
        blocks = left.flat, left.ends, left.heights, left.widths
        _times_transposed(*blocks, self._flat, self._ends, self.starts, i, out)


class BlockDiagonal:
    """The matrix ``diag(F_1, ..., F_C)``, whose blocks may be replaced one by one.

    Parameters
    ----------
    blocks : list of (n_i, r_i)
    dtype : of the products
    """

    def __init__(self, blocks: Sequence[NDArray], dtype: np.dtype) -> None:
        self.dtype = dtype
        self.heights, self.widths = np.array([F.shape for F in blocks]).T.copy()
        self.ends = np.cumsum(self.heights * self.widths)
        self.flat = np.empty(self.ends[-1], dtype)
        for i, F in enumerate(blocks):
            self.replace(i, F)

    def block(self, i: int) -> NDArray:
        """Return block i, which may be written to."""
        shape = self.heights[i], self.widths[i]
        return self.flat[self.ends[i] - shape[0] * shape[1] : self.ends[i]].reshape(shape)

    def replace(self, i: int, F: NDArray) -> None:
        """Let F take the place of block i, which has its shape."""
        self.block(i)[:] = F

    def times(
        self,
        panel: NDArray,
        first: int = 0,
        last: int | None = None,
        *,
        origin: int = 0,
        out: NDArray | None = None,
    ) -> NDArray:
        """Return blocks ``first`` to ``last`` (not included) times their rows of the panel.

        ``panel`` is (r_1 + ... + r_C, any), in the dtype of the products; its rows may begin
        with those of a later class, ``origin``.  ``out`` takes the result, if given.
        """
        last = len(self.heights) if last is None else last
        if out is None:
            rows = int(self.heights[first:last].sum())
            out = np.empty((rows, panel.shape[1]), self.dtype)
        panel = np.ascontiguousarray(panel)
        if out.size:
            skipped = int(self.widths[origin:first].sum())
            blocks = self.flat, self.ends, self.heights, self.widths
            _times(*blocks, panel, skipped, first, last, out)
        return out

    def square(self, panel: NDArray, first: int, *, origin: int = 0) -> NDArray:
        """Return ``M'M`` of ``M = times(panel, first)``, in double precision."""
        return _own_product(self.times(panel, first, origin=origin))

    def square_before(self, triangle: BlockTriangle, i: int) -> NDArray:
        """Return ``M'M``, M the blocks before i times their part of column i of a triangle."""
        M = np.empty((int(self.heights[:i].sum()), int(triangle.sizes[i])), self.dtype)
        if M.size:
            triangle.left_of(i, self, M)
        return _own_product(M)


def _own_product(M: NDArray) -> NDArray:
    """Return ``M'M`` in double precision."""
    if not M.size or (M.shape[1] <= NARROW and M.dtype == np.float64):
        return narrow_gram(M)
    P = dsyrk(1.0, M.T.astype(np.float64, copy=False), lower=1)
    return P + np.tril(P, -1).T


@compiled()
def _times(flat, ends, heights, widths, panel, start, first, last, out):  # type: ignore[no-untyped-def]
    row = 0
    for i in range(first, last):
        n, r = heights[i], widths[i]
        F = flat[ends[i] - n * r : ends[i]].reshape(n, r)
        if n * r > 0:
            np.dot(F, panel[start : start + r], out[row : row + n])
        else:
            out[row : row + n] = 0
        row += n
        start += r


@compiled()
def _times_transposed(flat, ends, heights, widths, blocks, panel_ends, starts, i, out):  # type: ignore[no-untyped-def]
    row = 0
    width = starts[i + 1] - starts[i]
    for k in range(i):
        n, r = heights[k], widths[k]
        F = flat[ends[k] - n * r : ends[k]].reshape(n, r)
        if n * r > 0 and width > 0:
            begin = panel_ends[k] - (starts[-1] - starts[i]) * r
            B = blocks[begin : begin + width * r].reshape(width, r)
            np.dot(F, B.T, out[row : row + n])
        else:
            out[row : row + n] = 0
        row += n
