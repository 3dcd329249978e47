"""Out-of-fold features: what the rule is fitted to, without refitting more than the folds."""

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kerndict.core.collaborative import (
    fit_weights,
    own_feature,
    own_inverses,
    pseudo_inverse,
    ridge_path,
    spanned_energy,
    weigh,
)
from kerndict.exceptions import SpanWarning

N_FOLDS = 5
#: Atoms have unit norm: ridges are relative to that.
RIDGES = tuple(float(ridge) for ridge in np.logspace(-3.5, -0.5, 7))


class Choice(NamedTuple):
    """What the folds settle; ``known`` is the sorted strangeness of the samples held out."""

    ridge: float
    weights: NDArray
    offsets: NDArray
    known: NDArray


def deal(labels: NDArray, rng: np.random.RandomState) -> NDArray:
    """Return the fold of every sample, classes dealt out evenly; -1 is never held out.

    A class of one sample must stay in the training part.
    """
    folds = np.empty(len(labels), np.int64)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        start = rng.randint(N_FOLDS)
        folds[members] = (rng.permutation(len(members)) + start) % N_FOLDS
        if len(members) == 1:
            folds[members] = -1
    return folds


def choose_rule(
    plain: Any,
    X: NDArray,
    labels: NDArray,
    ridges: Sequence[float],
    rng: np.random.RandomState,
    watch: Callable[[Any], AbstractContextManager[None]],
    energy_known: bool,
) -> Choice:
    """Choose the ridge, the weights and the offsets by the out-of-fold log-loss.

    Parameters
    ----------
    plain : makes an unfitted classifier with the residual rule, all else settled
    X, labels : training rows (a kernel matrix, if precomputed) and class indices
    ridges : candidates
    watch : surrounds the fit of each fold's classifier
    energy_known : whether k(y, y) of new samples is known; judged once, for all folds
    """
    paths: list[list[tuple[NDArray, ...]]] = []  # in single precision: they are many
    alone, truths = [], []
    folds = deal(labels, rng)
    for fold in range(N_FOLDS):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        if not len(test):
            continue
        model = plain()
        with watch(model), warnings.catch_warnings():
            warnings.simplefilter("ignore", SpanWarning)
            model.fit(model._rows(X, train, train), labels[train])
        held_out = model._rows(X, test, train)
        B, G = model._correlations(held_out), model._gram
        diagonal = model._known_diagonal(held_out) if energy_known else None
        if diagonal is None:
            diagonal = spanned_energy(B, pseudo_inverse(G, B.dtype))
        kept = diagonal > 0  # a signal without energy is like all classes
        B, diagonal = B[kept], diagonal[kept]
        path = ridge_path(B, G, model._grams, diagonal, ridges)
        paths.append([tuple(f.astype(np.float32) for f in features) for features in path])
        alone.append(own_feature(B, own_inverses(model._grams), diagonal))
        truths.append(labels[test][kept])
    if not sum(map(len, truths)):  # one sample per class, or no energy: nothing can be held out
        return Choice(ridges[len(ridges) // 2], np.ones(3), np.zeros(labels.max() + 1), np.empty(0))
    truth, third = np.concatenate(truths), np.vstack(alone)
    start = None
    best = np.inf
    for k, ridge in enumerate(ridges):
        both = (np.vstack([path[k][part] for path in paths]) for part in (0, 1))
        features = [*(f.astype(np.float64) for f in both), third.astype(np.float64, copy=False)]
        weights, offsets, loss = fit_weights(features, truth, start)
        start = np.r_[weights, offsets]  # neighbours on the path have similar ones
        if loss < best:
            known = np.sort(-weigh(features, weights, offsets).max(axis=1))
            best, choice = loss, Choice(ridge, weights, offsets, known)
    return choice
