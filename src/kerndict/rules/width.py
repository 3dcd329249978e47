"""The width of the RBF kernel, chosen from the training samples."""

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import cast, namespace, take
from kerndict.kernels import Kernel, median_distance
from kerndict.rules.leave_one_out import leave_one_out_loss

#: Widths in units of the median distance that are compared, and the ridges tried for each.
WIDTHS = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
WIDTH_RIDGES = (1e-3, 1e-2, 1e-1, 1.0)
#: Samples in the comparison, at most, and of one class where there are more classes than fit.
MAX_ROWS = 600
ROWS_PER_CLASS = 20


def choose_width(X: NDArray, labels: NDArray, rng: np.random.RandomState) -> tuple[float, float]:
    """Return the multiple of the median distance with the smallest log-loss, and that distance.

    The log-loss is that of samples left out, one at a time.

    Parameters
    ----------
    X : (N, m), training rows
    labels : (N,), class indices
    """
    median = median_distance(X, rng)
    rows, sizes = draw_rows(labels, rng)
    if sizes.max(initial=0) < 2:  # nothing explains a sample that is left out
        return 1.0, median
    Z = cast(take(X, rows), np.float64)
    Z = (Z - namespace(Z).mean(Z, axis=0)) / median
    losses = [
        leave_one_out_loss(Kernel("rbf", width).matrix(Z, Z), sizes.tolist(), WIDTH_RIDGES)
        for width in WIDTHS
    ]
    if np.ptp(losses) == 0:  # rows that do not differ
        return 1.0, median
    return WIDTHS[int(np.argmin(losses))], median


def draw_rows(labels: NDArray, rng: np.random.RandomState) -> tuple[NDArray, NDArray]:
    """Draw samples grouped by class, and how many of each class.

    Few classes give more samples each; of many classes some are drawn, since samples that
    lie as densely as in training tell more than all classes, thinned out.  Of more samples
    than fit, those alone in their class are left out.
    """
    sizes = np.bincount(labels)
    if len(labels) <= MAX_ROWS:
        return np.argsort(labels, kind="stable"), sizes
    several = np.flatnonzero(sizes > 1)
    if not len(several):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    dense = int(np.minimum(sizes[several], ROWS_PER_CLASS).mean())
    count = int(np.clip(MAX_ROWS // dense, 2, len(several)))
    drawn = np.sort(rng.permutation(several)[:count])
    rows = [rng.permutation(np.flatnonzero(labels == c))[: MAX_ROWS // count] for c in drawn]
    return np.concatenate(rows), np.array([len(part) for part in rows])
