"""The weights of a softmax over classes, fitted by their log-loss."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

#: Quadratic priors, in units of one sample's log-loss.  That of the weights only matters where
#: samples are told apart without an error, and the weights would grow without bound.
WEIGHT_PRIOR = 0.01
OFFSET_PRIOR = 1.0


def fit_weights(
    features: Sequence[NDArray],
    labels: NDArray,
    start: NDArray | None = None,
    importance: NDArray | None = None,
) -> tuple[NDArray, NDArray, float]:
    """Fit the weights and offsets of the rule by their log-loss, which is convex in them.

    Parameters
    ----------
    features : arrays (N, n_classes), each to be weighed by a number >= 0
    labels : (N,), class indices
    start : weights and offsets to begin from, in one array
    importance : (N,), how much the log-loss of each sample counts; None for 1 each

    Returns
    -------
    weights : (len(features),)
    offsets : (n_classes,)
    loss : float, the mean log-loss with its priors
    """
    count, n_classes = len(features), features[0].shape[1]
    rows = np.arange(len(labels))
    importance = np.ones(len(labels)) if importance is None else importance
    sizes = np.bincount(labels, importance, minlength=n_classes)
    truth = np.array([feature[rows, labels] @ importance for feature in features])

    def objective(z: NDArray) -> tuple[float, NDArray]:
        weights, offsets = z[:count], z[count:]
        log_p = log_softmax(weigh(features, weights, offsets), axis=1)
        loss = -float(log_p[rows, labels] @ importance)
        loss += (WEIGHT_PRIOR * weights @ weights + OFFSET_PRIOR * offsets @ offsets) / 2
        p = np.exp(log_p) * importance[:, None]
        slopes = np.array([np.vdot(feature, p) for feature in features]) - truth
        return loss, np.concatenate(
            [slopes + WEIGHT_PRIOR * weights, p.sum(axis=0) - sizes + OFFSET_PRIOR * offsets]
        )

    found = minimize(
        objective,
        np.r_[np.ones(count), np.zeros(n_classes)] if start is None else start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * count + [(None, None)] * n_classes,
    )
    return found.x[:count], found.x[count:], float(found.fun) / float(importance.sum())


def losses(scores: NDArray, labels: NDArray) -> NDArray:
    """Return the log-loss of each row of arguments of a softmax."""
    return -log_softmax(scores, axis=1)[np.arange(len(labels)), labels]


def weigh(features: Sequence[NDArray], weights: NDArray, offsets: NDArray) -> NDArray:
    """Return the argument of the softmax, (N, n_classes)."""
    dtype = features[0].dtype
    scores = np.tile(offsets.astype(dtype), (len(features[0]), 1))
    for weight, feature in zip(weights.astype(dtype), features, strict=True):
        scores += weight * feature
    return scores
