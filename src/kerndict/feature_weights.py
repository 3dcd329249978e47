"""How much each feature of a sample speaks for the winner and against the runner-up."""

import numpy as np
from numpy.typing import NDArray

from kerndict.model import Model
from kerndict.spaces import ComputedKernel, LinearSpace

#: Numbers of the samples that are made at a time for one derivative.
_NUMBERS = 2**21
#: Places on the way from the mean at which a derivative is taken.
_STEPS = 8


def feature_weights(model: Model, X: NDArray, top: NDArray) -> NDArray | None:
    """Return the weight of each feature of each row, (n_samples, n_features); None without any.

    ``top`` holds the winner and the runner-up of each row.  Atoms that are rows of features leave
    a residual in each feature.  With a kernel, the derivatives of the scores, by central
    differences, are averaged on the straight way from the mean of the rows that the model keeps:
    times the difference from that mean, they sum to what the margin has changed on the way.
    """
    if isinstance(model.space, LinearSpace):
        left = _left(model, X, top)
        return left[:, 1] ** 2 - left[:, 0] ** 2
    if not isinstance(model.space, ComputedKernel):
        return None
    mean = model.space.rows.mean(axis=0)
    weights = np.zeros(X.shape)
    for row, y, pair in zip(weights, X, top, strict=True):
        for t in (np.arange(_STEPS) + 0.5) / _STEPS:
            row += _slopes(model, mean + (y - mean) * y.dtype.type(t), pair)
        row *= (y - mean) / _STEPS
    return weights


def _left(model: Model, X: NDArray, top: NDArray) -> NDArray:
    """Return what the two classes leave of each row, (n_samples, 2, n_features)."""
    B = np.hstack(list(model.space.correlations(X, [*model.atoms, *model.rule.heads])))
    codes_of = model.rule.parts(B, model.space.energies(X)).codes
    left = np.repeat(X[:, None], 2, axis=1)
    for c, atoms in enumerate(model.atoms):
        rows, rank = np.nonzero(top == c)
        left[rows, rank] -= codes_of(c, rows) @ atoms.T
    return left


def _slopes(model: Model, y: NDArray, pair: NDArray) -> NDArray:
    """Return the derivative of the winner's score minus that of the runner-up by each feature."""
    scale = np.sqrt(np.mean(y * y)) or 1.0
    step = np.cbrt(np.finfo(y.dtype).eps) * scale
    slopes = np.empty(len(y))
    block = max(1, _NUMBERS // (2 * len(y)))
    for first in range(0, len(y), block):
        places = np.arange(first, min(first + block, len(y)))
        moved = np.tile(y, (2, len(places), 1))
        moved[0, np.arange(len(places)), places] += step
        moved[1, np.arange(len(places)), places] -= step
        scores = model.scores(moved.reshape(-1, len(y)))[:, pair]
        margins = (scores[:, 0] - scores[:, 1]).reshape(2, -1)
        taken = moved[0, np.arange(len(places)), places] - moved[1, np.arange(len(places)), places]
        slopes[places] = (margins[0] - margins[1]) / taken
    return slopes
