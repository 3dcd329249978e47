"""Values as named arrays and back: each field of a value says how it is stored.

A field of a frozen dataclass made by :func:`stored` says what it holds and its shape in letters:
``"N m"`` is N rows of m.  A letter with ``_i`` differs by class, and the field is a list with one
array per class, all of them in one flat array.  Reading checks every array against its field and
the shapes against each other, so that what is read can be predicted with.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from dataclasses import field as dataclass_field
from itertools import accumulate
from math import prod
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerndict.exceptions import ModelFormatError

_REAL = (np.dtype(np.float32), np.dtype(np.float64))
#: What an attribute may hold, and the dtypes for it.
KINDS = {
    "precision": _REAL,  # the precision of the model, the same in all such attributes
    "scaler": _REAL,
    "divisor": _REAL,  # above zero
    "gapped": _REAL,  # or NaN
    "spread": _REAL,  # above zero or NaN
    "any": _REAL,  # infinite or NaN, too
    "flag": (np.dtype(bool),),
    "real": _REAL[1:],
    "positive": _REAL[1:],
    "count": (np.dtype(np.int64),),  # at least 1
    "order": (np.dtype(np.int64),),  # a permutation of 0 ... N - 1
    "index": (np.dtype(np.int64),),  # at least 0
}


@dataclass(frozen=True)
class Field:
    """One field or attribute: where it is, what it holds, its shape in letters.

    ``name`` is that of its array.  ``sizes="n"`` makes its values the meaning of a letter:
    ``n_i`` per class and ``n`` in all, or ``n`` itself where it is one number.
    """

    path: str
    kind: str
    shape: str = ""
    name: str = ""
    optional: bool = False
    sizes: str | None = None

    def __post_init__(self) -> None:
        if not self.name:  # the attribute without underscores at the end
            object.__setattr__(self, "name", self.path.strip("_"))

    @property
    def per_class(self) -> bool:
        """Whether the attribute is a list with one array per class."""
        return "_i" in self.shape


def stored(
    kind: str,
    shape: str = "",
    *,
    name: str = "",
    optional: bool = False,
    sizes: str | None = None,
    **options: Any,
) -> Any:
    """Return a field of a dataclass that is kept in files; see :class:`Field`."""
    described = {"kind": kind, "shape": shape, "name": name, "optional": optional, "sizes": sizes}
    return dataclass_field(metadata={"stored": described}, **options)


def stored_fields(kind: type, inside: str = "") -> list[Field]:
    """Return the stored fields of a dataclass, which is the attribute ``inside`` of another."""
    found = []
    for each in fields(kind):
        if "stored" in each.metadata:
            described = dict(each.metadata["stored"])
            described["name"] = described["name"] or each.name
            found.append(Field(f"{inside}.{each.name}" if inside else each.name, **described))
    return found


def pack(model: object, fields: Sequence[Field]) -> dict[str, NDArray]:
    """Return the arrays of a fitted model; optional attributes that are None are left out."""
    arrays = {}
    for field in fields:
        value = attrgetter(field.path)(model)
        if value is None and field.optional:
            continue
        if field.per_class:
            value = np.concatenate([np.ravel(part) for part in value])
        dtypes = KINDS[field.kind]
        arrays[field.name] = np.asarray(value, dtypes[0] if len(dtypes) == 1 else None, order="C")
    return arrays


def unpack(
    arrays: dict[str, NDArray], fields: Sequence[Field], letters: dict[str, Any]
) -> dict[str, Any]:
    """Take the arrays of all fields; return their values by path, one number as a number.

    ``letters`` holds the sizes that are known and takes up those that are learned.
    """
    values = {}
    for field in fields:
        array = arrays.pop(field.name, None)
        if array is None and not field.optional:
            raise ModelFormatError(f"the array {field.name!r} is missing.")
        values[field.path] = None if array is None else _value(field, array, letters)
    return values


def _value(field: Field, array: NDArray, letters: dict[str, Any]) -> Any:
    allowed = KINDS[field.kind]
    if field.kind == "precision" and "precision" in letters:
        allowed = (letters["precision"],)
    if array.dtype not in allowed:
        raise ModelFormatError(f"the array {field.name!r} has the type {array.dtype}.")
    if field.kind == "precision":
        letters["precision"] = array.dtype
    shapes = _shapes(field, array, letters)
    expected = (sum(prod(shape) for shape in shapes),) if field.per_class else shapes[0]
    if array.shape != expected:
        raise ModelFormatError(
            f"the array {field.name!r} has shape {array.shape}, the rest of the model needs "
            f"{expected}."
        )
    _check_content(field, array)
    if field.sizes:
        letters[field.sizes] = int(array) if array.ndim == 0 else sum(array.tolist())
        letters[f"{field.sizes}_i"] = array.reshape(-1).tolist()
    if field.per_class:
        ends = list(accumulate((prod(shape) for shape in shapes), initial=0))
        return [array[a:b].reshape(s) for a, b, s in zip(ends, ends[1:], shapes, strict=False)]
    return array.item() if array.ndim == 0 else array


def _shapes(field: Field, array: NDArray, letters: dict[str, Any]) -> list[tuple[int, ...]]:
    """Return the shape the array must have, or those of its parts; sizes in exact integers."""
    known = []
    for axis, letter in enumerate(field.shape.split()):
        if not letter.isdigit() and letter not in letters:
            letters[letter] = array.shape[axis] if axis < array.ndim else -1
        known.append(int(letter) if letter.isdigit() else letters[letter])
    if not field.per_class:
        return [tuple(known)]
    count = max(len(size) for size in known if isinstance(size, list))
    columns = [size if isinstance(size, list) else [size] * count for size in known]
    return list(zip(*columns, strict=True))


def _check_content(field: Field, array: NDArray) -> None:
    if field.kind == "order":
        inside = array.size == 0 or (array.min() >= 0 and array.max() < len(array))
        right = inside and (np.bincount(array, minlength=len(array)) == 1).all()
    elif field.kind in ("count", "index"):
        right = (array >= (field.kind == "count")).all()
    elif field.kind in ("any", "flag"):
        right = True
    else:
        low = 0 if field.kind in ("positive", "divisor", "spread") else -np.inf
        inside = np.isfinite(array) & (array > low)
        right = (inside | np.isnan(array) if field.kind in ("gapped", "spread") else inside).all()
    if not right:
        raise ModelFormatError(f"the array {field.name!r} holds values that it cannot hold.")
