"""The weights of a softmax over classes, fitted by their log-loss."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from kerndict._arrays import (
    beside,
    cast,
    entries,
    inner,
    less_entries,
    namespace,
    on_host,
    row_dots,
    to_host,
)

#: Quadratic priors, in units of one sample's log-loss.  That of the weights only matters where
#: samples are told apart without an error, and the weights would grow without bound.
WEIGHT_PRIOR = 0.01
OFFSET_PRIOR = 1.0
#: Steps of Newton's method, at most; near the minimum each doubles the digits.
POLISHING = 10


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
    importance = np.ones(len(labels)) if importance is None else importance
    sizes = np.bincount(labels, importance, minlength=n_classes)
    xp, counted = namespace(*features), beside(importance, features[0])
    own = beside(labels, features[0])
    truth = to_host(xp.stack([cast(entries(f, own), counted.dtype) @ counted for f in features]))

    def objective(z: NDArray) -> tuple[float, NDArray]:
        weights, offsets = z[:count], z[count:]
        log_p = log_shares(weigh(features, weights, offsets))
        p = xp.exp(log_p) * counted[:, None]
        # What is summed on a device comes from there at once.
        sums = xp.stack([entries(log_p, own) @ counted, *(inner(f, p) for f in features)])
        found = to_host(xp.concat([sums, xp.sum(p, axis=0)]))
        loss = -float(found[0])
        loss += (WEIGHT_PRIOR * weights @ weights + OFFSET_PRIOR * offsets @ offsets) / 2
        slopes = found[1 : count + 1] - truth
        return loss, np.concatenate(
            [slopes + WEIGHT_PRIOR * weights, found[count + 1 :] - sizes + OFFSET_PRIOR * offsets]
        )

    found = minimize(
        objective,
        np.r_[np.ones(count), np.zeros(n_classes)] if start is None else start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * count + [(None, None)] * n_classes,
    )
    return found.x[:count], found.x[count:], float(found.fun) / float(importance.sum())


def polish(
    features: Sequence[NDArray],
    labels: NDArray,
    weights: NDArray,
    offsets: NDArray,
    importance: NDArray,
) -> tuple[NDArray, NDArray]:
    """Return the very minimum of what :func:`fit_weights` minimises, near which its result lies.

    By Newton's method, weights that are 0 held there.  A search that stops where little is gained
    ends in other digits from other roundings; of this, rounding is all that is left.
    """
    count, xp = len(features), namespace(*features)
    counts = beside(importance, features[0])
    prior = np.r_[np.full(count, WEIGHT_PRIOR), np.full(len(offsets), OFFSET_PRIOR)]
    z = np.r_[weights, offsets]
    free = np.flatnonzero(np.r_[weights > 0, np.ones(len(offsets), bool)])
    for _ in range(POLISHING):
        scores = weigh(features, z[:count], z[count:])
        p = softmax(scores, axis=1) if on_host(scores) else xp.exp(log_shares(scores))
        counted = counts[:, None] * p
        slope = less_entries(xp.asarray(counted, copy=True), labels, importance)
        sums = [inner(f, slope) for f in features]
        gradient = _joined(xp, sums, xp.sum(slope, axis=0)) + prior * z
        # The derivatives of p by each weight, counted; by the offsets they are diag(p) - pp'.
        turned = [counted * (f - row_dots(f, p)[:, None]) for f in features]
        H = np.diag(prior)
        for k, part in enumerate(turned):
            H[k] += _joined(xp, [inner(f, part) for f in features], xp.sum(part, axis=0))
        H[count:, :count] = H[:count, count:].T
        H[count:, count:] += np.diag(to_host(xp.sum(counted, axis=0))) - to_host(counted.T @ p)
        step = np.linalg.solve(H[np.ix_(free, free)], gradient[free])
        z[free] -= step
        z[:count] = np.maximum(z[:count], 0)
        if np.abs(step).max() <= 1e-12 * (1 + np.abs(z).max()):
            break
    return z[:count], z[count:]


def log_shares(scores: NDArray) -> NDArray:
    """Return the logarithm of the softmax of every row."""
    if on_host(scores):
        return log_softmax(scores, axis=1)
    xp = namespace(scores)
    shifted = scores - xp.max(scores, axis=1, keepdims=True)
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=1, keepdims=True))


def _joined(xp: Any, sums: list[NDArray], rest: NDArray) -> NDArray:
    """Return some numbers and those of an array in one array of the host."""
    return to_host(xp.concat([xp.stack([xp.asarray(each) for each in sums]), rest]))


def losses(scores: NDArray, labels: NDArray) -> NDArray:
    """Return the log-loss of each row of arguments of a softmax; on the host."""
    return to_host(-entries(log_shares(scores), beside(labels, scores)))


def weigh(features: Sequence[NDArray], weights: NDArray, offsets: NDArray) -> NDArray:
    """Return the argument of the softmax, (N, n_classes)."""
    first = features[0]
    weights, offsets = (beside(each, first, first.dtype) for each in (weights, offsets))
    scores = namespace(first).tile(offsets, (first.shape[0], 1))
    for k, feature in enumerate(features):
        scores += weights[k] * feature
    return scores
