import numpy as np
import oracles
import pytest
from conftest import TOLERANCE, close, unit
from hypothesis import given
from hypothesis import strategies as st

from kerndict.core.omp import dense_codes, omp_energies


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
