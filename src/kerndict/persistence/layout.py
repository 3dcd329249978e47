"""How a matrix lies in memory: products with it are the same to the last bit only if that is kept.

A matrix that does not lie row after row without gaps is kept as it lies: as the rows of a buffer,
gaps included, with four numbers: whether these rows are its columns, whether rows and columns run
backwards, and how many numbers of a row belong to it.
"""

import numpy as np
from numpy.typing import NDArray

from kerndict.exceptions import ModelFormatError


def pack_layout(array: NDArray) -> tuple[NDArray, NDArray] | None:
    """Return the buffer and the four numbers of a matrix, None if it lies row after row."""
    if array.ndim != 2 or array.flags.c_contiguous:
        return None
    turned = abs(array.strides[0]) < abs(array.strides[1])
    rows = array.T if turned else array
    pitch, step = (stride // array.itemsize for stride in rows.strides)
    rows = rows[:: 1 if pitch > 0 else -1, :: 1 if step > 0 else -1]
    if abs(step) != 1 or abs(pitch) > 2 * rows.shape[1] + 64:  # products copy it first
        return None
    buffer = np.zeros((len(rows), abs(pitch)), array.dtype)
    buffer[:, : rows.shape[1]] = rows
    return buffer, np.array([turned, pitch < 0, step < 0, rows.shape[1]], np.int64)


def unpack_layout(buffer: NDArray, layout: NDArray) -> NDArray:
    """Return the matrix of :func:`pack_layout`."""
    right = layout.dtype == np.int64 and layout.shape == (4,) and buffer.ndim == 2
    if not right or (layout < 0).any() or layout[3] > buffer.shape[1] or (layout[:3] > 1).any():
        raise ModelFormatError("the place of a matrix in memory cannot be right.")
    turned, backwards, mirrored, width = layout.tolist()
    rows = buffer[:, :width][:: 1 - 2 * backwards, :: 1 - 2 * mirrored]
    return rows.T if turned else rows
