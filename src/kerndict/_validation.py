"""Checks of parameters: each error names the parameter, the value and the remedy."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: More threads than any machine has cores: a slip, which would start them all.
MAX_JOBS = 1024


def check_count(name: str, value: Any, minimum: int) -> int:
    """Return an integer of at least ``minimum``."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name}={value!r} is not an integer: give a whole number >= {minimum}.")
    if value < minimum:
        raise ValueError(f"{name}={value!r} is too small: give a whole number >= {minimum}.")
    return int(value)


def check_jobs(value: Any) -> None:
    """Check a number of threads as joblib counts them: None, or not 0; -1 is all cores."""
    if value is None:
        return
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"n_jobs={value!r} is not an integer: give a number of threads, or None.")
    if not 1 <= abs(int(value)) <= MAX_JOBS:
        raise ValueError(
            f"n_jobs={value!r} is not a number of threads: give 1 to {MAX_JOBS}, -1 for all "
            "cores, or None."
        )


def check_atoms(value: Any) -> None:
    """Check atoms per class: None, a count, or a share of the class in (0, 1]."""
    if value is None or (isinstance(value, Integral) and not isinstance(value, bool)):
        if value is not None:
            check_count("n_atoms", value, 1)
    elif not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(
            f"n_atoms={value!r} is not a number: give a whole number >= 1, a share "
            "of the class in (0, 1], or None."
        )
    elif not 0 < float(value) <= 1:
        raise ValueError(
            f"n_atoms={value!r} is neither a whole number >= 1 nor a share of the class in (0, 1]."
        )


def check_real(name: str, value: Any, minimum: float = -np.inf, *, strict: bool = False) -> float:
    """Return a finite number of at least ``minimum``, or above it when ``strict``."""
    bound = "" if minimum == -np.inf else f" {'>' if strict else '>='} {minimum:g}"
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name}={value!r} is not a number: give a finite number{bound}.")
    number = float(value)
    if not np.isfinite(number) or number < minimum or (strict and number == minimum):
        raise ValueError(f"{name}={value!r} is out of range: give a finite number{bound}.")
    return number


def check_degree(value: Any) -> int:
    """Return the degree of a polynomial kernel; integral floats are accepted."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"degree={value!r} is not a number: give a whole number >= 1.")
    if not float(value).is_integer() or value < 1:
        raise ValueError(f"degree={value!r} is out of range: give a whole number >= 1.")
    return int(float(value))


def check_choice(name: str, value: Any, choices: Sequence[str], other: str = "") -> str:
    """Return one of the known names; ``other`` says what else would be accepted."""
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name}={value!r} is not known: use one of {known}{other}.")
    return value


def check_init_arrays(init: Any, shapes: Sequence[tuple[int, int]]) -> list[NDArray]:
    """Return the initial dictionaries, one of the given shape per class."""
    if not isinstance(init, (Sequence, np.ndarray)):
        raise TypeError(
            f"init={init!r} is not known: use 'pivoted', 'samples', 'random' or a sequence of "
            "arrays, one per class in the order of classes_."
        )
    if len(init) != len(shapes):
        raise ValueError(
            f"init has {len(init)} arrays for {len(shapes)} classes: give one per class, in "
            "the order of classes_."
        )
    arrays = []
    for i, (item, shape) in enumerate(zip(init, shapes, strict=True)):
        try:
            array = np.asarray(item)
            if array.dtype.kind not in "fiu":
                raise TypeError(f"its type is {array.dtype}")
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"init[{i}] is not an array of numbers: {error}.") from error
        if array.shape != shape:
            raise ValueError(
                f"init[{i}] has shape {array.shape}: class {i} needs {shape}, one column per atom."
            )
        if not np.all(np.isfinite(array)):
            raise ValueError(f"init[{i}] holds NaN or infinity: give finite atoms.")
        arrays.append(array)
    return arrays


def check_groups(groups: Any, n_samples: int) -> NDArray | None:
    """Return the group of every sample as a number, or None."""
    if groups is None:
        return None
    array = np.asarray(groups)
    if array.shape != (n_samples,):
        raise ValueError(
            f"groups has shape {array.shape} for {n_samples} samples: give the group of each, "
            f"shape ({n_samples},)."
        )
    return np.unique(array, return_inverse=True)[1]


def check_diagonal(diagonal: Any, n_samples: int, dtype: Any) -> NDArray:
    """Return k(y, y) of n_samples rows."""
    try:
        array = np.asarray(diagonal, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(f"diagonal is not an array of numbers: {error}.") from error
    if array.shape != (n_samples,):
        raise ValueError(
            f"diagonal has shape {array.shape} for {n_samples} samples: give k(y, y) of each "
            f"row, shape ({n_samples},)."
        )
    if not np.all(np.isfinite(array)) or np.any(array < 0):
        bad = array[~(np.isfinite(array) & (array >= 0))][0]
        raise ValueError(f"diagonal holds {bad:g}: give k(y, y) of each row, finite and >= 0.")
    return array
