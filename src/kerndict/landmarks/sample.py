"""A sample of all rows, of bounded size, that does not depend on the batches they came in."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import Array, beside, host_dtype, namespace, take
from kerndict._state import stored

#: Rows of every class that stay in any case.
PER_CLASS = 200


def row_keys(seed: int, start: int, count: int) -> NDArray:
    """Return the random numbers of ``count`` rows, ``start`` others having been before."""
    return np.random.Generator(np.random.PCG64(seed).advance(start)).random(count)


def sure_limits(count: int, sizes: NDArray) -> NDArray:
    """Return for each class the random number above which no row stays in the sample of all rows.

    That is but for chance: of n random numbers the k-th smallest is larger than this with a
    probability of less than 1e-13.

    Parameters
    ----------
    count : how many rows are kept, beside those of each class
    sizes : (C,), how many rows there are
    """

    def limit(k: int, n: NDArray | float) -> NDArray:
        return np.minimum(1.0, (k + 8 * np.sqrt(k) + 40) / np.maximum(n, 1))

    return np.maximum(limit(PER_CLASS, sizes), limit(count, float(sizes.sum())))


@dataclass
class Sample:
    """Rows drawn at random: those with the smallest of random numbers that all rows are given.

    The first ``PER_CLASS`` of each class stay in any case, so that no small class is lost.

    Parameters
    ----------
    count : how many rows are kept, beside those
    X, labels, weights : the rows kept so far, in the order they came in
    keys : their random numbers
    """

    count: int = stored("count", name="learner.count")
    X: NDArray = stored("precision", "S m", name="learner.X")
    labels: NDArray = stored("index", "S", name="learner.labels")
    weights: NDArray = stored("real", "S", name="learner.weights")
    keys: NDArray = stored("real", "S", name="learner.keys")

    @classmethod
    def empty(cls, count: int, n_features: int, dtype: Any, like: Array = None) -> Self:
        """Return a sample of no rows, which are where ``like`` is."""
        none = np.empty(0)
        X = np.empty((0, n_features), host_dtype(dtype))
        X = X if like is None else beside(X, like, dtype)
        return cls(count, X, np.empty(0, np.int64), none, none)

    def add(self, X: NDArray, labels: NDArray, weights: NDArray, keys: NDArray) -> None:
        """Offer rows with their random numbers; see :func:`row_keys`."""
        labels = np.concatenate([self.labels, labels])
        weights = np.concatenate([self.weights, weights])
        keys = np.concatenate([self.keys, keys])
        kept = self._kept(labels, keys)
        count = self.X.shape[0]
        old = kept[kept < count]
        self.X = namespace(X).concat([take(self.X, old), take(X, kept[len(old) :] - count)])
        self.labels, self.weights, self.keys = labels[kept], weights[kept], keys[kept]

    def merge(self, other: "Sample") -> None:
        """Add a sample of the rows behind."""
        self.add(other.X, other.labels, other.weights, other.keys)

    def thin(self, limits: NDArray) -> None:
        """Leave out rows whose random number is above the limit of their class.

        Where few rows are below, as among some rows of many, the sample then holds no more; see
        :func:`sure_limits`.
        """
        near = np.flatnonzero(self.keys <= limits[self.labels])
        if len(near) < len(self.keys):
            self.X, self.labels = take(self.X, near), self.labels[near]
            self.weights, self.keys = self.weights[near], self.keys[near]

    def _kept(self, labels: NDArray, keys: NDArray) -> NDArray:
        """Return the places of the rows that stay, in ascending order."""
        if len(keys) <= self.count:
            return np.arange(len(keys))
        order = np.lexsort([keys, labels])
        sizes = np.bincount(labels)
        rank = np.empty(len(keys), np.int64)
        rank[order] = np.arange(len(keys)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        limit = np.partition(keys, self.count - 1)[self.count - 1]
        return np.flatnonzero((rank < PER_CLASS) | (keys <= limit))

    def share(self, class_weight: NDArray) -> float:
        """Return the weight of the rows kept, as a share of that of all rows.

        ``class_weight`` is the sum of the weights of all rows of each class.
        """
        return float(self.weights.sum() / class_weight.sum())

    def importance(self, class_weight: NDArray) -> NDArray:
        """Return how much each row counts, so that classes count as all their rows do.

        The sum is that of the weights of the rows kept.
        """
        sampled = np.bincount(self.labels, self.weights, minlength=len(class_weight))
        ratio = class_weight / np.where(sampled > 0, sampled, 1)
        return self.weights * ratio[self.labels] * self.share(class_weight)
