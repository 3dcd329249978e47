"""A head by logistic regression, beside what the classes leave of a row.

The log-loss of ``softmax(base + Z W)`` plus ``ridge/2 |W|^2`` is lowered by accelerated gradient
steps.  Its curvature is at most half the second moment of the rows (Böhning 1992), which is
diagonal in principal coordinates: a step costs two thin products and no factorisation.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

#: Steps for each ridge, from the last one's result on.
STEPS = 12


def correction_path(
    Z: NDArray,
    labels: NDArray,
    importance: NDArray,
    base: NDArray,
    spread: NDArray,
    ridges: Sequence[float],
) -> Iterator[NDArray]:
    """Yield W, (m, C), for ridges in descending order.

    Parameters
    ----------
    Z : (N, m), rows in principal coordinates
    labels : (N,)
    importance : (N,), how much each row counts
    base : (N, C), scores to begin with
    spread : (m,), the second moment of the rows
    ridges : in the units of ``spread``
    """
    rows = np.arange(len(labels))
    W = np.zeros((Z.shape[1], base.shape[1]))
    for ridge in ridges:
        curvature = (spread / 2 + ridge)[:, None]
        ahead, momentum = W, 1.0
        for _ in range(STEPS):
            p = softmax(base + Z @ ahead.astype(Z.dtype, copy=False), axis=1)
            p[rows, labels] -= 1
            p *= importance[:, None]
            slope = (Z.T @ p.astype(Z.dtype, copy=False)).astype(np.float64) + ridge * ahead
            following = ahead - slope / curvature
            if np.vdot(ahead - following, following - W) > 0:
                momentum = 1.0
            faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = following + (momentum - 1) / faster * (following - W)
            W, momentum = following, faster
        yield W
