"""Both classifiers with landmarks: what they tell agrees, and lasts."""

import pickle
from functools import cache

import numpy as np
import pytest
from conftest import BOTH, close, toy
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler

from kerndict import DictionaryClassifier, KernelDictionaryClassifier, load, save
from kerndict.rules import CollaborativeRule, LandmarkRule
from kerndict.spaces import LandmarkSpace

X, y = toy(per_class=260, noise=1.0)
shuffled = np.random.default_rng(3).permutation(len(y))
X, y = X[shuffled], np.array(["ash", "birch", "cedar"])[y[shuffled]]
NEW = toy(per_class=260, noise=1.0, seed=0)[0][::7] + 0.1
COUNTS = [None, 40]
OPTIONS = {"random_state": 0}


def rbf(**options):
    return KernelDictionaryClassifier(sigma=4.0, **OPTIONS | options)


def linear(**options):
    return DictionaryClassifier(**OPTIONS | options)


def cubic(rows, others):
    return (1 + rows @ others.T / 10) ** 3


MODELS = {
    "linear": linear,
    "rbf": rbf,
    "width": lambda **options: KernelDictionaryClassifier(**OPTIONS | options),
    "poly": lambda **options: rbf(kernel="poly", **options),
    "linear kernel": lambda **options: rbf(kernel="linear", **options),
    "callable": lambda **options: rbf(kernel=cubic, **options),
    "residual": lambda **options: rbf(decision="residual", n_nonzero_coefs=3, **options),
}
PROBABLE = [name for name in MODELS if name != "residual"]


@cache
def fitted(name, count=40):
    return MODELS[name](n_landmarks=count).fit(X, y)


def same_model(found, model):
    np.testing.assert_array_equal(found.decision_function(NEW), model.decision_function(NEW))
    np.testing.assert_array_equal(found.predict(NEW), model.predict(NEW))
    np.testing.assert_array_equal(found.class_residuals(NEW), model.class_residuals(NEW))
    np.testing.assert_array_equal(found.fit_indices_, model.fit_indices_)
    if model.decision == "collaborative":
        np.testing.assert_array_equal(found.predict_proba(NEW), model.predict_proba(NEW))
        np.testing.assert_array_equal(found.typicality(NEW), model.typicality(NEW))


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", MODELS)
def test_the_model_has_landmarks_and_tells_classes_apart(name, count):
    model = fitted(name, count)
    assert isinstance(model.model_.space, LandmarkSpace)
    assert isinstance(model.model_.rule, LandmarkRule) == (name != "residual")
    assert 2 <= model.n_landmarks_ <= (count or len(X))
    assert model.score(X, y) > 0.75
    np.testing.assert_array_equal(model.model_.class_sizes, [260] * 3)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", PROBABLE)
def test_labels_probabilities_and_scores_agree(name, count):
    model = fitted(name, count)
    scores, p = model.decision_function(NEW), model.predict_proba(NEW)
    close(p.sum(axis=1), np.ones(len(NEW)), 1e-12)
    close(p, softmax(scores, axis=1), 1e-12)
    np.testing.assert_array_equal(model.predict(NEW), model.classes_[p.argmax(axis=1)])
    typical = model.typicality(NEW)
    assert (typical > 0).all()
    assert (typical <= 1).all()
    far = model.typicality(1e3 * np.random.default_rng(0).standard_normal((20, X.shape[1])))
    if name in ("rbf", "width"):
        assert far.max() < 0.05


def test_typicality_of_known_rows_is_about_uniform():
    rows = toy(per_class=260, noise=1.0, seed=0)[0]
    model = rbf(n_landmarks=60).fit(rows[::2], np.repeat([0, 1, 2], 130))
    for level in (0.1, 0.5, 0.9):
        assert abs((model.typicality(rows[1::2]) < level).mean() - level) < 0.1


@pytest.mark.parametrize("name", MODELS)
def test_explanations_agree_with_decisions(name):
    model = fitted(name)
    found = model.explain(NEW, n_samples=4)
    scores = model.decision_function(NEW)
    close(found.scores, scores, 1e-12)
    np.testing.assert_array_equal(found.classes[found.top[:, 0]], model.predict(NEW))
    assert found.training_samples.shape == (len(NEW), 2, 4)
    assert np.isin(found.training_samples, model.fit_indices_).all()
    assert (found.residuals >= 0).all()
    if name != "residual":
        close(found.probabilities, model.predict_proba(NEW), 1e-12)
    else:
        close(found.residuals, model.class_residuals(NEW), 1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_residuals_lie_between_zero_and_the_energy(name):
    model = fitted(name)
    residuals, energies = model.class_residuals(NEW), model.model_.space.energies(NEW)
    assert residuals.shape == (len(NEW), 3)
    assert (residuals >= 0).all()
    assert (residuals <= energies[:, None] * (1 + 1e-9)).all()


@pytest.mark.parametrize("name", MODELS)
def test_landmarks_are_rows_of_what_fit_was_given(name):
    model = fitted(name)
    space = model.model_.space
    assert len(set(model.fit_indices_)) == model.n_landmarks_
    np.testing.assert_array_equal(space.rows, X[model.fit_indices_])
    if isinstance(model, KernelDictionaryClassifier):
        np.testing.assert_array_equal(model.X_fit_, X[model.fit_indices_])


@pytest.mark.parametrize("name", MODELS)
def test_atoms_have_unit_norm(name):
    model = fitted(name)
    for A, G in zip(model.model_.atoms, model.model_.grams, strict=True):
        close(np.diagonal(G), np.ones(A.shape[1]), 1e-9)
        close(np.linalg.norm(A, axis=0), np.ones(A.shape[1]), 1e-9)
    if name == "linear":
        for D in model.dictionaries_:
            close(D.T @ D, np.eye(D.shape[1]), 1e-8)
    else:
        K = model.model_.space.kernel.matrix(model.X_fit_, model.X_fit_)
        for A in model.dual_dictionaries_:
            close(np.diagonal(A.T @ K @ A), np.ones(A.shape[1]), 1e-7)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "callable"])
def test_saved_and_loaded_models_are_the_same_bit_for_bit(name, path):
    model = fitted(name)
    save(model, path)
    same_model(load(path), model)
    again = path.with_name("again.safetensors")
    save(load(path), again)
    assert path.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("name", MODELS)
def test_pickled_models_are_the_same_and_clones_learn_the_same(name):
    model = fitted(name)
    same_model(pickle.loads(pickle.dumps(model)), model)
    copy = clone(model)
    assert not hasattr(copy, "model_")
    same_model(copy.fit(X, y), model)


@pytest.mark.parametrize("name", MODELS)
def test_single_precision_stays_and_decides_the_same(name, path):
    model = MODELS[name](n_landmarks=40).fit(X.astype(np.float32), y)
    assert model.decision_function(NEW.astype(np.float32)).dtype == np.float32
    assert model.class_residuals(NEW.astype(np.float32)).dtype == np.float32
    assert model.model_.space.basis.dtype == np.float32
    assert (model.predict(NEW) == fitted(name).predict(NEW)).mean() > 0.95
    if name != "residual":
        assert model.predict_proba(NEW).dtype == np.float32
        close(model.predict_proba(NEW), fitted(name).predict_proba(NEW), 0.1)
    if name != "callable":
        save(model, path)
        same_model(load(path), model)


@pytest.mark.parametrize("name", ["linear", "rbf", "residual"])
def test_two_threads_learn_and_decide_the_same(name):
    model = MODELS[name](n_landmarks=40, n_jobs=2).fit(X, y)
    close(model.decision_function(NEW), fitted(name).decision_function(NEW), 1e-8)


@pytest.mark.parametrize("name", ["linear", "rbf"])
def test_chunks_do_not_matter(name, monkeypatch):
    monkeypatch.setattr("kerndict.classifiers.many.MOST_ROWS", 50)
    monkeypatch.setattr("kerndict.classifiers.many.FEWEST_ROWS", 50)
    model = MODELS[name](n_landmarks=40).fit(X, y)
    close(model.decision_function(NEW), fitted(name).decision_function(NEW), 1e-8)


@pytest.mark.parametrize("kind", BOTH)
def test_all_keeps_the_exact_model(kind):
    rows, labels = X[:150], y[:150]
    whole = kind(n_landmarks="all", random_state=0).fit(rows, labels)
    plain = kind(random_state=0).fit(rows, labels)
    assert isinstance(whole.model_.rule, CollaborativeRule)
    assert whole.n_landmarks_ == 150
    same_model(whole, plain)
    assert not isinstance(
        kind(n_landmarks="all", n_atoms=5, decision="residual").fit(X, y).model_.space,
        LandmarkSpace,
    )


def test_landmarks_come_nearer_to_good_probabilities_the_more_they_are():
    rows, labels = X[::2], y[::2]
    losses = [
        log_loss(y[1::2], rbf(n_landmarks=count).fit(rows, labels).predict_proba(X[1::2]))
        for count in (3, 30, 390)
    ]
    assert losses[0] > losses[1] > losses[2] - 0.05


def test_many_rows_are_told_apart_well():
    rows, labels = make_classification(4000, 20, n_informative=10, n_redundant=5, random_state=0)
    rows = StandardScaler().fit(rows[:3000]).transform(rows)
    model = KernelDictionaryClassifier(random_state=0, n_landmarks=500)
    model.fit(rows[:3000], labels[:3000])
    assert model.score(rows[3000:], labels[3000:]) > 0.93
    assert log_loss(labels[3000:], model.predict_proba(rows[3000:])) < 0.2


def test_what_is_told_of_rows_left_out_holds_where_a_class_keeps_few_atoms():
    rows, target = make_classification(4000, 20, n_informative=10, n_classes=3, random_state=0)
    rows = StandardScaler().fit_transform(rows)
    model = KernelDictionaryClassifier(60, n_landmarks=300, sigma=6.0, **OPTIONS)
    model.fit(rows[:2500], target[:2500])
    new = log_loss(target[2500:], model.predict_proba(rows[2500:]))
    assert model.model_.rule.losses.mean() > 0.85 * new
    assert (model.typicality(rows[2500:]) < 0.05).mean() < 0.08


def test_typicality_is_even_where_the_sample_holds_more_of_small_classes(monkeypatch):
    monkeypatch.setattr("kerndict.landmarks.size.SAMPLED_ALWAYS", 500)
    monkeypatch.setattr("kerndict.landmarks.size.SAMPLED", 1)
    rng = np.random.default_rng(0)
    target = rng.choice(6, 9000, p=[5 / 6] + [1 / 30] * 5)
    centres = 4 * rng.standard_normal((6, 8))
    spread = np.where(target == 0, 1.0, 3.0)[:, None]
    rows = centres[target] + spread * rng.standard_normal((9000, 8))
    model = KernelDictionaryClassifier(n_landmarks=100, sigma=8.0, **OPTIONS)
    model.fit(rows[:6000], target[:6000])
    typical = model.typicality(rows[6000:])
    assert abs((typical < 0.1).mean() - 0.1) < 0.04
    assert abs((typical < 0.5).mean() - 0.5) < 0.06


def test_groups_without_effect_are_told():
    with pytest.warns(UserWarning, match="groups have no effect with landmarks"):
        rbf(n_landmarks=40).fit(X, y, groups=np.arange(len(X)) % 7)
