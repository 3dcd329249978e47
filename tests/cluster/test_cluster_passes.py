"""The two passes without a cluster: chunks one after the other, and sums of them."""

import sys

import numpy as np
import pytest
from conftest import close
from on_workers import rows_of

from kerndict import KernelDictionaryClassifier
from kerndict.dask import passes
from kerndict.dask.lanes import cut_in_lanes
from kerndict.dask.passes import First, Second, learn, look, merge_learned, merge_overviews
from kerndict.landmarks import Learner, sure_limits

X, y = rows_of(3000, 0)
COMMON = First(seed=3, class_weight={}, known=True)


def looked(*ends, common=COMMON, lane=2):
    """Look at chunks that end in these places, in lanes of some chunks each."""
    sums, before = [], None
    for number, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        before = look(before, common, number, start, X[start:end], y[start:end])
        if number % lane == lane - 1 or end == ends[-1]:
            sums, before = [*sums, before], None
    found = sums[0]
    for other in sums[1:]:
        found = merge_overviews(found, other)
    return found


def test_rows_are_drawn_whatever_the_chunks(monkeypatch):
    monkeypatch.setattr(passes, "DRAWN", 300)
    whole = looked(3000)
    assert len(whole.sample.X) == 300 + extra(whole)
    for ends in ((1, 1, 700, 3000), (1000, 2000, 3000), tuple(range(100, 3001, 100))):
        found = looked(*ends)
        for name in ("X", "labels", "weights", "keys"):
            np.testing.assert_array_equal(getattr(found.sample, name), getattr(whole.sample, name))
        np.testing.assert_array_equal(found.counts, np.bincount(y))
    np.testing.assert_array_equal(X[whole.sample.weights.astype(int)], whole.sample.X)


def extra(found):
    """Return how many rows stay for their class alone."""
    return int((found.sample.keys > np.sort(found.sample.keys)[299]).sum())


def second(learner):
    limits = sure_limits(learner.sample.count, np.bincount(y))
    return Second(learner, np.arange(3), np.ones(3), [], limits)


@pytest.fixture
def learner():
    model = KernelDictionaryClassifier(n_landmarks=40, sigma=3.0, random_state=0)
    return model.settle(X[:500], y[:500], n_samples=3000).learner_


def test_what_is_learned_is_that_of_one_process_whatever_the_chunks(learner, monkeypatch):
    monkeypatch.setattr("kerndict.landmarks.sample.PER_CLASS", 20)
    learner.sample.count = 400
    expected = learner.copy()
    expected.add(X, y, np.ones(3000))
    common = second(learner)
    assert common.limits.max() < 0.3  # some rows are thinned out
    for ends in ((1500, 3000), (7, 1000, 2999, 3000)):
        parts = [
            learn(None, common, number, start, X[start:end], y[start:end])
            for number, (start, end) in enumerate(zip([0, *ends], ends, strict=False))
        ]
        found = parts[0]
        for part in parts[1:]:
            found = merge_learned(found, part)
        sums = found.sums.unpacked()
        close(np.tril(sums.products), np.tril(expected.sums.products), 1e-12)
        close(sums.by_class, expected.sums.by_class, 1e-12)
        np.testing.assert_array_equal(sums.rows, expected.sums.rows)
        np.testing.assert_array_equal(found.sample.X, expected.sample.X)
        np.testing.assert_array_equal(found.sample.keys, expected.sample.keys)


def test_a_step_leaves_what_was_before_as_it_was(learner):
    common = second(learner)
    first = learn(None, common, 0, 0, X[:1000], y[:1000])
    kept = first.sums.products.copy(), first.sample.X.copy(), first.sums.by_class.copy()
    once = learn(first, common, 1, 1000, X[1000:], y[1000:])
    again = learn(first, common, 1, 1000, X[1000:], y[1000:])
    merge_learned(first, once)
    now = first.sums.products, first.sample.X, first.sums.by_class
    for was, is_now in zip(kept, now, strict=True):
        np.testing.assert_array_equal(was, is_now)
    np.testing.assert_array_equal(once.sums.products, again.sums.products)


def test_no_row_of_the_sample_is_thinned_out():
    sizes = np.array([300, 100_000, 40])
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(3), sizes))
    keys = rng.random(len(labels))
    limits = sure_limits(5000, sizes)
    assert limits[0] == limits[2] == 1
    assert limits[1] < 0.06
    smallest = np.sort(keys[labels == 1])[199]
    assert smallest < limits[1]
    assert np.sort(keys)[4999] < limits[1]


def test_packed_sums_are_half_as_large_and_the_same(learner):
    learner.add(X[:100], y[:100], np.ones(100))
    sums = learner.sums
    packed, m = sums.packed(), len(learner.landmarks.rows)
    assert packed.products.shape == (m * (m + 1) // 2,)
    unpacked = packed.unpacked()
    np.testing.assert_array_equal(np.tril(unpacked.products), np.tril(sums.products))
    assert unpacked.products.flags.f_contiguous
    twice = sums.packed()
    twice.merge(packed)
    np.testing.assert_array_equal(np.tril(twice.unpacked().products), 2 * np.tril(sums.products))


def test_the_scheduler_is_told_how_large_sums_are(learner):
    learned = learn(None, second(learner), 0, 0, X, y)
    assert sys.getsizeof(learned) > 8 * 40 * 41 / 2 + X.nbytes / 4
    assert sys.getsizeof(looked(3000)) > X.nbytes
    assert isinstance(learner, Learner)


@pytest.mark.parametrize("n_lanes", [1, 2, 3, 7, 20])
def test_lanes_hold_all_chunks_in_order(n_lanes):
    for weights in ([1] * 9, [0, 5, 0, 0, 100, 1, 1, 0], [0, 0, 0]):
        lanes = cut_in_lanes(weights, n_lanes)
        assert [k for lane in lanes for k in lane] == list(range(len(weights)))
        assert 1 <= len(lanes) <= n_lanes
        assert all(lanes)
