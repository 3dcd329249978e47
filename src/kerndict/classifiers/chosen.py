"""What a fit settles by samples left out: how rows are prepared, and the rule."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kerndict._arrays import namespace
from kerndict.classifiers.progress import Progress
from kerndict.learning import Settings
from kerndict.preparation import Recipe
from kerndict.rules.crossfit import RIDGES, Choice, choose_rule
from kerndict.rules.folds import N_FOLDS, assign_folds
from kerndict.rules.search import Options, is_better, promising
from kerndict.spaces import Space, TrainingRows, TrainingSet


class Parameters(Protocol):
    """The parameters that are looked at."""

    decision: str
    init: str | Sequence[ArrayLike]
    ridge: float | str
    square_root: bool | None
    within_class_whitening: float | None


class Chosen(NamedTuple):
    """The space of the rows, them in it, and what the folds settle of the rule."""

    space: Space
    training: TrainingSet
    choice: Choice | None


def options_of(given: Parameters, X: NDArray, comparable: bool = True) -> Options:
    """Return what may be chosen of the preparation.

    Only the collaborative rule has a loss to choose by, and arrays given as initial atoms are for
    rows as they are.

    Parameters
    ----------
    given : the parameters
    X : training rows; only those without negative numbers have square roots
    comparable : whether rows are features, which can be prepared
    """
    root, strength = given.square_root, given.within_class_whitening
    free = comparable and given.decision == "collaborative" and isinstance(given.init, str)
    if root is None and not (free and float(namespace(X).min(X)) >= 0):
        root = False
    if strength is None and not free:
        strength = 0.0
    return Options(
        None if root is None else bool(root), None if strength is None else float(strength)
    )


def choose(
    parameters: Parameters,
    options: Options,
    rows: TrainingRows,
    groups: NDArray | None,
    settings: Settings,
    rng: np.random.RandomState,
    progress: Progress,
) -> Chosen:
    """Choose how rows are prepared, and the rule; ``groups`` are those of the rows."""
    least = options.least
    if parameters.decision != "collaborative":
        progress.begin(0)
        return Chosen(*rows.whole(least), None)
    recipes = [least]
    if options.settled is None:
        best = promising(rows, options, groups, np.random.RandomState(rng.randint(2**31 - 1)))
        recipes += [best] if best != least else []
    folds = assign_folds(rows.sizes, rng, groups)
    ridges = RIDGES if isinstance(parameters.ridge, str) else (float(parameters.ridge),)
    progress.begin(N_FOLDS * len(recipes))
    found: dict[Recipe, Choice] = {}
    for recipe in reversed(recipes):
        whole = None  # one kernel matrix at a time
        # Where nothing is learned for it, the folds are parts of the whole.
        whole = rows.whole(recipe) if recipe.strength == 0 else None
        found[recipe] = choose_rule(
            partial(rows.fold, recipe) if whole is None else whole[1].without,
            folds,
            rows.labels,
            settings,
            ridges,
            progress.fold,
            rows.energies_known,
            rows.weights,
        )
    best = recipes[-1] if is_better(found[recipes[-1]], found[least]) else least
    if whole is None or best != least:
        whole = None
        whole = rows.whole(best)
    return Chosen(*whole, found[best])
