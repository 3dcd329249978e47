"""Training on tables that do not fit in memory: read twice, a batch of rows at a time."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from kerndict.classifiers.progress import unwatched, watched, watcher
from kerndict.cli.device import Place
from kerndict.cli.parameters import Classifier
from kerndict.cli.work import say
from kerndict.landmarks import SMALL_ROWS, Sample, row_keys
from kerndict.tables import Batch, Rows

#: Bytes of rows, and how many of them, that are read whole; what is more is learned from batch by
#: batch.
WHOLE, WHOLE_ROWS = 2**25, SMALL_ROWS
#: Rows that settle landmarks and the kernel, and the seed they are drawn with.
DRAWN, SEED = 20_000, 0
#: Seconds between two lines that tell how far it is.
SAY_EVERY = 2.0


@dataclass
class Overview:
    """What the first pass finds: rows, labels with their counts, and rows drawn at random.

    ``sample.weights`` holds the numbers of the rows drawn.
    """

    n_rows: int
    labels: Counter[str]
    names: list[str] | None
    sample: Sample
    drawn_labels: list[str]


def overview(first: list[Batch], rest: Iterator[Batch], names: list[str] | None) -> Overview:
    """Look at all batches, those that were read already first."""
    X = first[0].X
    found = Overview(0, Counter(), names, Sample.empty(DRAWN, X.shape[1], X.dtype), [])
    places: dict[str, int] = {}
    said = time.perf_counter()
    while first:
        _look_at(first.pop(0), found, places)
    for batch in rest:
        _look_at(batch, found, places)
        if time.perf_counter() - said > SAY_EVERY:
            said = time.perf_counter()
            say(f"looking at the data: {found.n_rows} rows")
    every = list(places)
    found.drawn_labels = [every[place] for place in found.sample.labels]
    return found


def _look_at(batch: Batch, found: Overview, places: dict[str, int]) -> None:
    labels = batch.labels or []
    found.labels.update(labels)
    numbers = np.array([places.setdefault(label, len(places)) for label in labels], np.int64)
    count = len(labels)
    keys = row_keys(SEED, found.n_rows, count)
    found.sample.add(batch.X, numbers, np.arange(found.n_rows, found.n_rows + count) * 1.0, keys)
    found.n_rows += count


def fit_streamed(
    model: Classifier | Pipeline,
    found: Overview,
    rows: Callable[[], AbstractContextManager[Rows]],
    as_labels: Callable[[list[str]], NDArray],
    place: Place,
) -> None:
    """Fit a model in a second pass over the table, which ``rows`` gives, in some place.

    What is before the classifier is fitted to the rows that were drawn, on the host; the classifier
    learns in the ``place``.
    """
    written = list(found.labels)
    labels = dict(zip(written, as_labels(written).tolist(), strict=True))
    classifier = model[-1] if isinstance(model, Pipeline) else model

    def prepared(X: NDArray) -> NDArray:
        return place.moved(model[:-1].transform(X) if isinstance(model, Pipeline) else X)

    def batches(rows: Rows) -> Iterator[tuple[NDArray, NDArray]]:
        done = 0
        for batch in rows.batches:
            yield prepared(batch.X), np.array([labels[label] for label in batch.labels or []])
            done += len(batch.X)
            tell(f"learning from {found.n_rows} rows", done / found.n_rows)

    y = np.array([labels[label] for label in found.drawn_labels])
    if isinstance(model, Pipeline):
        model[:-1].fit(found.sample.X, y)
    wanted = classifier.class_weight
    if wanted == "balanced":  # of all rows, which are counted by now
        counts = found.labels
        each = {labels[name]: found.n_rows / (len(counts) * counts[name]) for name in written}
        classifier.set_params(class_weight=each)
    tell = watcher()
    with rows() as second, watched(unwatched), place.computing():
        classifier.fit_batches(
            batches(second),
            prepared(found.sample.X),
            y,
            n_samples=found.n_rows,
            indices=found.sample.weights.astype(np.int64),
        )
    classifier.set_params(class_weight=wanted)
