"""Compressed files as streams of what is in them."""

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from kerndict.containers.kinds import Kind

#: What a damaged stream raises while it is read.
DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, zipfile.BadZipFile, OSError)
COMPRESSED = (Kind.GZIP, Kind.BZIP2, Kind.XZ, Kind.ZSTD)


def decompressed(stream: BinaryIO, kind: Kind, name: str) -> BinaryIO:
    """Return the stream of what is compressed in another."""
    if kind is Kind.GZIP:
        return cast(BinaryIO, gzip.GzipFile(fileobj=stream))
    if kind is Kind.BZIP2:
        return cast(BinaryIO, bz2.BZ2File(stream))
    if kind is Kind.XZ:
        return cast(BinaryIO, lzma.LZMAFile(stream))
    return _zstd(stream, name)


def _zstd(stream: BinaryIO, name: str) -> BinaryIO:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            f"{name} is compressed by zstd: install pyarrow to read it, "
            "pip install 'kerndict[parquet]'."
        ) from error
    opened = pyarrow.CompressedInputStream(pyarrow.PythonFile(stream, mode="r"), "zstd")
    return cast(BinaryIO, io.BufferedReader(_Raw(opened)))


class _Raw(io.RawIOBase):
    """A stream of pyarrow as Python's library knows them."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def zipped(path: Path) -> Iterator[BinaryIO | None]:
    """Give the one table in a zip archive; None for npz, which is one, and for damaged archives."""
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        yield None  # whoever reads npz says what is wrong
        return
    with archive:
        names = [info.filename for info in archive.infolist() if info.filename[-1:] != "/"]
        names = [name for name in names if not name.startswith("__MACOSX/")]
        if not names or any(name.endswith(".npy") for name in names):
            yield None
            return
        if "[Content_Types].xml" in names:
            raise ValueError(f"{path} is an office document: save it as csv.")
        if len(names) > 1:
            raise ValueError(
                f"{path} holds {len(names)} files: unpack it, and give those that are meant."
            )
        try:
            stream = archive.open(names[0])
        except (RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path}: {names[0]!r} cannot be unpacked: {error}.") from error
        with stream:
            yield cast(BinaryIO, stream)
