"""The collaborative rule: one ridge code over the atoms of all classes.

With G the Gram matrix of all atoms and b the correlations of a signal y, the code is
``x = (G + ridge I)^-1 b``.  Class c explains its part of y by its own atoms and coefficients:

    r_c = k(y,y) - 2 b_c'x_c + x_c'G_cc x_c      what it leaves
    q_c = |x_c|^2                                what it spends
    o_c = k(y,y) - b_c'(G_cc + ridge I)^-1 b_c   what it would leave on its own

and the rule weighs them, ``P(c|y) = softmax_c(-alpha log r_c + beta log q_c - delta log o_c +
offset_c)``.  The offsets are there because classes differ in how well they explain what is not
theirs: one of many kinds of things leaves little of anything.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

#: Quadratic priors, in units of one sample's log-loss.  That of the weights only matters where
#: samples are told apart without an error, and the weights would grow without bound.
WEIGHT_PRIOR = 0.01
OFFSET_PRIOR = 1.0
#: The ridge of o_c; anything from 1e-4 to 3e-2 did as well.
OWN_RIDGE = 0.01


def class_parts(
    X: NDArray, B: NDArray, G: Sequence[NDArray], diagonal: NDArray
) -> tuple[NDArray, NDArray]:
    """Return r_c and q_c of every signal and class; see :func:`rule_features`."""
    r = np.empty((len(B), len(G)), B.dtype)
    q = np.empty_like(r)
    for c, own in enumerate(class_slices(G)):
        x = X[:, own]
        r[:, c] = diagonal + np.sum(x * (x @ G[c] - 2 * B[:, own]), axis=1)
        q[:, c] = np.sum(x**2, axis=1)
    return r, q


def rule_features(
    X: NDArray, B: NDArray, G: Sequence[NDArray], diagonal: NDArray
) -> tuple[NDArray, NDArray]:
    """Return ``-log r_c`` and ``log q_c`` of every signal and class.

    Parameters
    ----------
    X, B : (N, n), the codes and correlations over all atoms
    G : the blocks G_cc
    diagonal : (N,), k(y, y); features of a signal without energy are zero
    """
    r, q = class_parts(X, B, G, diagonal)
    spent = np.log(np.maximum(q, np.finfo(B.dtype).eps))
    spent[diagonal <= 0] = 0
    return _left(r, diagonal), spent


def own_feature(B: NDArray, inverses: Sequence[NDArray], diagonal: NDArray) -> NDArray:
    """Return ``-log o_c`` of every signal and class; ``inverses`` are those of the blocks."""
    o = np.empty((len(B), len(inverses)), B.dtype)
    for c, own in enumerate(class_slices(inverses)):
        o[:, c] = diagonal - np.sum((B[:, own] @ inverses[c]) * B[:, own], axis=1)
    return _left(o, diagonal)


def own_inverses(G: Sequence[NDArray]) -> list[NDArray]:
    """Return ``(G_cc + ridge I)^-1`` of every class, in its precision."""
    return [
        np.linalg.inv(G_c.astype(np.float64) + OWN_RIDGE * np.eye(len(G_c))).astype(G_c.dtype)
        for G_c in G
    ]


def class_slices(blocks: Sequence[NDArray]) -> Iterator[slice]:
    """Yield the place of every class among all atoms."""
    start = 0
    for block in blocks:
        yield slice(start, start + len(block))
        start += len(block)


def _left(residuals: NDArray, diagonal: NDArray) -> NDArray:
    """Return minus the logarithm of residuals, floored at eps k(y, y)."""
    energy = np.where(diagonal > 0, diagonal, 1)[:, None]
    left = -np.log(np.maximum(residuals, np.finfo(residuals.dtype).eps * energy))
    left[diagonal <= 0] = 0
    return left


def ridge_path(
    B: NDArray, G: NDArray, blocks: Sequence[NDArray], diagonal: NDArray, ridges: Sequence[float]
) -> list[tuple[NDArray, NDArray]]:
    """Return the features for several ridges, from one eigendecomposition of G."""
    w, U = np.linalg.eigh(G)
    BU = B @ U
    return [
        rule_features(BU / (np.maximum(w, 0) + ridge) @ U.T, B, blocks, diagonal)
        for ridge in ridges
    ]


def fit_weights(features: Sequence[NDArray], labels: NDArray) -> tuple[NDArray, NDArray, float]:
    """Fit the weights and offsets of the rule by their log-loss, which is convex in them.

    Parameters
    ----------
    features : arrays (N, n_classes), each to be weighed by a number >= 0
    labels : (N,), class indices

    Returns
    -------
    weights : (len(features),)
    offsets : (n_classes,)
    loss : float, the mean log-loss with its priors
    """
    F = np.stack(features)
    count, n_classes = len(F), F.shape[2]
    truth = np.eye(n_classes)[labels]

    def objective(z: NDArray) -> tuple[float, NDArray]:
        weights, offsets = z[:count], z[count:]
        log_p = log_softmax(np.tensordot(weights, F, axes=1) + offsets, axis=1)
        loss = -np.sum(log_p * truth)
        loss += (WEIGHT_PRIOR * weights @ weights + OFFSET_PRIOR * offsets @ offsets) / 2
        excess = np.exp(log_p) - truth
        return loss, np.concatenate(
            [
                np.tensordot(F, excess, axes=2) + WEIGHT_PRIOR * weights,
                excess.sum(axis=0) + OFFSET_PRIOR * offsets,
            ]
        )

    found = minimize(
        objective,
        np.concatenate([np.ones(count), np.zeros(n_classes)]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * count + [(None, None)] * n_classes,
    )
    return found.x[:count], found.x[count:], float(found.fun) / len(labels)


@dataclass(frozen=True)
class CollaborativeRule:
    """A fitted rule.

    ``inverse`` is ``(G + ridge I)^-1``; ``blocks`` are the G_cc and ``own`` their
    :func:`own_inverses`; ``known`` holds the :func:`strangeness` of the training samples out of
    fold, sorted; ``span`` is the pseudo-inverse of G, kept only where k(y, y) is unknown.
    """

    inverse: NDArray
    blocks: list[NDArray]
    own: list[NDArray]
    weights: NDArray
    offsets: NDArray
    known: NDArray
    span: NDArray | None = None

    def features(self, B: NDArray, diagonal: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """Return the three features of every signal and class."""
        left, spent = rule_features(B @ self.inverse, B, self.blocks, diagonal)
        return left, spent, own_feature(B, self.own, diagonal)

    def scores(self, B: NDArray, diagonal: NDArray | None) -> NDArray:
        """Return the argument of the softmax, (N, n_classes); zero for a signal without energy.

        Without k(y, y), the energy of y in the span of all atoms takes its place.
        """
        if diagonal is None:
            diagonal = spanned_energy(B, self.span)
        return weigh(self.features(B, diagonal), self.weights, self.offsets, diagonal)

    def typicality(self, B: NDArray, diagonal: NDArray | None) -> NDArray:
        """Return the share of training samples at least as strange as each signal, (N,).

        The signal itself counts as one of them, so that the share is a p-value; with no
        training sample to compare with it is 1.
        """
        if diagonal is None:
            diagonal = spanned_energy(B, self.span)
        strange = strangeness(self.scores(B, diagonal), self.weights, diagonal)
        milder = np.searchsorted(self.known, strange)
        return (1 + len(self.known) - milder) / (1 + len(self.known))


def weigh(
    features: Sequence[NDArray], weights: NDArray, offsets: NDArray, diagonal: NDArray
) -> NDArray:
    """Return the argument of the softmax, (N, n_classes); zero for a signal without energy."""
    dtype = features[0].dtype
    scores = np.tile(offsets.astype(dtype), (len(diagonal), 1))
    for weight, feature in zip(weights.astype(dtype), features, strict=True):
        scores += weight * feature
    scores[diagonal <= 0] = 0
    return scores


def strangeness(scores: NDArray, weights: NDArray, diagonal: NDArray) -> NDArray:
    """Return minus the score of the winning class at k(y,y) = 1; infinite without energy.

    That is ``min_c(alpha log r_c - beta log q_c + delta log o_c - offset_c)`` of the signal over
    its length, whose r_c, q_c and o_c are those of y over k(y,y): large for a signal of which
    even the winner leaves much for what it spends.
    """
    alpha, beta, delta = weights.astype(scores.dtype)
    energy = np.where(diagonal > 0, diagonal, 1)
    best = scores.max(axis=1) + (alpha - beta + delta) * np.log(energy)
    return np.where(diagonal > 0, -best, np.inf)


def pseudo_inverse(G: NDArray) -> NDArray:
    """Return the pseudo-inverse of a Gram matrix, cut where rounding begins."""
    w, U = np.linalg.eigh(G)
    kept = w > np.finfo(np.float64).eps ** (2 / 3) * w[-1]
    return (U[:, kept] / w[kept]) @ U[:, kept].T


def spanned_energy(B: NDArray, span: NDArray | None) -> NDArray:
    """Return the energy of the projection of each signal on the span of all atoms."""
    assert span is not None
    return np.maximum(np.sum((B @ span) * B, axis=1), 0)
