"""How rows are prepared, chosen by samples left out: cheap first, then by the rule itself.

Of few rows, all samples as atoms, the square root and then ever stronger whitening are tried for
as long as they help.  What is left is compared with rows as they are, by the dictionaries and the
rule of the fit, on the same folds.  Where two differ by less than a standard error of the paired
difference, the weaker one is taken: what is not needed is not done.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kerndict.learning import Listener, Settings
from kerndict.preparation import Recipe
from kerndict.rules.crossfit import Choice, choose_rule
from kerndict.rules.folds import assign_folds
from kerndict.rules.width import draw_rows
from kerndict.spaces import TrainingRows

#: Strengths of the whitening that are tried in turn.
STRENGTHS = (0.1, 0.3, 1.0, 3.0)
#: Ridges of the cheap comparison.
FEW_RIDGES = (1e-3, 3e-2, 0.5, 5.0)
#: A preparation must be better by so many standard errors of the paired difference.
CLEAR = 1.0


@dataclass(frozen=True)
class Options:
    """What may be chosen.

    Parameters
    ----------
    square_root : None if it may be chosen whether roots are taken, else whether
    strength : None if that of the whitening may be chosen, else what it is
    """

    square_root: bool | None
    strength: float | None

    @property
    def settled(self) -> Recipe | None:
        """What was said, None where something may be chosen."""
        if self.square_root is None or self.strength is None:
            return None
        return Recipe(self.square_root, self.strength)

    @property
    def least(self) -> Recipe:
        """What is done in any case."""
        return Recipe(bool(self.square_root), self.strength or 0.0)


def promising(
    rows: TrainingRows, options: Options, groups: NDArray | None, rng: np.random.RandomState
) -> Recipe:
    """Return what does best on few rows with all samples as atoms."""
    places, sizes = draw_rows(rows.labels, rng)
    least = options.least
    if sizes.max(initial=0) < 2:
        return least
    few = rows.part(places, sizes)
    folds = assign_folds(sizes, rng, None if groups is None else groups[places])
    settings = Settings(1.0, 1, 0.0, True, True, False, 0, "pivoted")

    def choice_of(recipe: Recipe) -> Choice:
        return choose_rule(
            partial(few.fold, recipe),
            folds,
            few.labels,
            settings,
            FEW_RIDGES,
            lambda: nullcontext(Listener()),
            few.energies_known,
            few.weights,
        )

    best, choice = least, choice_of(least)
    if options.square_root is None:
        rooted = best._replace(square_root=True)
        found = choice_of(rooted)
        if is_better(found, choice):
            best, choice = rooted, found
    if options.strength is None:
        best = _weakest_that_helps(best, choice, choice_of)
    return best


def _weakest_that_helps(
    recipe: Recipe, choice: Choice, choice_of: Callable[[Recipe], Choice]
) -> Recipe:
    """Return the recipe with the best strength, or a weaker one about as good."""
    tried = [(recipe, choice)]
    for strength in STRENGTHS:
        stronger = recipe._replace(strength=strength)
        found = choice_of(stronger)
        if not mean_loss(found) < mean_loss(tried[-1][1]):
            break
        tried.append((stronger, found))
    best = tried[-1][1]
    return next(each for each, found in tried if not is_better(best, found))


def mean_loss(choice: Choice) -> float:
    """Return the mean log-loss of the samples left out."""
    return float(choice.counted @ choice.losses / choice.counted.sum())


def is_better(choice: Choice, other: Choice) -> bool:
    """Tell whether paired losses are smaller, beyond the standard error of their difference."""
    if len(choice.losses) != len(other.losses) or len(choice.losses) < 2:
        return False  # a sample without energy in one of them only
    share = choice.counted / choice.counted.sum()
    gains = other.losses - choice.losses
    gain = float(share @ gains)
    return gain > CLEAR * float(np.sqrt(share**2 @ (gains - gain) ** 2))
