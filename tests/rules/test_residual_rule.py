import numpy as np
import oracles
import pytest
from conftest import close, unit

from kerndict.pursuit import omp_energies
from kerndict.rules.residual import ResidualRule, residuals


def test_residuals_equal_equation_21():
    rng = np.random.default_rng(0)
    Y, y = rng.standard_normal((6, 15)), rng.standard_normal((6, 10))
    K, k_y = np.exp(Y.T @ Y / 9), np.exp(Y.T @ y / 9)
    A = rng.standard_normal((15, 8)) / 15
    k_yy = np.exp(np.sum(y**2, axis=0) / 9)
    X = oracles.kernel_omp(k_y, K, A, 4)
    expected = [oracles.kernel_residual(k_yy[t], k_y[:, t], K, A, X[:, t]) for t in range(10)]
    energies = ResidualRule([A.T @ K @ A], np.array([4])).explained([k_y.T @ A])
    close(residuals(energies, k_yy)[:, 0], expected)


def test_class_energies_keep_precision_and_order():
    rng = np.random.default_rng(1)
    Y = rng.standard_normal((5, 7)).astype(np.float32)
    D = [unit(rng.standard_normal((7, 4))).astype(np.float32) for _ in range(3)]
    rule = ResidualRule([d.T @ d for d in D], np.array([2, 2, 2]))
    energies = rule.explained(Y @ d for d in D)
    assert energies.dtype == np.float32
    for i, d in enumerate(D):
        np.testing.assert_array_equal(energies[:, i], omp_energies(Y @ d, d.T @ d, 2))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rounding_is_no_residual(dtype):
    limit = {np.float64: 1.82e-12, np.float32: 1.19e-5}[dtype]
    diagonal = np.array([1, 4, 0, 4], dtype)
    shares = np.array(
        [[-limit / 50, 0.9 * limit], [1.1 * limit, 0.25], [0, 0], [-1e-3, 0.9 * limit]], dtype
    )
    rest = residuals(diagonal[:, None] * (1 - shares), diagonal)
    assert rest.dtype == dtype
    # What is above is left as it is.
    np.testing.assert_array_equal(rest != 0, [[0, 0], [1, 1], [0, 0], [0, 0]])
    np.testing.assert_allclose(rest[1], [4.4 * limit, 1], rtol=0.01)


def test_ties_within_rounding_are_ties():
    rule = ResidualRule([np.eye(1)] * 3, np.ones(3, int))
    scores = rule.settle(np.array([[1 - 1e-15, 1.0, 0.9], [1.0, 1 + 1e-11, 0.9]]))
    assert scores.argmax(axis=1).tolist() == [0, 1]
