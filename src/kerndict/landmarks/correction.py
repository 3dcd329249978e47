"""A head by logistic regression, beside what the classes leave of a row.

The log-loss of ``softmax(base + Z W)`` plus ``ridge/2 |W|^2`` is lowered by accelerated gradient
steps.  Its curvature is at most half the second moment of the rows (Böhning 1992), which is
diagonal in principal coordinates: a step costs two thin products and no factorisation.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from kerndict._arrays import beside, cast, inner, less_entries, namespace, on_host

#: Numbers of Z that are read once for both products, while they are near the processor.
NEAR = 2**19


@dataclass(frozen=True)
class Correction:
    """The problem, and how it is solved.

    Parameters
    ----------
    Z : (N, m), rows in principal coordinates
    labels : (N,)
    importance : (N,), how much each row counts
    base : (N, C), scores to begin with
    spread : (m,), the second moment of the rows
    steps : for each ridge, from the last one's result on
    """

    Z: NDArray
    labels: NDArray
    importance: NDArray
    base: NDArray
    spread: NDArray
    steps: int

    def path(self, importance: NDArray, ridges: Sequence[float]) -> Iterator[NDArray]:
        """Yield W, (m, C), for ridges in descending order.

        ``importance`` is that of the rows, 0 for those that are held out; the curvature is
        lowered by their share.
        """
        spread = self.spread * float(importance.sum() / self.importance.sum())
        W = beside(np.zeros((self.Z.shape[1], self.base.shape[1])), self.Z)
        for ridge in ridges:
            curvature = (spread / 2 + ridge)[:, None]
            ahead, momentum = W, 1.0
            for _ in range(self.steps):
                slope = self._slope(ahead, importance) + ridge * ahead
                following = ahead - slope / curvature
                if inner(ahead - following, following - W) > 0:
                    momentum = 1.0
                faster = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
                ahead = following + (momentum - 1) / faster * (following - W)
                W, momentum = following, faster
            yield W

    def _slope(self, W: NDArray, importance: NDArray) -> NDArray:
        """Return the gradient of the log-loss, without the ridge."""
        xp, host = namespace(W), on_host(W)
        slope, n_rows = xp.zeros_like(W), self.Z.shape[0]
        W = cast(W, self.Z.dtype, copy=False)
        counted = beside(importance, W)
        for part in gen_batches(n_rows, max(1, NEAR // self.Z.shape[1]) if host else n_rows):
            near = self.Z[part, :]
            p = self.base[part, :] + near @ W
            p -= xp.max(p, axis=1, keepdims=True)
            p = np.exp(p, out=p) if host else xp.exp(p)
            share = (counted[part] / xp.sum(p, axis=1))[:, None]
            p = np.multiply(p, share, out=p, casting="same_kind") if host else p * share
            p = less_entries(p, self.labels[part], importance[part])
            slope += near.T @ cast(p, self.Z.dtype, copy=False)
        return slope
