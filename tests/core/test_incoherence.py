import numpy as np
import pytest
from conftest import close, unit

from kerndict.core import incoherence
from kerndict.core.incoherence import OuterSum, krylov_eigenbasis, orthonormal
from kerndict.core.linear import LinearProblem


def dictionaries(m, n, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    return [unit(rng.standard_normal((m, n))) for _ in range(n_classes)]


@pytest.mark.parametrize("m", [10, 100])  # S as a matrix, S as a product
def test_running_sum_follows_the_dictionaries(m):
    D = dictionaries(m, 4, 5)
    S = OuterSum(D)
    for seed in range(3):
        D[seed] = dictionaries(m, 4, 1, seed=seed + 7)[0]
        S.replace(seed, D[seed])
    W = np.random.default_rng(1).standard_normal((m, 6))
    for i in range(5):
        D_bar = np.hstack([D[k] for k in range(5) if k != i])
        close(S.penalty(i, W), D_bar @ D_bar.T @ W)
    pairs = [(i, k) for i in range(5) for k in range(5) if i != k]
    expected = sum(np.linalg.norm(D[i].T @ D[k]) ** 2 for i, k in pairs)
    assert np.isclose(S.coherence(), expected, rtol=1e-12)


@pytest.mark.parametrize("group", [1, 2, 3, 8])
@pytest.mark.parametrize("m", [10, 100])
def test_pulls_follow_whatever_comes_between(m, group, monkeypatch):
    monkeypatch.setattr(incoherence, "GROUP", group)
    rng = np.random.default_rng(group)
    D = [unit(rng.standard_normal((m, n))) for n in (4, 3, 5, 1, 4)]
    S = OuterSum(D)
    for step in range(60):
        i = step % 5 if step < 20 else rng.integers(5)  # passes, then any order
        D_bar = np.hstack([D[k] for k in range(5) if k != i])
        close(S.repulsion(i), D_bar @ (D_bar.T @ D[i]))
        if rng.random() < 0.2:
            close(S.penalty(i, D[i]), D_bar @ (D_bar.T @ D[i]))
        if rng.random() < 0.8:
            D[i] = unit(rng.standard_normal(D[i].shape))
            S.replace(i, D[i])


def test_orthogonal_dictionaries_have_no_coherence():
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((12, 12)))[0]
    assert 0 <= OuterSum([Q[:, :4], Q[:, 4:8], Q[:, 8:]]).coherence() < 1e-12


@pytest.mark.parametrize("distance", [0.0, 1e-9, 1e-6, 1e-3])
def test_orthonormal_columns_of_columns_that_are_nearly_equal(distance):
    rng = np.random.default_rng(0)
    W = unit(rng.standard_normal((40, 6)))
    W = np.hstack([W, W + distance * rng.standard_normal((40, 6))])
    Q = orthonormal(W)
    assert Q.shape[1] == (12 if distance > 1e-7 else 6)
    close(Q.T @ Q, np.eye(Q.shape[1]), 1e-14)
    close(Q @ (Q.T @ W), W, 1e-7)


def krylov_case(m, gamma):
    """Return what the linear problem hands to the Krylov space, and P."""
    rng = np.random.default_rng(0)
    D_bar = np.hstack(dictionaries(m, 20, 10, seed=1)) + 0.05  # a common direction, as in faces
    P = D_bar @ D_bar.T
    W = unit(rng.standard_normal((m, 30)) + 0.05)
    right = W @ rng.standard_normal((30, 20))
    return P, W, right, rng.uniform(0.5, 2, 20), gamma


@pytest.mark.parametrize("gamma", [1e-6, 1e-4])
def test_krylov_atoms_solve_the_whole_system(gamma):
    P, W, right, energies, gamma = krylov_case(300, gamma)
    B, values = krylov_eigenbasis(lambda V: P @ V, W, right, energies, gamma)
    assert B.shape[1] <= 90
    close(B.T @ B, np.eye(B.shape[1]))
    close(B.T @ P @ B, np.diag(values))
    close(B @ (B.T @ W), W)
    v = B @ ((B.T @ right) / (energies + 2 * gamma * values[:, None]))
    full = [
        np.linalg.solve(e * np.eye(300) + 2 * gamma * P, f)
        for e, f in zip(energies, right.T, strict=True)
    ]
    close(v, np.transpose(full), 1e-5)


def test_krylov_space_is_as_deep_as_the_residual_asks():
    sizes = []
    for gamma in (1e-12, 1e-6, 1.0):
        P, *rest = krylov_case(300, gamma)
        sizes.append(krylov_eigenbasis(P.__matmul__, *rest)[0].shape[1])
    assert sizes == [30, 60, 90]


@pytest.mark.parametrize("gamma", [1.0, 100.0])
def test_shallow_krylov_space_still_does_not_raise_the_objective(gamma):
    P, W, right, energies, gamma = krylov_case(300, gamma)
    B, values = krylov_eigenbasis(lambda V: P @ V, W, right, energies, gamma)
    v = B @ ((B.T @ right) / (energies + 2 * gamma * values[:, None]))

    def objective(v):  # (8) at fixed coefficients, less its constant
        return (
            energies * np.sum(v**2, 0)
            - 2 * np.sum(v * right, 0)
            + 2 * gamma * np.sum(v * (P @ v), 0)
        )

    for old in W[:, :20], np.zeros((300, 20)), right / energies:
        assert (objective(v) <= objective(old) + 1e-9).all()


def test_small_spaces_are_decomposed_whole():
    rng = np.random.default_rng(0)
    for n_classes in (2, 30):  # S as a product, S as a matrix
        problem = LinearProblem([rng.standard_normal((50, 9)) for _ in range(n_classes)], True)
        for i in range(n_classes):
            problem.start(i, rng.standard_normal((50, 3)))
        D_bar = np.hstack(problem.atoms[1:])
        B, values = problem.eigenbasis(0, np.ones((50, 1)), np.ones(1), 10.0)
        close(B * values @ B.T, D_bar @ D_bar.T)
