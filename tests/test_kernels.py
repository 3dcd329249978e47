import numpy as np
import pytest
from conftest import TOLERANCE, close
from scipy.spatial.distance import cdist, pdist

from kerndict.kernels import Kernel, median_distance

rng = np.random.default_rng(0)
X, Z = rng.standard_normal((7, 5)), rng.standard_normal((4, 5))

EXPECTED = {
    "rbf": lambda X, Z: np.exp(-cdist(X, Z, "sqeuclidean") / (2 * 1.5**2)),
    "poly": lambda X, Z: (X @ Z.T + 0.5) ** 3,
    "linear": lambda X, Z: X @ Z.T,
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", EXPECTED)
def test_named_kernels_are_their_formulas(name, dtype):
    kernel = Kernel(name, sigma=1.5, degree=3, coef0=0.5)
    x, z = X.astype(dtype), Z.astype(dtype)
    K = kernel.matrix(x, z)
    assert K.dtype == dtype
    close(K, EXPECTED[name](X, Z), TOLERANCE[dtype])
    close(kernel.diagonal(x), np.diagonal(EXPECTED[name](X, X)), TOLERANCE[dtype])
    assert kernel.diagonal(x).dtype == dtype


def test_a_precomputed_kernel_has_no_matrix_to_compute():
    with pytest.raises(ValueError, match=r"kernel='precomputed' has no matrix"):
        Kernel("precomputed").matrix(X, Z)


def test_a_callable_is_called_and_copied():
    kept = EXPECTED["rbf"](X, X)
    K = Kernel(lambda A, B: kept).matrix(X, X)
    K[:] = 0
    assert kept.any()
    many = rng.standard_normal((70, 5))
    close(Kernel(EXPECTED["poly"]).diagonal(many), np.diagonal(EXPECTED["poly"](many, many)))


def test_rbf_of_a_set_with_itself_has_a_diagonal_of_one():
    far = 1e4 + X
    assert (np.diagonal(Kernel("rbf", sigma=1e-3).matrix(far, far)) == 1).all()


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_median_distance_is_the_median_over_pairs(offset):
    points = offset + rng.standard_normal((50, 6))
    expected = np.median(pdist(points))
    assert np.isclose(median_distance(points, np.random.RandomState(0)), expected, rtol=1e-8)
    assert np.isclose(
        median_distance(1e-80 * points, np.random.RandomState(0)), 1e-80 * expected, rtol=1e-8
    )


def test_median_distance_leaves_equal_rows_out():
    points = np.array([[0.0], [0.0], [0.0], [0.0], [1.0]])
    assert np.isclose(median_distance(points, np.random.RandomState(0)), 1.0)
    assert median_distance(np.ones((5, 2)), np.random.RandomState(0)) == 1.0
    assert median_distance(np.ones((1, 2)), np.random.RandomState(0)) == 1.0


def test_median_distance_of_near_duplicates_beside_an_outlier():
    points = 1 + 1e-9 * rng.standard_normal((40, 5))
    points[0] = 5
    expected = np.median(pdist(points))
    assert np.isclose(median_distance(points, np.random.RandomState(0)), expected, rtol=1e-6)


def test_median_distance_draws_rows_beyond_the_limit():
    points = rng.standard_normal((100, 3))
    first, again, other = (
        median_distance(points, np.random.RandomState(seed), max_rows=20) for seed in (0, 0, 1)
    )
    assert first == again != other
    assert np.isclose(first, np.median(pdist(points)), rtol=0.2)
