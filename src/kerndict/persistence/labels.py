"""Labels and feature names as arrays of numbers, and back."""

from collections.abc import Sequence
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerndict.exceptions import ModelFormatError

#: Types of numbers.  Strings of NumPy are kept as code points, "object" is Python strings.
NUMBERS = ("bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
NUMBERS += ("float16", "float32", "float64")
#: Characters of a string of NumPy, at most.
_LONGEST = 2**29 - 1


def pack_labels(classes: NDArray) -> tuple[str, dict[str, NDArray]]:
    """Return the label dtype and the arrays of the labels."""
    kind = classes.dtype.kind
    if classes.dtype.name in NUMBERS:
        native = classes.astype(classes.dtype.newbyteorder("="), order="C")
        return classes.dtype.name, {"classes": native}
    if kind == "U":
        points = np.ascontiguousarray(classes, classes.dtype.newbyteorder("=")).view(np.uint32)
        return "str", {"classes": points.reshape(len(classes), -1)}
    if kind == "O" and all(isinstance(label, str) for label in classes):
        return "object", pack_text("classes", classes.tolist())
    raise ModelFormatError(
        f"labels of the type {classes.dtype} ({classes[0]!r}, ...) cannot be written: fit to "
        "integers, booleans, floats or strings."
    )


def unpack_labels(dtype: Any, arrays: dict[str, NDArray]) -> NDArray:
    """Return `classes_`: at least two different labels in order."""
    if dtype == "object":
        classes = np.array(unpack_text("classes", arrays), object)
    else:
        classes = _fixed_labels(dtype, arrays.pop("classes", np.empty(0)))
    numbers = classes.dtype.kind == "f"
    if len(classes) < 2 or (numbers and not np.isfinite(classes).all()):
        raise ModelFormatError("there must be at least two labels, none of them NaN.")
    if not (classes[:-1] < classes[1:]).all():
        raise ModelFormatError("the labels are not different and in order.")
    return classes


def _fixed_labels(dtype: Any, array: NDArray) -> NDArray:
    if dtype == "str":
        right = array.ndim == 2 and array.dtype == np.uint32
        if not right or not 1 <= array.shape[1] <= _LONGEST:
            raise ModelFormatError(f"labels have shape {array.shape} and type {array.dtype}.")
        if (array > 0x10FFFF).any():
            raise ModelFormatError("the labels are not text.")
        return array.view(f"=U{array.shape[1]}").reshape(-1)
    if dtype not in NUMBERS:
        raise ModelFormatError(f"the label type {short(dtype)} is not known.")
    if array.ndim != 1 or array.dtype.name != dtype:
        raise ModelFormatError(f"labels have shape {array.shape} and type {array.dtype}.")
    return array


def pack_text(name: str, strings: Sequence[str]) -> dict[str, NDArray]:
    """Return strings as their UTF-8 bytes and where each of them ends."""
    coded = [string.encode("utf-8", "surrogatepass") for string in strings]
    ends = np.cumsum([len(part) for part in coded], dtype=np.int64)
    return {name: np.frombuffer(b"".join(coded), np.uint8), f"{name}.ends": ends}


def unpack_text(name: str, arrays: dict[str, NDArray]) -> list[str]:
    """Return the strings of :func:`pack_text`."""
    coded, ends = arrays.pop(name, None), arrays.pop(f"{name}.ends", None)
    if coded is None or ends is None:
        raise ModelFormatError(f"the array '{name}' or '{name}.ends' is missing.")
    if coded.ndim != 1 or coded.dtype != np.uint8 or ends.ndim != 1 or ends.dtype != np.int64:
        raise ModelFormatError(f"the array {name!r} is not text.")
    starts = np.append(0, ends)[:-1]
    if (starts > ends).any() or (ends[-1] if len(ends) else 0) != len(coded):
        raise ModelFormatError(f"the array {name!r} is not text.")
    data = coded.tobytes()
    try:
        return [
            data[start:end].decode("utf-8", "surrogatepass")
            for start, end in zip(starts, ends, strict=True)
        ]
    except UnicodeDecodeError:
        raise ModelFormatError(f"the array {name!r} is not text.") from None
