from inspect import isfunction

import numpy as np
import plain_vectors as plain
import pytest
from conftest import close
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from kerndict.pursuit import omp_codes
from kerndict.pursuit.packed import loops, products, workspace
from kerndict.pursuit.packed import vectors as packed

PRIMITIVES = {name for name, function in vars(plain).items() if isfunction(function)}


def programs(v):
    """Return one small function per primitive, on the packed or on the plain ones."""
    at, aligned, load, spread, store = v.at, v.aligned, v.load, v.spread, v.store
    times, fma, magnitude, upper, largest = v.times, v.fma, v.magnitude, v.upper, v.largest
    first_from = v.first_from

    def copy(x, y, out, i, a):
        store(at(out, 1), i, load(at(at(x, 1), 1), i, 3))

    def fill(x, y, out, i, a):
        store(at(out, 0), i, spread(a, 2))

    def product(x, y, out, i, a):
        store(at(out, 0), i, times(a, load(at(x, 0), i, 5)))

    def combination(x, y, out, i, a):
        store(at(out, 0), i, fma(load(at(x, 0), i, 5), a, load(at(y, 0), 0, 5)))

    def scalar(x, y, out, i, a):
        out[0] = fma(a, a, a)

    def sizes(x, y, out, i, a):
        store(at(out, 0), 0, magnitude(load(at(x, 0), i, 1)))

    def top(x, y, out, i, a):
        lanes = upper(load(at(x, 0), i, 5), spread(a, 1))
        store(at(out, 1), 0, lanes)
        out[0] = largest(lanes)

    def place(x, y, out, i, a):
        out[0] = first_from(load(at(x, 0), i, 1), a)
        out[1] = first_from(load(at(x, 0), i, 2), a)
        out[2] = first_from(load(at(x, 0), i, 4), a)
        out[3] = first_from(load(at(x, 0), i, 5), load(at(y, 0), 0, 5))

    def boundary(x, y, out, i, a):
        start = aligned(x)
        out[0] = start[0]

    return (copy, fill, product, combination, scalar, sizes, top, place, boundary)


COMPILED = [njit(program) for program in programs(packed)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@given(seed=st.integers(0, 10**6), i=st.integers(0, 9), a=st.floats(-2, 2), holes=st.booleans())
def test_packed_vectors_equal_plain_ones(dtype, seed, i, a, holes):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((2, 128)).astype(dtype)
    if holes:
        x[rng.random(128) < 0.3] = np.nan
    for compiled, program in zip(COMPILED, programs(plain), strict=True):
        actual, expected = np.zeros((2, 128), dtype)
        compiled(x, y, actual, i, dtype(a))
        program(x, y, expected, i, dtype(a))
        tolerance = 4 * np.finfo(dtype).eps
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


@pytest.fixture
def interpreted(monkeypatch):
    """Return a function that lets Python run the packed loops, where it sees the end of arrays."""

    def replace():
        for module in (workspace, loops, products):
            for name, function in vars(module).copy().items():
                if name in PRIMITIVES:
                    monkeypatch.setattr(module, name, getattr(plain, name))
                elif hasattr(function, "py_func"):
                    monkeypatch.setattr(module, name, function.py_func)

    return replace


@pytest.mark.parametrize("n", [3, 8, 41])
def test_the_pursuit_on_plain_vectors_gives_the_same_codes(n, interpreted):
    rng = np.random.default_rng(n)
    D = rng.standard_normal((20, n))
    D[:, n // 2] = D[:, 0]
    Y = rng.standard_normal((20, 5))
    Y[:, 3] = 2 * D[:, 1]
    expected = omp_codes(Y.T @ D, D.T @ D, 6)
    interpreted()
    for actual, want in zip(omp_codes(Y.T @ D, D.T @ D, 6), expected, strict=True):
        np.testing.assert_allclose(actual, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rows", [1, 2, 19])
@pytest.mark.parametrize("n", [1, 7, 8, 17, 32])
def test_the_product_on_plain_vectors_reads_nothing_behind_its_matrix(rows, n, interpreted):
    M = np.random.default_rng(n).standard_normal((rows, n))
    interpreted()
    close(products.gram(M), M.T @ M)
