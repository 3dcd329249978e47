"""In the company of scikit-learn, pandas and pickle."""

import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import BOTH, toy
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from kerndict import KernelDictionaryClassifier

X, y = toy()


@pytest.mark.parametrize("classifier", BOTH)
@pytest.mark.filterwarnings("ignore::kerndict.SpanWarning")
def test_grid_search_over_atoms_and_sparsity_never_crashes(classifier):
    grid = {"n_atoms": [1, 4, 30], "n_nonzero_coefs": [1, 5, 40], "incoherence": [0.0, 0.1]}
    search = GridSearchCV(classifier(n_iter=2, random_state=0), grid, cv=3, error_score="raise")
    search.fit(X, y)
    assert search.best_score_ > 0.9
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("classifier", BOTH)
def test_pipelines_clones_and_pickles(classifier):
    model = make_pipeline(Normalizer(), classifier(6, 2, random_state=0)).fit(X, y)
    expected = model.decision_function(X)
    np.testing.assert_array_equal(clone(model).fit(X, y).decision_function(X), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), expected)


@pytest.mark.parametrize("classifier", BOTH)
def test_pandas_frames_with_string_labels(classifier):
    frame = pd.DataFrame(X, columns=[f"feature {i}" for i in range(10)])
    labels = pd.Series(np.array(["ash", "birch", "cedar"])[y])
    model = classifier(6, 2, random_state=0).fit(frame, labels)
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    assert set(model.predict(frame)) == {"ash", "birch", "cedar"}
    assert model.score(frame, labels) > 0.9
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])


def test_cross_validation_splits_precomputed_kernels_on_both_sides():
    K = rbf_kernel(X, gamma=0.02)
    order = np.random.default_rng(0).permutation(len(y))
    model = KernelDictionaryClassifier(5, 2, kernel="precomputed", random_state=0)
    scores = cross_val_score(model, K[np.ix_(order, order)], y[order], cv=3, error_score="raise")
    sigma = np.sqrt(1 / (2 * 0.02))
    named = KernelDictionaryClassifier(5, 2, sigma=sigma, random_state=0)
    np.testing.assert_allclose(scores, cross_val_score(named, X[order], y[order], cv=3))


def test_parameters_are_stored_untouched():
    init = [np.ones((10, 6))] * 3
    options = {"n_atoms": np.int64(6), "sigma": np.float32(2), "degree": 2.0, "init": init}
    model = KernelDictionaryClassifier(**options)
    assert all(model.get_params()[name] is value for name, value in options.items())
    model.set_params(init="samples").fit(X, y)
    assert model.get_params()["n_atoms"] is options["n_atoms"]
