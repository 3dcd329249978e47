"""Sums over rows and what is made of them, against all rows at once."""

import copy

import numpy as np
import oracles
import pytest
from conftest import close, toy
from sklearn.utils import gen_batches

from kerndict.kernels import Kernel
from kerndict.landmarks import Landmarks
from kerndict.landmarks.settle import label_head
from kerndict.landmarks.sums import Principal, Sums

X, labels = toy(n_classes=4, per_class=20, noise=1.0)
N, C = len(X), 4
WEIGHTS = np.random.default_rng(2).uniform(0.2, 3, N)
NAMES = ("products", "by_class", "weight", "rows")


def landmarks_of(places, kernel=None):
    return Landmarks.from_rows(kernel or Kernel("rbf", 2.0), X[places], places)


def summed(landmarks, which, weights=WEIGHTS, into=None):
    """Return the sums over some rows, given as one array of places per batch."""
    sums = Sums.empty(len(landmarks.rows), C) if into is None else into
    for part in which:
        energies = landmarks.kernel.diagonal(X[part])
        sums.add(landmarks.correlations(X[part]), energies, labels[part], weights[part])
    return sums


def same(found, expected, tolerance=1e-10):
    for name in NAMES:
        a, b = getattr(found, name), getattr(expected, name)
        close(np.tril(a) if name == "products" else a, np.tril(b) if name == "products" else b)
    assert found.energy == pytest.approx(expected.energy, rel=tolerance)


def batches(size, order=None):
    order = np.arange(N) if order is None else order
    return [order[part] for part in gen_batches(N, size)]


def test_sums_are_those_of_all_rows():
    landmarks = landmarks_of(np.arange(0, N, 3))
    sums, K = summed(landmarks, batches(9)), landmarks.correlations(X)
    close(np.tril(sums.products), np.tril((K * WEIGHTS[:, None]).T @ K), 1e-12)
    close(sums.by_class, (np.eye(C)[labels] * WEIGHTS[:, None]).T @ K, 1e-12)
    close(sums.weight, np.bincount(labels, WEIGHTS), 1e-12)
    np.testing.assert_array_equal(sums.rows, np.bincount(labels))
    assert sums.energy == pytest.approx(WEIGHTS.sum())


@pytest.mark.parametrize("size", [1, 7, 33])
def test_sums_do_not_depend_on_the_chunks_nor_on_their_order(size):
    landmarks = landmarks_of(np.arange(0, N, 3))
    whole = summed(landmarks, [np.arange(N)])
    same(summed(landmarks, batches(size)), whole)
    same(summed(landmarks, batches(size)[::-1]), whole)
    order = np.random.default_rng(0).permutation(N)
    same(summed(landmarks, batches(size, order)), whole)


def test_merged_sums_are_those_over_the_rows_of_both():
    landmarks = landmarks_of(np.arange(0, N, 3))
    first = summed(landmarks, [np.arange(30)])
    second = summed(landmarks, [np.arange(30, N)])
    kept = copy.deepcopy(second)
    first.merge(second)
    same(first, summed(landmarks, [np.arange(N)]))
    same(second, kept, 0)
    summed(landmarks, [np.arange(5)], into=first)
    same(first, summed(landmarks, [np.arange(N), np.arange(5)]))


def test_a_row_of_weight_two_is_the_row_twice():
    landmarks = landmarks_of(np.arange(0, N, 3))
    twice = np.where(np.arange(N) % 4 == 1, 2.0, 1.0)
    weighted = summed(landmarks, batches(11), twice)
    repeated = summed(landmarks, [np.repeat(np.arange(N), twice.astype(int))], np.ones(N))
    repeated.rows = weighted.rows
    same(weighted, repeated)


def test_rows_in_single_precision_are_summed_up_in_double():
    places = np.arange(0, N, 3)
    single = Landmarks.from_rows(Kernel("rbf", 2.0), X[places].astype(np.float32), places)
    sums = Sums.empty(len(single.rows), C)
    K = single.correlations(X.astype(np.float32))
    assert K.dtype == np.float32
    sums.add(K, np.ones(N, np.float32), labels, WEIGHTS)
    wide = K.astype(np.float64)
    assert sums.products.dtype == np.float64
    close(np.tril(sums.products), np.tril((wide * WEIGHTS[:, None]).T @ wide), 1e-12)


def test_principal_coordinates_are_orthonormal_with_a_diagonal_second_moment():
    landmarks = landmarks_of(np.arange(0, N, 3))
    principal = Principal.from_sums(landmarks, summed(landmarks, batches(9)))
    K = landmarks.correlations(landmarks.rows)
    close(principal.basis.T @ K @ principal.basis, np.eye(len(K)), 1e-9)
    Z = landmarks.correlations(X) @ principal.basis
    close((Z * WEIGHTS[:, None]).T @ Z, np.diag(principal.spread), 1e-9)
    assert (np.diff(principal.spread) <= 0).all()
    close(principal.by_class, (np.eye(C)[labels] * WEIGHTS[:, None]).T @ Z, 1e-9)
    assert principal.unit == pytest.approx(1)


@pytest.mark.parametrize(
    "kernel", [Kernel("rbf", 2.0), Kernel("poly", degree=2)], ids=["rbf", "poly"]
)
def test_with_all_rows_as_landmarks_coordinates_give_the_kernel_matrix(kernel):
    landmarks = landmarks_of(np.arange(N), kernel)
    principal = Principal.from_sums(landmarks, summed(landmarks, batches(9)))
    Z, K = landmarks.correlations(X) @ principal.basis, kernel.matrix(X, X)
    close(Z @ Z.T, K, 1e-8)


@pytest.mark.parametrize("weights", [np.ones(N), WEIGHTS], ids=["even", "uneven"])
@pytest.mark.parametrize("ridge", [1e-2, 1.0])
def test_with_all_rows_as_landmarks_the_head_is_kernel_ridge_regression(weights, ridge):
    landmarks = landmarks_of(np.arange(N))
    principal = Principal.from_sums(landmarks, summed(landmarks, batches(9), weights))
    found = landmarks.correlations(X) @ principal.basis @ label_head(principal, ridge)
    K = landmarks.kernel.matrix(X, X)
    close(found, oracles.kernel_ridge(K, labels, weights, ridge, C), 1e-8)


def test_duplicates_of_landmarks_are_dropped():
    doubled = np.vstack([X[:20], X[10:30]])
    places = np.r_[np.arange(20), np.arange(10, 30)]
    landmarks = Landmarks.from_rows(Kernel("rbf", 2.0), doubled, places)
    assert len(landmarks.rows) == 30
    assert sorted(landmarks.indices) == list(range(30))
    np.testing.assert_array_equal(landmarks.rows, X[landmarks.indices])
    K = landmarks.correlations(landmarks.rows)
    close(landmarks.factor.T @ landmarks.factor, K, 1e-12)
    np.testing.assert_array_equal(landmarks.factor, np.triu(landmarks.factor))


def test_landmarks_of_a_linear_kernel_are_no_more_than_features():
    assert len(landmarks_of(np.arange(N), Kernel("linear")).rows) == X.shape[1]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_landmarks_without_energy_are_dropped_and_need_one_with_some(dtype):
    rows = X[:6].astype(dtype)
    rows[::2] = 0
    landmarks = Landmarks.from_rows(Kernel("linear"), rows, np.arange(6))
    assert sorted(landmarks.indices) == [1, 3, 5]
    with pytest.raises(ValueError, match=r"kernel='linear' is zero on all landmarks"):
        Landmarks.from_rows(Kernel("linear"), np.zeros((3, 4), dtype), np.arange(3))
