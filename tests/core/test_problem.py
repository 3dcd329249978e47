import numpy as np
import pytest
from conftest import close, kernel_matrix_of, toy

from kerndict.core.kernel import KernelProblem, NotPositiveSemidefinite
from kerndict.core.linear import LinearProblem
from kerndict.core.problem import numerical_rank


def kernel_problem(K, sizes, n=4, seed=0):
    problem = KernelProblem(kernel_matrix_of(K, sizes))
    rng = np.random.default_rng(seed)
    duals = [rng.standard_normal((size, n)) for size in sizes]
    for i, A in enumerate(duals):
        problem.start(i, A)
    return problem


def blocks(K, sizes):
    ends = np.cumsum(sizes)
    places = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    return [[K[a, b] for b in places] for a in places]


SIZES = [5, 9, 7]


@pytest.fixture(params=["full rank", "rank deficient"])
def K(request):
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((60 if request.param == "full rank" else 6, sum(SIZES)))
    return Y.T @ Y


def test_whitened_coordinates_keep_the_kernel(K):
    problem = kernel_problem(K, SIZES)
    for i, row in enumerate(blocks(K, SIZES)):
        R = problem.signals[i]
        close(R.T @ R, row[i])
        assert len(R) == problem.rank(i) == np.linalg.matrix_rank(row[i])


def test_the_kernel_matrix_is_left_as_it_is(K):
    matrix = kernel_matrix_of(K, SIZES)
    for _ in range(2):
        problem = KernelProblem(matrix)
        for i, size in enumerate(SIZES):
            problem.start(i, np.eye(size)[:, :3])
            problem.accept(i, problem.atoms[i])
        assert problem.coherence() > 0
        assert problem.mean_penalty(1) > 0
        identity = [np.eye(size) for size in SIZES]
        np.testing.assert_array_equal(matrix.gram(identity), np.tril(K) + np.tril(K, -1).T)


def test_whitened_penalty_and_coherence_are_those_of_the_kernel(K):
    problem = kernel_problem(K, SIZES)
    parts = blocks(K, SIZES)
    A = [problem.dictionary(i) for i in range(3)]
    total = 0.0
    for i in range(3):
        K_hat = np.vstack([A[k].T @ parts[k][i] for k in range(3) if k != i])
        a = np.random.default_rng(1).standard_normal((SIZES[i], 2))
        d = problem.signals[i] @ a
        close(d.T @ problem.penalty(i, d), a.T @ K_hat.T @ K_hat @ a)
        B, values = problem.eigenbasis(i, d, np.ones(2), 1.0)
        close((B * values) @ (B.T @ d), problem.penalty(i, d))
        total += sum(np.linalg.norm(A[k].T @ parts[k][i] @ A[i]) ** 2 for k in range(3) if k != i)
    assert np.isclose(problem.coherence(), total, rtol=1e-10)
    untouched = kernel_problem(K, SIZES)  # nobody has asked for the penalty
    assert np.isclose(untouched.coherence(), total, rtol=1e-10)


def test_the_mean_penalty_is_that_on_the_span_of_the_signals(K):
    problem = kernel_problem(K, SIZES)
    parts = blocks(K, SIZES)
    for i in range(3):
        w, V = np.linalg.eigh(parts[i][i])
        kept = w > 1e-9 * w.max()
        T = V[:, kept] / np.sqrt(w[kept])  # orthonormal in feature space
        others = [problem.dictionary(k).T @ parts[k][i] @ T for k in range(3) if k != i]
        expected = sum(np.linalg.norm(part) ** 2 for part in others) / kept.sum()
        assert np.isclose(problem.mean_penalty(i), expected, rtol=1e-9)


@pytest.mark.parametrize("m", [20, 200])
def test_the_mean_penalty_of_linear_classes(m):
    rng = np.random.default_rng(0)
    Y = [rng.standard_normal((m, 5)) @ np.diag([1, 1, 1, 1, 0]) + 1e-3 for _ in range(3)]
    problem = LinearProblem(Y, incoherent=True)
    for i in range(3):
        problem.start(i, rng.standard_normal((m, 4)))
    for i in range(3):
        Q = np.linalg.qr(Y[i])[0]
        D_bar = np.hstack([problem.atoms[k] for k in range(3) if k != i])
        expected = np.linalg.norm(D_bar.T @ Q) ** 2 / Q.shape[1]
        assert np.isclose(problem.mean_penalty(i), expected, rtol=1e-9)


def test_a_new_start_is_a_new_sum():
    rng = np.random.default_rng(0)
    problem = LinearProblem([rng.standard_normal((9, 5)) for _ in range(3)], incoherent=True)
    for _ in range(2):
        for i in range(3):
            problem.start(i, rng.standard_normal((9, 4)))
        D = problem.atoms
        expected = sum(
            np.linalg.norm(D[i].T @ D[k]) ** 2 for i in range(3) for k in range(3) if i != k
        )
        assert np.isclose(problem.coherence(), expected, rtol=1e-12)


def test_atoms_have_unit_norm_in_the_metric_and_come_back(K):
    problem = kernel_problem(K, SIZES)
    for i, row in enumerate(blocks(K, SIZES)):
        A = problem.dictionary(i)
        close(np.sum(A * (row[i] @ A), axis=0), np.ones(4))
        D = problem.atoms[i]
        problem.accept(i, D)
        close(problem.signals[i] @ problem.dictionary(i), D)


def test_a_zero_class_has_rank_zero_and_zero_atoms():
    K = np.zeros((4, 4))
    K[2:, 2:] = np.eye(2)
    problem = kernel_problem(K, [2, 2])
    assert problem.rank(0) == 0
    assert not problem.dictionary(0).any()
    assert problem.coherence() == 0


def test_negative_eigenvalues_beyond_rounding_are_an_error():
    K = np.diag([1.0, 1.0, 1.0, -1e-4])
    with pytest.raises(NotPositiveSemidefinite) as info:
        KernelProblem(kernel_matrix_of(K, [2, 2]))
    assert info.value.class_index == 1
    assert info.value.eigenvalue == -1e-4
    assert KernelProblem(kernel_matrix_of(np.diag([1.0, 1.0, 1.0, -1e-9]), [2, 2])).rank(1) == 1


def test_rounding_shows_in_negative_eigenvalues():
    assert numerical_rank(np.array([-1e-8, 1.5e-8, 1e-3, 1.0]), np.float64) == 2
    assert numerical_rank(np.array([1.5e-8, 1e-3, 1.0]), np.float64) == 3
    assert numerical_rank(np.array([1e-6, 1e-3, 1.0]), np.float32) == 2
    assert numerical_rank(np.zeros(3), np.float64) == 0


def test_linear_and_linear_kernel_problems_agree_on_ranks():
    X, _ = toy(noise=0.0)
    X = np.vstack([X, X])
    groups = np.split(X[np.argsort(np.tile(np.repeat([0, 1, 2], 12), 2), kind="stable")], 3)
    linear = LinearProblem([g.T for g in groups], incoherent=False)
    kernel = KernelProblem(kernel_matrix_of(np.vstack(groups) @ np.vstack(groups).T, [24] * 3))
    assert [linear.rank(i) for i in range(3)] == [kernel.rank(i) for i in range(3)] == [3] * 3
