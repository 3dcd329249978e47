"""How rows are prepared is chosen by samples left out, and groups are left out as a whole."""

import numpy as np
import pytest
import sklearn
from conftest import BOTH, close
from sklearn.model_selection import cross_val_score
from test_preparation import LABELS, rows

from kerndict import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.kernels import Kernel
from kerndict.preparation import Recipe, unit_rows, within_classes
from kerndict.rules import search
from kerndict.rules.folds import N_FOLDS, assign_folds
from kerndict.spaces import KernelRows, LinearRows, kernel_of_prepared

MANY = np.repeat(np.arange(12), 8)


def lit(seed):
    """Return rows told apart by a small part, beside a large one that all classes share."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(7).standard_normal((12, 40))
    light = np.random.default_rng(8).standard_normal((10, 40))
    X = centres[MANY] + 6 * rng.standard_normal((len(MANY), 10)) @ light
    return X + rng.standard_normal(X.shape)


@pytest.mark.parametrize(("kind", "gain"), list(zip(BOTH, (0.0, 0.1), strict=True)))
def test_whitening_is_chosen_where_it_helps(kind, gain):
    model = kind(random_state=0).fit(lit(0), MANY)
    plain = kind(random_state=0, within_class_whitening=0).fit(lit(0), MANY)
    assert model.within_class_whitening_ > 0
    assert model.score(lit(1), MANY) > plain.score(lit(1), MANY) + gain


@pytest.mark.parametrize("kind", BOTH)
def test_nothing_is_done_where_nothing_helps(kind):
    # Classes are subspaces: what varies within them is all there is to tell them by.
    rng = np.random.default_rng(0)
    bases, labels = rng.standard_normal((6, 3, 12)), np.repeat(np.arange(6), 15)
    X = np.einsum("ik,ikm->im", rng.standard_normal((90, 3)), bases[labels])
    X = unit_rows(X + 0.3 * rng.standard_normal(X.shape))
    model = kind(random_state=0).fit(X, labels)
    assert model.within_class_whitening_ == 0
    assert model.model_.space.preparation is None


def test_roots_are_chosen_of_counts_and_never_of_signed_numbers():
    rng = np.random.default_rng(0)
    rates = rng.gamma(0.3, size=(8, 60)) * 20
    labels = np.repeat(np.arange(8), 12)
    counts = rng.poisson(rates[labels] * rng.gamma(1.0, size=(96, 60))).astype(float)
    options = {"random_state": 0, "within_class_whitening": 0}
    assert KernelDictionaryClassifier(**options).fit(counts, labels).square_root_
    assert not KernelDictionaryClassifier(**options).fit(counts - 1, labels).square_root_


def test_a_fold_is_prepared_by_its_own_rows():
    X = unit_rows(rows())
    left_out = np.random.default_rng(0).random(len(X)) < 0.2
    sizes, indices = np.bincount(LABELS), np.arange(len(X))
    recipe = Recipe(strength=1.0)
    shares = within_classes(X[~left_out], LABELS[~left_out]).shares(1.0)
    common = {"X": X, "sizes": sizes, "weights": None, "indices": indices}
    kernel = KernelRows(**common, kernel=Kernel("rbf", 1.0), multiples=(2.0, 1.0))
    for every in (LinearRows(**common), kernel):
        fold = every.fold(recipe, left_out)
        space, alone = every.part(np.flatnonzero(~left_out), np.bincount(LABELS[~left_out])).whole(
            recipe
        )
        close(space.preparation.shares, shares)
        np.testing.assert_array_equal(fold.sizes, alone.sizes)
        atoms = [np.eye(size)[:, :2] for size in alone.sizes]
        if every is not kernel:
            atoms = [np.eye(7)[:, :2]] * 3
            expected = space.preparation(X[left_out]) @ np.hstack(atoms)
        else:
            K = space.kernel.matrix(X[left_out], X[~left_out])
            starts = np.r_[0, np.cumsum(alone.sizes)]
            parts = zip(starts, starts[1:], atoms, strict=False)
            expected = np.hstack([K[:, a:b] @ A for a, b, A in parts])
        close(fold.left_out_correlations(atoms), expected, 1e-8)
        close(fold.full_gram(atoms), alone.full_gram(atoms), 1e-8)


def test_a_kernel_keeps_a_width_that_was_given():
    Z = rows()
    assert kernel_of_prepared(Kernel("rbf", 3.0), Z, None).sigma == 3.0
    assert kernel_of_prepared(Kernel("poly"), Z, 2.0) == Kernel("poly")
    assert kernel_of_prepared(Kernel("rbf", 3.0), Z, 2.0).sigma != 3.0


# -------------------------------------------------------------------------------------- groups


def test_folds_leave_out_whole_groups():
    sizes = np.array([20, 20, 15, 1])
    groups = np.r_[np.arange(20) % 10, np.arange(20) % 10, np.arange(15) % 10, 0]
    folds = assign_folds(sizes, np.random.RandomState(0), groups)
    labels = np.repeat(np.arange(4), sizes)
    assert folds[-1] == -1
    for group in range(10):
        assert len(set(folds[(groups == group) & (labels < 3)])) == 1
    assert set(folds[labels == 0]) == set(range(N_FOLDS))
    # A class of one group stays: without it nothing would be known of the class.
    folds = assign_folds(np.array([10, 10]), np.random.RandomState(0), np.r_[[0] * 10, 1:11])
    assert (folds[:10] == -1).all()
    with pytest.raises(ValueError, match="groups are all the same"):
        assign_folds(np.array([10, 10]), np.random.RandomState(0), np.zeros(20))


def test_groups_reach_fit_through_a_search():
    X = lit(0)
    groups = np.tile(np.arange(8), 12)
    seen = []

    class Spy(KernelDictionaryClassifier):
        def fit(self, X, y, sample_weight=None, groups=None):
            seen.append(groups)
            return super().fit(X, y, sample_weight, groups)

    with sklearn.config_context(enable_metadata_routing=True):
        model = Spy(6, 2, n_iter=1, within_class_whitening=0).set_fit_request(groups=True)
        cross_val_score(model, X, MANY, cv=2, params={"groups": groups})
    assert [len(found) for found in seen] == [48, 48]


def test_groups_change_what_the_rule_is_fitted_by():
    # Each group has an own light: samples of new groups are harder than those of known ones.
    rng = np.random.default_rng(0)
    centres, light = rng.standard_normal((6, 20)), 2 * rng.standard_normal((8, 20))
    labels, groups = np.repeat(np.arange(6), 16), np.tile(np.arange(8), 12)
    X = centres[labels] + light[groups] + 0.2 * rng.standard_normal((96, 20))
    options = {"n_atoms": 8, "within_class_whitening": 0, "random_state": 0}
    told = DictionaryClassifier(**options).fit(X, labels, groups=groups)
    others = DictionaryClassifier(**options).fit(X, labels)
    assert told.model_.rule.losses.mean() > 1.5 * others.model_.rule.losses.mean()
    with pytest.raises(ValueError, match=r"groups has shape \(3,\) for 96 samples"):
        told.fit(X, labels, groups=[0, 1, 2])


# ------------------------------------------------------------------------------------- choices


def test_a_difference_within_its_standard_error_is_none():
    class Found:
        def __init__(self, losses):
            self.losses, self.counted = np.asarray(losses, float), np.ones(len(losses))

    plain = Found([1.0, 2.0, 3.0, 4.0])
    assert search.is_better(Found([0.5, 1.4, 2.5, 3.6]), plain)
    assert not search.is_better(Found(plain.losses - 1e-4), plain)
    assert not search.is_better(Found([0.5, 2.9, 2.0, 4.1]), plain)
    assert not search.is_better(plain, plain)
    assert not search.is_better(Found([0.1]), Found([1.0]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"within_class_whitening": -1}, "within_class_whitening=-1 is out of range"),
        ({"within_class_whitening": "much"}, "within_class_whitening='much' is not a number"),
        ({"square_root": "yes"}, "square_root='yes' is not known: use True, False or None"),
        ({"kernel": "precomputed", "square_root": True}, "square_root=True needs the samples"),
    ],
)
def test_what_cannot_be_done_says_so(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        KernelDictionaryClassifier(**options).fit(np.eye(6), np.arange(6) % 2)
