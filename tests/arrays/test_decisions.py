"""Fitted models elsewhere decide as they do on the host."""

import pickle

import numpy as np
import pytest
from conftest import BOTH, RULES, close, make, toy

import kerndict
from kerndict import KernelDictionaryClassifier
from kerndict._arrays import on_host, to_host

#: Relative to the largest number.  Where little is left of a sample, its logarithm has lost the
#: digits that k(y, y) and what is explained share: in float32 scores keep two, and so do
#: probabilities.
TOLERANCE = {np.float64: 1e-10, np.float32: 1e-4}
OF_SCORES = {np.float64: 1e-10, np.float32: 2e-2}


def uneven():
    """Return classes of different sizes, so that some are padded."""
    X, y = toy(n_classes=4, per_class=20, n_features=12)
    kept = np.r_[0:20, 20:33, 40:60, 60:69]
    return X[kept], y[kept]


def assert_same(model, X, there):
    moved, elsewhere = model.to(there.like), there(X)
    methods = ["decision_function", "class_residuals"]
    if model.decision == "collaborative":
        methods += ["predict_proba", "predict_log_proba"]
    for method in methods:
        expected, found = getattr(model, method)(X), getattr(moved, method)(elsewhere)
        assert not on_host(found)
        limits = TOLERANCE if method == "class_residuals" else OF_SCORES
        close(to_host(found), expected, limits[X.dtype.type])
        assert to_host(found).dtype == expected.dtype
    np.testing.assert_array_equal(to_host(moved.predict(elsewhere)), model.predict(X))
    if model.decision == "collaborative":
        # One more or one fewer of the samples held out may be as strange.
        few = 2 / (1 + len(model.model_.rule.held_out))
        difference = to_host(moved.typicality(elsewhere)) - model.typicality(X)
        assert np.abs(difference).max() <= (
            1e-15 if X.dtype == np.float64 else few
        )  # a division rounds


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", BOTH)
def test_decisions_are_those_of_the_host(kind, dtype, rule, there):
    X, y = uneven()
    assert_same(make(kind, rule).fit(X.astype(dtype), y), X.astype(dtype), there)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_so_are_those_with_landmarks(dtype, rule, there):
    X, y = toy(per_class=60)
    X = X.astype(dtype)
    model = KernelDictionaryClassifier(n_landmarks=30, decision=rule, random_state=0).fit(X, y)
    assert_same(model, X, there)


@pytest.mark.parametrize("kernel", ["poly", "linear", lambda X, Z: (X @ Z.T + 1) ** 3])
def test_kernels(kernel, there):
    X, y = uneven()
    assert_same(
        make(KernelDictionaryClassifier, "collaborative", kernel=kernel).fit(X, y), X, there
    )


def test_a_kernel_that_is_given(there):
    X, y = uneven()
    K = (X @ X.T + 1) ** 2
    for matrix in (K, K / np.sqrt(np.outer(np.diag(K), np.diag(K)))):  # with k(y, y) and without
        model = make(KernelDictionaryClassifier, "collaborative", kernel="precomputed")
        model.fit(matrix, y)
        moved = model.to(there.like)
        found = to_host(moved.predict_proba(there(matrix)))
        close(found, model.predict_proba(matrix), 1e-9)
        diagonal = np.diag(matrix)
        found = to_host(moved.class_residuals(there(matrix), there(diagonal)))
        close(found, model.class_residuals(matrix, diagonal), 1e-9)


@pytest.mark.parametrize("kind", BOTH)
def test_words_as_labels_stay_on_the_host(kind, there):
    X, y = uneven()
    words = np.array(["a", "b", "c", "d"])[y]
    model = make(kind).fit(X, words)
    np.testing.assert_array_equal(model.to(there.like).predict(there(X)), model.predict(X))


@pytest.mark.parametrize("rule", RULES)
def test_there_and_back_nothing_changes(rule, there, tmp_path):
    X, y = uneven()
    model = make(KernelDictionaryClassifier, rule).fit(X, y)
    moved = model.to(there.like)
    back = pickle.loads(pickle.dumps(moved)).to("cpu")
    for name in ("decision_function", "class_residuals"):
        np.testing.assert_array_equal(getattr(back, name)(X), getattr(model, name)(X))
    kerndict.save(model, tmp_path / "host")
    kerndict.save(moved, tmp_path / "elsewhere")
    assert (tmp_path / "host").read_bytes() == (tmp_path / "elsewhere").read_bytes()
    assert moved.explain(there(X[:3])).scores.tolist() == model.explain(X[:3]).scores.tolist()


def test_a_model_of_batches_goes_on_elsewhere(there):
    X, y = toy(per_class=60)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    model = KernelDictionaryClassifier(n_landmarks=20, sigma=3.0, random_state=0)
    model.partial_fit(X[:90], y[:90])
    moved = model.to(there.like).partial_fit(there(X[90:]), there(y[90:]))
    model.partial_fit(X[90:], y[90:])
    close(to_host(moved.predict_proba(there(X))), model.predict_proba(X), 1e-7)


def test_chunks_do_not_matter(there):
    import sklearn

    X, y = uneven()
    for rule in RULES:
        model = make(KernelDictionaryClassifier, rule).fit(X, y).to(there.like)
        whole = to_host(model.decision_function(there(X)))
        with sklearn.config_context(working_memory=0.1):
            close(to_host(model.decision_function(there(X))), whole, 1e-9)
