import numpy as np
import oracles
import pytest
from conftest import close, unit
from hypothesis import given
from hypothesis import strategies as st

from kerndict.core.sweep import sweep, update_atom


def state(seed, r=9, n=6, N=14, density=0.4):
    """Return Y, D, X of a class whose atoms are all in use."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, N)) * (rng.random((n, N)) < density)
    X[:, 0] = 1.0
    return rng.standard_normal((r, N)), np.asfortranarray(unit(rng.standard_normal((r, n)))), X


def run(Y, D, X, exact, uaksvd, gamma=0.0, values=None, P=None, eigenvalues=None, fresh=None):
    """Call the sweep as learn.py does, on copies."""
    r, n = D.shape
    D, X = D.copy(order="F"), X.copy()
    E = np.asfortranarray(Y - D @ X)
    shift = 2 * gamma * values if values is not None else np.zeros(r)
    repulsion = 2 * gamma * P @ D if P is not None else np.zeros((r, n))
    eigenvalues = np.ones(r) if eigenvalues is None else eigenvalues
    fresh = np.empty((r, 0)) if fresh is None else fresh
    repulsion, Y, fresh = (np.ascontiguousarray(Z.T) for Z in (repulsion, Y, fresh))
    sweep(E.T, D.T, X, exact, shift, repulsion, eigenvalues, uaksvd, Y, fresh)
    return E, D, X


@pytest.mark.parametrize("uaksvd", [False, True])
@pytest.mark.parametrize("gamma", [0.0, 0.3, 5.0])
def test_exact_sweep_equals_the_textbook(gamma, uaksvd):
    Y, D, X = state(0)
    values = np.random.default_rng(1).random(9)
    E, D_new, X_new = run(Y, D, X, True, uaksvd, gamma, values=values)
    expected = oracles.sweep(np.eye(9), Y, D, X, np.diag(values), gamma, True, uaksvd)
    close(D_new, expected[0])
    close(X_new, expected[1])
    close(E, Y - D_new @ X_new)
    close(np.sum(D_new**2, axis=0), np.ones(6))


@pytest.mark.parametrize("uaksvd", [False, True])
@pytest.mark.parametrize("gamma", [0.0, 0.3, 5.0])
def test_power_sweep_equals_the_textbook(gamma, uaksvd):
    Y, D, X = state(2)
    W = np.random.default_rng(3).standard_normal((9, 12))
    E, D_new, X_new = run(Y, D, X, False, uaksvd, gamma, P=W @ W.T)
    expected = oracles.sweep(np.eye(9), Y, D, X, W @ W.T, gamma, False, uaksvd)
    close(D_new, expected[0])
    close(X_new, expected[1])
    close(E, Y - D_new @ X_new)


@pytest.mark.parametrize("uaksvd", [False, True])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("gamma", [0.0, 0.3, 5.0])
def test_whitened_sweep_equals_algorithm_2(gamma, exact, uaksvd):
    rng = np.random.default_rng(4)
    N, n = 9, 6
    K = np.cov(rng.standard_normal((N, 40)))
    w, V = np.linalg.eigh(K)
    R = np.sqrt(w)[:, None] * V.T
    A = rng.standard_normal((N, n))
    A /= np.sqrt(np.sum(A * (K @ A), axis=0))
    X = state(5, r=N, n=n, N=N)[2]
    K_hat = rng.standard_normal((15, N))
    expected = oracles.sweep(K, np.eye(N), A, X, K_hat.T @ K_hat, gamma, exact, uaksvd)

    whitened = K_hat @ V / np.sqrt(w)
    P = whitened.T @ whitened
    if exact:
        values, B = np.linalg.eigh(P)
        D = np.asfortranarray(B.T @ R @ A)
        _, D, X = run(B.T @ R, D, X, True, uaksvd, gamma, values=values)
        D = B @ D
    else:
        _, D, X = run(R, np.asfortranarray(R @ A), X, False, uaksvd, gamma, P=P, eigenvalues=w)
    close(V / np.sqrt(w) @ D, expected[0])
    close(X, expected[1])


@given(
    seed=st.integers(0, 10**6),
    r=st.integers(1, 8),
    N=st.integers(1, 10),
    gamma=st.sampled_from([0.0, 1e-3, 0.1, 1.0, 10.0, 1e4]),
)
def test_exact_step_is_the_closed_form_or_keeps_an_atom_that_is_better(seed, r, N, gamma):
    rng = np.random.default_rng(seed)
    F, x = rng.standard_normal((r, N)), rng.standard_normal(N)
    a = unit(rng.standard_normal((r, 1)))[:, 0]
    values = rng.random(r) * 10.0 ** rng.integers(-4, 4)
    P, eye = np.diag(values), np.eye(r)
    before = oracles.atom_objective(eye, F, a, x, P, gamma)
    closed = oracles.exact_atom(eye, F, x, P, gamma)
    # (12), not yet normalised, does not raise (8) at fixed coefficients ...
    assert oracles.atom_objective(eye, F, closed, x, P, gamma) <= before * (1 + 1e-9) + 1e-12

    D, X = np.asfortranarray(a[:, None]), x[None].copy()
    E = np.asfortranarray(F - np.outer(a, x))
    zeros = np.zeros((1, r))
    update_atom(E.T, D.T, X, 0, True, 2 * gamma * values, zeros, np.ones(r), False)
    # ... and what the step makes of it does not either, coefficients updated.
    after = oracles.atom_objective(eye, F, D[:, 0], X[0], P, gamma)
    assert after <= before * (1 + 1e-9) + 1e-12
    close(X[0], F.T @ D[:, 0])
    normalised = closed / np.linalg.norm(closed)
    rivals = [oracles.atom_objective(eye, F, d, F.T @ d, P, gamma) for d in (normalised, a)]
    chosen = normalised if rivals[0] <= before else a
    if abs(rivals[0] - before) > 1e-9 * before:
        close(D[:, 0], chosen, 1e-6)


def test_unused_atoms_take_the_worst_represented_signals_in_turn():
    Y, D, X = state(6, n=5)
    X[1:] = 0
    E, D_new, X_new = run(Y, D, X, True, False)
    assert not X_new[1:].any()
    worst = np.argsort(-np.sum(E**2, axis=0))[:4]
    close(D_new[:, 1:], unit(Y[:, worst]))
    close(E, Y - D_new @ X_new)


def test_unused_atoms_beyond_the_signals_start_over_and_skip_zero_signals():
    Y, D, X = state(7, n=6, N=3)
    Y[:, 1] = 0
    X[:, 1] = 0
    X[1:] = 0
    _, D_new, _ = run(Y, D, X, True, False)
    signals = unit(Y[:, [0, 2]])
    for atom in D_new[:, 1:].T:
        assert np.isclose(np.abs(signals.T @ atom), 1).any()
    close(D_new[:, 1], D_new[:, 3])
    close(D_new[:, 2], D_new[:, 4])


def test_unused_atoms_take_fresh_ones_when_given():
    Y, D, X = state(8)
    X[[1, 4]] = 0
    fresh = unit(np.random.default_rng(0).standard_normal((9, 2)))
    _, D_new, X_new = run(Y, D, X, False, False, fresh=fresh)
    np.testing.assert_array_equal(D_new[:, [1, 4]], fresh)
    assert not X_new[[1, 4]].any()


def test_a_class_of_zeros_is_left_alone():
    Y, D, X = state(9)
    E, D_new, X_new = run(0 * Y, D, 0 * X, True, False)
    np.testing.assert_array_equal(D_new, D)
    assert not E.any()
    assert not X_new.any()


def test_a_step_that_vanishes_keeps_its_atom():
    D, X = np.asfortranarray([[1.0], [0.0]]), np.array([[2.0]])
    Y = np.zeros((2, 1))  # F x = 0
    E, D_new, X_new = run(Y, D, X, True, False)
    np.testing.assert_array_equal(D_new, D)
    np.testing.assert_array_equal(X_new, [[0.0]])
    np.testing.assert_array_equal(E, Y)
