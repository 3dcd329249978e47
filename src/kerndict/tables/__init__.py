"""Tables of samples, in batches of rows: csv, parquet, npz and mat."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import cast

from kerndict.tables.arrays import ArrayTable, split
from kerndict.tables.batch import Batch, Selection, Table
from kerndict.tables.parquet import ParquetTable
from kerndict.tables.text import TextTable

__all__ = ["ArrayTable", "Batch", "Selection", "Table", "open_table", "split"]

_ARRAYS = (b"PK\x03\x04", b"\x89HDF\r\n\x1a\n", b"MATLAB ")
_OTHERS = {
    b"\x80": "a pickle, which is never loaded",
    b"PK\x05\x06": "an empty archive",
    b"\xd0\xcf\x11\xe0": "an old office document",
    b"%PDF": "a PDF document",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"\xff\xfe": "text in UTF-16, not UTF-8",
    b"\xfe\xff": "text in UTF-16, not UTF-8",
}


@contextmanager
def open_table(path: str) -> Iterator[Table | ArrayTable]:
    """Open a table; what it is shows in its first bytes, not in its name.

    Parameters
    ----------
    path : str
        A file, or ``-`` for csv on standard input.

    Raises
    ------
    ValueError
        It is none of the four.
    """
    if path == "-":
        if sys.stdin is None:
            raise OSError("standard input is closed: give the path of a file.")
        yield _recognised(cast(BufferedReader, sys.stdin.buffer), "standard input", None)
    else:
        with Path(path).open("rb") as stream:
            yield _recognised(stream, path, Path(path) if stream.seekable() else None)


def _recognised(stream: BufferedReader, name: str, path: Path | None) -> Table | ArrayTable:
    """Return the table in a stream; ``path`` is None where only a stream can be read."""
    head = stream.peek(1024)[:1024]
    arrays = head.startswith(_ARRAYS) or head[512:].startswith(_ARRAYS[1])
    if arrays or head.startswith(b"PAR1"):
        if path is None:
            raise ValueError(f"{name}: only csv can be read from a pipe, give the path of a file.")
        return ArrayTable(path) if arrays else ParquetTable(path)
    for begin, kind in _OTHERS.items():
        if head.startswith(begin):
            raise ValueError(f"{name} is {kind}: give csv, parquet, npz or mat.")
    compressed = head.startswith(b"\x1f\x8b")
    if b"\0" in head and not compressed:
        raise ValueError(
            f"{name} is not text, nor any of the others: give csv, parquet, npz, or mat of "
            "version 5 or 7.3 (save -v7)."
        )
    return TextTable(stream, name, compressed=compressed)
