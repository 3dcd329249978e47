"""A fit and its folds share one kernel matrix; threads and numbers stay within bounds."""

import threading
import warnings

import numpy as np
import pytest
import sklearn
from conftest import close, toy
from joblib import Parallel

from kerndict import DictionaryClassifier, KernelDictionaryClassifier, SpanWarning, _chunks
from kerndict.kernels import Kernel
from kerndict.learning import Listener, Settings, learn_dictionaries
from kerndict.spaces import KernelTrainingSet, LinearTrainingSet

X, y = toy(n_classes=4, per_class=15)
SIZES = np.bincount(y)


@pytest.mark.parametrize("incoherence", [0.0, 0.1])
def test_folds_compute_no_kernel(monkeypatch, incoherence):
    entries = []
    between = Kernel.between

    def spy(self, A, B):
        entries.append(len(A) * len(B))
        return between(self, A, B)

    monkeypatch.setattr(Kernel, "between", spy)
    KernelDictionaryClassifier(
        sigma=3.0, incoherence=incoherence, random_state=0, within_class_whitening=0
    ).fit(X, y)
    assert sum(entries) == len(X) ** 2  # one strip holds all columns of so few rows


@pytest.mark.parametrize("incoherence", [0.0, 0.1])
@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_a_fold_learns_what_its_rows_alone_would_teach(kind, incoherence):
    left_out = np.random.default_rng(0).random(len(X)) < 0.2
    sizes = np.bincount(y[~left_out])
    kernel = Kernel("rbf", 3.0)
    if kind == "linear":
        fold = LinearTrainingSet.from_rows(X, SIZES).without(left_out)
        alone = LinearTrainingSet.from_rows(X[~left_out], sizes)
    else:
        fold = KernelTrainingSet.from_rows(kernel, X, SIZES).without(left_out)
        alone = KernelTrainingSet.from_rows(kernel, X[~left_out], sizes)
    np.testing.assert_array_equal(fold.sizes, sizes)
    settings = Settings(5, 2, incoherence, True, True, False, 2, "pivoted")
    ours, theirs = (
        learn_dictionaries(part, settings, np.random.RandomState(0), Listener())
        for part in (fold, alone)
    )
    for A, B in zip(ours.atoms, theirs.atoms, strict=True):
        close(A, B, 1e-7)
    close(fold.full_gram(ours.atoms), alone.full_gram(theirs.atoms), 1e-8)
    if kind == "linear":
        expected = X[left_out] @ np.hstack(theirs.atoms)
    else:
        K = kernel.matrix(X[left_out], X[~left_out])
        parts = np.split(K, np.cumsum(sizes)[:-1], axis=1)
        expected = np.hstack([P @ A for P, A in zip(parts, theirs.atoms, strict=True)])
    close(fold.left_out_correlations(ours.atoms), expected, 1e-7)
    energies = np.sum(X[left_out] ** 2, axis=1) if kind == "linear" else np.ones(left_out.sum())
    close(fold.left_out_energies(), energies)


@pytest.mark.parametrize(("memory", "most"), [(1024, 2), (1e-3, 1)])
def test_threads_are_capped_by_cores_and_memory(monkeypatch, memory, most):
    started = []

    class Spy(Parallel):
        def __init__(self, n_jobs, **options):
            started.append(n_jobs)
            super().__init__(n_jobs=n_jobs, **options)

    monkeypatch.setattr(_chunks, "Parallel", Spy)
    monkeypatch.setattr(_chunks.os, "cpu_count", lambda: 2)
    model = KernelDictionaryClassifier(5, 2, sigma=3.0, ridge=0.1, n_jobs=1024).fit(X, y)
    expected = model.set_params(n_jobs=1).predict(X)
    with sklearn.config_context(working_memory=memory):
        np.testing.assert_array_equal(model.set_params(n_jobs=1024).predict(X), expected)
    assert started[-1] == most


@pytest.mark.parametrize("decision", ["residual", "collaborative"])
@pytest.mark.parametrize("kernel", ["poly", "linear"])
def test_energies_that_overflow_are_an_error(kernel, decision):
    options = {"kernel": kernel, "decision": decision, "ridge": 0.1}
    model = KernelDictionaryClassifier(5, 2, **options).fit(X, y)
    huge = np.full((1, X.shape[1]), 1e160)
    for method in (model.predict, model.decision_function, model.class_residuals, model.explain):
        with pytest.raises(ValueError, match="scale the features down"):
            method(huge)


def test_fits_in_threads_leave_the_warning_filters_alone():
    before = list(warnings.filters)

    def fit():
        DictionaryClassifier(5, 2, n_iter=1, ridge=0.1).fit(X, y)

    threads = [threading.Thread(target=fit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert warnings.filters == before
    assert not any(item[2] is SpanWarning for item in warnings.filters)
