"""Threads: BLAS held to one where it must be, and let go by the last who needs it."""

import os
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import toy
from joblib import parallel_config
from sklearn import config_context, get_config
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_info

from kerndict import DictionaryClassifier, KernelDictionaryClassifier
from kerndict._chunks import map_chunks
from kerndict._threads import _settle, _shared, single_blas_thread
from kerndict.classifiers import base

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


def in_child(function):
    """Return what a function returns in a forked process, as text."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, repr(function()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    os.waitpid(child, 0)
    return text


@pytest.fixture
def busy():
    """Keep another thread inside a block."""
    entered, leave = threading.Event(), threading.Event()

    def other():
        with single_blas_thread():
            entered.set()
            leave.wait()

    thread = threading.Thread(target=other)
    thread.start()
    entered.wait()
    yield
    leave.set()
    thread.join()
    assert blas_threads() == {2}


def forks(test):
    test = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")(test)
    return pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")(test)


@forks
def test_a_child_is_not_held_by_a_thread_that_it_does_not_have(busy):
    def look():
        found = [blas_threads()]
        with single_blas_thread():
            found.append(blas_threads())
        np.ones((300, 300)) @ np.ones((300, 300))  # the threads are really there
        return [*found, blas_threads()]

    assert in_child(look) == "[{2}, {1}, {2}]"
    assert blas_threads() == {1}  # the parent goes on as before


@forks
def test_a_child_leaves_the_block_that_it_was_forked_in(busy):
    block = single_blas_thread()

    def leave():
        inside = blas_threads()
        block.__exit__(None, None, None)
        return inside, blas_threads()

    block.__enter__()
    assert in_child(leave) == "({1}, {2})"
    block.__exit__(None, None, None)


def test_a_search_in_threads_lets_go():
    model = KernelDictionaryClassifier(4, 2, sigma=5.0, n_iter=1)
    with parallel_config("threading", n_jobs=2):
        GridSearchCV(model, {"incoherence": [0, 0.1]}, cv=3).fit(X, y)
    assert blas_threads() == {2}


def test_fits_in_threads_leave_the_filters_of_warnings_alone():
    before = list(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: DictionaryClassifier(4, 2, n_iter=1).fit(X, y), range(16)))
    assert list(warnings.filters) == before


@pytest.mark.parametrize("classifier", [DictionaryClassifier, KernelDictionaryClassifier])
def test_all_that_is_learned_is_learned_by_one_thread(classifier, monkeypatch):
    seen = {}

    def watch(name):
        function = getattr(base, name)

        def spy(*arguments):
            seen.setdefault(name, set()).update(blas_threads())
            return function(*arguments)

        monkeypatch.setattr(base, name, spy)

    steps = ("choose", "learn_dictionaries", "collaborative_rule", "assemble")
    for name in steps:
        watch(name)
    classifier(4, 2, n_iter=1).fit(X, y)
    assert seen == {name: {1} for name in steps}


@pytest.mark.parametrize(("n_jobs", "blas"), [(1, {2}), (2, {1})])
def test_chunks_run_in_threads_of_their_own(n_jobs, blas, monkeypatch):
    """Either BLAS has the threads or the chunks have, never both."""
    model = DictionaryClassifier(4, 2, n_iter=1, n_jobs=n_jobs).fit(X, y)
    rule = type(model.model_.rule)
    scores, seen, together = rule.scores, set(), threading.Barrier(n_jobs, timeout=60)

    def spy(self, *arguments):
        together.wait()  # as many at a time
        seen.update(blas_threads())
        return scores(self, *arguments)

    monkeypatch.setattr(rule, "scores", spy)
    rows = np.vstack([X, X])
    np.testing.assert_array_equal(model.predict(rows), np.tile(model.predict(X), 2))
    assert seen == blas


def test_chunks_leave_the_filters_of_warnings_alone():
    """They are shared: a thread that sets them, even for a while, damages those of another."""
    seen = map_chunks(lambda rows: warnings.filters, 4, row_bytes=2**29, n_jobs=2)
    assert len(seen) == 4
    assert all(filters is warnings.filters for filters in seen)


def test_chunks_have_the_configuration_of_their_caller():
    with config_context(assume_finite=True):
        assert all(map_chunks(lambda _: get_config()["assume_finite"], 4, row_bytes=1, n_jobs=2))
