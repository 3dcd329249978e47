"""Weights of rows and of classes, with all rows and with landmarks."""

import numpy as np
import pytest
from conftest import BOTH, RULES, close, toy
from sklearn.metrics import recall_score

from kerndict import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.kernels import Kernel

X, y = toy(per_class=40, noise=1.0)
shuffled = np.random.default_rng(3).permutation(len(y))
X, y = X[shuffled], np.array(["ash", "birch", "cedar"])[y[shuffled]]
NEW = toy(per_class=40, noise=1.0)[0] * 1.1
WEIGHTS = np.random.default_rng(4).uniform(0.2, 3, len(X))
LANDMARKS = ["all", 30]
paths = pytest.mark.parametrize("n_landmarks", LANDMARKS)
kinds = pytest.mark.parametrize("kind", BOTH)
rules = pytest.mark.parametrize("decision", RULES)


def make(kind, n_landmarks, decision="collaborative", **options):
    small = {"n_atoms": 6, "n_iter": 2, "random_state": 0}
    if decision == "residual":
        small["n_nonzero_coefs"] = 2
    if kind is KernelDictionaryClassifier:
        small["sigma"] = 4.0
    return kind(n_landmarks=n_landmarks, decision=decision, **small | options)


def same(found, model):
    np.testing.assert_array_equal(found.decision_function(NEW), model.decision_function(NEW))
    np.testing.assert_array_equal(found.predict(NEW), model.predict(NEW))


@rules
@paths
@kinds
def test_weights_that_are_all_equal_are_as_none(kind, n_landmarks, decision):
    model = make(kind, n_landmarks, decision).fit(X, y)
    for weight in (1, 0.1, 7e5):
        same(make(kind, n_landmarks, decision).fit(X, y, np.full(len(X), weight)), model)
    same(make(kind, n_landmarks, decision).fit(X, y, None), model)


@rules
@paths
@kinds
def test_only_the_ratios_of_weights_matter(kind, n_landmarks, decision):
    model = make(kind, n_landmarks, decision).fit(X, y, WEIGHTS)
    for scale in (1e-9, 3.0, 1e9):
        found = make(kind, n_landmarks, decision).fit(X, y, scale * WEIGHTS)
        np.testing.assert_array_equal(found.predict(NEW), model.predict(NEW))
        close(found.decision_function(NEW), model.decision_function(NEW), 1e-5)


@paths
@kinds
def test_weights_in_single_precision_and_lists_are_taken(kind, n_landmarks):
    single = WEIGHTS.astype(np.float32)
    model = make(kind, n_landmarks).fit(X, y, single.astype(np.float64))
    same(make(kind, n_landmarks).fit(X, y, single), model)
    same(make(kind, n_landmarks).fit(X, y, single.astype(np.float64).tolist()), model)


@rules
@paths
@kinds
def test_rows_of_weight_zero_are_left_out(kind, n_landmarks, decision):
    weights = np.where(np.arange(len(X)) % 4 == 1, 0, WEIGHTS)
    kept = np.flatnonzero(weights)
    strange = X.copy()
    strange[weights == 0] *= -50
    found = make(kind, n_landmarks, decision).fit(strange, y, weights)
    expected = make(kind, n_landmarks, decision).fit(X[kept], y[kept], weights[kept])
    same(found, expected)
    for A, B in zip(found.model_.atoms, expected.model_.atoms, strict=True):
        np.testing.assert_array_equal(A, B)
    np.testing.assert_array_equal(found.fit_indices_, kept[expected.fit_indices_])
    if kind is KernelDictionaryClassifier:
        np.testing.assert_array_equal(found.X_fit_, X[found.fit_indices_])
    listed = found.explain(X[:3]).training_samples
    assert np.isin(listed[listed >= 0], kept).all()


@paths
@kinds
def test_a_class_of_weight_zero_is_not_learned(kind, n_landmarks):
    model = make(kind, n_landmarks).fit(X, y, (y != "birch").astype(float))
    assert model.classes_.tolist() == ["ash", "cedar"]
    model = make(kind, n_landmarks, class_weight={"ash": 1, "birch": 0, "cedar": 2}).fit(X, y)
    assert model.classes_.tolist() == ["ash", "cedar"]
    with pytest.raises(ValueError, match=r"one class only \(ash\)"):
        make(kind, n_landmarks).fit(X, y, (y == "ash").astype(float))
    with pytest.raises(ValueError, match="y holds no class"):
        make(kind, n_landmarks, class_weight=dict.fromkeys(set(y), 0)).fit(X, y)


@rules
@paths
@kinds
def test_weights_of_classes_are_weights_of_their_rows(kind, n_landmarks, decision):
    weight = {"ash": 1.0, "birch": 5.0, "cedar": 0.5}
    of_rows = np.array([weight[label] for label in y])
    found = make(kind, n_landmarks, decision, class_weight=weight).fit(X, y)
    same(found, make(kind, n_landmarks, decision).fit(X, y, of_rows))
    both = make(kind, n_landmarks, decision, class_weight=weight).fit(X, y, WEIGHTS)
    same(both, make(kind, n_landmarks, decision).fit(X, y, of_rows * WEIGHTS))


@paths
@kinds
def test_a_class_that_counts_more_wins_more_often(kind, n_landmarks):
    shares = []
    for weight in (0.05, 1.0, 20.0):
        of_class = {"ash": weight, "birch": 1.0, "cedar": 1.0}
        model = make(kind, n_landmarks, class_weight=of_class).fit(X, y)
        shares.append((model.predict(NEW) == "ash").mean())
    assert shares[0] < shares[1] < shares[2]


@paths
@kinds
def test_balanced_classes_raise_the_recall_of_a_rare_one(kind, n_landmarks):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((440, 5)) @ rng.standard_normal((5, 5))
    rows[:40] *= 1.5
    rows[:40] += 0.8 * np.abs(rows[:40])
    labels = np.repeat(["rare", "frequent"], [40, 400])
    learned, new = slice(None, None, 2), slice(1, None, 2)
    recalls = []
    for weight in (None, "balanced"):
        options = {"n_atoms": 15, "n_nonzero_coefs": 3, "class_weight": weight}
        model = make(kind, n_landmarks, **options)
        guess = model.fit(rows[learned], labels[learned]).predict(rows[new])
        recalls.append(recall_score(labels[new], guess, pos_label="rare"))
    assert recalls[1] > recalls[0]


@paths
@kinds
def test_codes_of_weighted_rows_are_those_of_the_rows_themselves(kind, n_landmarks):
    model = make(kind, n_landmarks, "residual", n_iter=0).fit(X, y, WEIGHTS)
    space, atoms = model.model_.space, model.model_.atoms
    for c, label in enumerate(model.classes_):
        rows, codes = X[y == label], model.codes_[c]
        b = list(space.correlations(rows, atoms))[c]
        left = space.energies(rows) - np.sum(codes * (2 * b - codes @ model.model_.grams[c]), 1)
        close(model.class_residuals(rows)[:, c], left, 1e-8)


def test_a_weighted_row_is_learned_from_as_its_root_times_the_row():
    scaled = X * np.sqrt(WEIGHTS)[:, None]
    found = make(DictionaryClassifier, "all", "residual").fit(X, y, WEIGHTS)
    expected = make(DictionaryClassifier, "all", "residual").fit(scaled, y)
    for D, E in zip(found.dictionaries_, expected.dictionaries_, strict=True):
        close(D, E, 1e-8)
    dual = make(KernelDictionaryClassifier, "all", "residual", kernel="linear")
    dual.fit(X, y, WEIGHTS)
    for label, A, E in zip(
        dual.classes_, dual.dual_dictionaries_, expected.dictionaries_, strict=True
    ):
        close(X[y == label].T @ A, E, 1e-6)


@paths
@kinds
@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (np.where(np.arange(len(X)) == 3, -1.0, 1.0), "[Nn]egative"),
        (np.where(np.arange(len(X)) == 3, np.nan, 1.0), "NaN"),
        (np.ones(5), "sample_weight"),
        (np.zeros(len(X)), "y holds no class|at least one non-zero"),
    ],
)
def test_weights_that_cannot_be_used(kind, n_landmarks, weights, said):
    with pytest.raises(ValueError, match=said):
        make(kind, n_landmarks).fit(X, y, weights)


@paths
@kinds
@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_weights_of_classes_that_cannot_be_used(kind, n_landmarks, weight):
    with pytest.raises(ValueError, match=r"class_weight=.*give each class a number >= 0"):
        make(kind, n_landmarks, class_weight={"ash": weight, "birch": 1, "cedar": 1}).fit(X, y)
    with pytest.raises(ValueError, match=r"class_weight='even' is not known: use 'balanced'"):
        make(kind, n_landmarks, class_weight="even").fit(X, y)


def test_rows_of_a_matrix_cannot_be_left_out_but_weighted():
    K = Kernel("rbf", 4.0).matrix(X, X)
    model = make(KernelDictionaryClassifier, "all", kernel="precomputed")
    with pytest.raises(ValueError, match="leave out their rows and columns"):
        model.fit(K, y, np.where(np.arange(len(X)) == 3, 0.0, 1.0))
    weighted = model.fit(K, y, WEIGHTS)
    direct = make(KernelDictionaryClassifier, "all", within_class_whitening=0).fit(X, y, WEIGHTS)
    new = Kernel("rbf", 4.0).matrix(NEW, X)
    close(weighted.predict_proba(new), direct.predict_proba(NEW), 1e-5)


@kinds
def test_weights_reach_the_residual_rule(kind):
    heavy = np.where(np.arange(len(X)) % 5 == 0, 100.0, 1.0)
    plain = make(kind, "all", "residual").fit(X, y)
    found = make(kind, "all", "residual").fit(X, y, heavy)
    own = np.searchsorted(plain.classes_, y)
    rows = np.flatnonzero(heavy > 1)
    before = plain.class_residuals(X[rows])[np.arange(len(rows)), own[rows]].sum()
    after = found.class_residuals(X[rows])[np.arange(len(rows)), own[rows]].sum()
    assert after < before
