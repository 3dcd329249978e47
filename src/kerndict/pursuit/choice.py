"""Packed vectors where they work, ordinary loops elsewhere.

Packed vectors are built from the internals of numba, which may change, and have been tried on few
kinds of processors.  So each function is tried once in every process, with each precision, when
it is first needed: on a small problem whose answer is known.  The trial compiles or loads what
is about to be used anyway, and takes no time beyond that.

The environment variable ``KERNDICT_LOOPS`` decides instead: ``packed`` or ``plain``.
"""

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module

import numba
import numpy as np

from kerndict._warn import warn_user
from kerndict.pursuit.given import prepare


@cache
def loops(name: str, dtype: np.dtype) -> Callable:
    """Return the function of that name, ``codes``, ``energies`` or ``gram``, for a precision."""
    wanted = os.environ.get("KERNDICT_LOOPS", "")
    if wanted not in ("", "packed", "plain"):
        raise ValueError(f"KERNDICT_LOOPS={wanted!r} is neither 'packed' nor 'plain'.")
    if wanted == "plain":
        return _function("plain", name)
    try:
        function = _function("packed", name)
        _TRIALS[name](function, dtype)
    except MemoryError:
        raise
    except Exception as error:
        if wanted == "packed":
            raise
        warn_user(
            f"The packed vectors of kerndict do not work with numba {numba.__version__} on this "
            f"machine ({type(error).__name__}: {error}). Ordinary loops are used: they are slower.",
            RuntimeWarning,
        )
        return _function("plain", name)
    return function


def _function(loops: str, name: str) -> Callable:
    return getattr(import_module(f"kerndict.pursuit.{loops}"), name)


def _problem(dtype: np.dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return codes of two signals, and their correlations with the atoms and those among these.

    There are more atoms than a tile has, and not a whole number of vectors.
    """
    n = 90
    G = np.eye(n) + 0.25 * (np.eye(n, k=1) + np.eye(n, k=-1))
    X = np.zeros((n, 2))
    X[[3, 4, 47, 88], 0] = -4, 1, 2, 0.5
    X[[0, 89], 1] = 1, 2
    return X.astype(dtype), (X.T @ G).astype(dtype), G.astype(dtype)


def _try_codes(function: Callable, dtype: np.dtype) -> None:
    X, B, G = _problem(dtype)
    counts, supports = np.zeros(2, np.int32), np.zeros((2, 6), np.int32)
    values = np.zeros((2, 6), dtype)
    function(prepare(B, G, 6), counts, supports, values)
    for x, count, support, value in zip(X.T, counts, supports, values, strict=True):
        atoms = np.flatnonzero(x)
        _expect(support[:count], atoms)
        _expect(value[:count], x[atoms])


def _try_energies(function: Callable, dtype: np.dtype) -> None:
    X, B, G = _problem(dtype)
    explained = np.zeros(2, dtype)
    function(prepare(B, G, 6), explained)
    _expect(explained, np.sum(X * B.T, axis=0))


def _try_gram(function: Callable, dtype: np.dtype) -> None:
    M = np.arange(5 * 17, dtype=dtype).reshape(5, 17)
    _expect(function(M), M.T @ M)


_TRIALS = {"codes": _try_codes, "energies": _try_energies, "gram": _try_gram}


def _expect(found: np.ndarray, expected: np.ndarray) -> None:
    if found.shape != expected.shape or not np.allclose(found, expected, rtol=1e-5):
        raise ArithmeticError(f"{found} instead of {expected}")
