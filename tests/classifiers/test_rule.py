"""The collaborative rule behind the classifiers."""

import itertools
import pickle

import numpy as np
import pytest
from conftest import BOTH, close, toy
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.preprocessing import normalize

from kerndict import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.rules import crossfit
from kerndict.rules.folds import N_FOLDS, assign_folds

X, y = toy(n_classes=4, noise=1.0)
AUTOMATIC = {"n_atoms": None, "n_nonzero_coefs": None, "init": "pivoted", "n_iter": 5}


@pytest.fixture(scope="module", params=BOTH)
def model(request):
    return request.param(**AUTOMATIC, decision="collaborative", random_state=0).fit(X, y)


def test_probabilities_scores_and_labels_agree(model):
    scores, probabilities = model.decision_function(X), model.predict_proba(X)
    assert scores.shape == probabilities.shape == (48, 4)
    close(probabilities.sum(axis=1), np.ones(48))
    close(np.exp(model.predict_log_proba(X)), probabilities)
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    close(probabilities, odds / odds.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(model.predict(X), probabilities.argmax(axis=1))
    assert model.ridge_ > 0
    assert model.rule_weights_.shape == (3,)
    assert (model.rule_weights_ >= 0).all()
    assert model.rule_offsets_.shape == (4,)


def test_two_classes_have_one_score():
    two = y < 2
    for kind in BOTH:
        model = kind(**AUTOMATIC, decision="collaborative").fit(X[two], y[two])
        scores = model.decision_function(X)
        assert scores.shape == (48,)
        close(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-scores)))
        np.testing.assert_array_equal(model.predict(X), (scores > 0).astype(int))


def test_a_zero_row_gets_equal_probabilities():
    model = DictionaryClassifier(**AUTOMATIC, decision="collaborative").fit(X, y)
    close(model.predict_proba(np.zeros((1, 10))), np.full((1, 4), 0.25))


def test_the_residual_rule_has_no_probabilities():
    model = DictionaryClassifier(6, 2, decision="residual").fit(X, y)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "predict_log_proba")
    with pytest.raises(AttributeError):
        _ = model.predict_proba
    assert hasattr(DictionaryClassifier(decision="collaborative"), "predict_proba")


def test_dictionaries_do_not_depend_on_the_rule():
    for kind in BOTH:
        models = [
            kind(**AUTOMATIC, decision=rule, random_state=0).fit(X, y)
            for rule in ("residual", "collaborative")
        ]
        close(*(m.class_residuals(X) for m in models), 1e-12)


def test_a_given_ridge_is_kept():
    model = KernelDictionaryClassifier(**AUTOMATIC, decision="collaborative", ridge=0.3).fit(X, y)
    assert model.ridge_ == 0.3


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("atom_update", "coef_update", "init"),
    list(
        itertools.product(
            ["exact", "power"],
            ["aksvd", "uaksvd"],
            ["samples", "random", "pivoted", "arrays"],
        )
    ),
)
def test_any_combination_works(kind, atom_update, coef_update, init):
    if init == "arrays":
        rows = 10 if kind is DictionaryClassifier else 12
        init = [np.random.default_rng(i).standard_normal((rows, 6)) for i in range(4)]
    options = {"atom_update": atom_update, "coef_update": coef_update, "init": init}
    model = kind(6, 2, n_iter=2, decision="collaborative", random_state=0, **options).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) > 0.7


def test_batches_threads_and_pickles_change_nothing(model):
    many = np.tile(X, (60, 1))
    expected = model.predict_proba(many)
    close(clone(model).set_params(n_jobs=2).fit(X, y).predict_proba(many), expected, 1e-9)
    close(np.vstack([model.predict_proba(row[None]) for row in X]), expected[:48], 1e-9)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(many), expected)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_precomputed_kernels(kernel):
    options = {**AUTOMATIC, "decision": "collaborative", "random_state": 0}
    named = KernelDictionaryClassifier(
        kernel=kernel, sigma=5.0, within_class_whitening=0, **options
    ).fit(X, y)
    K = named.model_.space.kernel.matrix(X, X)
    model = KernelDictionaryClassifier(kernel="precomputed", **options).fit(K, y)
    np.testing.assert_array_equal(model.predict(K), named.predict(X))
    if kernel == "rbf":  # k(y, y) is known
        close(model.predict_proba(K), named.predict_proba(X), 1e-6)
    assert cross_val_score(model, K, y, cv=3).mean() > 0.5
    assert np.isfinite(model.predict_proba(K[:5] * 0)).all()


def test_single_precision():
    for kind in BOTH:
        model = kind(**AUTOMATIC, decision="collaborative").fit(X.astype(np.float32), y)
        assert model.predict_proba(X.astype(np.float32)).dtype == np.float32
        wide = kind(**AUTOMATIC, decision="collaborative").fit(X, y)
        assert np.mean(model.predict(X) == wide.predict(X)) > 0.9


@pytest.mark.filterwarnings("ignore::kerndict.SpanWarning")
def test_classes_of_one_sample():
    data, labels = np.vstack([X, 10 * np.eye(10)[:1]]), np.r_[y, 9]
    for kind in BOTH:
        model = kind(6, 2, decision="collaborative").fit(data, labels)
        assert model.predict(data)[-1] == 9
        alone = kind(2, 1, decision="collaborative").fit(X[::12], y[::12])
        np.testing.assert_array_equal(alone.predict(X[::12]), y[::12])


def test_folds_are_dealt_evenly():
    labels = np.r_[np.repeat([0, 1], 23), 2]
    folds = assign_folds(np.bincount(labels), np.random.RandomState(0))
    assert folds[-1] == -1
    for label in (0, 1):
        counts = np.bincount(folds[labels == label], minlength=N_FOLDS)
        assert counts.max() - counts.min() <= 1


def test_automatic_sizes():
    sizes = [4, 12, 40]
    labels = np.repeat([0, 1, 2], sizes)
    data = np.random.default_rng(0).standard_normal((56, 60))
    model = DictionaryClassifier(**AUTOMATIC).fit(data, labels)
    assert model.n_atoms_.tolist() == [4, 12, 20]
    assert (model.codes_[2] != 0).sum(axis=1).max() == 10
    assert model.model_.sparsity.tolist() == [2, 6, 10]
    model = DictionaryClassifier(0.3, None, n_iter=1).fit(data, labels)
    assert model.n_atoms_.tolist() == [2, 4, 12]
    assert [D.shape[1] for D in model.dictionaries_] == [2, 4, 12]


def test_pivots_are_the_worst_represented_samples():
    rng = np.random.default_rng(0)
    data = np.vstack([np.diag([5.0, 1.0, 3.0, 2.0]), 4 * np.eye(4)])
    labels = np.repeat([0, 1], 4)
    model = DictionaryClassifier(2, 1, init="pivoted", n_iter=0, random_state=rng.integers(9))
    model.fit(data, labels)
    close(model.dictionaries_[0], np.eye(4)[:, [0, 2]])
    close(model.dictionaries_[1], np.eye(4)[:, :2])  # equal ones in turn
    dual = KernelDictionaryClassifier(2, 1, init="pivoted", n_iter=0, kernel="linear")
    dual.fit(data, labels)
    assert np.flatnonzero(dual.dual_dictionaries_[0][:, 0]).tolist() == [0]


def test_the_rule_beats_the_residual_and_is_calibrated_on_digits():
    data, target = load_digits(return_X_y=True)
    parts = train_test_split(normalize(data), target, test_size=0.7, random_state=0)
    X_train, X_test, y_train, y_test = parts
    model = KernelDictionaryClassifier(**AUTOMATIC, decision="collaborative", random_state=0)
    plain = clone(model).set_params(decision="residual").fit(X_train, y_train)
    model.fit(X_train, y_train)
    assert model.score(X_test, y_test) > plain.score(X_test, y_test)
    assert log_loss(y_test, model.predict_proba(X_test)) < 0.12


def test_typicality_tells_strangers_and_is_even_on_the_known():
    data, target = load_digits(return_X_y=True)
    data = normalize(data)
    few = target < 6
    X_train, X_test, y_train, _ = train_test_split(data[few], target[few], random_state=0)
    model = KernelDictionaryClassifier(random_state=0).fit(X_train, y_train)
    known, strange = model.typicality(X_test), model.typicality(data[~few])
    assert known.min() >= 1 / (len(X_train) + 1)
    assert known.max() <= 1
    assert abs(np.mean(known < 0.1) - 0.1) < 0.05
    assert abs(np.mean(known < 0.5) - 0.5) < 0.1
    assert np.mean(strange < 0.05) > 0.7
    truth = np.r_[np.ones(len(known)), np.zeros(len(strange))]
    assert roc_auc_score(truth, np.r_[known, strange]) > 0.95


def test_typicality_needs_the_collaborative_rule_and_samples_to_hold_out():
    assert not hasattr(DictionaryClassifier(decision="residual"), "typicality")
    single = DictionaryClassifier().fit(np.eye(3), [0, 1, 2])
    close(single.typicality(np.eye(3)), np.ones(3))
    zero = DictionaryClassifier(random_state=0).fit(np.vstack([X, 0 * X[:2]]), np.r_[y, 0, 1])
    assert np.isfinite(zero.model_.rule.held_out).all()
    close(zero.typicality(np.zeros((1, 10))), np.full(1, 1 / (len(zero.model_.rule.held_out) + 1)))


def test_folds_of_many_small_classes_do_not_warn():
    # Two samples per class: in a fold many classes have one.
    rng = np.random.default_rng(0)
    KernelDictionaryClassifier().fit(rng.standard_normal((60, 5)), np.repeat(np.arange(30), 2))


def test_single_precision_with_an_unknown_diagonal():
    data, target = load_digits(return_X_y=True)
    data = data / 16
    K_train, K_test = (rows @ data[:300].T for rows in (data[:300], data[300:900]))
    scores = []
    for dtype in (np.float64, np.float32):
        model = KernelDictionaryClassifier(kernel="precomputed", random_state=0)
        model.fit(K_train.astype(dtype), target[:300])
        assert model.model_.space.training_diagonal is None
        scores.append(model.score(K_test.astype(dtype), target[300:900]))
        assert 0.2 < np.median(model.typicality(K_test.astype(dtype))) < 0.7
    assert min(scores) > 0.88
    assert abs(scores[0] - scores[1]) < 0.02


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("n_atoms", [None, 0.5])
def test_initial_arrays_go_with_automatic_sizes(kind, n_atoms):
    count = 12 if n_atoms is None else 6
    linear = kind is DictionaryClassifier
    init = [X[y == c][:count].T if linear else np.eye(12)[:, :count] for c in range(4)]
    model = kind(n_atoms, init=init, n_iter=1, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_probabilities_do_not_depend_on_the_scale(kind, scale):
    options = {"random_state": 0} | ({"sigma": None} if kind is KernelDictionaryClassifier else {})
    model, scaled = (kind(**options).fit(factor * X, y) for factor in (1, scale))
    close(scaled.predict_proba(scale * X), model.predict_proba(X), 1e-5)
    if kind is DictionaryClassifier:  # the length of a row says nothing
        close(model.predict_proba(scale * X), model.predict_proba(X), 1e-8)


def test_what_was_fitted_decides_what_there_is():
    model = DictionaryClassifier(decision="residual").fit(X, y)
    model.set_params(decision="collaborative")
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "typicality")
    assert hasattr(model.fit(X, y).set_params(decision="residual"), "predict_proba")


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("ridge", [1e-300, 1e-17, 1e300])
def test_any_ridge_gives_a_rule(kind, ridge):
    model = kind(ridge=ridge, random_state=0).fit(np.vstack([X, X]), np.r_[y, y])
    assert np.isfinite(model.decision_function(X)).all()
    if ridge < 1:
        assert model.score(X, y) > 0.9


def test_the_best_ridge_is_chosen(monkeypatch):
    losses = []
    fit = crossfit.fit_weights

    def spy(*arguments):
        found = fit(*arguments)
        losses.append(found[2])
        return found

    monkeypatch.setattr(crossfit, "fit_weights", spy)
    model = DictionaryClassifier(random_state=0, within_class_whitening=0).fit(X, y)
    assert len(losses) == len(crossfit.RIDGES)
    assert model.ridge_ == crossfit.RIDGES[int(np.argmin(losses))]
    assert max(losses) - min(losses) > 1e-3


def test_zero_rows_do_not_move_the_offsets():
    data = X.copy()
    data[y == 0] = 0
    model = DictionaryClassifier(random_state=0).fit(data, y)
    assert model.rule_offsets_[0] <= 0.1


def test_an_odd_diagonal_is_unknown_in_every_fold(monkeypatch):
    K = np.exp(-np.square(X[:, None] - X).sum(axis=2) / 20)
    K[0] *= 10
    K[:, 0] *= 10
    seen = []
    energy = crossfit.spanned_energy
    monkeypatch.setattr(crossfit, "spanned_energy", lambda *args: seen.append(1) or energy(*args))
    KernelDictionaryClassifier(kernel="precomputed", random_state=0).fit(K, y)
    assert len(seen) == N_FOLDS
