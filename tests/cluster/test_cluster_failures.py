"""Workers and drivers that are killed, chunks that cannot be learned from, and what is kept."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial

import dask.array as da
import dask.dataframe as dd
import numpy as np
import on_workers
import pandas as pd
import pytest
from conftest import close
from distributed import KilledWorker
from on_workers import rows_of

from kerndict.dask import DaskKernelDictionaryClassifier
from kerndict.dask.chunks import aligned
from kerndict.dask.lanes import add_up

X, y = rows_of(1600, 0)
NEW = rows_of(200, 1)[0]


def model():
    return DaskKernelDictionaryClassifier(n_landmarks=60, sigma=3.0, random_state=0)


def arrays(rows=X, labels=y):
    return da.from_array(rows, chunks=(200, 6)), da.from_array(labels, chunks=200)


def killed(dask_client, folder, number, at):
    """Return rows whose chunk ``number`` kills its worker as it is made for these times."""
    dX, dy = arrays()
    dies = partial(on_workers.dies, folder=str(folder), number=number, at=at)
    return dX.map_blocks(dies, dtype=float, meta=np.empty((0, 0))), dy


def settled(client):
    """Wait until there are two workers again."""
    try:
        client.wait_for_workers(2, timeout=30)
    except TimeoutError:  # Dask starts none for one that was killed while it started
        client.cluster.scale(len(client.cluster.worker_spec) + 1)
        client.wait_for_workers(2, timeout=120)


@pytest.mark.parametrize("at", [(1,), (2,), (1, 3)], ids=["first pass", "second pass", "both"])
def test_a_worker_that_is_killed_changes_nothing(at, dask_client, tmp_path):
    expected = model().fit(*arrays())
    found = model().fit(*killed(dask_client, tmp_path, 2, at))
    assert len(list(tmp_path.iterdir())) >= 2 + len(at)  # it is made in both passes, and again
    close(found.decision_function(NEW), expected.decision_function(NEW), 1e-10)
    np.testing.assert_array_equal(found.fit_indices_, expected.fit_indices_)
    settled(dask_client)


def test_a_chunk_that_always_kills_its_worker_is_named(dask_client, tmp_path):
    scheduler = dask_client.cluster.scheduler
    allowed, scheduler.allowed_failures = scheduler.allowed_failures, 0
    try:
        with pytest.raises(KilledWorker, match="kerndict-draw-chunk-5-"):
            model().fit(*killed(dask_client, tmp_path, 5, range(100)))
    finally:
        scheduler.allowed_failures = allowed
    settled(dask_client)


def test_nothing_goes_on_where_the_driver_is_killed(dask_client, tmp_path):
    code = f"""
        from functools import partial
        import dask.array as da, numpy as np
        from distributed import Client
        import on_workers
        from kerndict.dask import DaskKernelDictionaryClassifier
        X, y = on_workers.rows_of(2000, 0)
        slow = partial(on_workers.slow, folder={str(tmp_path)!r})
        with Client({dask_client.scheduler.address!r}):
            rows = da.from_array(X, chunks=(20, 6))
            rows = rows.map_blocks(slow, dtype=float, meta=np.empty((0, 0)))
            DaskKernelDictionaryClassifier().fit(rows, da.from_array(y, chunks=20))
    """
    environment = os.environ | {"PYTHONPATH": os.path.dirname(on_workers.__file__)}
    driver = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], env=environment)
    patience = time.monotonic() + 120
    while not list(tmp_path.iterdir()):
        assert time.monotonic() < patience
        assert driver.poll() is None
        time.sleep(0.05)
    driver.send_signal(signal.SIGKILL)
    driver.wait()

    def tasks(dask_scheduler):
        return len(dask_scheduler.tasks)

    while dask_client.run_on_scheduler(tasks):
        assert time.monotonic() < patience
        time.sleep(0.1)
    made = len(list(tmp_path.iterdir()))
    assert made < 50  # of 100
    time.sleep(0.5)
    assert len(list(tmp_path.iterdir())) <= made + 2  # what each worker was about


def test_chunks_that_are_empty_or_lack_classes_are_fine(dask_client):
    order = np.argsort(y, kind="stable")  # most chunks hold one class only
    dX, dy = arrays(X[order], y[order])
    empty = dX.rechunk(((0, 200, 0, 200, *[200] * 6, 0), (6,)))
    found = model().fit(empty, dy.rechunk((empty.chunks[0],)))
    close(found.decision_function(NEW), model().fit(dX, dy).decision_function(NEW), 1e-8)


def frame_of(*parts):
    """Return a Dask dataframe of these parts; what it says of their types may be wrong."""
    return dd.from_map(lambda part: part, parts, meta=parts[0].iloc[:0], enforce_metadata=False)


FRAME = pd.DataFrame(X, columns=list("abcdef")).assign(kind=y)


def part(start, **changed):
    return FRAME[start : start + 400].assign(**changed)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (
            [part(0), part(400), part(800).astype({name: np.float32 for name in "abcdef"})],
            "chunk 2 of X holds float32, chunk [01] float64: give all chunks the same precision",
        ),
        ([part(0), part(400), part(800, f=np.nan)], "chunk 2 of X: .*NaN"),
        ([part(0), part(400, f="high")], "chunk 1 of X: could not convert string to float"),
        ([part(0), part(400, kind="oak")], "chunk 1 of y holds labels like 'oak', chunk 0 like"),
        ([part(0), part(400, kind=None)], "chunk 1 of X: y holds no label in row 0"),
        ([part(0), part(400, kind=0.5)], "chunk 1 of X: y holds fractions, which are no labels"),
        ([part(0), part(400).iloc[:, 1:]], "chunk 1 of X has 5 columns, chunk 0 has 6"),
        ([part(0)[:0], part(400)[:0]], "X has no rows"),
        ([part(0, kind=1), part(400, kind=1)], "y holds one class only"),
    ],
    ids=["dtype", "NaN", "text", "labels", "no label", "fractions", "columns", "no rows", "class"],
)
def test_a_bad_chunk_is_named_before_the_second_pass(parts, words, dask_client, monkeypatch):
    monkeypatch.delattr("kerndict.dask.fitting.learn")
    data = frame_of(*parts)
    rows = data.map_partitions(without_kind, meta=FRAME[list("abcdef")][:0], enforce_metadata=False)
    with pytest.raises(ValueError, match=words):
        model().fit(rows, data["kind"])


def without_kind(frame):
    return frame.drop(columns="kind")


def test_rows_that_are_others_each_time_are_told(dask_client, tmp_path):
    dX, dy = arrays()
    other = partial(others, folder=str(tmp_path))
    with pytest.raises(ValueError, match=r"which the first pass did not see.*persist it"):
        model().fit(dX, dy.map_blocks(other, dtype=int, meta=np.empty(0, int)))


def others(labels, folder, block_info=None):
    return labels + 10 * (on_workers.visits(folder, block_info[0]["chunk-location"][0]) > 1)


def test_collections_that_do_not_fit_together_are_refused():
    dX, dy = arrays()
    with pytest.raises(ValueError, match="y has 1000 values for 1600 rows of X"):
        aligned(dX, dy[:1000])
    with pytest.raises(ValueError, match="y has 8 chunks and X 3, and their sizes are not known"):
        aligned(dd.from_pandas(FRAME[list("abcdef")], npartitions=3), dy)
    with pytest.raises(ValueError, match="X has 1 dimensions"):
        aligned(dy, dy)
    with pytest.raises(ValueError, match="y has 2 dimensions"):
        aligned(dX, dX)
    assert len(aligned(dX, dy.rechunk(100)).keys) == 8


def test_a_worker_holds_few_sums_at_a_time_and_their_order_is_that_of_the_chunks(dask_client):
    n_chunks = 60
    chunks = aligned(da.zeros((n_chunks, 2), chunks=(1, 2)), da.zeros(n_chunks, chunks=1))
    dask_client.run(on_workers.most_counted, begin=True)
    step, merge = on_workers.counted_step, on_workers.counted_merge
    found = add_up(dask_client, chunks, "count", step, merge, None, list(range(n_chunks)))
    assert found.places == list(range(n_chunks))
    # The sum before a chunk and the one with it, and one that comes from the other worker.
    assert max(dask_client.run(on_workers.most_counted).values()) <= 3
