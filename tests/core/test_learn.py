import numpy as np
import oracles
import pytest
from conftest import close, kernel_matrix_of, toy, unit

import kerndict.core.learn as learning
from kerndict.core import linear
from kerndict.core.kernel import KernelProblem
from kerndict.core.learn import learn
from kerndict.core.linear import LinearProblem
from kerndict.core.start import start_from_arrays, start_from_gaussian, start_from_samples
from kerndict.core.sweep import replace_atom, update_atom
from kerndict.kernels import Kernel

S, N_ITER = 3, 3


def signals(**options):
    X, y = toy(**options)
    return [X[y == i].T for i in range(y.max() + 1)]


def kernel_matrix(Y, name):
    X = unit(np.hstack(Y)).T if name != "linear" else np.hstack(Y).T
    return Kernel(name, sigma=0.5, degree=2, coef0=0.5).matrix(X, X)


def run(problem, gamma, exact, uaksvd=False, n_iter=N_ITER, s=S):
    rng = np.random.RandomState(0)
    terms = []
    for step in learn(problem, [s] * len(problem.signals), gamma, n_iter, exact, uaksvd, rng):
        terms.append((step.reconstruction, problem.coherence()))
    D = [problem.dictionary(i) for i in range(len(problem.signals))]
    return D, step.codes, np.array(terms).T


@pytest.mark.parametrize("uaksvd", [False, True])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("gamma", [0.0, 0.1, 4.0])
def test_linear_learning_equals_the_textbook(gamma, exact, uaksvd):
    Y = signals()
    rng = np.random.default_rng(1)
    start = [unit(y @ rng.standard_normal((y.shape[1], 6))) for y in Y]
    problem = LinearProblem(Y, incoherent=gamma > 0)
    start_from_arrays(problem, start)
    D, X, terms = run(problem, gamma, exact, uaksvd)
    expected = oracles.idl(Y, start, S, gamma, N_ITER, exact, uaksvd, np.random.RandomState(0))
    for i in range(len(Y)):
        close(D[i], expected[0][i], 1e-8)
        close(X[i], expected[1][i], 1e-8)
    close(terms, expected[2], 1e-8)


@pytest.mark.parametrize("uaksvd", [False, True])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("gamma", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("name", ["rbf", "poly"])
def test_kernel_learning_equals_the_textbook(name, gamma, exact, uaksvd):
    Y = signals()
    K = kernel_matrix(Y, name)
    sizes = [y.shape[1] for y in Y]
    problem = KernelProblem(kernel_matrix_of(K, sizes))
    start_from_gaussian(problem, [6] * 3, np.random.RandomState(1))
    start = [problem.dictionary(i).copy() for i in range(len(Y))]
    A, X, terms = run(problem, gamma, exact, uaksvd)
    parts = [np.split(rows, len(Y), axis=1) for rows in np.split(K, len(Y))]
    expected = oracles.ikdl(parts, start, S, gamma, N_ITER, exact, uaksvd, np.random.RandomState(0))
    for i in range(len(Y)):
        close(A[i], expected[0][i], 1e-7)
        close(X[i], expected[1][i], 1e-7)
    close(terms, expected[2], 1e-8)


@pytest.mark.parametrize("gamma", [0.1, 1.0])
def test_more_atoms_than_samples_equal_the_textbook(gamma):
    Y = signals(per_class=5)
    K = kernel_matrix(Y, "rbf")
    problem = KernelProblem(kernel_matrix_of(K, [5] * 3))
    start_from_gaussian(problem, [9] * 3, np.random.RandomState(1))
    start = [problem.dictionary(i).copy() for i in range(3)]
    A, X, terms = run(problem, gamma, exact=False)
    parts = [np.split(rows, 3, axis=1) for rows in np.split(K, 3)]
    expected = oracles.ikdl(parts, start, S, gamma, N_ITER, False, False, np.random.RandomState(0))
    for i in range(3):
        close(A[i], expected[0][i], 1e-7)
        close(X[i], expected[1][i], 1e-7)
    close(terms, expected[2], 1e-8)


@pytest.mark.parametrize("gamma", [0.0, 0.5])
def test_linear_kernel_equals_linear_when_classes_span_the_features(gamma):
    Y = signals(per_class=12, n_features=6)
    problem = LinearProblem(Y, incoherent=gamma > 0)
    start_from_samples(problem, [5] * 3, np.random.RandomState(0))
    D, X, terms = run(problem, gamma, exact=True)
    kernel = KernelProblem(kernel_matrix_of(kernel_matrix(Y, "linear"), [12] * 3))
    start_from_samples(kernel, [5] * 3, np.random.RandomState(0))
    A, X_kernel, terms_kernel = run(kernel, gamma, exact=True)
    for i in range(3):
        close(Y[i] @ A[i], D[i], 1e-7)
        close(X_kernel[i], X[i], 1e-7)
    close(terms_kernel, terms, 1e-8)


def test_linear_kernel_equals_linear_without_penalty_in_any_dimension():
    Y = signals(per_class=8, n_features=30)
    problem = LinearProblem(Y, incoherent=False)
    start_from_samples(problem, [5] * 3, np.random.RandomState(0))
    D, _, terms = run(problem, 0.0, exact=True)
    kernel = KernelProblem(kernel_matrix_of(kernel_matrix(Y, "linear"), [8] * 3))
    start_from_samples(kernel, [5] * 3, np.random.RandomState(0))
    A, _, terms_kernel = run(kernel, 0.0, exact=True)
    for i in range(3):
        close(Y[i] @ A[i], D[i], 1e-7)
    close(terms_kernel, terms, 1e-8)


@pytest.fixture
def guarded(monkeypatch):
    """Check every atom of every sweep; count them."""
    counts = {"atoms": 0}

    def sweep(E, D, X, exact, shift, repulsion, eigenvalues, uaksvd, Y, fresh):
        assert exact
        taken = np.zeros(len(E), np.bool_)
        for j in range(len(D)):
            used = X[j] != 0
            if not used.any():
                replace_atom(E, D, Y, j, taken)
                continue
            before = np.sum(E[used] ** 2) + shift @ D[j] ** 2
            update_atom(E, D, X, j, exact, shift, repulsion, eigenvalues, uaksvd)
            after = np.sum(E[used] ** 2) + shift @ D[j] ** 2
            scale = np.sum(Y**2) + shift.max(initial=0)
            assert after <= before + 1e-11 * scale
            counts["atoms"] += 1

    monkeypatch.setattr(learning, "sweep", sweep)
    return counts


@pytest.mark.parametrize("start", [start_from_samples, start_from_gaussian])
@pytest.mark.parametrize("gamma", [0.0, 0.01, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("name", ["none", "rbf", "poly", "linear"])
def test_exact_updates_never_raise_an_atoms_objective(name, gamma, start, guarded, monkeypatch):
    monkeypatch.setattr(linear, "SMALL", 20)  # the Krylov space, too
    Y = signals(n_classes=4, per_class=10, n_features=90 if name == "none" else 20)
    if name == "none":
        problem = LinearProblem(Y, incoherent=gamma > 0)
    else:
        problem = KernelProblem(kernel_matrix_of(kernel_matrix(Y, name), [10] * 4))
    start(problem, [12] * 4, np.random.RandomState(0))
    run(problem, gamma, exact=True, n_iter=10, s=4)
    assert guarded["atoms"] > 200
