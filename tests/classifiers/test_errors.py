"""Bad input: the message names the parameter, the value and the remedy."""

import numpy as np
import pytest
from conftest import BOTH, toy

from kerndict import DictionaryClassifier, KernelDictionaryClassifier

X, y = toy()

SHARED = [
    ({"n_atoms": 0}, ValueError, "n_atoms=0 .* >= 1"),
    ({"n_atoms": 2.5}, ValueError, "n_atoms=2.5 .* whole number >= 1 nor a share"),
    ({"n_atoms": True}, TypeError, "n_atoms=True"),
    ({"n_atoms": 0.0}, ValueError, "n_atoms=0.0"),
    ({"n_atoms": "5"}, TypeError, "n_atoms='5'"),
    ({"ridge": 0}, ValueError, "ridge=0 .* > 0"),
    ({"ridge": "best"}, ValueError, "ridge='best' .* 'auto'"),
    ({"n_nonzero_coefs": 0}, ValueError, "n_nonzero_coefs=0 .* >= 1"),
    ({"n_nonzero_coefs": "5"}, TypeError, "n_nonzero_coefs='5'"),
    ({"n_iter": -1}, ValueError, "n_iter=-1 .* >= 0"),
    ({"n_iter": 1.5}, TypeError, "n_iter=1.5"),
    ({"incoherence": -0.1}, ValueError, "incoherence=-0.1 .* >= 0"),
    ({"incoherence": np.nan}, ValueError, "incoherence=nan .* finite"),
    ({"incoherence": "0"}, TypeError, "incoherence='0' is not a number"),
    ({"atom_update": "ksvd"}, ValueError, "atom_update='ksvd' .* 'exact', 'power'"),
    ({"coef_update": "mod"}, ValueError, "coef_update='mod' .* 'aksvd', 'uaksvd'"),
    ({"decision": "best"}, ValueError, "decision='best' .* 'collaborative', 'residual'"),
    (
        {"init": "k-means"},
        ValueError,
        "init='k-means' .* 'random', 'pivoted' or a sequence",
    ),
    ({"init": 3}, TypeError, "init=3 .* sequence of arrays"),
    ({"init": [np.ones((2, 2))]}, ValueError, "init has 1 arrays for 3 classes"),
    ({"init": [np.ones((2, 2))] * 3}, ValueError, r"init\[0\] has shape \(2, 2\).* needs"),
    ({"init": [["a"]] * 3}, TypeError, r"init\[0\] is not an array of numbers"),
]


@pytest.mark.parametrize("classifier", BOTH)
@pytest.mark.parametrize(("options", "error", "words"), SHARED)
def test_bad_parameters(classifier, options, error, words):
    with pytest.raises(error, match=words):
        classifier(**options).fit(X, y)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"kernel": "gauss"}, ValueError, "kernel='gauss' .* 'rbf', 'poly', .* callable"),
        ({"kernel": 3}, ValueError, "kernel=3"),
        ({"sigma": 0.0}, ValueError, "sigma=0.0 .* > 0"),
        ({"sigma": -1}, ValueError, "sigma=-1"),
        ({"sigma": np.inf}, ValueError, "sigma=inf"),
        ({"sigma": "auto"}, TypeError, "sigma='auto'"),
        ({"kernel": "poly", "degree": 0}, ValueError, "degree=0 .* whole number >= 1"),
        ({"kernel": "poly", "degree": 2.5}, ValueError, "degree=2.5 .* whole number >= 1"),
        ({"kernel": "poly", "coef0": np.nan}, ValueError, "coef0=nan"),
        ({"kernel": "poly", "degree": 999}, ValueError, "kernel='poly' .* scale the features"),
        ({"kernel": "poly", "degree": 3, "coef0": -99.0}, ValueError, "eigenvalue -.* coef0 >= 0"),
        ({"kernel": lambda A, B: A}, ValueError, r"shape \(36, 10\) .* return one of shape"),
        ({"kernel": lambda A, B: -A @ B.T}, ValueError, r"classes_\[0\] has the eigenvalue -"),
        ({"kernel": lambda A, B: A @ np.triu(A.T @ A) @ B.T}, ValueError, "not symmetric"),
        ({"kernel": "precomputed"}, ValueError, r"square kernel matrix .* \(36, 10\)"),
    ],
)
def test_bad_kernels(options, error, words):
    with pytest.raises(error, match=words):
        KernelDictionaryClassifier(**options).fit(X, y)


@pytest.mark.parametrize("classifier", BOTH)
def test_bad_data(classifier):
    for value in (np.nan, np.inf):
        bad = X.copy()
        bad[3, 2] = value
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            classifier().fit(bad, y)
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            classifier(n_nonzero_coefs=2).fit(X, y).predict(bad)
    with pytest.raises(ValueError, match=r"one class only .* at least two classes"):
        classifier().fit(X, np.zeros(len(X)))


def test_values_whose_squares_overflow():
    for classifier, data in (
        (DictionaryClassifier, X * 1e200),
        (DictionaryClassifier, (X * 1e25).astype(np.float32)),
        (KernelDictionaryClassifier, X * 1e200),
        (KernelDictionaryClassifier, (X * 1e20).astype(np.float32)),
    ):
        with pytest.raises(ValueError, match="scale the features"):
            classifier(6, 2).fit(data, y)
    with pytest.raises(ValueError, match="scale the features"):
        DictionaryClassifier(6, 2).fit(X, y).predict(X * 1e200)
    with pytest.raises(ValueError, match=r"kernel='linear' .* scale the features"):
        KernelDictionaryClassifier(6, 2, kernel="linear").fit(X * 1e200, y)
    with pytest.raises(ValueError, match="kernel='rbf' gave values that are infinite or NaN"):
        KernelDictionaryClassifier(6, 2, sigma=1e-200).fit(np.vstack([X, X]), np.r_[y, y])


def test_bad_initial_atoms():
    for bad, words in ((np.nan, r"init\[1\] holds NaN"), (0.0, r"init\[1\] has a zero atom")):
        init = [np.ones((10, 4)) for _ in range(3)]
        init[1][:, 2] = bad
        with pytest.raises(ValueError, match=words):
            DictionaryClassifier(4, 2, init=init).fit(X, y)


def test_precomputed_kernels_must_match():
    K = X @ X.T
    model = KernelDictionaryClassifier(6, 2, kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match=r"all 36 training samples.*\(36, 5\)"):
        model.predict(K[:, :5])
    with pytest.raises(ValueError, match=r"diagonal=\.\.\."):
        model.class_residuals(K)
    with pytest.raises(ValueError, match=r"diagonal has shape \(2,\) for 36"):
        model.class_residuals(K, diagonal=[1, 2])
    with pytest.raises(TypeError, match="diagonal is not an array of numbers"):
        model.class_residuals(K, diagonal=["a"] * 36)
    with pytest.raises(ValueError, match=r"diagonal holds -1: .* >= 0"):
        model.class_residuals(K, diagonal=-np.ones(36))


def test_a_failed_fit_leaves_the_fitted_model_as_it_was():
    model = KernelDictionaryClassifier(6, 2, random_state=0).fit(X, y)
    expected = model.class_residuals(X)
    with pytest.raises(ValueError, match="eigenvalue"):
        model.set_params(kernel=lambda A, B: -A @ B.T).fit(X, y)
    np.testing.assert_array_equal(model.class_residuals(X), expected)
