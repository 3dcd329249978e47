"""Arrays of texts, numbers and gaps (categories, what fills gaps) as text, and back.

Each value is written as JSON, so that nothing is unpickled: ``"Paris"``, ``3``, ``NaN``, ``null``.
All arrays of a list share one array of text; ``.sizes`` says how many values each of them has and
``.dtypes`` of which type they are.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerndict.exceptions import ModelFormatError
from kerndict.persistence.labels import NUMBERS, pack_text, unpack_text

_PLAIN = (str, int, float, bool, type(None))
_KINDS = {"b": bool, "i": int, "u": int, "f": float}


@dataclass(frozen=True)
class Values:
    """An attribute that is an array of texts, numbers, booleans, None and NaN.

    With ``holds="arrays"`` it is a list of such arrays, in which None may stand for an array, and
    with ``holds="dtype"`` the type of such an array.  Texts of NumPy (``<U5``) come back as Python
    strings, which equal them.
    """

    path: str
    holds: str = "array"
    optional: bool = False

    @property
    def name(self) -> str:
        """The name of its array: the attribute without underscores around it."""
        return self.path.strip("_")


def pack_values(field: Values, value: Any) -> dict[str, NDArray]:
    """Return an attribute as arrays of text and numbers."""
    if value is None and field.optional:
        return {}
    value = np.empty(0, value) if field.holds == "dtype" else value
    parts = list(value) if field.holds == "arrays" else [value]
    dtypes = ["" if part is None else _dtype_name(field, part) for part in parts]
    parts = [[] if part is None else part.tolist() for part in parts]
    return {
        **pack_text(field.name, [_text(field, item) for part in parts for item in part]),
        **pack_text(f"{field.name}.dtypes", dtypes),
        f"{field.name}.sizes": np.array([len(part) for part in parts], np.int64),
    }


def _dtype_name(field: Values, part: Any) -> str:
    dtype = getattr(part, "dtype", None)
    if dtype is None or part.ndim != 1 or not (dtype.name in NUMBERS or dtype.kind in "OU"):
        raise ModelFormatError(
            f"{field.path} holds {short(part)}, of the type {dtype}, which a file cannot hold: "
            "give numbers, booleans or texts when fitting."
        )
    return dtype.name if dtype.name in NUMBERS else "object"


def _text(field: Values, item: Any) -> str:
    item = item.item() if isinstance(item, np.generic) else item
    if isinstance(item, np.str_):
        item = str(item)
    if type(item) not in _PLAIN:
        raise ModelFormatError(
            f"{field.path} holds {short(item)}, a {type(item).__name__}, which a file cannot hold: "
            "give numbers, booleans, texts, None or NaN when fitting."
        )
    return json.dumps(item)


def unpack_values(field: Values, arrays: dict[str, NDArray]) -> Any:
    """Take the arrays of :func:`pack_values`; return the attribute."""
    if field.optional and field.name not in arrays:
        return None
    texts = unpack_text(field.name, arrays)
    dtypes = unpack_text(f"{field.name}.dtypes", arrays)
    sizes = arrays.pop(f"{field.name}.sizes", np.empty(0))
    right = sizes.dtype == np.int64 and sizes.shape == (len(dtypes),) and (sizes >= 0).all()
    if (
        not right
        or sum(sizes.tolist()) != len(texts)
        or (field.holds != "arrays" and len(dtypes) != 1)
    ):
        raise ModelFormatError(f"the arrays of {field.name!r} do not go together.")
    ends = np.cumsum(sizes).tolist()
    parts = [
        _array(field, texts[end - size : end], dtype)
        for end, size, dtype in zip(ends, sizes.tolist(), dtypes, strict=True)
    ]
    if field.holds == "arrays":
        return parts
    (part,) = parts
    return part.dtype if part is not None and field.holds == "dtype" else part


def _array(field: Values, texts: Sequence[str], dtype: str) -> NDArray | None:
    if dtype == "" and not texts and field.holds == "arrays":
        return None
    if dtype != "object" and dtype not in NUMBERS:
        raise ModelFormatError(f"{field.name!r} has values of the type {short(dtype)}.")
    try:
        items = [json.loads(text) for text in texts]
    except (ValueError, RecursionError):
        raise ModelFormatError(f"{field.name!r} holds what is not a value.") from None
    kinds = _PLAIN if dtype == "object" else (_KINDS[np.dtype(dtype).kind],)
    right = all(type(item) in kinds for item in items)
    if right and kinds == (int,) and items:
        right = np.iinfo(dtype).min <= min(items) and max(items) <= np.iinfo(dtype).max
    if not right:
        raise ModelFormatError(f"{field.name!r} holds values that are not {dtype}.")
    array = np.empty(len(items), dtype)
    with np.errstate(over="ignore"):
        array[:] = items
    return array
