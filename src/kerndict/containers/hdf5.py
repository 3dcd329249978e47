"""mat of version 7.3, which is HDF5; only to be used in a process of its own."""

from math import prod
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from kerndict.containers.items import Item
from kerndict.containers.sparse import dense

_SPARSE = "MATLAB_sparse"  # an attribute that gives the rows


def open_file(path: Path) -> "Hdf5File":
    """Open a file."""
    return Hdf5File(path)


class Hdf5File:
    """An open file."""

    def __init__(self, path: Path) -> None:
        self._file = h5py.File(path, "r")

    def items(self) -> dict[str, Item]:
        """Return what the file holds; the data are not read."""
        return {name: _described(self._file, name) for name in self._file}

    def read(self, name: str) -> NDArray:
        """Return an array."""
        item = self._file[name]
        if isinstance(item, h5py.Dataset):
            return item[()].T  # MATLAB writes columns first
        shape = _sparse_shape(item)
        ends = item["jc"][()]
        if "data" not in item:
            return dense(np.zeros(0), np.zeros(0, np.int64), ends, shape)
        return dense(item["data"][()], item["ir"][()], ends, shape)


def _described(group: h5py.Group, name: str) -> Item:
    item = group[name]
    if isinstance(item, h5py.Dataset):
        if item.dtype.kind not in "fiubS" or item.shape is None:
            return Item("not an array of numbers")
        return Item(f"{item.shape[::-1]} {item.dtype}", item.nbytes)
    if _SPARSE not in item.attrs:
        return Item("a structure")
    shape, dtype = _sparse_shape(item), np.dtype(np.float64)
    if "data" in item:
        dtype = item["data"].dtype
    return Item(f"{shape} sparse {dtype}", prod(shape) * dtype.itemsize)


def _sparse_shape(group: h5py.Group) -> tuple[int, int]:
    rows, ends = int(group.attrs[_SPARSE]), group["jc"]
    if rows < 0 or len(ends.shape) != 1 or not len(ends):
        raise ValueError("a sparse matrix has no columns.")
    return rows, len(ends) - 1
