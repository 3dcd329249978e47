import numpy as np
import pytest

from kerndict.datasets import split_half, split_mask, split_per_class

y = np.repeat([0, 1, 2], [5, 8, 12])


def counts(indices):
    return np.bincount(y[indices], minlength=3).tolist()


def test_counts_per_class():
    train, test = split_per_class(y, 4, seed=1)
    assert (counts(train), counts(test)) == ([4, 4, 4], [1, 4, 8])
    train, test = split_per_class(y, 4, 3, seed=1)
    assert (counts(train), counts(test)) == ([4, 4, 4], [1, 3, 3])
    assert not set(train) & set(test)


def test_half_and_mask():
    train, test = split_half(y, seed=1)
    assert (counts(train), counts(test)) == ([3, 4, 6], [2, 4, 6])
    assert sorted([*train, *test]) == list(range(25))
    train, test = split_mask(y == 1)
    assert (counts(train), counts(test)) == ([0, 8, 0], [5, 0, 12])


def test_seeds_decide():
    for split in (lambda seed: split_half(y, seed=seed), lambda s: split_per_class(y, 3, seed=s)):
        np.testing.assert_array_equal(split(1)[0], split(1)[0])
        assert (split(1)[0] != split(2)[0]).any()


def test_too_small_classes_are_named():
    with pytest.raises(ValueError, match=r"n_train=5: class .*0.* has 5 samples only"):
        split_per_class(y, 5)
