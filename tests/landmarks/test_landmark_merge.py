"""Models that learned from different samples with the same landmarks, added up."""

from copy import deepcopy

import numpy as np
import pytest
from conftest import BOTH, close
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

import kerndict
from kerndict import KernelDictionaryClassifier, merge

X, y = make_classification(1200, 12, n_informative=8, n_classes=3, random_state=0)
X /= X.std(axis=0)
NEW = make_classification(200, 12, n_informative=8, n_classes=3, random_state=1)[0]


def ready(kind=KernelDictionaryClassifier, **options):
    width = {} if kind is BOTH[0] else {"sigma": 3.0}
    model = kind(**{"n_landmarks": 40, "random_state": 0} | width | options)
    return model.settle(X[:400], y[:400], n_samples=1200)


def learned(settled, *places):
    return deepcopy(settled).partial_fit(X[slice(*places)], y[slice(*places)])


@pytest.mark.parametrize("kind", BOTH)
def test_the_sum_is_the_model_of_all_samples(kind):
    settled = ready(kind)
    whole = learned(settled, 0, 1200)
    parts = [learned(settled, *places) for places in ((0, 500), (500, 501), (501, 1200))]
    before = [part.decision_function(NEW) for part in parts]
    for found in (merge(parts), merge([merge(parts[:2]), parts[2]])):
        # The sample holds all rows in their order: the same rows settle the rule.
        close(found.decision_function(NEW), whole.decision_function(NEW), 1e-8)
        close(found.typicality(NEW), whole.typicality(NEW), 1e-8)
        np.testing.assert_array_equal(found.model_.class_sizes, np.bincount(y))
    for part, was in zip(parts, before, strict=True):  # which merging leaves as they were
        np.testing.assert_array_equal(part.decision_function(NEW), was)


def test_a_merged_model_goes_on_learning_and_is_saved(path):
    settled = ready()
    found = merge(learned(settled, *places) for places in ((0, 500), (500, 900)))
    found.partial_fit(X[900:], y[900:])
    close(found.decision_function(NEW), learned(settled, 0, 1200).decision_function(NEW), 1e-8)
    kerndict.save(found, path)
    doubled = merge([kerndict.load(path), found])
    np.testing.assert_array_equal(doubled.model_.class_sizes, 2 * np.bincount(y))


def test_weights_are_added_up():
    settled = ready(class_weight={0: 2.0, 1: 1.0, 2: 0.5})
    weights = np.linspace(0, 3, 1200)
    one, other, whole = (deepcopy(settled) for _ in range(3))
    one.partial_fit(X[:700], y[:700], sample_weight=weights[:700])
    other.partial_fit(X[700:], y[700:], sample_weight=weights[700:])
    whole.partial_fit(X, y, sample_weight=weights)
    close(merge([one, other]).decision_function(NEW), whole.decision_function(NEW), 1e-8)


def test_what_is_settled_has_learned_nothing(path):
    settled = ready()
    assert not settled.learner_.sums.rows.any()
    with pytest.raises(NotFittedError, match="settled its landmarks and learned from no sample"):
        settled.predict(NEW)
    with pytest.raises(NotFittedError):
        kerndict.save(settled, path)
    assert not path.exists()
    again = learned(settled, 0, 600).settle(X[:400], y[:400], n_samples=1200)
    assert not again.learner_.sums.rows.any()


def test_settling_takes_classes_places_and_an_error_changes_nothing():
    few = y[:400] < 2
    settled = ready().settle(
        X[:400][few], y[:400][few], n_samples=9, classes=[0, 1, 2], indices=np.flatnonzero(few) + 7
    )
    assert settled.batch_classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="one class only"):
        settled.settle(X[y == 0][:9], y[y == 0][:9], n_samples=9)
    assert settled.batch_classes_.tolist() == [0, 1, 2]
    assert set(settled.learner_.landmarks.indices) <= set(np.flatnonzero(few) + 7)
    assert learned(settled, 0, 1200).model_.class_sizes.all()


@pytest.mark.parametrize(
    ("other", "error", "words"),
    [
        (lambda: ready(sigma=2.0), ValueError, r"models\[1\] has sigma=2.0, models\[0\] has 3.0"),
        (lambda: ready(ridge=0.5), ValueError, r"ridge=0.5, models\[0\] has 'auto'"),
        (lambda: ready(random_state=1), ValueError, r"models\[1\] has other landmarks"),
        (lambda: ready(n_landmarks=30), ValueError, "n_landmarks=30"),
        (lambda: ready(kind=BOTH[0]), TypeError, "models.1. is a DictionaryClassifier"),
        (lambda: KernelDictionaryClassifier(sigma=3.0), ValueError, "has not learned by partial_f"),
        (lambda: "model.safetensors", TypeError, "is a str"),
    ],
    ids=["sigma", "ridge", "landmarks", "count", "kind", "unfitted", "no model"],
)
def test_models_that_do_not_fit_together_are_refused(other, error, words):
    with pytest.raises(error, match=words):
        merge([learned(ready(), 0, 300), other()])


def test_other_classes_and_no_models_are_refused():
    two = KernelDictionaryClassifier(n_landmarks=40, random_state=0, sigma=3.0)
    two.settle(X[y < 2], y[y < 2], n_samples=1200)
    with pytest.raises(ValueError, match=r"has the classes \[0, 1\], models\[0\] has \[0, 1, 2\]"):
        merge([ready(), two])
    with pytest.raises(ValueError, match="models is empty"):
        merge([])


def test_a_generator_as_random_state_does_not_keep_models_apart():
    settled = ready(random_state=np.random.RandomState(0))
    assert merge([learned(settled, 0, 500), learned(settled, 500, 900)]).model_ is not None
