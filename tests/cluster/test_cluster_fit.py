"""The classifiers on a cluster of processes, against those of the same rows in one process."""

import inspect
import pickle

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import BOTH, close
from on_workers import rows_of
from sklearn.base import clone

import kerndict
from kerndict.dask import DaskDictionaryClassifier, DaskKernelDictionaryClassifier

X, y = rows_of(2400, 0)
NEW = rows_of(300, 1)[0]
NAMES = [f"f{k}" for k in range(6)]
WORDS = np.array(["ash", "birch", "cedar"])
ON_CLUSTER = dict(
    zip(BOTH, [DaskDictionaryClassifier, DaskKernelDictionaryClassifier], strict=True)
)
KERNEL = BOTH[1]


def model(kind, **options):
    width = {} if kind in (BOTH[0], DaskDictionaryClassifier) else {"sigma": 3.0}
    return kind(**{"n_landmarks": 60, "random_state": 0} | width | options)


def both(kind, collections, rows=(X, y), **options):
    """Return a classifier fitted on the cluster, and one in this process."""
    there = model(ON_CLUSTER[kind], **options).fit(*collections)
    return there, model(kind, **options).fit(*rows)


def same(found, expected, new=NEW, tolerance=1e-8):
    close(found.decision_function(new), expected.decision_function(new), tolerance)
    if tolerance == 1e-8:  # typicality is a rank, and may change by one in single precision
        close(found.typicality(new), expected.typicality(new), tolerance)
    np.testing.assert_array_equal(found.fit_indices_, expected.fit_indices_)
    np.testing.assert_array_equal(found.classes_, expected.classes_)
    np.testing.assert_array_equal(found.model_.class_sizes, expected.model_.class_sizes)


@pytest.mark.parametrize("kind", BOTH)
def test_the_parameters_are_those_without_dask(kind):
    expected = kind().get_params()
    assert ON_CLUSTER[kind]().get_params() == expected | {"client": None}
    assert list(inspect.signature(ON_CLUSTER[kind]).parameters) == [
        *inspect.signature(kind).parameters,
        "client",
    ]


def arrays(size=(900, 1, 0, 299, 1000, 200), labels=y):
    return da.from_array(X, chunks=(size, 6)), da.from_array(labels, chunks=(size,))


@pytest.mark.parametrize("kind", BOTH)
def test_arrays_are_learned_as_in_one_process(kind, dask_client):
    found, expected = both(kind, arrays())
    same(found.to_local(), expected)
    assert type(found.to_local()) is kind


def test_unknown_chunks_are_learned_as_in_one_process(dask_client):
    dX, dy = arrays()
    known = np.arange(len(X)) % 5 > 0
    mask = da.from_array(known, chunks=dX.chunks[0])
    found, expected = both(KERNEL, (dX[mask], dy[mask]), (X[known], y[known]))
    same(found.to_local(), expected)


def test_frames_are_learned_as_in_one_process_and_persisted_ones_too(dask_client):
    frame = pd.DataFrame(X.astype(np.float32), columns=NAMES).assign(kind=WORDS[y])
    chunks = dd.from_pandas(frame, npartitions=4)
    chunks = chunks[chunks.f0 > -1]  # sizes are not known
    kept = frame[frame.f0 > -1]
    expected = model(KERNEL).fit(kept[NAMES], kept["kind"])
    new = pd.DataFrame(NEW.astype(np.float32), columns=NAMES)
    for each in (chunks, chunks.persist()):
        found = model(DaskKernelDictionaryClassifier).fit(each[NAMES], each["kind"]).to_local()
        same(found, expected, new, 1e-4)  # of single precision
        assert found.feature_names_in_.tolist() == NAMES
        assert found.model_.dtype == np.float32


def test_rows_that_are_centred_by_all_rows_are_learned(dask_client):
    dX, dy = arrays((800, 800, 800))
    centred = dX - dX.mean(axis=0)  # every chunk needs every other one
    found, expected = both(KERNEL, (centred, dy), (X - X.mean(axis=0), y))
    same(found.to_local(), expected)
    wide = dX.rechunk((500, 4))  # and columns come in chunks of their own
    same(model(DaskKernelDictionaryClassifier).fit(wide, dy).to_local(), model(KERNEL).fit(X, y))


def test_one_chunk_is_enough(dask_client):
    found, expected = both(KERNEL, arrays((2400,)))
    same(found.to_local(), expected)


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0, 1: 0.5}])
def test_weights_are_those_of_all_rows(class_weight, dask_client):
    weights = np.linspace(0, 3, len(X)).round(1)
    dX, dy = arrays()
    there = model(DaskKernelDictionaryClassifier, class_weight=class_weight)
    there.fit(dX, dy, da.from_array(weights, chunks=dX.chunks[0]))
    same(there.to_local(), model(KERNEL, class_weight=class_weight).fit(X, y, weights))


def test_classes_that_count_nothing_are_left_out(dask_client):
    options = {"class_weight": {0: 0.0}}
    found, expected = both(KERNEL, arrays(), **options)
    assert expected.classes_.tolist() == [1, 2]
    same(found.to_local(), expected)


def test_what_is_told_of_collections_is_lazy_and_chunked_like_them(dask_client):
    dX, dy = arrays(labels=WORDS[y])
    found = model(DaskKernelDictionaryClassifier).fit(dX, dy)
    local = found.to_local()
    for method in (
        "predict",
        "predict_proba",
        "predict_log_proba",
        "decision_function",
        "typicality",
    ):
        told, expected = getattr(found, method)(dX), getattr(local, method)(X)
        assert told.chunks[0] == dX.chunks[0]
        assert told.dtype == expected.dtype
        assert told.shape == expected.shape
        if told.dtype.kind == "f":  # a single row is multiplied in another order
            close(told.compute(), expected, 1e-12)
        else:
            np.testing.assert_array_equal(told.compute(), expected)
        np.testing.assert_array_equal(getattr(found, method)(X), expected)
    assert found.score(dX, dy) == found.score(X, WORDS[y]) == local.score(X, WORDS[y])


def test_what_is_told_of_frames_keeps_their_index(dask_client):
    frame = pd.DataFrame(X, columns=NAMES, index=np.arange(len(X)) * 2 + 1).assign(kind=WORDS[y])
    chunks = dd.from_pandas(frame, npartitions=3)
    empty_too = chunks[chunks.f0 > 3.5]
    found = model(DaskKernelDictionaryClassifier).fit(chunks[NAMES], chunks["kind"])
    local, rows = found.to_local(), frame[frame.f0 > 3.5]
    labels = found.predict(empty_too[NAMES])
    assert labels.npartitions == 3
    labels = labels.compute()
    assert labels.tolist() == local.predict(rows[NAMES]).tolist()
    assert labels.index.tolist() == rows.index.tolist()
    told = found.predict_proba(empty_too[NAMES]).compute()
    assert told.columns.tolist() == WORDS.tolist()
    np.testing.assert_array_equal(told.to_numpy(), local.predict_proba(rows[NAMES]))
    assert found.typicality(empty_too[NAMES]).compute().index.tolist() == rows.index.tolist()


def test_what_is_fitted_is_saved_explained_copied_and_cloned(dask_client, path):
    found = model(DaskKernelDictionaryClassifier, client=dask_client).fit(*arrays())
    local = found.to_local()
    kerndict.save(local, path)
    np.testing.assert_array_equal(kerndict.load(path).predict(NEW), local.predict(NEW))
    assert local.explain(NEW[:2]).scores.shape == (2, 3)
    with pytest.raises(TypeError, match="compute the rows you ask about first"):
        found.explain(arrays()[0])
    copied = pickle.loads(pickle.dumps(found))
    assert copied.client is None
    np.testing.assert_array_equal(copied.predict(NEW), local.predict(NEW))
    unfitted = clone(found.set_params(sigma=2.0))
    assert unfitted.client is dask_client
    assert unfitted.sigma == 2.0
    assert not hasattr(unfitted, "model_")


def test_an_error_leaves_what_was_fitted_before(dask_client):
    dX, dy = arrays()
    found = model(DaskKernelDictionaryClassifier).fit(dX, dy)
    before = found.decision_function(NEW)
    last = da.arange(2400, chunks=dX.chunks[0])[:, None] == 2399
    with pytest.raises(ValueError, match=r"chunk 5 of X, rows 2200 to 2399: .*NaN"):
        found.fit(da.where(last, np.nan, dX), dy)
    np.testing.assert_array_equal(found.decision_function(NEW), before)


def test_a_search_on_the_cluster_finds_what_one_here_finds(dask_client):
    import joblib
    from sklearn.model_selection import GridSearchCV

    few, labels = X[:600], y[:600]
    search = GridSearchCV(model(KERNEL, sigma=None), {"sigma": [0.05, 3.0]}, cv=3)
    here = clone(search).fit(few, labels)
    with joblib.parallel_backend("dask"):
        there = clone(search).fit(few, labels)
    assert there.best_params_ == here.best_params_ == {"sigma": 3.0}
    np.testing.assert_allclose(
        there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], atol=1e-12
    )


def test_no_collection_and_no_client_say_so(dask_client, monkeypatch):
    with pytest.raises(TypeError, match="X is a ndarray: give a Dask array or dataframe"):
        model(DaskDictionaryClassifier).fit(X, y)
    with pytest.raises(TypeError, match="y is a ndarray: give a Dask array or series"):
        model(DaskDictionaryClassifier).fit(arrays()[0], y)
    with pytest.raises(ValueError, match="decision='residual' cannot learn from batches"):
        model(DaskDictionaryClassifier, decision="residual").fit(*arrays())
    monkeypatch.setattr("kerndict.dask.base.get_client", no_client)
    with pytest.raises(ValueError, match="the current Dask client, and there is none: make one"):
        model(DaskDictionaryClassifier).fit(*arrays())


def no_client():
    raise ValueError("No global client found")
