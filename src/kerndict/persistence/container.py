"""The file: a document in JSON and named arrays, in safetensors format, with a checksum.

The metadata of the file has one entry, ``kerndict``, which holds the document as JSON.  Its
``sha256`` is that of the rest of the document, written with sorted keys and without spaces,
followed for each array in the order of names by ``["name", "dtype", [shape]]`` in the same JSON
and by the bytes of the array.
"""

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from math import prod
from reprlib import repr as short
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save as serialize

from kerndict._files import written_whole
from kerndict._limits import check_bytes, max_bytes, stored_bytes
from kerndict.exceptions import ModelFormatError

#: What is written, and what is read.
FORMAT_VERSION, READ_VERSIONS = 2, (1, 2)
#: Headers are small, as lists of arrays are one array: what is larger is not ours, and not parsed.
MAX_HEADER = 2**17
_KEY = "kerndict"
_DTYPES = {
    "BOOL": np.dtype("?"),
    "U8": np.dtype("<u1"),
    "U16": np.dtype("<u2"),
    "U32": np.dtype("<u4"),
    "U64": np.dtype("<u8"),
    "I8": np.dtype("<i1"),
    "I16": np.dtype("<i2"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}


class Place(NamedTuple):
    """Of an array in a file: type and shape, and its bytes behind the header."""

    dtype: np.dtype
    shape: tuple[int, ...]
    start: int
    end: int


def write(
    path: str | os.PathLike,
    document: dict[str, Any],
    arrays: dict[str, NDArray],
    force: bool = False,
) -> None:
    """Write a document and its arrays, all or nothing; ``force`` replaces read-only files."""
    document = {"format_version": FORMAT_VERSION, **document}
    sealed = {**document, "sha256": checksum(document, arrays)}
    data = serialize(dict(sorted(arrays.items())), {_KEY: _json(sealed)})
    if int.from_bytes(data[:8], "little") > MAX_HEADER:
        raise ModelFormatError(f"the header exceeds {MAX_HEADER} bytes: use fewer steps.")
    with written_whole(path, force) as file:
        file.write(data)


def read(path: str | os.PathLike) -> tuple[dict[str, Any], dict[str, NDArray]]:
    """Return the document and the arrays; memory stays close to the size of the file."""
    if not stat.S_ISREG(os.stat(path).st_mode):  # to open a pipe would be to wait
        raise OSError(f"{path} is not a plain file: give the path of a model.")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        document, places = read_header(file, size)
        try:
            check_bytes(size, max_bytes(stored_bytes(file)), "the model")
        except ValueError as error:
            raise ModelFormatError(str(error)) from None
        arrays = {name: read_array(file, name, place) for name, place in places}
    if document.pop("sha256", None) != checksum(document, arrays):
        raise ModelFormatError("the checksum is wrong: the file was damaged or changed.")
    return document, arrays


def checksum(document: Mapping[str, Any], arrays: Mapping[str, NDArray]) -> str:
    """Return the SHA-256 of all content."""
    digest = hashlib.sha256(_json(document).encode())
    for name, array in sorted(arrays.items()):
        digest.update(_json([name, array.dtype.name, array.shape]).encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def read_header(file: BinaryIO, size: int) -> tuple[dict[str, Any], list[tuple[str, Place]]]:
    """Return the document of a file in our format and version, and where its arrays are.

    All is checked that can be, before any array is read: they follow each other without gaps, and
    end with the file.
    """
    length = int.from_bytes(file.read(8), "little")
    if size < 10 or length > size - 8:
        raise ModelFormatError("not a model of kerndict, or only the beginning of one.")
    if length > MAX_HEADER:
        raise ModelFormatError(f"not a model of kerndict: its header has {length} bytes.")
    try:
        header = json.loads(file.read(length).decode())
        document = json.loads(header.pop("__metadata__")[_KEY], parse_constant=_no_constant)
        version = document["format_version"]
    except (ValueError, TypeError, LookupError, AttributeError):
        raise ModelFormatError("not a model of kerndict, or damaged.") from None
    if type(version) is not int or version not in READ_VERSIONS:
        raise ModelFormatError(
            f"format version {short(version)} is not known; this version of kerndict reads "
            f"{' and '.join(map(str, READ_VERSIONS))}. The file was written with "
            f"{short(document.get('versions'))}."
        )
    places = [(name, _place(name, entry)) for name, entry in header.items()]
    places.sort(key=lambda item: (item[1].start, item[1].end))
    end = 0
    for name, place in places:
        if place.start != end:
            raise ModelFormatError(f"damaged: the array {short(name)} is not where it should be.")
        end = place.end
    if 8 + length + end != size:
        raise ModelFormatError("damaged: the file is longer or shorter than its header says.")
    return document, places


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _place(name: str, entry: Any) -> Place:
    """Return the type, shape and place of an array, which agree with each other."""
    try:
        dtype = _DTYPES.get(entry["dtype"])
        numbers = shape, (start, end) = entry["shape"], entry["data_offsets"]
        whole = all(type(n) is int and n >= 0 for part in numbers for n in part)
    except (TypeError, ValueError, LookupError):
        raise ModelFormatError(f"damaged: the header of the array {short(name)}.") from None
    if dtype is None:
        raise ModelFormatError(f"the array {short(name)} has the type {short(entry['dtype'])}.")
    if not whole or end - start != prod(shape) * dtype.itemsize:
        raise ModelFormatError(f"damaged: the shape of the array {short(name)} is not its size.")
    return Place(dtype, tuple(shape), start, end)


def read_array(file: BinaryIO, name: str, place: Place) -> NDArray:
    """Return the next array of a file."""
    try:
        array = np.empty(place.shape, place.dtype)
    except ValueError as error:  # axes beyond what an array can have
        raise ModelFormatError(f"the array {short(name)}: {error}.") from None
    flat = array.reshape(-1).view(np.uint8)
    if file.readinto(flat.data) < len(flat):  # type: ignore[attr-defined]
        raise ModelFormatError("damaged: the file became shorter while it was read.")
    if place.dtype.kind == "b" and (flat > 1).any():
        raise ModelFormatError(f"the array {short(name)} holds more than 0 and 1.")
    return array.astype(place.dtype.newbyteorder("="), copy=False)
