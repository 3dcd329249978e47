"""Sparse matrices in compressed columns, as MATLAB stores them."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array


def dense(data: NDArray, rows: NDArray, ends: NDArray, shape: tuple[int, int]) -> NDArray:
    """Return the matrix as a dense array, once its indices are checked: SciPy trusts them.

    Parameters
    ----------
    data : array of shape (k,)
        The entries, column by column; k may exceed what the columns use.
    rows : array of shape (k,)
        The row of each.
    ends : array of shape (n_columns + 1,)
        Column i has the entries from ``ends[i]`` to ``ends[i + 1]``.
    shape : tuple of int
        Of the matrix.
    """
    if any(part.ndim != 1 for part in (data, rows, ends)):
        raise ValueError("the parts of a sparse matrix are not lists.")
    if data.dtype.kind not in "fiub" or rows.dtype.kind not in "iu" or ends.dtype.kind not in "iu":
        raise ValueError("the parts of a sparse matrix are not numbers.")
    if len(ends) != shape[1] + 1 or len(rows) != len(data):
        raise ValueError("the parts of a sparse matrix differ in length.")
    if ends[0] != 0 or ends[-1] > len(data) or (ends[:-1] > ends[1:]).any():
        raise ValueError("the columns of a sparse matrix are not in order, or beyond its entries.")
    used = int(ends[-1])
    data, rows = data[:used], rows[:used]
    if used and (rows.min() < 0 or rows.max() >= shape[0]):
        raise ValueError(f"a sparse matrix of {shape[0]} rows has an entry in another row.")
    parts = (data, rows.astype(np.int64), ends.astype(np.int64))
    return csc_array(parts, shape).toarray(order="F")
