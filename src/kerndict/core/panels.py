"""A symmetric matrix of all signals in panels: one (N, N_i) array per class, of its columns.

A block, the rows of one class in the panel of another, is then contiguous, so that products with
all blocks of a panel run in compiled code, without an interpreter between two small products.
"""

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kerndict.core._jit import JIT


class BlockDiagonal:
    """The matrix ``diag(F_1, ..., F_C)``, whose blocks may be replaced one by one.

    Parameters
    ----------
    blocks : list of (n_i, r_i)
    dtype : of the products
    """

    def __init__(self, blocks: Sequence[NDArray], dtype: np.dtype) -> None:
        self._dtype = dtype
        self._heights = np.array([len(F) for F in blocks])
        self._widths = np.array([F.shape[1] for F in blocks])
        self._ends = np.cumsum(self._heights * self._widths)
        self._flat = np.concatenate([np.ravel(F) for F in blocks]).astype(dtype)

    def replace(self, i: int, F: NDArray) -> None:
        """Let F take the place of block i, which has its shape."""
        size = self._heights[i] * self._widths[i]
        self._flat[self._ends[i] - size : self._ends[i]] = np.ravel(F)

    def times(self, panel: NDArray, first: int = 0, last: int | None = None) -> NDArray:
        """Return blocks ``first`` to ``last`` (not included) times their rows of the panel.

        ``panel`` is (r_1 + ... + r_C, any), in the dtype of the products.
        """
        last = len(self._heights) if last is None else last
        rows = int(self._heights[first:last].sum())
        out = np.empty((rows, panel.shape[1]), self._dtype)
        panel = np.ascontiguousarray(panel)
        if out.size:
            _times(self._flat, self._ends, self._heights, self._widths, panel, first, last, out)
        return out


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
