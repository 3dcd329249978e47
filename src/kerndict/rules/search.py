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
from kerndict.rules.crossfit import choose_rule
from kerndict.rules.folds import assign_folds
from kerndict.rules.width import draw_rows
from kerndict.spaces import TrainingRows

#: Strengths of the whitening that are tried in turn.
STRENGTHS = (0.1, 0.3, 1.0, 3.0)
#: Ridges of the cheap comparison.
FEW_RIDGES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
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

    def losses(recipe: Recipe) -> NDArray:
        choice = choose_rule(
            partial(few.fold, recipe),
            folds,
            few.labels,
            settings,
            FEW_RIDGES,
            lambda: nullcontext(Listener()),
            few.energies_known,
            few.weights,
        )
        return choice.losses

    best, least_losses = least, losses(least)
    if options.square_root is None:
        rooted = best._replace(square_root=True)
        found = losses(rooted)
        if is_better(found, least_losses):
            best, least_losses = rooted, found
    if options.strength is None:
        best = _strongest_that_helps(best, least_losses, losses)
    return best


def _strongest_that_helps(
    recipe: Recipe, losses: NDArray, losses_of: Callable[[Recipe], NDArray]
) -> Recipe:
    """Return the recipe with the strength that helps, the weakest one about as good."""
    tried = [(recipe, losses)]
    for strength in STRENGTHS:
        stronger = recipe._replace(strength=strength)
        found = losses_of(stronger)
        if not found.mean() < tried[-1][1].mean():
            break
        tried.append((stronger, found))
    best = tried[-1][1]
    return next(each for each, found in tried if not is_better(best, found))


def is_better(losses: NDArray, others: NDArray) -> bool:
    """Tell whether paired losses are smaller, beyond their standard error."""
    if len(losses) != len(others) or len(losses) < 2:
        return False
    gain = others - losses
    return bool(gain.mean() > CLEAR * gain.std(ddof=1) / np.sqrt(len(gain)))
