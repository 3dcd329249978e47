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
        shape, ends = _sparse_shape(item), _part(item, "jc")[()]
        if "data" not in item:
            return dense(np.zeros(0), np.zeros(0, np.int64), ends, shape)
        return dense(_part(item, "data")[()], _part(item, "ir")[()], ends, shape)


def _described(group: h5py.Group, name: str) -> Item:
    elsewhere = _elsewhere(group, name)
    if elsewhere:
        return Item(elsewhere)
    item = group[name]
    if isinstance(item, h5py.Dataset):
        if item.dtype.kind not in "fiubS" or item.shape is None:
            return Item("not an array of numbers")
        return Item(f"{item.shape[::-1]} {item.dtype}", item.nbytes)
    if _SPARSE not in item.attrs:
        return Item("a structure")
    shape, dtype = _sparse_shape(item), np.dtype(np.float64)
    if "data" in item:
        dtype = _part(item, "data").dtype
    return Item(f"{shape} sparse {dtype}", prod(shape) * dtype.itemsize)


def _elsewhere(group: h5py.Group, name: str) -> str:
    """Return words for what is not in the file itself, or nothing.

    HDF5 follows links and reads data from any file that the user can read: a file of unknown
    origin could have the content of others taken for its own.
    """
    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        return "a link to another place, which is not followed"
    item = group[name]
    if isinstance(item, h5py.Dataset) and (item.external or item.is_virtual):
        return "stored in another file, which is not read"
    return ""


def _part(group: h5py.Group, name: str) -> h5py.Dataset:
    """Return a part of a sparse matrix, which must be in the file itself."""
    part = group[name] if name in group and not _elsewhere(group, name) else None
    if not isinstance(part, h5py.Dataset):
        raise ValueError(f"the part {name!r} of a sparse matrix is not in the file.")
    return part


def _sparse_shape(group: h5py.Group) -> tuple[int, int]:
    rows, ends = int(group.attrs[_SPARSE]), _part(group, "jc")
    if rows < 0 or len(ends.shape) != 1 or not len(ends):
        raise ValueError("a sparse matrix has no columns.")
    return rows, len(ends) - 1
