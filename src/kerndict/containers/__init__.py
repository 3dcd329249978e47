"""Files of named arrays, of unknown origin: npz, and mat of versions 5 and 7.3."""

from pathlib import Path

from kerndict.containers.items import Container, Item
from kerndict.containers.kinds import HEAD, Kind, kind_of
from kerndict.containers.mat import MatFile
from kerndict.containers.npz import NpzFile

__all__ = ["Container", "Item", "open_container"]


def open_container(path: Path) -> Container:
    """Open a file of arrays, which shows in its first bytes; its name does not matter.

    Nothing is unpickled, and only the arrays that are asked for are read.  All that is wrong with
    the file is a ValueError.
    """
    with path.open("rb") as file:
        head = file.read(HEAD)
    kind = kind_of(head)
    if kind is Kind.NPZ:
        return NpzFile(path)
    if kind in (Kind.MAT5, Kind.HDF5):
        return MatFile(path, kind)
    found = "an empty file" if not head else kind.value or f"a file that begins with {head[:16]!r}"
    raise ValueError(f"found {found}, not a .npz file or a .mat file of version 5 or 7.3.")
