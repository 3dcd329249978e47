"""Decisions: ties, batches, threads, precomputed kernels."""

import numpy as np
import pytest
import sklearn
from conftest import BOTH, RULES, close, toy
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from threadpoolctl import threadpool_limits

from kerndict import DictionaryClassifier, KernelDictionaryClassifier, _chunks
from kerndict.rules.residual import rounding
from kerndict.spaces import LinearSpace

X, y = toy(n_classes=4, noise=1.0)


@pytest.fixture(params=BOTH)
def model(request):
    return request.param(7, 3, incoherence=0.05, decision="residual", random_state=0).fit(X, y)


def test_decision_is_energy_and_the_smallest_residual_wins(model):
    kernel = isinstance(model, KernelDictionaryClassifier)
    diagonal = np.ones(len(X)) if kernel else np.sum(X**2, axis=1)
    residuals = model.class_residuals(X)
    close(model.decision_function(X), diagonal[:, None] - residuals)
    np.testing.assert_array_equal(model.predict(X), model.classes_[residuals.argmin(axis=1)])
    close(model.class_residuals(X, diagonal=diagonal), residuals)


@pytest.mark.parametrize("classifier", BOTH)
def test_two_classes_have_one_score(classifier):
    two = y < 2
    model = classifier(7, 3, decision="residual", random_state=0)
    model.fit(X[two], np.array(["b", "a"])[y[two]])
    residuals = model.class_residuals(X)
    assert residuals.shape == (len(X), 2)
    scores = model.decision_function(X)
    close(scores, residuals[:, 0] - residuals[:, 1])
    np.testing.assert_array_equal(model.predict(X), np.where(scores > 0, "b", "a"))


@pytest.mark.parametrize("classifier", BOTH)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_ties_go_to_the_first_class(classifier, n_classes):
    # The same samples, in another order, in every class.
    rng = np.random.default_rng(0)
    copies = [X[rng.permutation(12)] for _ in range(n_classes)]
    labels = np.repeat(np.arange(n_classes), 12)
    model = classifier(12, 1, n_iter=0, init="samples", decision="residual", random_state=0)
    model.fit(np.vstack(copies), labels)
    assert (model.predict(X) == 0).all()
    assert (model.class_residuals(X[:12]) == 0).all()
    assert (model.predict(np.zeros((1, 10))) == 0).all()


def test_residuals_of_training_atoms_are_exactly_zero():
    model = KernelDictionaryClassifier(12, 3, n_iter=0, init="samples", random_state=0).fit(X, y)
    own = model.class_residuals(X)[np.arange(len(X)), y]
    assert (own == 0).all()


def test_rows_may_come_in_any_batches(model, monkeypatch):
    expected = model.class_residuals(X)
    for rows in (1, 5, 48):
        monkeypatch.setattr(_chunks, "MOST_ROWS", rows)
        close(model.class_residuals(X), expected, 1e-12)
        np.testing.assert_array_equal(model.predict(X), expected.argmin(axis=1))
    one = [model.predict(row[None])[0] for row in X]
    np.testing.assert_array_equal(one, model.predict(X))


def test_tied_atoms_do_not_make_predictions_depend_on_batches():
    # All samples have the same correlation with a constant signal: the last bits decide,
    # unless the first of equal atoms is taken.
    for seed in range(5):
        rng = np.random.default_rng(seed)
        base_row = rng.random(37)
        data = np.array([rng.permutation(base_row) for _ in range(40)])
        labels = np.repeat([0, 1], 20)
        tied = np.outer(rng.random(50) + 0.1, np.ones(37))
        for classifier in BOTH:
            for dtype in (np.float64, np.float32):
                model = classifier(20, 3, n_iter=0, random_state=0).fit(data.astype(dtype), labels)
                rows = tied.astype(dtype)
                together = model.predict(rows)
                np.testing.assert_array_equal(
                    together, [model.predict(row[None])[0] for row in rows]
                )
                with sklearn.config_context(working_memory=1e-3):
                    np.testing.assert_array_equal(together, model.predict(rows))


def test_chunks_stay_within_working_memory(monkeypatch):
    model = KernelDictionaryClassifier(7, 3, random_state=0).fit(X, y)
    sizes = []
    between = type(model.model_.space.kernel).between

    def spy(self, A, B):
        sizes.append(len(A))
        return between(self, A, B)

    monkeypatch.setattr(type(model.model_.space.kernel), "between", spy)
    many = np.tile(X, (40, 1))
    with sklearn.config_context(working_memory=0.05):
        model.predict(many)
    assert sum(sizes) == len(many)
    assert max(sizes) * 8 * len(X) <= 0.05 * 2**20
    assert len(sizes) > 10


def test_threads_change_nothing(model):
    many = np.tile(X, (60, 1))
    expected = model.class_residuals(many)
    for n_jobs in (1, 2, 3, -1):
        close(model.set_params(n_jobs=n_jobs).class_residuals(many), expected, 1e-12)


@pytest.mark.parametrize("classifier", BOTH)
def test_neither_threads_nor_batches_change_a_label_in_single_precision(classifier, monkeypatch):
    X, y = load_digits(return_X_y=True)
    X = X.astype(np.float32)
    model = classifier(10, 4, decision="residual", random_state=0, n_iter=1).fit(X[::2], y[::2])
    expected, residuals = model.predict(X), model.class_residuals(X)
    energies = model.model_.space.energies(X)
    for n_jobs, rows in ((2, 2048), (7, 2048), (2, 100), (1, 7), (1, 1)):
        monkeypatch.setattr(_chunks, "MOST_ROWS", rows)
        model.set_params(n_jobs=n_jobs)
        np.testing.assert_array_equal(model.predict(X), expected)
        differences = np.abs(model.class_residuals(X) - residuals).max(axis=1)
        # Rounding; but a tie between atoms may fall otherwise, in one row of a thousand at most:
        # another support, of nearly the same residual.
        assert (differences <= 1e-5 * energies).mean() > 0.999
        assert (differences <= 2e-2 * energies).all()


@pytest.mark.parametrize("classifier", BOTH)
def test_same_seed_same_fit(classifier):
    X, y = load_digits(return_X_y=True)  # large enough for BLAS to use its threads

    def arrays(threads, n_jobs=None):
        with threadpool_limits(threads, "blas"):
            options = {"incoherence": 0.1, "random_state": 4, "n_jobs": n_jobs, "n_iter": 4}
            model = classifier(14, 3, atom_update="power", **options).fit(X, y)
            return [*model.model_.atoms, *model.codes_, model.class_residuals(X)]

    state = np.random.get_state()[1].copy()
    one = arrays(1)
    for a, b in zip(one, arrays(1), strict=True):
        np.testing.assert_array_equal(a, b)
    # Threads change the shape of the products, and with it rounding.
    for other in (arrays(1, n_jobs=2), arrays(2)):
        for a, b in zip(one, other, strict=True):
            close(a, b, 1e-10)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # no global state is touched


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_precomputed_equals_named(kernel):
    options = {"decision": "residual", "incoherence": 0.1, "random_state": 0}
    named = KernelDictionaryClassifier(6, 2, kernel=kernel, **options).fit(X, y)
    order = np.random.default_rng(0).permutation(len(X))
    K = named.model_.space.kernel.matrix(X[order], X[order])
    kept = K.copy()
    # The same grouping of rows, so that the same samples are drawn.
    back = np.argsort(order)
    K = K[np.ix_(back, back)]
    model = KernelDictionaryClassifier(6, 2, kernel="precomputed", **options).fit(K, y)
    K_test = named.model_.space.kernel.matrix(X[::2], X)
    close(model.decision_function(K_test), named.decision_function(X[::2]), 1e-8)
    diagonal = named.model_.space.kernel.diagonal(X[::2])
    close(model.class_residuals(K_test, diagonal), named.class_residuals(X[::2]), 1e-8)
    np.testing.assert_array_equal(K, kept[np.ix_(back, back)])  # left untouched
    assert model.X_fit_ is None
    if kernel == "rbf":  # a constant diagonal is known
        close(model.class_residuals(K_test), named.class_residuals(X[::2]), 1e-8)


def test_precomputed_rows_may_come_in_any_order():
    K = np.exp(-np.square(X[:, None] - X).sum(axis=2) / 20)
    shuffled = np.random.default_rng(1).permutation(len(X))
    options = {"kernel": "precomputed", "decision": "residual", "n_iter": 0, "random_state": 0}
    model = KernelDictionaryClassifier(12, 2, **options).fit(K, y)
    other = KernelDictionaryClassifier(12, 2, **options)
    other.fit(K[np.ix_(shuffled, shuffled)], y[shuffled])
    # All 12 samples of each class are atoms: the order of rows changes nothing.
    close(other.decision_function(K[:, shuffled]), model.decision_function(K))


def unscaled(name):
    """Return rows with features of very different sizes, and labels."""
    if name == "breast cancer":
        return load_breast_cancer(return_X_y=True)
    X, y = make_classification(400, 20, n_informative=8, n_redundant=6, n_classes=3, random_state=0)
    return X * 10.0 ** np.random.default_rng(0).uniform(-3, 4, 20), y


@pytest.mark.parametrize("name", ["breast cancer", "made"])
@pytest.mark.parametrize("classifier", BOTH)
@pytest.mark.parametrize("decision", RULES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_labels_do_not_depend_on_the_batch_where_features_are_not_scaled(
    name, classifier, decision, dtype
):
    """Those of the collaborative rule in single precision may, a few in a hundred."""
    X, y = unscaled(name)
    X = X.astype(dtype)
    model = classifier(decision=decision, random_state=0).fit(X[:300], y[:300])
    expected = model.predict(X)
    for rows in (1, 2, 7, 64):
        parts = [model.predict(X[start : start + rows]) for start in range(0, len(X), rows)]
        changed = np.concatenate(parts) != expected
        if decision == "residual" or dtype is np.float64:
            assert not changed.any()
        assert changed.mean() < 0.03
    assert (model.classes_[model.explain(X).top[:, 0]] == expected).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_labels_at_the_limit_of_ties_do_not_depend_on_the_batch(dtype, monkeypatch):
    # Two classes, of one atom each at the angles -0.5 and 0.5; the second explains more of the
    # samples than the first by just about what is taken for a tie.
    def rows(angles):
        return np.column_stack([np.cos(angles), np.sin(angles)]).astype(dtype)

    model = DictionaryClassifier(1, 1, n_iter=0, init="samples", decision="residual")
    model.fit(rows([-0.5, 0.5]), [0, 1])
    # cos^2(0.5 - t) - cos^2(0.5 + t) = sin(1) sin(2 t)
    share = rounding(np.dtype(dtype))
    X = rows(share * np.cos(0.5) ** 2 / np.sin(1) / 2 * np.linspace(0.5, 1.5, 400))
    alone = np.array([model.predict(row[None])[0] for row in X])
    assert set(alone) == {0, 1}

    correlations = LinearSpace.correlations

    def rounded(self, X, atoms):
        error = 20 * np.finfo(dtype).eps if len(X) > 1 else 0
        factors = 1 + error * (-1) ** np.arange(len(X))[:, None]
        for c, B in enumerate(correlations(self, X, atoms)):
            yield (B * (factors if c else 1)).astype(dtype)

    monkeypatch.setattr(LinearSpace, "correlations", rounded)
    together = model.model_.rule.scores(
        model.model_.space.correlations(X, model.model_.atoms), None
    )
    assert (together.argmax(axis=1) != alone).any()  # so that it matters
    np.testing.assert_array_equal(model.predict(X), alone)
    np.testing.assert_array_equal(model.explain(X).top[:, 0], alone)
