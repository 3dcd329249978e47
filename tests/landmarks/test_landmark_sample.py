"""Which rows are drawn: the sample of all rows, and the landmarks among them."""

import numpy as np
import pytest
from conftest import close
from sklearn.utils import gen_batches

from kerndict.landmarks import Sample, draw, row_keys
from kerndict.landmarks.sample import PER_CLASS

rng = np.random.default_rng(0)
SIZES = (3000, 900, 250, 150, 3)
labels = rng.permutation(np.repeat(np.arange(len(SIZES)), SIZES))
N = len(labels)
X = np.column_stack([np.arange(N), rng.standard_normal(N)])
WEIGHTS = rng.uniform(0.1, 4, N)


def sampled(count, size, weights=WEIGHTS):
    sample = Sample.empty(count, 2, X.dtype)
    for part in gen_batches(N, size):
        keys = row_keys(0, part.start, part.stop - part.start)
        sample.add(X[part], labels[part], weights[part], keys)
    return sample


@pytest.mark.parametrize("size", [1, 64, 1999])
def test_the_sample_does_not_depend_on_the_batches(size):
    whole, found = sampled(700, N), sampled(700, size if size > 1 else 13)
    for name in ("X", "labels", "weights", "keys"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))


def test_rows_of_the_sample_keep_their_labels_and_weights_in_order():
    sample = sampled(700, 500)
    places = sample.X[:, 0].astype(int)
    assert (np.diff(places) > 0).all()
    np.testing.assert_array_equal(sample.X, X[places])
    np.testing.assert_array_equal(sample.labels, labels[places])
    np.testing.assert_array_equal(sample.weights, WEIGHTS[places])


def test_rows_of_every_class_stay_in_the_sample():
    kept = np.bincount(sampled(100, 500).labels)
    assert (kept >= np.minimum(SIZES, PER_CLASS)).all()
    assert kept.sum() <= 100 + PER_CLASS * len(SIZES)
    np.testing.assert_array_equal(np.bincount(sampled(N, 500).labels), SIZES)


@pytest.mark.parametrize("count", [100, 2000, N])
def test_importance_sums_to_the_weights_and_gives_classes_the_shares_of_all_rows(count):
    sample = sampled(count, 500)
    of_class = np.bincount(labels, WEIGHTS)
    importance = sample.importance(of_class)
    assert importance.sum() == pytest.approx(sample.weights.sum())
    assert sample.share(of_class) == pytest.approx(sample.weights.sum() / WEIGHTS.sum())
    close(np.bincount(sample.labels, importance) / importance.sum(), of_class / of_class.sum())
    for c in range(len(SIZES)):
        own = sample.labels == c
        assert np.ptp(importance[own] / sample.weights[own]) == pytest.approx(0, abs=1e-12)


def test_a_sample_of_all_rows_counts_them_by_their_weights():
    sample = sampled(N, 500)
    close(sample.importance(np.bincount(labels, WEIGHTS)), WEIGHTS)


@pytest.mark.parametrize("count", [1, 4, 5, 23, 500, N - 1, N, N + 10])
def test_drawn_places_are_ascending_and_unique_and_as_many_as_asked_for(count):
    places = draw(labels, count, np.random.RandomState(0))
    assert len(places) == min(count, N)
    assert (np.diff(places) > 0).all()
    assert places.min() >= 0
    assert places.max() < N
    expected = set(range(len(SIZES))) if count >= len(SIZES) else set(labels[places])
    assert set(labels[places]) == expected


def test_ten_rows_of_every_class_are_drawn_where_that_is_less_than_half():
    drawn = np.bincount(labels[draw(labels, 500, np.random.RandomState(0))])
    assert (drawn >= np.minimum(SIZES, 10)).all()


def test_places_differ_by_the_seed_and_are_the_same_for_the_same():
    first, again, other = (draw(labels, 50, np.random.RandomState(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert set(first) != set(other)


def test_more_classes_than_places_and_labels_with_gaps():
    many = rng.permutation(np.repeat(np.arange(0, 300, 2), 3))
    places = draw(many, 40, np.random.RandomState(0))
    assert len(set(many[places])) == 40
    places = draw(many, 150, np.random.RandomState(0))
    assert len(set(many[places])) == 150
