"""Threads: BLAS held to one where it must be, and let go by the last who needs it."""

import threading

import numpy as np
import pytest
from conftest import toy
from joblib import parallel_config
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_info

from kerndict import DictionaryClassifier, KernelDictionaryClassifier
from kerndict._threads import _settle, _shared, single_blas_thread

X, y = toy()


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    before = [library.num_threads for library in _shared()]
    _settle([2] * len(before))  # and not by a block here, which others could not change
    assert blas_threads() == {2}
    yield
    _settle(before)


def test_blocks_that_overlap_in_threads():
    entered, leave = threading.Event(), threading.Event()

    def first():
        with single_blas_thread():
            entered.set()
            leave.wait()

    thread = threading.Thread(target=first)
    thread.start()
    entered.wait()
    with single_blas_thread():
        assert blas_threads() == {1}
        leave.set()
        thread.join()  # whoever leaves first does not lift the limit
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_an_error_lets_go():
    with pytest.raises(KeyError), single_blas_thread(), single_blas_thread():
        raise KeyError
    assert blas_threads() == {2}


def test_a_search_in_threads_lets_go():
    model = KernelDictionaryClassifier(4, 2, sigma=5.0, n_iter=1)
    with parallel_config("threading", n_jobs=2):
        GridSearchCV(model, {"incoherence": [0, 0.1]}, cv=3).fit(X, y)
    assert blas_threads() == {2}


@pytest.mark.parametrize("classifier", [DictionaryClassifier, KernelDictionaryClassifier])
def test_all_that_is_learned_is_learned_by_one_thread(classifier, monkeypatch):
    seen = {}

    def watch(name):
        method = getattr(classifier, name)

        def spy(self, *arguments):
            seen.setdefault(name, set()).update(blas_threads())
            return method(self, *arguments)

        monkeypatch.setattr(classifier, name, spy)

    for name in ("_make_problem", "_learn", "_store", "_fit_rule"):
        watch(name)
    classifier(4, 2, n_iter=1).fit(X, y)
    assert seen == {name: {1} for name in ("_make_problem", "_learn", "_store", "_fit_rule")}


@pytest.mark.parametrize(("n_jobs", "blas"), [(1, {2}), (2, {1})])
def test_chunks_run_in_threads_of_their_own(n_jobs, blas, monkeypatch):
    """Either BLAS has the threads or the chunks have, never both."""
    model = DictionaryClassifier(4, 2, n_iter=1, n_jobs=n_jobs).fit(X, y)
    winners, seen, together = type(model)._winners, set(), threading.Barrier(n_jobs, timeout=60)

    def spy(self, rows):
        together.wait()  # as many at a time
        seen.update(blas_threads())
        return winners(self, rows)

    monkeypatch.setattr(type(model), "_winners", spy)
    rows = np.vstack([X, X])
    np.testing.assert_array_equal(model.predict(rows), np.tile(model.predict(X), 2))
    assert seen == blas
