"""What a table is, by its first bytes; and several files as one."""

import glob
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import BinaryIO, cast

from kerndict._limits import check_bytes, max_bytes
from kerndict.containers import Container, open_container
from kerndict.containers.kinds import HEAD, Kind, kind_of
from kerndict.tables.arrays import ArrayTable
from kerndict.tables.batch import Table
from kerndict.tables.columns import ColumnTable
from kerndict.tables.joined import JoinedTable
from kerndict.tables.jsonl import JsonTable
from kerndict.tables.parquet import FeatherTable, ParquetTable
from kerndict.tables.streams import COMPRESSED, DAMAGED, decompressed, zipped
from kerndict.tables.text import TextTable

_ARRAYS = (Kind.NPZ, Kind.MAT5, Kind.HDF5)
_COPIED = 2**20


@contextmanager
def open_table(*names: str) -> Iterator[Table]:
    """Open a table; what it is shows in its first bytes, not in its name.

    Parameters
    ----------
    *names : str
        Files, patterns of them such as ``day-*.csv``, or ``-`` for text on standard input.

    Raises
    ------
    ValueError
        One is none of the kinds that are known, or several are not tables with columns.
    """
    with Source(names).open() as table:
        yield table


class Source:
    """Files whose rows are one table, opened as often as somebody asks.

    Parameters
    ----------
    names : files, patterns of them, or ``-`` for standard input
    again : whether it will be opened more than once; then standard input is kept on the disk
    """

    def __init__(self, names: Sequence[str], again: bool = False) -> None:
        self.names = [path for name in names for path in _matching(name)]
        self._again = again
        self._kept: BinaryIO | None = None

    @contextmanager
    def open(self) -> Iterator[Table]:
        """Give the table."""
        with ExitStack() as stack:
            first = stack.enter_context(self._open(self.names[0]))
            if len(self.names) == 1:
                yield first
            elif isinstance(first, ColumnTable):
                yield JoinedTable(first, self.names[1:], self._open)
            else:
                raise ValueError(f"{first.name} has no columns: give several tables with columns.")

    @contextmanager
    def _open(self, name: str) -> Iterator[Table]:
        if name == "-":
            stream = self._standard_input()
            with _recognised(stream, "standard input", None) as table:
                yield table
        else:
            with Path(name).open("rb") as file:
                plain = Path(name) if file.seekable() else None
                with _recognised(file, name, plain) as table:
                    yield table

    def _standard_input(self) -> BufferedReader:
        if sys.stdin is None:
            raise OSError("standard input is closed: give the path of a file.")
        stream = cast(BufferedReader, sys.stdin.buffer)
        if not self._again:
            return stream
        if self._kept is None:
            self._kept = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115
            limit, size = max_bytes(0), 0
            while part := stream.read(_COPIED):
                size += len(part)
                check_bytes(size, limit, "standard input")
                self._kept.write(part)
        self._kept.seek(0)
        return BufferedReader(open(self._kept.fileno(), "rb", 0, closefd=False))


def _matching(name: str) -> list[str]:
    """Return the files that a name stands for."""
    if name == "-" or Path(name).exists() or not glob.has_magic(name):
        return [name]
    found = sorted(path for path in glob.glob(name, recursive=True) if Path(path).is_file())
    if not found:
        raise FileNotFoundError(f"no file matches {name}: mend the pattern.")
    return found


@contextmanager
def _recognised(stream: BufferedReader, name: str, path: Path | None) -> Iterator[Table]:
    """Give the table in a stream; ``path`` is None where only a stream can be read."""
    head = stream.peek(HEAD)[:HEAD]
    kind = kind_of(head)
    size = 0 if path is None else path.stat().st_size
    if kind in (*_ARRAYS, Kind.PARQUET, Kind.FEATHER):
        if path is None:
            raise ValueError(f"{name}: only text can be read from a pipe, give the path of a file.")
        if kind is Kind.PARQUET:
            yield ParquetTable(path)
        elif kind is Kind.FEATHER:
            yield FeatherTable(path)
        elif kind is Kind.NPZ:
            with zipped(path) as member:
                if member is None:
                    with _opened(path) as container:
                        yield ArrayTable(container, name)
                else:
                    yield _text(member, name, size)
        else:
            with _opened(path) as container:
                yield ArrayTable(container, name)
    elif kind in COMPRESSED:
        yield _text(decompressed(stream, kind, name), name, size)
    elif kind is Kind.OTHER:
        if b"\0" in head:
            raise ValueError(
                f"{name} is not text, nor any of the others: give csv, JSON lines, parquet, "
                "feather, npz, or mat of version 5 or 7.3 (save -v7)."
            )
        yield _text(stream, name, size)
    else:
        raise ValueError(f"{name} is {kind.value}: give csv, parquet, npz or mat.")


def _text(stream: BinaryIO, name: str, size: int) -> TextTable | JsonTable:
    """Return the table in a stream of text."""
    buffered = (
        stream if isinstance(stream, BufferedReader) else BufferedReader(cast(RawIOBase, stream))
    )
    try:
        begin = buffered.peek(HEAD)[:HEAD].removeprefix(b"\xef\xbb\xbf").lstrip()
    except (*DAMAGED, ValueError):  # whoever reads on is told
        begin = b""
    if begin[:1] == b"[" and begin[1:].lstrip()[:1] in (b"{", b"["):
        raise ValueError(f"{name} is one JSON array: give one object per line (jq -c '.[]').")
    return JsonTable(buffered, name, size) if begin[:1] == b"{" else TextTable(buffered, name, size)


def _opened(path: Path) -> Container:
    try:
        return open_container(path)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
