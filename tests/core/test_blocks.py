"""A kernel matrix in blocks, its subsets, and products with dual atoms."""

from itertools import pairwise

import numpy as np
import pytest
from conftest import TOLERANCE, close, kernel_matrix_of
from scipy.linalg import block_diag

from kerndict.core.panels import BlockDiagonal

SIZES = [5, 1, 9, 7]
STARTS = np.cumsum([0, *SIZES])


@pytest.fixture(params=[np.float64, np.float32])
def dtype(request):
    return request.param


@pytest.fixture(params=["whole", "subset"])
def case(request, dtype):
    """Return the matrix, its dense form, that of the rows left out with it, and dual atoms."""
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((30, sum(SIZES)))
    dense = (Y.T @ Y).astype(dtype)
    K = kernel_matrix_of(dense, SIZES)
    left_out = np.zeros(sum(SIZES), bool)
    if request.param == "subset":
        left_out[[0, 3, 7, 12, 14, 15, 20]] = True
        parts = np.split(left_out, STARTS[1:-1])
        K = K.subset([np.flatnonzero(~part) for part in parts])
    A = [rng.standard_normal((size, n)) for size, n in zip(K.sizes, (3, 1, 4, 2), strict=True)]
    return K, dense, left_out, A


def test_parts_are_those_of_the_dense_matrix(case, dtype):
    K, dense, left_out, _ = case
    kept = dense[np.ix_(~left_out, ~left_out)]
    starts = np.cumsum([0, *K.sizes])
    assert K.dtype == dtype
    np.testing.assert_array_equal(K.diagonal(), np.diagonal(kept))
    for i, (a, b) in enumerate(pairwise(starts)):
        assert K.own_block(i).dtype == np.float64
        np.testing.assert_array_equal(K.own_block(i), kept[a:b, a:b])


def test_gram_matrix_and_coherence(case, dtype):
    K, dense, left_out, A = case
    kept = dense[np.ix_(~left_out, ~left_out)].astype(np.float64)
    D = block_diag(*A)
    expected = D.T @ kept @ D
    close(K.gram(A), expected, TOLERANCE[dtype])
    between = expected * (1 - block_diag(*(np.ones((a.shape[1],) * 2) for a in A)))
    assert np.isclose(K.coherence(A), np.sum(between**2), rtol=TOLERANCE[dtype])


def test_correlations_of_signals_left_out(case, dtype):
    K, dense, left_out, A = case
    others = [np.flatnonzero(part) for part in np.split(left_out, STARTS[1:-1])]
    expected = dense[np.ix_(left_out, ~left_out)].astype(np.float64) @ block_diag(*A)
    found = K.correlations(A, others)
    assert found.dtype == dtype
    assert found.shape == expected.shape
    if found.size:
        close(found, expected, TOLERANCE[dtype])


def test_whitened(case, dtype):
    K, dense, left_out, A = case
    W = BlockDiagonal([a.T for a in A], np.dtype(dtype))
    found, kept = K.whitened(W), dense[np.ix_(~left_out, ~left_out)].astype(np.float64)
    expected = block_diag(*A).T @ kept @ block_diag(*A)
    starts = np.cumsum([0] + [a.shape[1] for a in A])
    for i, (a, b) in enumerate(pairwise(starts)):
        close(found.panel(i), expected[a:, a:b], TOLERANCE[dtype])


def test_a_subset_stores_nothing(case):
    K, *_ = case
    assert K.subset([np.arange(size) for size in K.sizes])._triangle is K._triangle
