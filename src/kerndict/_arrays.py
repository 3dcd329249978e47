"""Arrays of any namespace: NumPy, torch, CuPy and others that follow the array API standard.

Code that runs where the data are takes its namespace from the arrays, ``xp = namespace(X)``, and
calls the functions of the standard.  Here is only what the standard lacks, or what NumPy has done
in another way, whose results must stay what they are to the last bit.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from typing import Any

import array_api_compat.numpy as host
import numpy as np
from array_api_compat import (
    array_namespace,
    device,
    is_array_api_obj,
    is_cupy_array,
    is_torch_array,
)
from numpy.typing import NDArray

__all__ = [
    "Array",
    "beside",
    "cast",
    "device",
    "entries",
    "eps",
    "host_dtype",
    "inner",
    "is_array_api_obj",
    "is_real",
    "less_entries",
    "memory_of_device",
    "moved",
    "namespace",
    "namespace_name",
    "on_host",
    "one_hot",
    "row_dots",
    "side_by_side",
    "solve_upper",
    "take",
    "to_host",
    "with_diagonal",
]

#: An array of any namespace.
Array = Any


def namespace(*arrays: Array) -> Any:
    """Return the module whose functions take these arrays."""
    if all(type(array) is np.ndarray for array in arrays):
        return host  # at once: a single row is decided on in a millisecond
    return array_namespace(*arrays)


def namespace_name(array: Array) -> str:
    """Return the name of the library that an array is of."""
    return namespace(array).__name__.replace("array_api_compat.", "").partition(".")[0]


def on_host(array: Array) -> bool:
    """Tell whether an array is one of NumPy."""
    return isinstance(array, (np.ndarray, np.generic)) or not is_array_api_obj(array)


def to_host(array: Array) -> NDArray:
    """Return an array as one of NumPy, a copy where it is none."""
    if on_host(array):
        return np.asarray(array)
    if is_torch_array(array):
        return array.detach().cpu().numpy()
    if is_cupy_array(array):
        return array.get()
    xp = namespace(array)
    if hasattr(xp, "Device"):  # array_api_strict has devices that NumPy cannot look into
        array = xp.asarray(array, device=xp.Device("CPU_DEVICE"))
    return np.asarray(array)


def beside(values: Array, array: Array, dtype: Any = None) -> Array:
    """Return values as an array where another one is, and of a precision, if given."""
    if on_host(array):
        return np.asarray(to_host(values), dtype)
    xp = namespace(array)
    if on_host(values):  # torch warns of arrays that cannot be written to, and takes no steps back
        values = np.array(values, order="C")
    return xp.asarray(values, dtype=dtype, device=device(array))


def moved(value: Any, convert: Callable[[Array], Array]) -> Any:
    """Return a value with every array of real numbers in it converted, once each.

    A value is an array, a list of such, a frozen dataclass with such fields, or something else,
    which stays.  Arrays of whole numbers steer, and stay on the host.
    """
    return _moved(value, convert, {})


def _moved(value: Any, convert: Callable[[Array], Array], known: dict[int, Array]) -> Any:
    if is_array_api_obj(value):
        if is_real(value) and id(value) not in known:
            known[id(value)] = convert(value)
        return known.get(id(value), value)
    if isinstance(value, list):
        return [_moved(item, convert, known) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        kept = [field.name for field in fields(value) if field.init]
        return replace(
            value, **{name: _moved(getattr(value, name), convert, known) for name in kept}
        )
    return value


def is_real(array: Array) -> bool:
    """Tell whether an array holds real numbers, neither whole ones nor labels."""
    return "float" in str(array.dtype)


def host_dtype(dtype: Any) -> np.dtype:
    """Return NumPy's name for a precision of any namespace."""
    return dtype if isinstance(dtype, np.dtype) else np.dtype(str(dtype).rpartition(".")[2])


def eps(dtype: Any) -> float | np.floating:
    """Return the distance from 1 to the next number of a precision."""
    found = np.finfo(host_dtype(dtype)).eps
    return found if isinstance(dtype, np.dtype) else float(found)


def at_least(X: Array, low: float | np.floating) -> Array:
    """Return numbers, ``low`` in the place of smaller ones; what is no number stays."""
    return np.maximum(X, low) if on_host(X) else namespace(X).where(low > X, low, X)


def at_most(X: Array, high: float) -> Array:
    """Return numbers, ``high`` in the place of larger ones; what is no number stays."""
    return np.minimum(X, high) if on_host(X) else namespace(X).where(high < X, high, X)


def cast(array: Array, dtype: Any, *, copy: bool = True) -> Array:
    """Return an array in the precision of NumPy's name ``dtype``, or one of its own namespace."""
    if type(array) is np.ndarray:
        return array.astype(dtype, copy=copy)
    xp = namespace(array)
    if not on_host(array) and isinstance(dtype, (type, np.dtype)):
        dtype = getattr(xp, np.dtype(dtype).name)
    return xp.astype(array, dtype, copy=copy)


def take(array: Array, places: NDArray) -> Array:
    """Return some rows of an array; their places are on the host."""
    if on_host(array):
        return array[places]
    return namespace(array).take(array, beside(places, array), axis=0)


def row_dots(X: Array, Y: Array) -> Array:
    """Return ``x'y`` of every row of two arrays."""
    return np.einsum("ij,ij->i", X, Y) if on_host(X) else namespace(X).vecdot(X, Y, axis=-1)


def side_by_side(parts: Sequence[Array]) -> Array:
    """Return matrices behind one another, along the columns."""
    if len(parts) == 1 and not on_host(parts[0]):
        return parts[0]
    return namespace(*parts).concat(parts, axis=1)


def with_diagonal(array: Array, value: float) -> Array:
    """Return a matrix with the entries (i, i) set; the matrix itself on the host."""
    if on_host(array):
        np.fill_diagonal(array, value)
        return array
    rows, columns = (beside(np.arange(size), array) for size in array.shape)
    return namespace(array).where(rows[:, None] == columns, value, array)


def inner(X: Array, Y: Array) -> Array:
    """Return the sum of the products of all entries."""
    return np.vdot(X, Y) if on_host(X) else namespace(X).sum(X * Y)


def less_entries(X: Array, columns: NDArray, values: NDArray | Array) -> Array:
    """Return X with a value taken from one entry of each row; X itself on the host."""
    if on_host(X):
        X[np.arange(len(X)), columns] -= values
        return X
    xp, values = namespace(X), beside(values, X, X.dtype)
    return xp.where(one_hot(columns, X.shape[1], X), X - values[:, None], X)


def one_hot(columns: NDArray, count: int, like: Array) -> Array:
    """Return whether each of ``count`` columns is that of the row, beside another array."""
    places = beside(np.arange(count), like)
    return beside(columns, like)[:, None] == places


def entries(X: Array, columns: Array) -> Array:
    """Return one entry of each row; the columns are where X is."""
    if on_host(X):
        return X[np.arange(len(X)), columns]
    return namespace(X).take_along_axis(X, columns[:, None], axis=1)[:, 0]


def solve_upper(R: Array, B: Array, *, transposed: bool = False) -> Array:
    """Return ``R^-1 B`` or ``R^-T B`` for an upper triangular R."""
    if on_host(R):
        from scipy.linalg import solve_triangular

        return solve_triangular(R, B, trans="T" if transposed else "N", check_finite=False)
    return namespace(R).linalg.solve(R.T if transposed else R, B)


@contextmanager
def memory_of_device(remedy: str) -> Iterator[None]:
    """Turn the errors of libraries whose device has no memory left into a MemoryError."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "OutOfMemoryError":
            raise
        raise MemoryError(f"the device has no memory left: {remedy}") from error
