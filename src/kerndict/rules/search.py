"""What may become of rows before they are compared: candidates, found cheaply on few rows.

With all samples as atoms, the square root and then some strengths of whitening are compared by the
log-loss of samples left out.  Of strengths that differ by less than a standard error of the paired
difference, the weakest is taken.  The candidate that is left is for the fit to compare with rows as
they are, by the rule itself and on the same folds.
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

#: Strengths of the whitening, ascending.
STRENGTHS = (0.1, 0.5, 3.0)
#: Ridges of the cheap comparison.
FEW_RIDGES = (1e-3, 5e-2, 2.0)
#: Folds that are left out for it, and rows from which they are fewer than all.
FEW_FOLDS, MANY_ROWS = 2, 500
#: A preparation must be better by so many standard errors of the paired difference.
CLEAR = 1.0
#: Log-loss per sample that it must gain.
GAIN = 1e-3


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
    if len(places) > MANY_ROWS:
        folds[folds >= FEW_FOLDS] = -1
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
        if mean_loss(found) < mean_loss(choice):
            best, choice = rooted, found
    if options.strength is None:
        best = _weakest_that_helps(best, choice, choice_of)
    return best


def _weakest_that_helps(
    recipe: Recipe, choice: Choice, choice_of: Callable[[Recipe], Choice]
) -> Recipe:
    """Return the recipe with the best strength or a weaker one about as good; 0 if none helps."""
    stronger = [recipe._replace(strength=strength) for strength in STRENGTHS]
    found = [choice_of(each) for each in stronger]
    best = min(found, key=mean_loss)
    if not mean_loss(best) < mean_loss(choice):
        return recipe
    return next(
        each for each, other in zip(stronger, found, strict=True) if not is_better(best, other)
    )


def mean_loss(choice: Choice) -> float:
    """Return the mean log-loss of the samples left out, infinite if there is none."""
    if not len(choice.losses):
        return np.inf
    return float(choice.counted @ choice.losses / choice.counted.sum())


def is_better(choice: Choice, other: Choice) -> bool:
    """Tell whether paired losses are smaller: beyond a standard error, and worth a mention."""
    if len(choice.losses) != len(other.losses) or len(choice.losses) < 2:
        return False  # a sample without energy in one of them only
    share = choice.counted / choice.counted.sum()
    gains = other.losses - choice.losses
    gain = float(share @ gains)
    return gain > max(GAIN, CLEAR * float(np.sqrt(share**2 @ (gains - gain) ** 2)))
