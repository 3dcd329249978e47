"""Memory: prediction within the working memory, fit within one kernel matrix and little else."""

import copy
import tracemalloc
from contextlib import contextmanager

import joblib
import numpy as np
import pytest
import sklearn

import kerndict.model
from kerndict import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.rules import ResidualRule

MIB = 2**20


@contextmanager
def peak(limit):
    """Fail when what is allocated inside ever exceeds the limit, in bytes."""
    tracemalloc.start()
    try:
        yield
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert used <= limit, f"{used / MIB:.1f} MiB, more than {limit / MIB:.1f}"


def data(n, m, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.standard_normal((n_classes, m))[y] + rng.standard_normal((n, m)), y


@pytest.mark.parametrize("n_jobs", [1, 4])
@pytest.mark.parametrize("decision", ["residual", "collaborative"])
@pytest.mark.parametrize("classifier", [DictionaryClassifier, KernelDictionaryClassifier])
def test_prediction_stays_within_the_working_memory_at_200_000_rows(classifier, decision, n_jobs):
    X, y = data(240, 8, 6)
    options = {"ridge": 0.1, "random_state": 0, "n_jobs": n_jobs}
    model = classifier(10, 3, decision=decision, **options).fit(X, y)
    many = data(200_000, 8, 6, seed=1)[0]
    model.predict(many[:10])  # compiled by now
    labels = 8 * len(many)
    with sklearn.config_context(working_memory=4), peak(4 * MIB + 2 * labels + MIB):
        model.predict(many)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_far_from_the_origin_take_no_more(n_jobs, dtype):
    X, y = data(200, 2000, 4)
    model = KernelDictionaryClassifier(10, 3, decision="residual", sigma=50.0, n_jobs=n_jobs)
    model.fit((X + 1e5).astype(dtype), y)
    assert model.model_.space.kernel.shift is not None
    many = (data(1000, 2000, 4, seed=1)[0] + 1e5).astype(dtype)
    model.predict(many[:10])
    with sklearn.config_context(working_memory=4), peak(5 * MIB):
        model.predict(many)


def test_copies_and_files_hold_the_training_rows_once(tmp_path):
    X, y = data(200, 500, 4)
    for far in (0, 1e5):
        model = KernelDictionaryClassifier(5, 2, decision="residual", sigma=50.0).fit(X + far, y)
        assert (model.model_.space.kernel.shift is not None) == (far > 0)
        joblib.dump(model, tmp_path / "model")
        assert (tmp_path / "model").stat().st_size < 1.1 * X.nbytes
        for same in (joblib.load(tmp_path / "model"), copy.deepcopy(model)):
            np.testing.assert_array_equal(same.decision_function(X), model.decision_function(X))


def test_without_pursuits_nothing_is_kept_for_them(monkeypatch):
    X, y = data(600, 20, 2)
    model = KernelDictionaryClassifier(300, 150, sigma=3.0, n_iter=0, ridge=0.1).fit(X, y)
    pursuit = ResidualRule(model.model_.grams, model.model_.sparsity).work_bytes()
    seen = []
    monkeypatch.setattr(
        kerndict.model, "map_chunks", lambda *_, **options: seen.append(options) or [np.empty(0)]
    )
    model.model_.scores(X)
    model.model_.residuals(X)
    assert [options["fixed_bytes"] for options in seen] == [0, pursuit]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_many_atoms_and_nonzeros_take_no_more(n_jobs):
    X, y = data(600, 20, 2)
    options = {"sigma": 3.0, "n_iter": 0, "decision": "residual", "init": "samples"}
    model = KernelDictionaryClassifier(300, 150, **options, n_jobs=n_jobs).fit(X, y)
    many = data(4000, 20, 2, seed=1)[0]
    model.predict(many[:10])
    with sklearn.config_context(working_memory=8), peak(9 * MIB):
        model.predict(many)


@pytest.mark.parametrize("decision", ["residual", "collaborative"])
@pytest.mark.parametrize("classifier", [DictionaryClassifier, KernelDictionaryClassifier])
def test_explanations_stay_within_the_working_memory(classifier, decision):
    X, y = data(2000, 8, 2)  # classes with many training samples to choose from
    model = classifier(10, 3, decision=decision, ridge=0.1, n_iter=1, random_state=0).fit(X, y)
    many = data(4000, 8, 2, seed=1)[0]
    model.explain(many[:10])
    # Four arrays over the classes; three atoms and five samples for two of them, and their numbers.
    results = 8 * (4 * 2 + 2 * (3 + 5) * 2) * len(many)
    with sklearn.config_context(working_memory=2), peak(2 * MIB + 2 * results):
        model.explain(many)


@pytest.mark.parametrize("incoherence", [0.0, 0.1])
def test_fit_holds_one_kernel_matrix(incoherence):
    X, y = data(2000, 20, 50)
    model = KernelDictionaryClassifier(
        10, 3, decision="residual", sigma=5.0, incoherence=incoherence, n_iter=1
    )
    model.fit(X[:500], y[:500])
    matrix = 8 * len(X) ** 2
    strip = 8 * len(X) * 400
    with peak(matrix + 3 * strip):
        model.fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_few_large_classes_come_on_top_of_the_kernel_matrix(n_classes):
    X, y = data(1000, 20, n_classes)
    options = {"decision": "residual", "sigma": 5.0, "incoherence": 0.1, "n_iter": 1}
    model = KernelDictionaryClassifier(10, 3, n_landmarks="all", **options)
    model.fit(X[:200], y[:200])
    with peak(1.1 * 8 * len(X) ** 2 * (1 + 6 / n_classes)):
        model.fit(X, y)


def test_the_folds_do_not_come_on_top():
    X, y = data(2000, 20, 50)
    model = KernelDictionaryClassifier(10, 3, sigma=5.0, n_iter=1, ridge=0.1, random_state=0)
    model.fit(X[:500], y[:500])
    with peak(8 * len(X) ** 2 + 8 * len(X) * 1200):
        model.fit(X, y)
