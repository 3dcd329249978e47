"""The collaborative rule: probabilities from one ridge code over the atoms of all classes.

The three features of :mod:`kerndict.rules.features` are weighed into ``P(c|y) = softmax_c(-alpha
log r_c + beta log q_c - delta log o_c + offset_c)``, all three relative to k(y,y): the length of a
signal says nothing.  The offsets are there because classes differ in how well they explain what is
not theirs: one of many kinds of things leaves little of anything.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import NDArray

from kerndict._arrays import at_least, beside, cast, eps, namespace, side_by_side
from kerndict._state import stored
from kerndict.rules.base import Parts, Rule, class_slices
from kerndict.rules.features import class_parts, own_feature, rule_features, spanned_energy
from kerndict.rules.weights import weigh


@dataclass(frozen=True)
class CollaborativeRule(Rule):
    """A fitted rule.

    ``weights`` are alpha, beta and delta; ``inverse`` is ``(G + ridge I)^-1``; ``own_inverses``
    are those of the blocks G_cc; ``held_out`` holds the :func:`strangeness` of the training samples
    out of fold, sorted, and ``losses`` their log-losses, sorted; ``span`` is the pseudo-inverse of
    G, kept only where k(y, y) is unknown.
    """

    has_probabilities: ClassVar[bool] = True
    pursues: ClassVar[bool] = False

    grams: list[NDArray]
    ridge: float = stored("positive")
    weights: NDArray = stored("real", "3", name="rule_weights")
    offsets: NDArray = stored("real", "C", name="rule_offsets")
    inverse: NDArray = stored("precision", "n n", name="rule.inverse")
    own_inverses: list[NDArray] = stored("precision", "n_i n_i", name="rule.own")
    held_out: NDArray = stored("real", "H", name="rule.known")
    span: NDArray | None = stored("precision", "n n", name="rule.span", optional=True)
    losses: NDArray | None = stored("real", "H", name="rule.losses", optional=True, default=None)

    def scores(self, correlations: Iterable[NDArray], energies: NDArray | None) -> NDArray:
        B = side_by_side(list(correlations))
        return self.settle(self._scores(B, self._energies(B, energies)))

    def typicality(self, correlations: Iterable[NDArray], energies: NDArray | None) -> NDArray:
        """Return the p-value of each signal, (N,); see :func:`p_values`."""
        B = side_by_side(list(correlations))
        energies = self._energies(B, energies)
        return p_values(strangeness(self._scores(B, energies), energies), self.held_out)

    def parts(self, B: NDArray, energies: NDArray | None) -> Parts:
        energies = self._energies(B, energies)
        scores = self.settle(self._scores(B, energies))
        X = B @ self.inverse
        left = at_least(class_parts(X, B, self.grams, energies)[0], 0)
        places = list(class_slices(self.grams))
        return Parts(scores, left, lambda c, rows: X[rows, places[c]])

    def rounding(self, largest: NDArray) -> NDArray:
        return logarithmic_rounding(largest)

    def _energies(self, B: NDArray, energies: NDArray | None) -> NDArray:
        """Return k(y, y), or in its place the energy of y in the span of all atoms."""
        return spanned_energy(B, self.span) if energies is None else energies

    def _scores(self, B: NDArray, energies: NDArray) -> NDArray:
        """Return the argument of the softmax, (N, n_classes); zero for a signal without energy."""
        left, spent = rule_features(B @ self.inverse, B, self.grams, energies)
        features = left, spent, own_feature(B, self.own_inverses, energies)
        scores = weigh(features, self.weights, self.offsets)
        return namespace(B).where(energies[:, None] > 0, scores, 0)


def strangeness(scores: NDArray, diagonal: NDArray) -> NDArray:
    """Return minus the winner's score; infinite without energy.

    Large for a signal of which even the winner leaves much for what it spends.
    """
    xp = namespace(scores)
    return xp.where(diagonal > 0, -xp.max(scores, axis=1), xp.inf)


def p_values(strange: NDArray, held_out: NDArray) -> NDArray:
    """Return the share of training samples at least as strange as each signal.

    The signal itself counts as one of them, so that the share is a p-value; with no training
    sample to compare with it is 1.  ``held_out`` holds theirs, sorted.
    """
    count = held_out.shape[0]
    strange = beside(strange, held_out, held_out.dtype)
    milder = cast(namespace(strange).searchsorted(held_out, strange), held_out.dtype)
    return (1 + count - milder) / (1 + count)


def largest_loss(losses: NDArray, alpha: float) -> float:
    """Return the log-loss up to which a class belongs to the set of a signal.

    Of a new signal the true class has a larger one with a probability of at most ``alpha``, where
    it is as likely as each of the training samples to stand in any place among them.  ``losses``
    are those of the training samples, sorted; with too few of them every class belongs to the set.
    """
    count = losses.shape[0]
    place = math.ceil((count + 1) * (1 - alpha))
    return math.inf if place > count else float(losses[place - 1])


def logarithmic_rounding(largest: NDArray) -> NDArray:
    """Return by how much scores differ through rounding at most; they are logarithms."""
    return (1 + namespace(largest).abs(largest)) * math.sqrt(eps(largest.dtype))
