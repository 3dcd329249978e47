"""The collaborative rule: one ridge code over the atoms of all classes.

With G the Gram matrix of all atoms and b the correlations of a signal y, the code is
``x = (G + ridge I)^-1 b``.  Class c explains its part of y by its own atoms and coefficients:

    r_c = k(y,y) - 2 b_c'x_c + x_c'G_cc x_c      what it leaves
    q_c = |x_c|^2                                what it spends
    o_c = k(y,y) - b_c'(G_cc + ridge I)^-1 b_c   what it would leave on its own

and the rule weighs them, ``P(c|y) = softmax_c(-alpha log r_c + beta log q_c - delta log o_c +
offset_c)``, all three relative to k(y,y): the length of a signal says nothing.  The offsets are
there because classes differ in how well they explain what is not theirs: one of many kinds of
things leaves little of anything.
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
        r[:, c] = diagonal + np.einsum("ij,ij->i", x, x @ G[c] - 2 * B[:, own])
        q[:, c] = np.einsum("ij,ij->i", x, x)
    return r, q


def rule_features(
    X: NDArray, B: NDArray, G: Sequence[NDArray], diagonal: NDArray
) -> tuple[NDArray, NDArray]:
    """Return ``-log r_c`` and ``log q_c`` of every signal and class, relative to k(y, y).

    Parameters
    ----------
    X, B : (N, n), the codes and correlations over all atoms
    G : the blocks G_cc
    diagonal : (N,), k(y, y); features of a signal without energy are zero
    """
    r, q = class_parts(X, B, G, diagonal)
    return -_relative_log(r, diagonal), _relative_log(q, diagonal)


def own_feature(B: NDArray, inverses: Sequence[NDArray], diagonal: NDArray) -> NDArray:
    """Return ``-log o_c`` of every signal and class; ``inverses`` are those of the blocks."""
    o = np.empty((len(B), len(inverses)), B.dtype)
    for c, own in enumerate(class_slices(inverses)):
        o[:, c] = diagonal - np.einsum("ij,ij->i", B[:, own] @ inverses[c], B[:, own])
    return -_relative_log(o, diagonal)


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


def _relative_log(values: NDArray, diagonal: NDArray) -> NDArray:
    """Return ``log(value / k(y,y))``, floored at the logarithm of eps; 0 without energy."""
    energy = np.where(diagonal > 0, diagonal, 1)[:, None]
    logs = np.log(np.maximum(values / energy, np.finfo(values.dtype).eps))
    logs[diagonal <= 0] = 0
    return logs


def ridge_path(
    B: NDArray, G: NDArray, blocks: Sequence[NDArray], diagonal: NDArray, ridges: Sequence[float]
) -> list[tuple[NDArray, NDArray]]:
    """Return the features for several ridges, from one eigendecomposition of G."""
    w, U = np.linalg.eigh(G)
    BU = B @ U
    return [
        rule_features(BU / ridged(w, ridge, B.dtype) @ U.T, B, blocks, diagonal) for ridge in ridges
    ]


def ridged(w: NDArray, ridge: float, dtype: np.dtype) -> NDArray:
    """Return the eigenvalues of ``G + ridge I`` from those of G, well above rounding."""
    floor = 10 * np.finfo(dtype).eps * w[-1]
    return (np.maximum(w, 0) + max(ridge, floor)).astype(dtype)


def ridge_inverse(G: NDArray, ridge: float, dtype: np.dtype) -> NDArray:
    """Return ``(G + ridge I)^-1`` as :func:`ridge_path` sees it."""
    w, U = np.linalg.eigh(G)
    return ((U / ridged(w, ridge, dtype)) @ U.T).astype(dtype)


def fit_weights(
    features: Sequence[NDArray], labels: NDArray, start: NDArray | None = None
) -> tuple[NDArray, NDArray, float]:
    """Fit the weights and offsets of the rule by their log-loss, which is convex in them.

    Parameters
    ----------
    features : arrays (N, n_classes), each to be weighed by a number >= 0
    labels : (N,), class indices
    start : weights and offsets to begin from, in one array

    Returns
    -------
    weights : (len(features),)
    offsets : (n_classes,)
    loss : float, the mean log-loss with its priors
    """
    count, n_classes = len(features), features[0].shape[1]
    rows = np.arange(len(labels))
    sizes = np.bincount(labels, minlength=n_classes)
    truth = np.array([feature[rows, labels].sum() for feature in features])

    def objective(z: NDArray) -> tuple[float, NDArray]:
        weights, offsets = z[:count], z[count:]
        log_p = log_softmax(weigh(features, weights, offsets), axis=1)
        loss = -np.sum(log_p[rows, labels])
        loss += (WEIGHT_PRIOR * weights @ weights + OFFSET_PRIOR * offsets @ offsets) / 2
        p = np.exp(log_p)
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
        scores = weigh(self.features(B, diagonal), self.weights, self.offsets)
        return np.where(diagonal[:, None] > 0, scores, 0)

    def typicality(self, B: NDArray, diagonal: NDArray | None) -> NDArray:
        """Return the share of training samples at least as strange as each signal, (N,).

        The signal itself counts as one of them, so that the share is a p-value; with no
        training sample to compare with it is 1.
        """
        if diagonal is None:
            diagonal = spanned_energy(B, self.span)
        strange = strangeness(self.scores(B, diagonal), diagonal)
        milder = np.searchsorted(self.known, strange)
        return (1 + len(self.known) - milder) / (1 + len(self.known))


def weigh(features: Sequence[NDArray], weights: NDArray, offsets: NDArray) -> NDArray:
    """Return the argument of the softmax, (N, n_classes)."""
    dtype = features[0].dtype
    scores = np.tile(offsets.astype(dtype), (len(features[0]), 1))
    for weight, feature in zip(weights.astype(dtype), features, strict=True):
        scores += weight * feature
    return scores


def strangeness(scores: NDArray, diagonal: NDArray) -> NDArray:
    """Return minus the winner's score; infinite without energy.

    Large for a signal of which even the winner leaves much for what it spends.
    """
    return np.where(diagonal > 0, -scores.max(axis=1), np.inf)


def pseudo_inverse(G: NDArray, dtype: np.dtype) -> NDArray:
    """Return the pseudo-inverse of a Gram matrix known to a precision, cut at rounding."""
    w, U = np.linalg.eigh(G)
    kept = w > np.finfo(dtype).eps ** (2 / 3) * w[-1]
    return ((U[:, kept] / w[kept]) @ U[:, kept].T).astype(dtype)


def spanned_energy(B: NDArray, span: NDArray | None) -> NDArray:
    """Return the energy of the projection of each signal on the span of all atoms."""
    assert span is not None
    return np.maximum(np.sum((B @ span) * B, axis=1), 0)
