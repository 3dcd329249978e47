import numpy as np
import oracles
import pytest
from conftest import TOLERANCE, close, unit
from scipy.sparse import csr_array
from sklearn.linear_model import orthogonal_mp_gram

from kerndict import batch_omp, coding, sparse_code

rng = np.random.default_rng(0)
X = rng.standard_normal((30, 12))
D = unit(rng.standard_normal((12, 20)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_codes_are_csr_and_equal_the_textbook(dtype):
    codes = sparse_code(X.astype(dtype), D.astype(dtype), 4)
    assert isinstance(codes, csr_array)
    assert codes.shape == (30, 20)
    assert codes.dtype == dtype
    assert codes.has_sorted_indices
    assert (np.diff(codes.indptr) == 4).all()
    close(codes.toarray(), oracles.omp(X.T, D, 4).T, TOLERANCE[dtype])


def test_both_entrances_agree_with_each_other_and_with_scikit_learn():
    codes = sparse_code(X, D, 4).toarray()
    close(batch_omp(X @ D, D.T @ D, 4).toarray(), codes)
    close(orthogonal_mp_gram(D.T @ D, D.T @ X.T, n_nonzero_coefs=4).T, codes)


def test_chunks_do_not_show(monkeypatch):
    expected = sparse_code(X, D, 4)
    monkeypatch.setattr(coding, "CHUNK", 7)
    codes = sparse_code(X, D, 4)
    np.testing.assert_array_equal(codes.indices, expected.indices)
    close(codes.data, expected.data)
    assert sparse_code(X[:0], D, 4).shape == (0, 20)


def test_short_codes_leave_no_zeros():
    signals = np.vstack([2 * D[:, 3], np.zeros(12), X[0], D[:, 3] - D[:, 9]])
    codes = sparse_code(signals, D, 4)
    np.testing.assert_array_equal(np.diff(codes.indptr), [1, 0, 4, 2])
    assert codes.data.all()
    codes.check_format(full_check=True)
    close(codes.toarray(), oracles.omp(signals.T, D, 4).T)


@pytest.mark.parametrize(("rows", "atoms"), [(1, 1), (1, 20), (30, 1), (30, 20)])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_found_even_beside_zeros(rows, atoms, value):
    signals, dictionary = X[:rows].copy(), D[:, :atoms].copy()
    signals[0, 2], dictionary[2] = value, 0
    with pytest.raises(ValueError, match="X contains"):
        sparse_code(signals, dictionary, 1)


def test_correlations_that_overflow_are_named():
    with pytest.raises(ValueError, match="X @ dictionary contains infinity"):
        sparse_code(X * 1e300, D * 1e300 / 1e150, 1)


def test_mixed_precision_is_float64():
    assert sparse_code(X.astype(np.float32), D, 4).dtype == np.float64
    assert batch_omp((X @ D).astype(np.float32), D.T @ D, 4).dtype == np.float64


def test_more_nonzeros_than_atoms_do_not_bind():
    close(sparse_code(X, D[:, :5], 50).toarray(), sparse_code(X, D[:, :5], 5).toarray())
    assert (np.diff(sparse_code(X, D, 50).indptr) == 12).all()  # the rank


def test_inputs_may_be_lists_read_only_or_fortran_ordered_and_stay_as_they_are():
    expected = sparse_code(X, D, 3).toarray()
    frozen, kept = np.asfortranarray(X), X.copy()
    frozen.setflags(write=False)
    close(sparse_code(frozen, D[:, ::-1][:, ::-1], 3).toarray(), expected)
    close(sparse_code(X.tolist(), D.tolist(), 3).toarray(), expected)
    np.testing.assert_array_equal(X, kept)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: batch_omp(X @ D, D.T @ D, 0), ValueError, "n_nonzero_coefs=0"),
        (lambda: batch_omp(X @ D, D.T @ D, 2.5), TypeError, "n_nonzero_coefs=2.5"),
        (lambda: batch_omp(X @ D, D, 2), ValueError, r"gram has shape \(12, 20\)"),
        (lambda: batch_omp(X, D.T @ D, 2), ValueError, "correlations has 12 columns, gram 20"),
        (lambda: batch_omp(X @ D, np.triu(D.T @ D), 2), ValueError, "not symmetric"),
        (lambda: batch_omp(X @ D * np.nan, D.T @ D, 2), ValueError, "correlations contains NaN"),
        (lambda: sparse_code(X[:, :5], D, 2), ValueError, "X has 5 features, dictionary 12"),
        (
            lambda: sparse_code(X, np.where(D.max() == D, np.inf, D), 2),
            ValueError,
            "dictionary contains",
        ),
        (lambda: sparse_code(X[0], D, 2), ValueError, "Expected 2D array"),
    ],
)
def test_bad_input_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
