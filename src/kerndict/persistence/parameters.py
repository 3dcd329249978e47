"""The parameters of steps: what each may be, and how a file holds it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from reprlib import repr as short
from typing import Any

import numpy as np

from kerndict.exceptions import ModelFormatError
from kerndict.persistence.labels import NUMBERS


def is_plain(value: Any) -> bool:
    """Tell whether JSON holds a value as it is; a list stands for a tuple, and holds no lists."""
    if isinstance(value, list):
        return all(not isinstance(item, list) and is_plain(item) for item in value)
    finite = isinstance(value, float) and math.isfinite(value)
    return value is None or isinstance(value, (bool, int, str)) or finite


def json_value(name: str, value: Any) -> Any:
    """Return a parameter as JSON holds it."""
    if isinstance(value, np.generic):
        value = value.item()
    value = list(value) if isinstance(value, tuple) else value
    if not is_plain(value):
        raise ModelFormatError(
            f"{name}={short(value)} cannot be written: change it by set_params first, to None or "
            "its default if only training depends on it."
        )
    return value


def python_value(name: str, value: Any) -> Any:
    """Return what :func:`json_value` was given."""
    if not is_plain(value):
        raise ModelFormatError(f"{name}={short(value)} is not a plain value.")
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True)
class Parameter:
    """What a parameter of a step may be.

    ``right`` is asked on the way into a file and out of it.  ``write`` and ``read`` turn a value
    into JSON and back.  ``without`` is the value that equals not having the parameter, where older
    versions of the class do not have it.
    """

    right: Callable[[Any], bool]
    write: Callable[[str, Any], Any] = json_value
    read: Callable[[str, Any], Any] = python_value
    without: Any = ...


def choice(*values: Any, without: Any = ...) -> Parameter:
    """Return a parameter that is one of a few texts, None or booleans."""
    kinds = {(type(value), value) for value in values}
    return Parameter(
        lambda value: value.__hash__ is not None and (type(value), value) in kinds,
        without=without,
    )


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_range(value: Any) -> bool:
    right = isinstance(value, tuple) and len(value) == 2 and all(map(_is_number, value))
    return right and value[0] < value[1]


#: True or False.
FLAG = choice(True, False)
#: Anything that JSON holds, for what only training depends on.
PLAIN = Parameter(lambda value: True)
NUMBER = Parameter(_is_number)
#: Two numbers, the lower one first.
RANGE = Parameter(_is_range)


def count_or(*words: str | None) -> Parameter:
    """Return a parameter that is a whole number from 0, or one of some words."""
    return Parameter(
        lambda value: (
            value in words if value is None or isinstance(value, str) else _is_count(value)
        )
    )


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _write_scalar(name: str, value: Any) -> Any:
    number = isinstance(value, (float, np.floating))
    return {"float": "nan"} if number and math.isnan(value) else json_value(name, value)


def _read_scalar(name: str, value: Any) -> Any:
    return math.nan if value == {"float": "nan"} else python_value(name, value)


#: A text, a number, None or NaN: what marks a gap, and what fills it.
SCALAR = Parameter(
    lambda value: value is None or isinstance(value, (bool, int, float, str, np.generic)),
    _write_scalar,
    _read_scalar,
)


def _write_dtype(name: str, value: Any) -> str:
    try:
        return np.dtype(value).name
    except TypeError:
        raise ModelFormatError(f"{name}={short(value)} is not a type of numbers.") from None


def _read_dtype(name: str, value: Any) -> Any:
    if value not in NUMBERS:
        raise ModelFormatError(f"{name}={short(value)} is not a type of numbers.")
    return np.dtype(value).type


#: A type of numbers, such as ``np.float32``.
DTYPE = Parameter(lambda value: np.dtype(value).name in NUMBERS, _write_dtype, _read_dtype)

#: ``"auto"`` or categories that were given, which are those that were fitted.
CATEGORIES = Parameter(
    lambda value: True,
    lambda name, value: value if isinstance(value, str) else "given",
    python_value,
)


def function(find: Callable[[], Mapping[str, Callable]]) -> Parameter:
    """Return a parameter that is one of some functions, which a file names."""

    def write(name: str, value: Any) -> str:
        for key, each in find().items():
            if each is value:
                return key
        raise ModelFormatError(
            f"{name}={short(value)} is code, which a file cannot hold: only {', '.join(find())} "
            "can be written by their names. Set one of them by set_params: it changes training "
            "only."
        )

    def read(name: str, value: Any) -> Callable:
        functions = find()
        if not isinstance(value, str) or value not in functions:
            raise ModelFormatError(f"{name}={short(value)} is not one of {', '.join(functions)}.")
        return functions[value]

    return Parameter(callable, write, read)
