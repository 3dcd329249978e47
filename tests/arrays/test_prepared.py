"""Rows are prepared where they are as on the host, and so are sets of classes and merged models."""

from copy import deepcopy

import numpy as np
import pytest
from conftest import BOTH, close, make, toy

import kerndict
from kerndict import DictionaryClassifier, KernelDictionaryClassifier, merge
from kerndict import preparation as prepares
from kerndict._arrays import on_host, to_host
from kerndict.preparation import Recipe, learned_preparation

#: Probabilities come from a search for weights that stops where little is gained; with landmarks,
#: from sums that are seen through the inverse of a kernel matrix.
SEARCHED = 1e-5


def positive():
    """Return classes of numbers that have square roots, with some weights."""
    X, y = toy(n_classes=3, per_class=20, n_features=12)
    return np.abs(X), y, np.random.default_rng(0).integers(1, 4, len(X)) / 2


@pytest.mark.parametrize("kind", ["few rows", "many rows", "projected"])
@pytest.mark.parametrize("square_root", [False, True])
def test_a_preparation(kind, square_root, there, monkeypatch):
    X, y, weights = positive()
    if kind == "few rows":
        X, y, weights = X[::6], y[::6], weights[::6]
    if kind == "projected":
        monkeypatch.setattr(prepares, "MANY_FEATURES", 5)
    recipe = Recipe(square_root, 0.5)
    expected = learned_preparation(recipe, X, y, weights)
    found = learned_preparation(recipe, there(X), y, weights)
    assert not on_host(found.directions)
    close(to_host(found(there(X))), expected(X), 1e-10)
    close(to_host(found.undone(found(there(X)))), X, 1e-10)


def test_unit_length_stays(there):
    X, y, _ = positive()
    X /= np.linalg.norm(X, axis=1)[:, None]
    X[3] = 0
    found = to_host(learned_preparation(Recipe(False, 0.5), there(X), y)(there(X)))
    lengths = np.linalg.norm(found, axis=1)
    close(np.delete(lengths, 3), np.ones(len(X) - 1), 1e-12)
    assert lengths[3] == 0


@pytest.mark.parametrize("n_landmarks", ["all", 30])
@pytest.mark.parametrize("kind", BOTH)
def test_fits_and_sets(kind, n_landmarks, there, tmp_path):
    X, y, _ = positive()
    given = {"within_class_whitening": 0.5, "square_root": True, "n_landmarks": n_landmarks}
    model = make(kind, "collaborative", **given).fit(X, y)
    found = make(kind, "collaborative", **given).fit(there(X), y)
    close(to_host(found.predict_proba(there(X))), model.predict_proba(X), SEARCHED)
    moved = model.to(there.like)
    close(to_host(moved.predict_proba(there(X))), model.predict_proba(X), 1e-9)
    for alpha in (0.001, 0.1, 0.5):
        sets = moved.predict_set(there(X), alpha)
        assert not on_host(sets)
        # A class whose loss is the limit itself may fall on either side.
        assert (to_host(sets) != model.predict_set(X, alpha)).sum() <= 1
    kerndict.save(found, tmp_path / "model")
    loaded = kerndict.load(tmp_path / "model")
    assert loaded.within_class_whitening_ == 0.5
    assert loaded.square_root_
    close(loaded.predict_proba(X), to_host(found.predict_proba(there(X))), 1e-9)


@pytest.mark.parametrize("kind", BOTH)
def test_the_choice_of_a_preparation(kind, there):
    rng = np.random.default_rng(0)
    X, y, _ = positive()
    X = X + np.outer(np.abs(rng.standard_normal(len(X))), np.r_[np.full(6, 15.0), np.zeros(6)])
    groups = np.arange(len(X)) // 2
    model = make(kind, "collaborative").fit(X, y, groups=groups)
    found = make(kind, "collaborative").fit(there(X), y, groups=groups)
    assert model.within_class_whitening_ > 0
    assert found.within_class_whitening_ == model.within_class_whitening_
    assert found.square_root_ == model.square_root_
    close(to_host(found.predict_proba(there(X))), model.predict_proba(X), SEARCHED)


def test_merged_models(there):
    X, y = toy(per_class=60)
    settled = KernelDictionaryClassifier(n_landmarks=30, random_state=0)
    settled = settled.settle(there(X), y, n_samples=len(X))
    half = len(X) // 2
    parts = [
        deepcopy(settled).partial_fit(there(X[rows]), y[rows])
        for rows in (slice(0, half), slice(half, None))
    ]
    whole = deepcopy(settled).partial_fit(there(X), y)
    expected = to_host(whole.predict_proba(there(X)))
    close(to_host(merge(parts).predict_proba(there(X))), expected, SEARCHED)
    with pytest.raises(ValueError, match="move one by"):
        merge([parts[0], parts[1].to("cpu")])
    other = DictionaryClassifier(n_landmarks=30, random_state=0).settle(
        there(X), y, n_samples=len(X)
    )
    with pytest.raises(TypeError, match="one kind"):
        merge([parts[0], other])
