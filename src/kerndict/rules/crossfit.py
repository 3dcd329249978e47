"""The collaborative rule fitted out of fold: each sample is judged by atoms it did not shape."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import beside, cast, namespace, take, to_host
from kerndict.learning import Dictionaries, Listener, Settings, learn_dictionaries
from kerndict.rules.collaborative import CollaborativeRule
from kerndict.rules.features import (
    own_feature,
    own_inverses,
    pseudo_inverse,
    ridge_inverse,
    ridge_path,
    spanned_energy,
)
from kerndict.rules.folds import N_FOLDS
from kerndict.rules.weights import fit_weights, losses, weigh
from kerndict.spaces import TrainingSet

#: Atoms have unit norm: ridges are relative to that.
RIDGES = tuple(float(ridge) for ridge in np.logspace(-3.5, 1, 7))


class Choice(NamedTuple):
    """What the folds settle.

    ``held_out`` is the strangeness of the samples left out, sorted; ``losses`` are their losses,
    ``counted`` how much each counts, fold by fold, both on the host.
    """

    ridge: float
    weights: NDArray
    offsets: NDArray
    held_out: NDArray
    losses: NDArray
    counted: NDArray


class _FoldFeatures(NamedTuple):
    """Features of the samples left out of one fold, for every ridge, and their classes."""

    path: list[tuple[NDArray, ...]]
    own_errors: NDArray
    labels: NDArray
    weights: NDArray


def choose_rule(
    without: Callable[[NDArray], TrainingSet],
    folds: NDArray,
    labels: NDArray,
    settings: Settings,
    ridges: Sequence[float],
    watch_fold: Callable[[], AbstractContextManager[Listener]],
    energies_known: bool,
    weights: NDArray | None = None,
) -> Choice:
    """Choose the ridge, the weights and the offsets by the out-of-fold log-loss.

    Parameters
    ----------
    without : returns the training set without some samples, a mask over all
    folds : (N,), that of every sample grouped by class; -1 is never left out
    labels : (N,), their classes
    settings : as for all of them
    ridges : candidates
    watch_fold : surrounds the learning of each fold
    energies_known : whether k(y, y) of new samples is known
    weights : of all samples in the log-loss, None for 1 each
    """
    weights = np.ones(len(labels)) if weights is None else weights
    found = []
    for fold in range(N_FOLDS):
        left_out = folds == fold
        if left_out.any():
            part = without(left_out)
            with watch_fold() as listener:
                learned = learn_dictionaries(
                    part, settings.in_fold(N_FOLDS), np.random.RandomState(0), listener
                )
            told = labels[left_out], weights[left_out]
            found.append(_features(part, learned, told, ridges, energies_known))
    return _best(found, ridges, int(labels.max()) + 1)


def _features(
    part: TrainingSet,
    learned: Dictionaries,
    told: tuple[NDArray, NDArray],
    ridges: Sequence[float],
    energies_known: bool,
) -> _FoldFeatures:
    B, G = part.left_out_correlations(learned.atoms), part.full_gram(learned.atoms)
    if energies_known:
        energies = part.left_out_energies()
    else:
        energies = spanned_energy(B, pseudo_inverse(G, B.dtype))
    kept = to_host(energies > 0)  # a signal without energy is like all classes
    if not kept.all():
        B, energies = (take(array, np.flatnonzero(kept)) for array in (B, energies))
    path = ridge_path(B, G, learned.grams, energies, ridges)
    single = [tuple(cast(f, np.float32) for f in pair) for pair in path]  # they are many
    own_errors = own_feature(B, own_inverses(learned.grams), energies)
    return _FoldFeatures(single, own_errors, *(array[kept] for array in told))


def _best(found: list[_FoldFeatures], ridges: Sequence[float], n_classes: int) -> Choice:
    """Return the ridge with the smallest log-loss, and what goes with it."""
    if not sum(len(fold.labels) for fold in found):  # nothing could be left out
        return Choice(ridges[len(ridges) // 2], np.ones(3), np.zeros(n_classes), *[np.empty(0)] * 3)
    labels = np.concatenate([fold.labels for fold in found])
    counted = np.concatenate([fold.weights for fold in found])
    xp = namespace(found[0].own_errors)
    own_errors = cast(xp.concat([fold.own_errors for fold in found]), np.float64, copy=False)
    start, best = None, np.inf
    for k, ridge in enumerate(ridges):
        both = (xp.concat([fold.path[k][i] for fold in found]) for i in (0, 1))
        features = [*(cast(f, np.float64) for f in both), own_errors]
        weights, offsets, loss = fit_weights(features, labels, start, counted)
        start = np.r_[weights, offsets]  # neighbours on the path have similar ones
        if loss < best:
            scores = weigh(features, weights, offsets)
            held_out = xp.sort(-xp.max(scores, axis=1))
            told = losses(scores, labels)
            best, choice = loss, Choice(ridge, weights, offsets, held_out, told, counted)
    return choice


def collaborative_rule(
    choice: Choice, G: NDArray, grams: list[NDArray], energies_known: bool
) -> CollaborativeRule:
    """Return the rule for atoms with the Gram matrix G, whose blocks are ``grams``."""
    dtype = grams[0].dtype
    return CollaborativeRule(
        grams,
        choice.ridge,
        beside(choice.weights, G),
        beside(choice.offsets, G),
        ridge_inverse(G, choice.ridge, dtype),
        own_inverses(grams),
        beside(choice.held_out, G),
        None if energies_known else pseudo_inverse(G, dtype),
        beside(np.sort(choice.losses), G),
    )
