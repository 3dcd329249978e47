"""How much memory the content of a file may take."""

import errno
import os
from typing import BinaryIO

#: The environment variable that sets the limit, for all files.
VARIABLE = "KERNDICT_MAX_BYTES"
#: The limit without it: so many bytes, or so many for each byte of the file.
AT_LEAST, PER_BYTE = 2**30, 20
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def max_bytes(size: int) -> int:
    """Return how many bytes the content of a file of so many bytes may take.

    >>> max_bytes(1000), max_bytes(10**9)
    (1073741824, 20000000000)
    """
    given = os.environ.get(VARIABLE, "").strip().upper().removesuffix("B")
    if not given:
        return max(AT_LEAST, PER_BYTE * size)
    unit = _UNITS.get(given[-1:], 1)
    number = given if unit == 1 else given[:-1].rstrip()
    if not (number.isascii() and number.isdecimal()) or int(number) < 1:
        raise ValueError(
            f"{VARIABLE}={os.environ[VARIABLE]} is not a number of bytes: give one, such as "
            f"{AT_LEAST}, 500M or 8G."
        )
    return int(number) * unit


def check_bytes(wanted: int, limit: int, what: str) -> None:
    """Check that something which takes so many bytes of memory is within the limit."""
    if wanted > limit:
        raise ValueError(
            f"{what} would take {wanted:,} bytes of memory, more than the limit of {limit:,} "
            f"bytes. If the file is what you expect, set the environment variable {VARIABLE} to "
            "a higher limit, such as 8G."
        )


def stored_bytes(file: BinaryIO) -> int:
    """Return the bytes that a plain file really holds: holes of a sparse file do not count."""
    descriptor = file.fileno()
    size = os.fstat(descriptor).st_size
    if not hasattr(os, "SEEK_DATA"):
        return size
    place, stored = os.lseek(descriptor, 0, os.SEEK_CUR), 0
    try:
        end = 0
        while end < size:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
            end = os.lseek(descriptor, start, os.SEEK_HOLE)
            stored += end - start
    except OSError as error:
        # Behind the last data there is only a hole; some file systems do not tell about holes.
        stored = stored if error.errno == errno.ENXIO else size
    finally:
        os.lseek(descriptor, place, os.SEEK_SET)
    return stored
