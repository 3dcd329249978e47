"""Data at the edge: single samples, zeros, duplicates, odd arrays."""

import numpy as np
import pytest
from conftest import close, toy

from kerndict import DictionaryClassifier, KernelDictionaryClassifier

X, y = toy()
OPTIONS = {"incoherence": 0.1, "incoherence_scale": "absolute", "random_state": 0}
MODELS = [
    DictionaryClassifier(6, 2, **OPTIONS),
    *[
        KernelDictionaryClassifier(6, 2, **OPTIONS, kernel=kernel, sigma=5.0)
        for kernel in ("rbf", "poly", "linear")
    ],
]
pytestmark = pytest.mark.filterwarnings("ignore::kerndict.SpanWarning")


@pytest.fixture(params=range(len(MODELS)), ids=["none", "rbf", "poly", "linear"])
def model(request):
    from sklearn.base import clone

    return clone(MODELS[request.param])


@pytest.fixture(params=["exact", "power"], autouse=True)
def update(request, model):
    model.set_params(atom_update=request.param)


def finite(model):
    arrays = [*model.codes_, *model.model_.grams, model.reconstruction_, model.coherence_]
    assert all(np.isfinite(array).all() for array in arrays)
    return model


def test_a_class_with_a_single_sample(model):
    labels = np.r_[y, 9]
    data = np.vstack([X, 10 * np.eye(10)[:1]])
    finite(model.fit(data, labels))
    assert model.predict(data)[-1] == 9


def test_a_class_whose_squares_vanish(model):
    data = X.copy()
    data[y == 0] *= 1e-170
    if model.get_params().get("kernel") == "linear":  # zero rows, all the same
        data[y == 0] *= 1e-170
    finite(model.fit(data, y))
    # Of a linear kernel nothing is left of the class: no class explains its rows, and the first
    # one takes them.
    assert (model.predict(data)[y == 0] == 0).all()
    assert np.mean(model.predict(data)[y != 0] == y[y != 0]) > 0.9


def test_nothing_but_zeros(model):
    finite(model.fit(np.zeros_like(X), y))
    residuals, scores = model.class_residuals(X), model.decision_function(X)
    assert np.isfinite(scores).all()
    if isinstance(model, DictionaryClassifier) and model.atom_update == "power":
        # As in the published code, atoms that nothing uses are drawn anew.
        assert len(set(model.predict(X))) > 1
        return
    # What all classes have in common tells no class from another.
    close(residuals, residuals[:, :1] + np.zeros(3), 1e-12)
    assert np.ptp(scores, axis=1).max() < 1e-6
    assert len(set(model.predict(X))) == 1


def test_zero_rows(model):
    data = X.copy()
    data[[0, 1, 13]] = 0
    finite(model.fit(data, y))
    assert np.isfinite(model.class_residuals(data)).all()
    assert np.mean(model.predict(data)[14:] == y[14:]) > 0.8


def test_a_class_of_zero_rows(model):
    data = X.copy()
    data[y == 1] = 0
    finite(model.fit(data, y))
    assert np.isfinite(model.decision_function(data)).all()
    others = y != 1
    assert np.mean(model.predict(data)[others] == y[others]) > 0.8


def test_duplicate_rows(model):
    data, labels = np.vstack([X, X, X]), np.r_[y, y, y]
    finite(model.fit(data, labels))
    assert model.score(data, labels) > 0.8


def test_near_duplicate_rows(model):
    rng = np.random.default_rng(0)
    data = np.vstack([X + 1e-9 * rng.standard_normal(X.shape) for _ in range(3)])
    finite(model.fit(data, np.r_[y, y, y]))
    assert model.score(data, np.r_[y, y, y]) > 0.8


def test_constant_features(model):
    data = np.hstack([X, np.full((len(X), 2), 3.0)])
    finite(model.fit(data, y))
    assert model.score(data, y) > 0.8


def test_one_feature(model):
    finite(model.fit(X[:, :1], y))
    assert model.predict(X[:, :1]).shape == y.shape


def test_read_only_and_fortran_ordered_arrays_are_left_untouched(model):
    expected = model.fit(X, y).class_residuals(X)
    frozen, labels = np.asfortranarray(X), y.copy()
    frozen.setflags(write=False)
    labels.setflags(write=False)
    close(model.fit(frozen, labels).class_residuals(frozen), expected, 1e-8)
    kept = X.copy()
    model.fit(kept, y).predict(kept)
    np.testing.assert_array_equal(kept, X)


def test_initial_arrays_are_left_untouched(model):
    linear = isinstance(model, DictionaryClassifier)
    init = [np.random.default_rng(i).standard_normal((10 if linear else 12, 6)) for i in range(3)]
    kept = [atoms.copy() for atoms in init]
    for atoms in init:
        atoms.setflags(write=False)
    model.set_params(init=init).fit(X, y)
    for one, other in zip(init, kept, strict=True):
        np.testing.assert_array_equal(one, other)


def test_unequal_class_sizes(model):
    keep = np.r_[0:2, 12:24, 24:30]
    finite(model.fit(X[keep], y[keep]))
    assert [len(codes) for codes in model.codes_] == [2, 12, 6]
    assert model.score(X[keep], y[keep]) > 0.8
