"""npz: an archive of arrays as NumPy writes it; nothing in it is unpickled."""

import zipfile
import zlib
from math import prod
from pathlib import Path
from tokenize import TokenError
from typing import IO

from numpy.lib import format as npy
from numpy.typing import NDArray

from kerndict._limits import max_bytes, stored_bytes
from kerndict.containers.items import Container, Item

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what NumPy writes
#: What a damaged archive, and the header of a damaged array, which is Python text, may raise.
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError),
    *(TokenError, SyntaxError, RecursionError),
)


class NpzFile(Container):
    """An open npz file."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self.limit = max_bytes(stored_bytes(file))
        try:
            self._archive = zipfile.ZipFile(path)
        except _DAMAGE as error:
            raise ValueError(
                f"found a damaged .npz file, perhaps its end is missing: {error}."
            ) from error
        try:
            self._members = {info.filename.removesuffix(".npy"): info for info in self._infos()}
            if len(self._members) < len(self._infos()):
                raise ValueError("the .npz file has two arrays of one name.")
            self.items = {name: self._item(info) for name, info in self._members.items()}
        except BaseException:
            self.close()
            raise

    def _infos(self) -> list[zipfile.ZipInfo]:
        return self._archive.infolist()

    def _read(self, name: str) -> NDArray:
        try:
            with self._archive.open(self._members[name]) as member:
                return npy.read_array(member, allow_pickle=False)
        except _DAMAGE as error:
            raise ValueError(f"the array {name!r} is damaged: {error}.") from error

    def close(self) -> None:
        """Close the file."""
        self._archive.close()

    def _item(self, info: zipfile.ZipInfo) -> Item:
        if info.compress_type not in _METHODS:
            return Item("compressed in a way that NumPy does not use")
        try:
            with self._archive.open(info) as member:
                return _described(member, info.file_size)
        except (*_DAMAGE, ValueError) as error:
            words = " ".join(str(error).split()).rstrip(".")  # some have several lines
            raise ValueError(f"the array {info.filename!r} is damaged: {words}.") from error


def _described(member: IO[bytes], size: int) -> Item:
    """Return what the header of an array says, if that agrees with the size of the member."""
    if member.read(len(npy.MAGIC_PREFIX)) != npy.MAGIC_PREFIX:
        return Item("not an array")
    version = tuple(member.read(2))
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    if version not in readers:
        return Item("an array of records")  # the only use of version 3.0
    shape, _, dtype = readers[version](member)
    if dtype.hasobject:
        return Item("pickled, and never loaded")
    n_bytes = prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or member.tell() + n_bytes != size:
        raise ValueError(f"the header of an array of shape {shape} does not fit its data.")
    return Item(f"{shape} {dtype}", n_bytes)
