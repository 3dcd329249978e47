import numpy as np
import oracles
from conftest import close, unit

from kerndict.core.decide import class_energies, residuals, settle_ties
from kerndict.core.omp import omp_energies


def test_residuals_equal_equation_21():
    rng = np.random.default_rng(0)
    Y, y = rng.standard_normal((6, 15)), rng.standard_normal((6, 10))
    K, k_y = np.exp(Y.T @ Y / 9), np.exp(Y.T @ y / 9)
    A = rng.standard_normal((15, 8)) / 15
    k_yy = np.exp(np.sum(y**2, axis=0) / 9)
    X = oracles.kernel_omp(k_y, K, A, 4)
    expected = [oracles.kernel_residual(k_yy[t], k_y[:, t], K, A, X[:, t]) for t in range(10)]
    energies = class_energies([(k_y.T, A, A.T @ K @ A)], 10, [4])
    close(residuals(energies, k_yy)[:, 0], expected)


def test_class_energies_keep_precision_and_order():
    rng = np.random.default_rng(1)
    Y = rng.standard_normal((5, 7)).astype(np.float32)
    D = [unit(rng.standard_normal((7, 4))).astype(np.float32) for _ in range(3)]
    energies = class_energies([(Y, d, d.T @ d) for d in D], 5, [2, 2, 2])
    assert energies.dtype == np.float32
    for i, d in enumerate(D):
        np.testing.assert_array_equal(energies[:, i], omp_energies(Y @ d, d.T @ d, 2))


def test_rounding_is_no_residual():
    diagonal = np.array([1.0, 4.0, 0.0])
    energies = np.array([[1 + 1e-15, 1 - 1e-14], [4 - 1e-12, 3.0], [0.0, 0.0]])
    close(residuals(energies, diagonal), [[0, 0], [1e-12, 1], [0, 0]], 1e-4)
    assert (residuals(energies, diagonal) >= 0).all()
    assert residuals(energies, diagonal)[0].tolist() == [0, 0]


def test_ties_within_rounding_are_ties():
    scores = settle_ties(np.array([[1 - 1e-15, 1.0, 0.9], [1.0, 1 + 1e-12, 0.9]]))
    assert scores.argmax(axis=1).tolist() == [0, 1]
