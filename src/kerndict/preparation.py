"""What rows go through before they are compared: a square root, whitening, unit length.

*Whitening within classes* makes small the directions in which samples of one class differ from
each other: with E the rows less the means of their classes and ``t = |E|^2 / m`` their mean
variance over m features, a row x becomes ``(I + strength E'E / t)^-1/2 x``.  Light on a face and
the speaker of a letter are such directions.  Of E'E the largest eigenvalues are kept, the rest are
taken for equal: a factor common to all directions changes nothing that is decided, and is left out.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr

from kerndict._arrays import (
    beside,
    cast,
    inner,
    namespace,
    on_host,
    one_hot,
    row_dots,
    take,
    to_host,
)
from kerndict._state import stored

#: Directions that are kept, and the features from which they are found by random projections.
DIRECTIONS = 128
MANY_FEATURES = 1000
#: Projections beyond the directions, and products with E'E that sharpen them.
OVERSAMPLED, SHARPENED = 16, 2


@dataclass(frozen=True)
class Preparation:
    """What is done to every row, in this order.

    Parameters
    ----------
    square_root : 1 if each number x becomes ``sign(x) sqrt(|x|)``
    strength : that of the whitening, 0 for none
    directions : (v, m), orthonormal rows
    shares : (v,), how much of a row along each direction is taken away
    unit : 1 if rows are then brought to length 1; a row of zeros stays
    """

    square_root: int = stored("index", name="prepare.square_root")
    strength: float = stored("real", name="prepare.strength")
    directions: NDArray = stored("precision", "v m", name="prepare.directions")
    shares: NDArray = stored("precision", "v", name="prepare.shares")
    unit: int = stored("index", name="prepare.unit")

    def __call__(self, X: NDArray) -> NDArray:
        """Return rows as they are compared, in the precision of X."""
        if self.square_root:
            X = square_root(X)
        if self.shares.shape[0]:
            X = X - ((X @ self.directions.T) * self.shares) @ self.directions
        return unit_rows(X) if self.unit else X

    def undone(self, X: NDArray) -> NDArray:
        """Return rows that become X, but for the length that they had."""
        if self.shares.shape[0]:
            along = (X @ self.directions.T) * (self.shares / (1 - self.shares))
            X = X + along @ self.directions
        return X * namespace(X).abs(X) if self.square_root else X


def square_root(X: NDArray) -> NDArray:
    """Return the square root of each number, with the sign that it had."""
    xp = namespace(X)
    return xp.sign(X) * xp.sqrt(xp.abs(X))


def unit_rows(X: NDArray) -> NDArray:
    """Return rows of length 1; a row of zeros stays."""
    xp = namespace(X)
    lengths = xp.sqrt(row_dots(X, X))
    return X / xp.where(lengths > 0, lengths, 1)[:, None]


def have_unit_length(X: NDArray) -> bool:
    """Tell whether all rows have length 1 but for rounding; rows of zeros do not count."""
    with np.errstate(over="ignore"):
        squares = row_dots(X, X)
    xp = namespace(X)
    return bool(xp.all((xp.abs(squares - 1) <= 1e-3) | (squares <= 0)))


class Recipe(NamedTuple):
    """What a preparation is to do; whatever else it needs is learned from training rows."""

    square_root: bool = False
    strength: float = 0.0


@dataclass(frozen=True)
class Spread:
    """How samples spread around the means of their classes.

    Parameters
    ----------
    directions : (v, m), those of the largest variance, orthonormal
    variances : (v,), along them, relative to the mean over all directions
    rest : the mean variance along all others
    """

    directions: NDArray
    variances: NDArray
    rest: float

    def shares(self, strength: float) -> NDArray:
        """Return how much of a row along each direction a whitening takes away."""
        xp = namespace(self.variances)
        return 1 - xp.sqrt((1 + strength * self.rest) / (1 + strength * self.variances))


def within_classes(X: NDArray, labels: NDArray, weights: NDArray | None = None) -> Spread:
    """Return how rows spread around the means of their classes.

    Parameters
    ----------
    X : (N, m)
    labels : (N,), class indices
    weights : (N,), how much each row counts, None for 1 each
    """
    E = class_errors(cast(X, np.float64, copy=False), labels, weights)
    n_rows, m = E.shape
    total = float(inner(E, E))
    scale = float(inner(X, X)) if n_rows * m else 0.0
    if total <= 1e-20 * scale or total == 0:  # each sample is the mean of its class
        return _nothing(X)
    count = min(DIRECTIONS, n_rows, m)
    if min(n_rows, m) <= MANY_FEATURES:
        variances, V = _exact(E, count)
    else:
        variances, V = _projected(E, count)
    xp = namespace(variances)
    kept = np.flatnonzero(to_host(variances > 1e-10 * xp.max(variances)))
    variances, V = take(variances, kept), take(V, kept)
    unit = total / m
    rest = max(total - float(xp.sum(variances)), 0.0) / max(m - len(kept), 1)
    return Spread(V, variances / unit, rest / unit)


def class_errors(X: NDArray, labels: NDArray, weights: NDArray | None = None) -> NDArray:
    """Return rows less the means of their classes, times the roots of their weights."""
    count = X.shape[0]
    weights = np.ones(count) if weights is None else weights
    n_classes = int(labels.max(initial=-1)) + 1
    totals = np.bincount(labels, weights, minlength=n_classes)
    shares = weights / np.where(totals > 0, totals, 1)[labels]
    if on_host(X):
        members = np.zeros((n_classes, count))
        members[labels, np.arange(count)] = shares
    else:
        members = cast(one_hot(labels, n_classes, X), X.dtype).T * beside(shares, X)
    return (X - take(members @ X, labels)) * beside(np.sqrt(weights), X)[:, None]


def _exact(E: NDArray, count: int) -> tuple[NDArray, NDArray]:
    """Return the largest eigenvalues of E'E and their vectors, from the smaller Gram matrix."""
    few = E.shape[0] < E.shape[1]
    G = E @ E.T if few else E.T @ E
    if on_host(G):
        w, U = eigh(G, subset_by_index=(len(G) - count, len(G) - 1))
    else:
        w, U = namespace(G).linalg.eigh(G)
        w, U = w[-count:], U[:, -count:]
    if not few:
        return w, U.T
    kept = to_host(w > 1e-10 * w[-1])
    if on_host(w):
        return w[kept], (U[:, kept] / np.sqrt(w[kept])).T @ E
    first = int(np.argmax(kept))  # ascending
    return w[first:], (U[:, first:] / namespace(w).sqrt(w[first:])).T @ E


def _projected(E: NDArray, count: int) -> tuple[NDArray, NDArray]:
    """Return about the same from random projections that products with E'E sharpen."""
    rng = np.random.RandomState(0)
    drawn = beside(rng.standard_normal((E.shape[0], count + OVERSAMPLED)), E)
    Q = _orthonormal(E.T @ drawn)
    for _ in range(SHARPENED):
        Q = _orthonormal(E.T @ (E @ Q))
    B = E @ Q
    w, U = namespace(B).linalg.eigh(B.T @ B)
    return w[-count:], (Q @ U[:, -count:]).T


def _orthonormal(M: NDArray) -> NDArray:
    return qr(M, mode="economic")[0] if on_host(M) else namespace(M).linalg.qr(M)[0]


def _nothing(X: NDArray) -> Spread:
    """Return the spread of rows that do not spread, or of which nobody asks it."""
    return Spread(beside(np.empty((0, X.shape[1])), X), beside(np.empty(0), X), 0.0)


def prepare(recipe: Recipe, X: NDArray, spread: Spread) -> Preparation:
    """Return the preparation of rows that spread so within their classes.

    Rows that all have length 1 have it afterwards too.

    Parameters
    ----------
    X : training rows
    spread : that of the rows, or of their square roots
    """
    return Preparation(
        int(recipe.square_root),
        recipe.strength,
        cast(spread.directions, X.dtype),
        cast(spread.shares(recipe.strength), X.dtype),
        int(have_unit_length(X)),
    )


def learned_preparation(
    recipe: Recipe, X: NDArray, labels: NDArray, weights: NDArray | None = None
) -> Preparation | None:
    """Learn a preparation from training rows; None where rows stay as they are."""
    return None if recipe == Recipe() else prepare(recipe, X, spread_of(recipe, X, labels, weights))


def spread_of(
    recipe: Recipe, X: NDArray, labels: NDArray, weights: NDArray | None = None
) -> Spread:
    """Return how training rows, or their roots, spread; nothing where that is not asked."""
    if recipe.strength == 0:
        return _nothing(X)
    return within_classes(square_root(X) if recipe.square_root else X, labels, weights)
