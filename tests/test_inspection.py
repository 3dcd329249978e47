"""Explanations and the like, of models as people have them: pipelines, searches, tables."""

import numpy as np
import pandas as pd
import pytest
from conftest import BOTH, RULES, close, make, toy
from scipy.sparse import csr_array
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder, StandardScaler

import kerndict
from kerndict import DictionaryClassifier, KernelDictionaryClassifier

X, y = toy(n_classes=3, n_features=6)
COLUMNS = list("abcdef")
TABLE = pd.DataFrame(X, columns=COLUMNS)


@pytest.mark.parametrize("decision", RULES)
def test_weights_of_features_are_the_differences_of_the_residuals(decision):
    model = make(DictionaryClassifier, decision).fit(TABLE, y)
    found = kerndict.explain(model, TABLE)
    rows = np.arange(len(X))
    best, second = found.residuals[rows, found.top[:, 0]], found.residuals[rows, found.top[:, 1]]
    close(found.feature_weights.sum(axis=1), second - best, 1e-8)


def oracle(model, x, centre, pair, steps=400):
    """Return the derivatives of an RBF model's margin along the way, by many small steps."""
    total = np.zeros(len(x))
    for t in (np.arange(steps) + 0.5) / steps:
        place = centre + t * (x - centre)
        for j in range(len(x)):
            moved = np.tile(place, (2, 1))
            moved[:, j] += [1e-6, -1e-6]
            scores = model.decision_function(moved)[:, pair]
            total[j] += (scores[0] - scores[1]) @ [1, -1] / 2e-6
    return total * (x - centre) / steps


def test_weights_of_features_of_kernels_follow_the_score():
    model = KernelDictionaryClassifier(4, 2, sigma=3.0, n_iter=1, random_state=0).fit(X, y)
    found = kerndict.explain(model, X[:2])
    centre = X.mean(axis=0)
    for i in range(2):
        pair = found.top[i]
        scores = model.decision_function(np.vstack([X[i], centre]))[:, pair] @ [1, -1]
        weights = found.feature_weights[i]
        # Eight places on a way along which the margin bends: within a twentieth of the change.
        assert abs(weights.sum() - (scores[0] - scores[1])) < 0.05 * np.abs(weights).sum()
    expected = oracle(model, X[0], centre, found.top[0], steps=40)
    close(found.feature_weights[0], expected, 0.1 * np.abs(expected).max())


@pytest.mark.parametrize("kind", BOTH)
def test_the_feature_that_tells_classes_apart_weighs_most(kind):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((60, 4)) * [0.1, 0.1, 0.1, 0.1] + [0, 0, 1, 0]
    labels = np.arange(60) % 2
    rows[:, 1] += np.where(labels == 1, 2.0, -2.0)
    model = make(kind, "collaborative").fit(rows, labels)
    found = kerndict.explain(model, rows[labels == 1])
    assert (found.top[:, 0] == 1).mean() > 0.9 or kind is DictionaryClassifier
    if kind is KernelDictionaryClassifier:  # ±2 are one line for atoms without a sign
        assert (np.abs(found.feature_weights).argmax(axis=1) == 1).all()


@pytest.mark.parametrize("kind", BOTH)
def test_pipelines_and_searches_say_what_their_steps_would(kind):
    pipeline = make_pipeline(
        StandardScaler(), make_pipeline(Normalizer(), make(kind, "collaborative"))
    )
    search = GridSearchCV(pipeline, {"standardscaler__with_std": [True]}, cv=2)
    search.fit(TABLE, y)
    inner = search.best_estimator_
    rows = inner[1][0].transform(inner[0].transform(TABLE))
    last = inner[1][1]
    for model in (search, inner):
        np.testing.assert_array_equal(kerndict.typicality(model, TABLE), last.typicality(rows))
        np.testing.assert_array_equal(
            kerndict.class_residuals(model, TABLE), last.class_residuals(rows)
        )
        found, expected = kerndict.explain(model, TABLE), last.explain(rows)
        np.testing.assert_array_equal(found.scores, expected.scores)
        np.testing.assert_array_equal(found.training_samples, expected.training_samples)
        assert found.feature_names == COLUMNS
        facts = kerndict.summary(model)
        assert facts["steps"] == ("StandardScaler", "Normalizer")
        assert facts == kerndict.summary(last) | {"steps": facts["steps"]}


def test_features_have_the_names_that_steps_give_them():
    table = TABLE.assign(city=np.array(["Paris", "Rome"])[np.arange(len(X)) % 2])
    columns = ColumnTransformer(
        [("n", StandardScaler(), ["a", "b"]), ("t", OneHotEncoder(sparse_output=False), ["city"])],
        verbose_feature_names_out=False,
    )
    model = make_pipeline(columns, DictionaryClassifier(2, 1, random_state=0)).fit(table, y)
    assert kerndict.explain(model, table[:1]).feature_names == ["a", "b", "city_Paris", "city_Rome"]
    model = make_pipeline(PCA(3), DictionaryClassifier(2, 1, random_state=0)).fit(X, y)
    assert kerndict.explain(model, X[:1]).feature_names == ["pca0", "pca1", "pca2"]
    plain = DictionaryClassifier(2, 1, random_state=0).fit(X, y)
    assert kerndict.explain(plain, X[:1]).feature_names == [f"x{i}" for i in range(6)]


@pytest.mark.parametrize("kind", BOTH)
def test_training_rows_are_shown_as_rows(kind):
    labels = np.array(["ash", "birch", "cedar"])[y]
    model = make_pipeline(StandardScaler(), make(kind, "collaborative")).fit(TABLE, labels)
    found = kerndict.explain(model, TABLE[:3], n_samples=2)
    shown = found.neighbours(TABLE, sample=1)
    assert list(shown.columns) == ["class", "weight", *COLUMNS]
    places = found.training_samples[1].ravel()
    assert shown.index.tolist() == places.tolist()
    np.testing.assert_array_equal(shown[COLUMNS].to_numpy(), X[places])
    assert shown["class"].tolist() == labels[places].tolist()
    assert found.features(1)["weight"].abs().is_monotonic_decreasing


def test_sparse_rows_are_explained_as_dense_ones():
    words = np.array(["ash", "birch", "cedar"])[y][:, None]
    encoder = ColumnTransformer([("t", OneHotEncoder(), [0])], sparse_threshold=1.0)
    steps = make_pipeline(encoder, TruncatedSVD(2, random_state=0))
    model = make_pipeline(steps, DictionaryClassifier(1, 1, random_state=0)).fit(words, y)
    assert kerndict.explain(model, words[:2]).feature_weights.shape == (2, 2)
    dense = DictionaryClassifier(2, 1, random_state=0).fit(X, y)
    found, expected = (kerndict.explain(dense, rows) for rows in (csr_array(X[:3]), X[:3]))
    np.testing.assert_array_equal(found.feature_weights, expected.feature_weights)


def test_a_precomputed_kernel_has_no_features():
    K = rbf_kernel(X, gamma=0.1)
    model = KernelDictionaryClassifier(2, 1, kernel="precomputed", random_state=0).fit(K, y)
    found = kerndict.explain(model, K[:2])
    assert found.feature_weights is None
    with pytest.raises(ValueError, match="knows no features"):
        found.features()


@pytest.mark.parametrize(
    "function", [kerndict.explain, kerndict.typicality, kerndict.class_residuals]
)
def test_other_models_are_refused(function):
    with pytest.raises(TypeError, match="holds no kerndict classifier"):
        function(make_pipeline(StandardScaler(), RandomForestClassifier()), X)
    with pytest.raises(NotFittedError):
        function(make_pipeline(StandardScaler(), DictionaryClassifier()), X)
    with pytest.raises(NotFittedError):
        function(GridSearchCV(DictionaryClassifier(), {"n_atoms": [2]}), X)
    with pytest.raises(ValueError, match="decision='collaborative'"):
        kerndict.typicality(DictionaryClassifier(2, 1, decision="residual").fit(X, y), X)
