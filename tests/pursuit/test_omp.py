import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import oracles
import pytest
from conftest import TOLERANCE, close, run_python, unit, use_loops
from hypothesis import given
from hypothesis import strategies as st

from kerndict.pursuit import dense_codes, omp_codes, omp_energies
from kerndict.pursuit.choice import loops
from kerndict.pursuit.given import prepare


@pytest.fixture(scope="module", params=["packed", "plain"], autouse=True)
def kind(request):
    """Run every test on packed vectors and on ordinary loops."""
    with use_loops(request.param):
        yield


def problem(seed, m, n, N, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, N)).astype(dtype), unit(rng.standard_normal((m, n))).astype(
        dtype
    )


def codes(Y, D, s):
    return dense_codes(Y.T @ D, D.T @ D, s)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("m", "n", "s"), [(20, 30, 1), (20, 30, 6), (40, 12, 12), (50, 80, 20)])
def test_codes_equal_the_textbook(m, n, s, dtype):
    Y, D = problem(0, m, n, 25, dtype)
    expected = oracles.omp(Y.astype(float), D.astype(float), s)
    actual = codes(Y, D, s)
    assert actual.dtype == dtype
    np.testing.assert_array_equal(actual != 0, expected != 0)
    close(actual, expected, TOLERANCE[dtype])


@given(
    seed=st.integers(0, 10**6),
    m=st.integers(1, 12),
    n=st.integers(1, 15),
    s=st.integers(1, 20),
    rank=st.integers(1, 12),
    copies=st.booleans(),
)
def test_any_dictionary_gives_least_squares_on_an_independent_support(seed, m, n, s, rank, copies):
    rng = np.random.default_rng(seed)
    D = rng.standard_normal((m, min(rank, m))) @ rng.standard_normal((min(rank, m), n))
    if copies:
        D[:, n // 2 :] = D[:, : n - n // 2]
    D *= 10.0 ** rng.integers(-2, 3, n)  # norms far from 1
    Y = rng.standard_normal((m, 4))
    X = codes(Y, D, s)
    energies = omp_energies(Y.T @ D, D.T @ D, s)
    assert ((X != 0).sum(axis=0) <= min(s, n, rank, m)).all()
    for y, x, energy in zip(Y.T, X.T, energies, strict=True):
        support = np.flatnonzero(x)
        fit = D[:, support] @ x[support]
        best = D[:, support] @ np.linalg.lstsq(D[:, support], y, rcond=None)[0]
        np.testing.assert_allclose(fit, best, atol=1e-5 * np.linalg.norm(y))
        rest = y @ y - np.sum((y - fit) ** 2)
        np.testing.assert_allclose(energy, rest, rtol=0, atol=1e-7 * (y @ y))


def test_energies_are_what_the_codes_explain():
    Y, D = problem(1, 30, 40, 50)
    rest = Y - D @ codes(Y, D, 8)
    close(omp_energies(Y.T @ D, D.T @ D, 8), np.sum(Y**2, axis=0) - np.sum(rest**2, axis=0))


def test_all_atoms_are_least_squares():
    Y, D = problem(2, 30, 10, 5)
    close(codes(Y, D, 10), np.linalg.lstsq(D, Y, rcond=None)[0])


def test_swapping_atoms_swaps_coefficients():
    Y, D = problem(3, 20, 15, 10)
    order = np.random.default_rng(0).permutation(15)
    close(codes(Y, D[:, order], 5), codes(Y, D, 5)[order])


@pytest.mark.parametrize(
    ("dtype", "scales"),
    [(np.float64, [1e-100, 1e-30, 1e100]), (np.float32, [1e-15, 1e-8, 1e15])],
)
def test_scaled_correlations_keep_their_supports(dtype, scales):
    Y, D = problem(4, 30, 40, 20, dtype)
    D[:, 7] = D[:, 3]
    Y[:, 0] = 2 * D[:, 5]  # one atom explains all of it
    expected = codes(Y, D, 12)
    for scale in scales:
        B = (Y.T @ D) * dtype(scale)
        actual = dense_codes(B, D.T @ D, 12)
        np.testing.assert_array_equal(actual != 0, expected != 0)
        close(actual / dtype(scale), expected, TOLERANCE[dtype])
        energies = omp_energies(B, D.T @ D, 12) / dtype(scale) / dtype(scale)
        close(energies, omp_energies(Y.T @ D, D.T @ D, 12), TOLERANCE[dtype])


def test_scaled_atoms_keep_what_they_explain():
    # Gram matrices down to 1e-80 and up to 1e80: thresholds are relative to the atoms.
    Y, D = problem(5, 20, 30, 10)
    for scale in (1e-40, 1e40):
        close(codes(Y, D * scale, 6) * scale, codes(Y, D, 6))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nothing_is_selected_beyond_the_signal(dtype):
    _, D = problem(6, 60, 40, 1, dtype)
    weights = np.zeros((40, 3), dtype)
    weights[[3, 8, 20], [0, 1, 1]] = 1, 1, -2
    X = codes(D @ weights, D, 20)
    np.testing.assert_array_equal(X != 0, weights != 0)
    close(X, weights, TOLERANCE[dtype])
    assert not X[:, 2].any()  # the zero signal


def test_a_duplicate_is_never_selected_beside_its_twin():
    Y, D = problem(7, 10, 8, 20)
    X = codes(Y, np.hstack([D, D]), 16)
    assert not (X[8:] != 0).any()  # ties go to the first atom
    close(X[:8], codes(Y, D, 8))


def test_zero_atoms_are_never_selected():
    Y, D = problem(8, 10, 8, 20)
    D[:, 2] = 0
    X = codes(Y, D, 8)
    assert not X[2].any()
    close(np.delete(X, 2, axis=0), codes(Y, np.delete(D, 2, axis=1), 7))


@given(seed=st.integers(0, 10**6), n=st.integers(1, 90), s=st.integers(1, 12), scaled=st.booleans())
def test_random_dictionaries_give_the_codes_of_the_textbook(seed, n, s, scaled):
    rng = np.random.default_rng(seed)
    D = unit(rng.standard_normal((30, n)))
    if scaled:
        D *= 10.0 ** rng.uniform(-1, 1, n)
    Y = rng.standard_normal((30, 3))
    close(codes(Y, D, s), oracles.omp(Y, D, s))


def mixed(dtype, n=43):
    """Return signals that stop early, tie, meet dependent atoms, or go all the way."""
    Y, D = problem(9, 25, n, 23, dtype)
    D[:, 7] = D[:, 3]
    D[:, 11] = D[:, 4] * dtype(1 + 1e-7)
    D[:, 12] = 0
    Y[:, 2] = 0
    Y[:, 5] = 3 * D[:, 7]
    Y[:, 8] = D[:, 1] - D[:, 20]
    Y[:, 22] = D[:, 4]
    return Y.T @ D, (D.T.astype(float) @ D.astype(float)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_code_does_not_depend_on_its_neighbours(dtype):
    B, G = mixed(dtype)
    whole = [*omp_codes(B, G, 9), omp_energies(B, G, 9)]
    order = np.random.default_rng(0).permutation(len(B))
    for rows in ([0], [5, 2], slice(1, None), slice(None, None, -1), order, np.repeat(order, 2)):
        for part in (B[rows], np.asfortranarray(B[rows]), B.repeat(2, axis=1)[rows, ::2]):
            some = [*omp_codes(part, G, 9), omp_energies(part, G, 9)]
            for actual, expected in zip(some, whole, strict=True):
                np.testing.assert_array_equal(actual, expected[rows])


def test_a_code_does_not_depend_on_threads():
    B, G = mixed(np.float64)
    expected = omp_codes(B, G, 9)
    with ThreadPoolExecutor(4) as pool:
        for codes in pool.map(lambda _: omp_codes(B, G, 9), range(40)):
            for a, b in zip(codes, expected, strict=True):
                np.testing.assert_array_equal(a, b)


def test_supports_ascend():
    B, G = mixed(np.float64)
    counts, supports, values = omp_codes(B, G, 9)
    assert counts.min() == 0
    assert counts.max() == 9
    for count, support, value in zip(counts, supports, values, strict=True):
        assert (np.diff(support[:count]) > 0).all()
        assert value[:count].all()
        assert not value[count:].any()


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 60),
    s=st.integers(1, 15),
    rank=st.integers(1, 12),
    shift=st.sampled_from([0, 1e-14, 1e-9]),
    scaled=st.booleans(),
    possible=st.booleans(),
)
def test_ties_and_dependent_atoms_go_as_documented(seed, n, s, rank, shift, scaled, possible):
    # Small integers: many atoms tie, exactly or nearly, and many are dependent.  Correlations
    # that no signal has let dependent atoms be the highest.
    rng = np.random.default_rng(seed)
    D = rng.integers(-1, 2, (rank, n)) * (2.0 ** rng.integers(-3, 4, n) if scaled else 1.0)
    b = rng.integers(-9, 10, rank) @ D if possible else rng.integers(-9, 10, n).astype(float)
    b *= 1 + shift * rng.standard_normal(n)
    counts, supports, _ = omp_codes(b[None], D.T @ D, s)
    assert set(supports[0, : counts[0]]) == set(oracles.gram_omp(b, D.T @ D, s))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 7, 8, 16, 40, 48, 65])
@pytest.mark.parametrize("by_columns", [False, True])
def test_what_lies_behind_the_arrays_changes_nothing_and_stays(n, dtype, by_columns):
    Y, D = problem(10, 70, n, 3, dtype)
    B, G, s = Y.T @ D, D.T @ D, min(5, n)
    expected = [*omp_codes(B, G, s), omp_energies(B, G, s)]

    def inside(array):
        """Return the same numbers, contiguous, in the midst of infinities."""
        fill = np.inf if array.dtype.kind == "f" else 999
        space = np.full(array.size + 160, fill, array.dtype)
        spaces.append((space, array.size))
        found = space[80 : 80 + array.size].reshape(array.shape)
        found[:] = array
        return found

    spaces = []
    # Of each signal, the correlations with other atoms follow at once.
    wide = np.full((3, n + 40), np.inf, dtype)
    wide[:, :n] = B
    given = prepare(B, G, s)._replace(B=inside(wide.reshape(-1)), row=n + 40, G=inside(G))
    if by_columns:
        given = given._replace(B=inside(B.T.reshape(-1)), row=1, step=3)
    results = [inside(np.zeros_like(array)) for array in expected]
    loops("codes", given.B.dtype)(given, *results[:3])
    loops("energies", given.B.dtype)(given, results[3])
    for actual, want in zip(results, expected, strict=True):
        np.testing.assert_array_equal(actual, want)
    for space, size in spaces:
        around = np.r_[space[:80], space[80 + size :]]
        assert (around == space[0]).all()


#: Arrays that end where memory ends: to read or write behind one of them ends the process.
AT_THE_END_OF_MEMORY = """
import ctypes, mmap
import numpy as np
from kerndict.pursuit.choice import loops
from kerndict.pursuit.given import prepare

def at_the_end(array):
    room = -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, room + mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    assert protect(ctypes.c_void_p(address + room), mmap.PAGESIZE, 0) == 0
    found = np.frombuffer(memory, array.dtype, array.size, room - array.nbytes)
    found = found.reshape(array.shape)
    found[:] = array
    return found

rng = np.random.default_rng(0)
for dtype in (np.float64, np.float32):
    for n in (1, 7, 8, 16, 40, 48, 65):
        D = rng.standard_normal((70, n)).astype(dtype)
        B, G, s = rng.standard_normal((3, 70)).astype(dtype) @ D, D.T @ D, min(5, n)
        given = prepare(at_the_end(B), at_the_end(G), s)
        integers = np.zeros((3, s), np.int32)
        results = [integers[:, 0].copy(), integers, np.zeros((3, s), dtype)]
        loops("codes", B.dtype)(given, *map(at_the_end, results))
        loops("energies", B.dtype)(given, at_the_end(np.zeros(3, dtype)))
print("done")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no mprotect")
def test_nothing_behind_the_arrays_is_read_or_written():
    assert run_python(AT_THE_END_OF_MEMORY) == "done\n"


@given(seed=st.integers(0, 10**6), n=st.integers(1, 30), dtype=st.sampled_from("fd"))
def test_numbers_that_are_none_end_the_pursuit(seed, n, dtype):
    rng = np.random.default_rng(seed)
    odd = np.array([0, 1, -1, 3, 1e30, -1e30, np.inf, -np.inf, np.nan], dtype)
    B, G = rng.choice(odd, (2, n)), rng.choice(odd, (n, n))
    counts, supports, _ = omp_codes(B, G, 5)
    for count, support in zip(counts, supports, strict=True):
        assert len(set(support[:count])) == count <= 5
