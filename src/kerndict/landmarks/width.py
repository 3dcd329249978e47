"""The width of the RBF kernel for many rows: what a few landmarks do with it on a few rows."""

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import beside, cast, take
from kerndict.kernels import Kernel, distance_shift, median_distance
from kerndict.landmarks.closed_form import ClassAtoms, Rows
from kerndict.landmarks.draw import Landmarks, draw
from kerndict.landmarks.settle import choose_ridges
from kerndict.landmarks.size import coordinate_count
from kerndict.landmarks.sums import Principal, Sums
from kerndict.rules.weights import losses, weigh

#: Widths in units of the median distance, ascending; the search begins with the third.
WIDTHS = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0)
FIRST = 2
#: How much better another width must be, in standard errors of the mean difference.  Wider ones
#: are favoured by few landmarks, and lose with many: the first step there must be a clear one.
CLEAR, BETTER = 3.0, 1.0
#: Rows, landmarks and classes of the comparison.
ROWS, LANDMARKS, CLASSES = 3000, 400, 100


def choose_width(X: NDArray, labels: NDArray, rng: np.random.RandomState) -> tuple[float, float]:
    """Return a multiple of the median distance by the log-loss of rows left out, and the distance.

    From 1 on it goes to wider ones as long as they are better, or else to narrower ones.

    Parameters
    ----------
    X : (N, m), training rows, all or many of them
    labels : (N,), class indices
    """
    median = median_distance(X, rng)
    present = np.unique(labels)
    if len(present) > CLASSES:
        some = np.flatnonzero(np.isin(labels, rng.permutation(present)[:CLASSES]))
        X, labels = take(X, some), labels[some]
    rows = draw(labels, min(ROWS, len(labels)), rng)
    X, labels = cast(take(X, rows), np.float64), np.unique(labels[rows], return_inverse=True)[1]
    places = draw(labels, min(LANDMARKS, len(labels)), rng)
    best, least = FIRST, _losses(X, labels, places, WIDTHS[FIRST] * median)
    for step, margin in ((1, CLEAR), (-1, BETTER)):
        while 0 <= best + step < len(WIDTHS):
            found = _losses(X, labels, places, WIDTHS[best + step] * median)
            gain = least - found
            if gain.mean() <= margin * gain.std() / np.sqrt(len(gain)):
                break
            best, least, margin = best + step, found, BETTER
        if best != FIRST:
            break
    return WIDTHS[best], median


def _losses(X: NDArray, labels: NDArray, places: NDArray, sigma: float) -> NDArray:
    """Return the log-loss of every row left out, with landmarks in some places."""
    kernel = Kernel("rbf", sigma, shift=distance_shift(X, sigma))
    landmarks = Landmarks.from_rows(kernel, take(X, places), places)
    n_classes, ones = int(labels.max()) + 1, np.ones(len(labels))
    K, energies = landmarks.correlations(X), beside(ones, X)
    sums = Sums.empty(landmarks.rows.shape[0], n_classes, X)
    sums.add(K, energies, labels, ones)
    principal = Principal.from_sums(landmarks, sums)
    rows = Rows(K @ principal.basis, energies, labels, ones, ones)
    p = coordinate_count(n_classes, len(labels), principal.spread.shape[0])
    closed = choose_ridges(rows, principal, ClassAtoms.from_rows(rows, n_classes, p, None))
    return losses(weigh(closed.features, closed.weights, closed.offsets), labels)
