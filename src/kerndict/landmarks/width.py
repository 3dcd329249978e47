"""The width of the RBF kernel for many rows: what a few landmarks do with it on a few rows."""

import numpy as np
from numpy.typing import NDArray

from kerndict.kernels import Kernel, distance_shift, median_distance
from kerndict.landmarks.closed_form import ClassAtoms, Rows
from kerndict.landmarks.draw import Landmarks, draw
from kerndict.landmarks.settle import choose_ridges
from kerndict.landmarks.size import coordinate_count
from kerndict.landmarks.sums import Principal, Sums

#: Widths in units of the median distance, ascending; the search begins with the third.
WIDTHS = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0)
FIRST = 2
#: Rows and landmarks of the comparison.
ROWS, LANDMARKS = 3000, 300


def choose_width(X: NDArray, labels: NDArray, rng: np.random.RandomState) -> float:
    """Return the multiple of the median distance with the smallest log-loss of rows left out.

    From 1 on it goes to wider ones as long as they are better, and to narrower ones if the
    first of those is not.

    Parameters
    ----------
    X : (N, m), training rows, all or many of them
    labels : (N,), class indices
    """
    median = median_distance(X, rng)
    rows = draw(labels, min(ROWS, len(X)), rng)
    X, labels = X[rows].astype(np.float64), labels[rows]
    places = draw(labels, min(LANDMARKS, len(X)), rng)
    losses = {FIRST: _loss(X, labels, places, WIDTHS[FIRST] * median)}
    for step in (1, -1):
        k = FIRST + step
        while 0 <= k < len(WIDTHS):
            losses[k] = _loss(X, labels, places, WIDTHS[k] * median)
            if losses[k] >= losses[k - step]:
                break
            k += step
        if losses[FIRST + step] < losses[FIRST]:
            break
    return WIDTHS[min(losses, key=lambda k: losses[k])] * median


def _loss(X: NDArray, labels: NDArray, places: NDArray, sigma: float) -> float:
    """Return the log-loss of rows left out, with landmarks in some places."""
    kernel = Kernel("rbf", sigma, shift=distance_shift(X, sigma))
    landmarks = Landmarks.from_rows(kernel, X[places], places)
    n_classes, ones = int(labels.max()) + 1, np.ones(len(X))
    K = landmarks.correlations(X)
    sums = Sums.empty(len(landmarks.rows), n_classes)
    sums.add(K, ones, labels, ones)
    principal = Principal.from_sums(landmarks, sums)
    rows = Rows(K @ principal.basis, ones, labels, ones, ones)
    p = coordinate_count(n_classes, len(X), len(principal.spread))
    return choose_ridges(rows, principal, ClassAtoms.from_rows(rows, n_classes, p, None)).loss
