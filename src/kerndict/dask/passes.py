"""The two passes over all rows: the first draws some of them, the second adds up what they say.

Each is a step, from the sum before a chunk to the sum with it, and a way to add two sums.  Both
return new values: where a worker dies, its steps are taken again from what was before.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerndict._threads import single_blas_thread
from kerndict.classifiers.many import batches
from kerndict.dask.checks import checked_labels, checked_rows, checked_weights, naming, same_kind
from kerndict.landmarks import Learner, Sample, Sums, row_keys

#: Rows that settle landmarks and kernel.
DRAWN = 20_000


@dataclass(frozen=True)
class First:
    """What every step of the first pass needs.

    Parameters
    ----------
    seed : of the random numbers that rows are drawn by
    class_weight : of some labels, 1 of all others
    known : whether the places of chunks are known
    """

    seed: int
    class_weight: dict[Any, float]
    known: bool

    def weights(self, labels: NDArray, classes: NDArray, given: NDArray | None) -> NDArray:
        """Return the weight of every row, its own times that of its class."""
        of_class = np.array([self.class_weight.get(label, 1.0) for label in classes.tolist()])
        weights = of_class[labels] if len(classes) else np.empty(0)
        return weights if given is None else weights * given


@dataclass(frozen=True)
class Overview:
    """What the first pass finds.

    Parameters
    ----------
    sizes : rows of each chunk, and how many of them count
    dtype, number : the precision of the rows, and a chunk that has it; None without rows
    classes, counts, every : labels, how many rows of each count, and how many there are
    sample : rows drawn at random; ``labels`` are places among the classes, ``weights`` the places
        of the rows
    """

    sizes: dict[int, tuple[int, int]]
    dtype: np.dtype | None
    number: int
    classes: NDArray
    counts: NDArray
    every: NDArray
    sample: Sample

    def __sizeof__(self) -> int:
        """Return the bytes that it takes, which the scheduler goes by."""
        return self.sample.X.nbytes + 3 * self.sample.keys.nbytes


def look(
    before: Overview | None,
    common: First,
    number: int,
    first: int,
    X: Any,
    y: Any,
    sample_weight: Any = None,
) -> Overview:
    """Look at a chunk, beside what was found before."""
    place = first if common.known else 0
    with naming(number, place, len(X) if common.known else None):
        found = _looked_at(common, number, first, X, y, sample_weight)
    return found if before is None else merge_overviews(before, found)


def _looked_at(
    common: First, number: int, first: int, X: Any, y: Any, sample_weight: Any
) -> Overview:
    if not len(X):  # whatever its dtype
        nothing = Sample.empty(DRAWN, 0, np.dtype(float))
        none = np.empty(0, int)
        return Overview({number: (0, 0)}, None, number, none, none, none, nothing)
    rows = checked_rows(X)
    target = checked_labels(y, len(rows))
    given = None if sample_weight is None else checked_weights(sample_weight, len(rows))
    classes, labels = np.unique(target, return_inverse=True)
    count = np.flatnonzero(common.weights(labels, classes, given))
    counts = np.bincount(labels[count], minlength=len(classes))
    sample = Sample.empty(DRAWN, rows.shape[1], rows.dtype)
    keys = row_keys(common.seed, first, len(rows))[count]
    sample.add(rows[count], labels[count], (first + count) * 1.0, keys)
    kept = np.flatnonzero(counts)
    sample.labels = np.searchsorted(kept, sample.labels)
    sizes = {number: (len(rows), len(count))}
    every = np.bincount(labels)[kept]
    return Overview(sizes, rows.dtype, number, classes[kept], counts[kept], every, sample)


def merge_overviews(one: Overview, other: Overview) -> Overview:
    """Add what was found in chunks behind."""
    sizes = one.sizes | other.sizes
    if other.dtype is None or one.dtype is None:
        return replace(one if other.dtype is None else other, sizes=sizes)
    if one.dtype != other.dtype:
        raise ValueError(
            f"chunk {other.number} of X holds {other.dtype}, chunk {one.number} {one.dtype}: give "
            "all chunks the same precision, as X.astype does."
        )
    features = one.sample.X.shape[1], other.sample.X.shape[1]
    if features[0] != features[1]:
        raise ValueError(
            f"chunk {other.number} of X has {features[1]} columns, chunk {one.number} has "
            f"{features[0]}: give all chunks the same columns."
        )
    if not len(other.classes) or not len(one.classes):
        return replace(one if len(one.classes) else other, sizes=sizes)
    if not same_kind(one.classes, other.classes):
        raise ValueError(
            f"chunk {other.number} of y holds labels like {other.classes[0]!r}, chunk {one.number} "
            f"like {one.classes[0]!r}: give all chunks labels of one type."
        )
    classes = np.unique(np.concatenate([one.classes, other.classes]))
    counts, every = np.zeros((2, len(classes)), int)
    sample = Sample.empty(DRAWN, *_shape(one.sample.X))
    for each in (one, other):
        places = np.searchsorted(classes, each.classes)
        counts[places] += each.counts
        every[places] += each.every
        part = each.sample
        sample.add(part.X, places[part.labels], part.weights, part.keys)
    return Overview(sizes, one.dtype, one.number, classes, counts, every, sample)


def _shape(X: NDArray) -> tuple[int, np.dtype]:
    return X.shape[1], X.dtype


@dataclass(frozen=True)
class Second:
    """What every step of the second pass needs.

    Parameters
    ----------
    learner : of no rows and without sums; its landmarks come without their factor
    classes : all labels
    weights : those of the classes
    left_out : labels that weigh nothing
    limits : the random number of each class above which no row stays in the sample
    """

    learner: Learner
    classes: NDArray
    weights: NDArray
    left_out: list[Any]
    limits: NDArray

    def __sizeof__(self) -> int:
        """Return the bytes that it takes, but for the sums, of which none are sent."""
        return self.learner.landmarks.rows.nbytes + self.weights.nbytes + self.limits.nbytes


@dataclass(frozen=True)
class Learned:
    """What some rows say: sums, packed, and a sample."""

    sums: Sums
    sample: Sample

    def __sizeof__(self) -> int:
        """Return the bytes that it takes, which the scheduler goes by."""
        sampled = self.sample.X.nbytes + 3 * self.sample.keys.nbytes
        return self.sums.products.nbytes + self.sums.by_class.nbytes + sampled


def learn(
    before: Learned | None,
    common: Second,
    number: int,
    first: int,
    X: Any,
    y: Any,
    sample_weight: Any = None,
) -> Learned:
    """Learn from a chunk, beside what was learned before.

    ``first`` is its place among the rows that count.
    """
    learner = common.learner.copy()
    if before is None:
        learner.sums = Sums.empty(len(learner.landmarks.rows), learner.n_classes)
    else:
        learner.sums, learner.sample = before.sums.unpacked(), replace(before.sample)
    with naming(number, first, None), single_blas_thread():
        for rows, labels, weights in _counting(common, X, y, sample_weight):
            for part in batches(rows, len(learner.landmarks.rows)):
                learner.add(rows[part], labels[part], weights[part], first + part.start)
                learner.sample.thin(common.limits)
    return Learned(learner.sums.packed(), learner.sample)


def _counting(
    common: Second, X: Any, y: Any, sample_weight: Any
) -> Iterator[tuple[Any, NDArray, NDArray]]:
    """Yield the rows that count, their classes and weights, if there are any."""
    if not len(X):
        return
    rows = checked_rows(X)
    target = checked_labels(y, len(rows))
    labels = np.searchsorted(common.classes, target).clip(max=len(common.classes) - 1)
    weights = common.weights[labels]
    if sample_weight is not None:
        weights = weights * checked_weights(sample_weight, len(rows))
    strange = (common.classes[labels] != target) & (weights > 0)
    if strange.any() and common.left_out:
        weights[np.isin(target, common.left_out)] = 0
        strange &= weights > 0
    if strange.any():
        raise ValueError(
            f"y holds {target[strange][0]!r}, which the first pass did not see: the collection "
            "gives other rows each time it is computed, persist it."
        )
    kept = np.flatnonzero(weights)
    if len(kept) < len(rows):
        rows, labels, weights = rows[kept], labels[kept], weights[kept]
    yield rows, labels, weights


def merge_learned(one: Learned, other: Learned) -> Learned:
    """Add what was learned from chunks behind."""
    sums = deepcopy(one.sums)
    sums.merge(other.sums)
    sample = replace(one.sample)
    sample.merge(other.sample)
    return Learned(sums, sample)
