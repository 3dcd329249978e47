"""Fitting on a cluster: two passes over the chunks, and the rest where the driver is."""

from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from distributed import Client
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from kerndict.classifiers.base import BaseDictionaryClassifier
from kerndict.dask.checks import checked_labels
from kerndict.dask.chunks import Chunks
from kerndict.dask.lanes import add_up
from kerndict.dask.passes import (
    First,
    Learned,
    Overview,
    Second,
    learn,
    look,
    merge_learned,
    merge_overviews,
)
from kerndict.landmarks import Learner, Sums, sure_limits

Plain = TypeVar("Plain", bound=BaseDictionaryClassifier)


def fit_chunks(plain: Plain, chunks: Chunks, client: Client) -> Plain:
    """Fit a classifier to the rows in chunks.

    Parameters
    ----------
    plain : a classifier that is not fitted
    chunks : the rows
    client : of the cluster that makes them
    """
    given, plain.class_weight = plain.class_weight, None
    of_labels = _checked(given) if isinstance(given, dict) else {}
    seed = check_random_state(plain.random_state).randint(2**31 - 1)
    common = First(seed, of_labels, chunks.sizes is not None)
    found: Overview = add_up(
        client, chunks, "draw", look, merge_overviews, common, chunks.first, chunks.sizes
    )
    if found.dtype is None:
        raise ValueError("X has no rows: give at least one row of two classes each.")
    if len(found.classes) < 2:
        held = f"one class only ({found.classes[0]})" if len(found.classes) else "no class"
        raise ValueError(f"y holds {held}: {type(plain).__name__} needs at least two classes.")
    sizes, counting = np.array([found.sizes[k] for k in range(len(chunks.keys))]).T
    _settle(plain, found, chunks, sizes)
    second = Second(
        _light(plain.learner_),
        found.classes,
        _class_weights(given, found),
        [label for label, weight in of_labels.items() if weight == 0],
        sure_limits(plain.learner_.sample.count, found.counts),
    )
    firsts = (np.cumsum(counting) - counting).tolist()
    learned: Learned = add_up(
        client, chunks, "learn", learn, merge_learned, second, firsts, counting.tolist()
    )
    plain.learner_.sums, plain.learner_.sample = learned.sums.unpacked(), learned.sample
    return plain.finish()


def _settle(plain: Plain, found: Overview, chunks: Chunks, sizes: NDArray) -> None:
    """Settle landmarks and kernel by the rows drawn."""
    sample, firsts = found.sample, np.array(chunks.first)
    place = sample.weights.astype(np.int64)
    chunk = np.searchsorted(firsts, place, side="right") - 1
    indices = (np.cumsum(sizes) - sizes)[chunk] + place - firsts[chunk]
    rows: Any = sample.X
    if chunks.names is not None:
        import pandas as pd

        rows = pd.DataFrame(rows, columns=chunks.names)
    labels = found.classes[sample.labels]
    plain.settle(rows, labels, n_samples=int(found.counts.sum()), indices=indices)


def _class_weights(given: dict | str | None, found: Overview) -> NDArray:
    """Return the weight of each class; those that a dict leaves out of account are gone."""
    if isinstance(given, str):  # "balanced": n / (C n_c), as compute_class_weight
        return found.every.sum() / (len(found.every) * found.every)
    return np.array([(given or {}).get(label, 1.0) for label in found.classes.tolist()])


def _checked(class_weight: dict) -> dict:
    """Return the weights of classes, all of which must be finite and none negative."""
    if not all(np.isfinite(weight) and weight >= 0 for weight in class_weight.values()):
        raise ValueError(
            f"class_weight={class_weight!r} holds a weight that is negative or not finite: give "
            "each class a number >= 0."
        )
    return class_weight


def _light(learner: Learner) -> Learner:
    """Return what workers need of a learner: no factor of the landmarks, and no sums yet."""
    landmarks = replace(learner.landmarks, factor=np.empty((0, 0)))
    light = copy(learner)
    light.landmarks, light.sums = landmarks, Sums.empty(0, learner.n_classes)
    return light


def right_share(client: Client, local: BaseDictionaryClassifier, chunks: Chunks) -> float:
    """Return the share of rows whose class a fitted classifier tells."""
    found = add_up(client, chunks, "score", _count_right, np.add, local, chunks.first, chunks.sizes)
    if not found[1]:
        raise ValueError("X has no rows to score.")
    return float(found[0] / found[1])


def _count_right(
    before: NDArray | None, local: BaseDictionaryClassifier, number: int, first: int, X: Any, y: Any
) -> NDArray:
    """Return how many rows are right, and how many there are."""
    found = np.zeros(2) if before is None else before
    if not len(X):
        return found
    right = local.predict(X) == checked_labels(y, len(X))
    return found + np.array([right.sum(), len(right)])
