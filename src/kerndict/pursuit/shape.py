"""The lengths of what a pursuit in packed vectors works on."""

from typing import NamedTuple

import numpy as np

#: The size of one vector.
BYTES = 64


class Shape(NamedTuple):
    """Lengths, in numbers."""

    n: int
    s: int
    lanes: int  # of a vector
    extent: int  # n in whole vectors; the atoms added are zero
    stride: int  # from row to row of Q
    width: int  # s in whole vectors


def plan(n: int, s: int, dtype: np.dtype) -> tuple[Shape, int]:
    """Return the lengths, and the numbers of work space that a pursuit needs.

    Rows of ``Q`` are an odd number of vectors apart: a power of two apart, they would compete for
    the same places in the caches.
    """
    lanes = BYTES // dtype.itemsize
    vectors = -(-n // lanes)
    shape = Shape(n, s, lanes, vectors * lanes, (vectors | 1) * lanes, -(-s // lanes) * lanes)
    shared = (2 + shape.extent) * shape.extent
    signal = shape.extent + s * shape.stride + (s + 2) * shape.width
    return shape, lanes + shared + 2 * signal


def workspace_bytes(n: int, s: int, dtype: np.dtype) -> int:
    """Return the memory that a pursuit takes beside its input and output, at most.

    Parameters
    ----------
    n : atoms
    s : nonzeros per code, at most
    dtype : of the correlations
    """
    return dtype.itemsize * plan(n, min(n, s), dtype)[1]
