"""mat of version 5, read by SciPy; only to be used in a process of its own."""

from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat, whosmat
from scipy.sparse import issparse

from kerndict.containers.items import Item
from kerndict.containers.sparse import dense

#: Bytes of an entry, by MATLAB's names.
_SIZES = {"double": 8, "single": 4, "sparse": 8, "logical": 1, "char": 4}
_SIZES |= {f"{sign}int{bits}": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)}
_WORDS = {"struct": "a structure", "cell": "a cell array", "function": "a function"}


def open_file(path: Path) -> "Mat5File":
    """Open a file."""
    return Mat5File(path)


class Mat5File:
    """An open file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def items(self) -> dict[str, Item]:
        """Return what the file holds; the data are not read."""
        with self._path.open("rb") as file:
            listed = [entry for entry in whosmat(file) if not entry[0].startswith("__")]
        items = {name: _described(shape, kind) for name, shape, kind in listed}
        if len(items) < len(listed):
            raise ValueError("the file has two arrays of one name.")
        return items

    def read(self, name: str) -> NDArray:
        """Return an array."""
        with self._path.open("rb") as file:
            array = loadmat(file, variable_names=[name])[name]
        if issparse(array):
            return dense(array.data, array.indices, array.indptr, array.shape)
        return np.asarray(array)


def _described(shape: tuple[int, ...], kind: str) -> Item:
    if kind not in _SIZES or min(shape, default=0) < 0:
        return Item(_WORDS.get(kind, f"of the type {kind}"))
    return Item(f"{shape} {kind}", prod(shape) * _SIZES[kind])
