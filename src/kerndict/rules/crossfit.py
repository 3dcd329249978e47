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
from kerndict.rules.weights import fit_weights, weigh
from kerndict.spaces import TrainingSet

N_FOLDS = 5
#: Atoms have unit norm: ridges are relative to that.
RIDGES = tuple(float(ridge) for ridge in np.logspace(-3.5, -0.5, 7))


class Choice(NamedTuple):
    """What the folds settle; ``held_out`` is the sorted strangeness of the samples left out."""

    ridge: float
    weights: NDArray
    offsets: NDArray
    held_out: NDArray


class _FoldFeatures(NamedTuple):
    """Features of the samples left out of one fold, for every ridge, and their classes."""

    path: list[tuple[NDArray, ...]]
    own_errors: NDArray
    labels: NDArray
    weights: NDArray


def assign_folds(sizes: Sequence[int], rng: np.random.RandomState) -> NDArray:
    """Return the fold of every sample, grouped by class; -1 is never left out.

    The samples of a class are spread evenly over the folds.  A class of one sample must stay in
    the training part.
    """
    folds = []
    for size in sizes:
        start = rng.randint(N_FOLDS)
        part = (rng.permutation(size) + start) % N_FOLDS
        folds.append(part if size > 1 else np.array([-1]))
    return np.concatenate(folds)


def choose_rule(
    training: TrainingSet,
    settings: Settings,
    ridges: Sequence[float],
    rng: np.random.RandomState,
    watch_fold: Callable[[], AbstractContextManager[Listener]],
    energies_known: bool,
    weights: NDArray | None = None,
) -> Choice:
    """Choose the ridge, the weights and the offsets by the out-of-fold log-loss.

    Parameters
    ----------
    training : all training samples
    settings : as for all of them
    ridges : candidates
    watch_fold : surrounds the learning of each fold
    energies_known : whether k(y, y) of new samples is known
    weights : of all samples in the log-loss, None for 1 each
    """
    weights = np.ones(int(training.sizes.sum())) if weights is None else weights
    folds = assign_folds(training.sizes.tolist(), rng)
    labels = np.repeat(np.arange(len(training.sizes)), training.sizes)
    found = []
    for fold in range(N_FOLDS):
        left_out = folds == fold
        if left_out.any():
            part = training.without(left_out)
            with watch_fold() as listener:
                learned = learn_dictionaries(
                    part, settings.in_fold(N_FOLDS), np.random.RandomState(0), listener
                )
            told = labels[left_out], weights[left_out]
            found.append(_features(part, learned, told, ridges, energies_known))
    return _best(found, ridges, len(training.sizes))


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
        return Choice(ridges[len(ridges) // 2], np.ones(3), np.zeros(n_classes), np.empty(0))
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
            held_out = xp.sort(-xp.max(weigh(features, weights, offsets), axis=1))
            best, choice = loss, Choice(ridge, weights, offsets, held_out)
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
    )
