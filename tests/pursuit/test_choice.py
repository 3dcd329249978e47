"""Packed vectors where they work, ordinary loops elsewhere."""

import sys

import numpy as np
import pytest
from conftest import TOLERANCE, close, unit, use_loops

from kerndict.pursuit import NARROW, choice, narrow_gram, omp_codes, omp_energies, packed, plain

DTYPES = [np.float64, np.float32]


@pytest.fixture(autouse=True)
def undecided(monkeypatch):
    monkeypatch.delenv("KERNDICT_LOOPS", raising=False)
    choice.loops.cache_clear()
    yield
    choice.loops.cache_clear()


def problem(dtype):
    rng = np.random.default_rng(0)
    D = unit(rng.standard_normal((30, 97))).astype(dtype)
    return rng.standard_normal((21, 30)).astype(dtype) @ D, D.T @ D


@pytest.mark.parametrize("dtype", DTYPES)
def test_packed_vectors_work_here(dtype):
    for name in ("codes", "energies"):
        assert choice.loops(name, np.dtype(dtype)) is getattr(packed, name)
    assert choice.loops("gram", np.dtype(np.float64)) is packed.gram


@pytest.mark.parametrize("dtype", DTYPES)
def test_both_kinds_of_loops_agree(dtype):
    B, G = problem(dtype)
    found = {}
    for kind in ("packed", "plain"):
        with use_loops(kind):
            found[kind] = *omp_codes(B, G, 9), omp_energies(B, G, 9)
    for one, other in zip(found["packed"][:2], found["plain"][:2], strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(found["packed"][2:], found["plain"][2:], strict=True):
        close(one, other, TOLERANCE[dtype])


@pytest.mark.parametrize("kind", ["packed", "plain"])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (2, 16), (40, 17), (9, NARROW)])
def test_narrow_gram(kind, shape):
    M = np.random.default_rng(0).standard_normal(shape)
    with use_loops(kind):
        close(narrow_gram(M), M.T @ M)
        close(narrow_gram(np.asfortranarray(M)), M.T @ M)


def broken(*_):
    raise AttributeError("numba has changed")


def wrong(given, *results):
    results[-1][:] = 1


@pytest.mark.parametrize(
    ("function", "reason"), [(broken, "numba has changed"), (wrong, "instead")]
)
def test_ordinary_loops_take_over_with_a_warning(function, reason, monkeypatch):
    B, G = problem(np.float64)
    for name in ("codes", "energies"):
        monkeypatch.setattr(packed, name, function)
    for call, name in ((omp_codes, "codes"), (omp_energies, "energies")):
        with pytest.warns(RuntimeWarning, match=rf"(?s)do not work with numba.*{reason}.*slower"):
            call(B, G, 4)
        assert choice.loops(name, B.dtype) is getattr(plain, name)  # and says so once


def test_what_was_asked_for_is_used_or_fails(monkeypatch):
    monkeypatch.setattr(packed, "codes", broken)
    with use_loops("packed"), pytest.raises(AttributeError, match="numba has changed"):
        omp_codes(*problem(np.float64), 4)
    with use_loops("fast"), pytest.raises(ValueError, match="KERNDICT_LOOPS='fast'"):
        omp_codes(*problem(np.float64), 4)


def test_ordinary_loops_take_over_where_packed_vectors_cannot_even_be_imported(monkeypatch):
    B, G = problem(np.float64)
    expected = omp_codes(B, G, 4)
    choice.loops.cache_clear()
    monkeypatch.setitem(sys.modules, "kerndict.pursuit.packed", None)
    with pytest.warns(RuntimeWarning, match="ModuleNotFoundError"):
        found = omp_codes(B, G, 4)
    for one, other in zip(found, expected, strict=True):
        close(one, other)
