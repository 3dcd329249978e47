"""What a file is, by its first bytes."""

from enum import Enum

#: The bytes that are enough to know.
HEAD = 1024


class Kind(Enum):
    """A kind of file; the value is for messages."""

    NPZ = "a .npz file"
    MAT5 = "a .mat file of version 5"
    HDF5 = "a .mat file of version 7.3"
    PARQUET = "a parquet file"
    FEATHER = "a feather file"
    OLD_FEATHER = "a feather file of version 1"
    GZIP = "compressed by gzip"
    PICKLE = "a pickle, which is never loaded"
    EMPTY_ZIP = "an empty archive"
    OFFICE = "an old office document"
    PDF = "a PDF document"
    BZIP2 = "compressed by bzip2"
    XZ = "compressed by xz"
    ZSTD = "compressed by zstd"
    UTF16 = "text in UTF-16, not UTF-8"
    OTHER = ""


_HDF5 = b"\x89HDF\r\n\x1a\n"
_BEGINNINGS = {
    b"PK\x03\x04": Kind.NPZ,
    _HDF5: Kind.HDF5,
    b"MATLAB 5.0 MAT-file": Kind.MAT5,
    b"PAR1": Kind.PARQUET,
    b"ARROW1": Kind.FEATHER,
    b"FEA1": Kind.OLD_FEATHER,
    b"\x1f\x8b": Kind.GZIP,
    b"\x80": Kind.PICKLE,
    b"PK\x05\x06": Kind.EMPTY_ZIP,
    b"\xd0\xcf\x11\xe0": Kind.OFFICE,
    b"%PDF": Kind.PDF,
    b"BZh": Kind.BZIP2,
    b"\xfd7zXZ": Kind.XZ,
    b"\x28\xb5\x2f\xfd": Kind.ZSTD,
    b"\xff\xfe": Kind.UTF16,
    b"\xfe\xff": Kind.UTF16,
}


def kind_of(head: bytes) -> Kind:
    """Return the kind of a file that begins with these bytes.

    >>> kind_of(b"PAR1..."), kind_of(b"a,b")
    (<Kind.PARQUET: 'a parquet file'>, <Kind.OTHER: ''>)
    """
    if head[512:].startswith(_HDF5):  # behind a block for the user, as MATLAB writes it
        return Kind.HDF5
    return next((kind for begin, kind in _BEGINNINGS.items() if head.startswith(begin)), Kind.OTHER)
