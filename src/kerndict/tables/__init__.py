"""Tables of samples, in batches of rows: csv, parquet, npz and mat."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import cast

from kerndict.containers import Container, open_container
from kerndict.containers.kinds import HEAD, Kind, kind_of
from kerndict.tables.arrays import ArrayTable
from kerndict.tables.batch import Batch, Rows, Selection, Table, Wanted
from kerndict.tables.parquet import ParquetTable
from kerndict.tables.text import TextTable

__all__ = ["Batch", "Rows", "Selection", "Table", "Wanted", "open_table"]

_ARRAYS = (Kind.NPZ, Kind.MAT5, Kind.HDF5)


@contextmanager
def open_table(path: str) -> Iterator[Table]:
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
        with _recognised(cast(BufferedReader, sys.stdin.buffer), "standard input", None) as table:
            yield table
    else:
        with Path(path).open("rb") as stream:
            plain = Path(path) if stream.seekable() else None
            with _recognised(stream, path, plain) as table:
                yield table


@contextmanager
def _recognised(stream: BufferedReader, name: str, path: Path | None) -> Iterator[Table]:
    """Give the table in a stream; ``path`` is None where only a stream can be read."""
    head = stream.peek(HEAD)[:HEAD]
    kind = kind_of(head)
    if kind in (*_ARRAYS, Kind.PARQUET):
        if path is None:
            raise ValueError(f"{name}: only csv can be read from a pipe, give the path of a file.")
        if kind is Kind.PARQUET:
            yield ParquetTable(path)
            return
        with _opened(path) as container:
            yield ArrayTable(container, name)
    elif kind in (Kind.OTHER, Kind.GZIP):
        if b"\0" in head and kind is Kind.OTHER:
            raise ValueError(
                f"{name} is not text, nor any of the others: give csv, parquet, npz, or mat of "
                "version 5 or 7.3 (save -v7)."
            )
        size = 0 if path is None else path.stat().st_size
        yield TextTable(stream, name, compressed=kind is Kind.GZIP, size=size)
    else:
        raise ValueError(f"{name} is {kind.value}: give csv, parquet, npz or mat.")


def _opened(path: Path) -> Container:
    try:
        return open_container(path)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
