"""The rule of models with landmarks: class subspaces, and a head that all rows have shaped.

Each class has orthonormal atoms, the directions in which its rows spread, with the energy ``d_j``
of each.  What the class leaves of a signal on its own is ``o_c = k(y,y) - sum_j s_j b_j^2``, b the
correlations with its atoms and ``s_j = d_j / (d_j + ridge)``.  A linear function of the landmarks,
the head, gives another number ``h_c`` per class, and ``P(c|y) = softmax_c(-delta log o_c + h_c +
offset_c)``, o_c relative to k(y,y).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import cast, namespace, on_host, side_by_side
from kerndict._stack import Stack
from kerndict._state import stored
from kerndict.rules.base import Parts, Rule, class_slices
from kerndict.rules.collaborative import logarithmic_rounding, p_values, strangeness
from kerndict.rules.features import relative_log


@dataclass(frozen=True)
class LandmarkRule(Rule):
    """A fitted rule.

    ``shares`` holds the s_j of every class, ``head`` the functions h_c in coordinates of the
    space, ``ridge`` is that of the atoms, ``weight`` is delta, ``held_out`` the strangeness of
    training samples out of fold, sorted, and ``losses`` their log-losses.
    """

    has_probabilities: ClassVar[bool] = True
    pursues: ClassVar[bool] = False

    grams: list[NDArray]
    shares: list[NDArray] = stored("precision", "n_i", name="rule.shares")
    head: NDArray = stored("precision", "p C", name="rule.head")
    ridge: float = stored("positive")
    weight: float = stored("real", name="rule.weight")
    offsets: NDArray = stored("real", "C", name="rule_offsets")
    held_out: NDArray = stored("real", "H", name="rule.known")
    losses: NDArray | None = stored("real", "H", name="rule.losses", optional=True, default=None)

    @property
    def heads(self) -> list[NDArray]:
        """What else a signal is correlated with."""
        return [self.head]

    def scores(self, correlations: Iterable[NDArray], energies: NDArray | None) -> NDArray:
        assert energies is not None
        return self.settle(self._scores(side_by_side(list(correlations)), energies))

    def typicality(self, correlations: Iterable[NDArray], energies: NDArray | None) -> NDArray:
        """Return the p-value of each signal, (N,)."""
        assert energies is not None
        scores = self._scores(side_by_side(list(correlations)), energies)
        return p_values(strangeness(scores, energies), self.held_out)

    def parts(self, B: NDArray, energies: NDArray | None) -> Parts:
        assert energies is not None
        scores = self.settle(self._scores(B, energies))
        places = list(class_slices(self.shares))
        left = np.maximum(self._left(B, energies), 0)
        return Parts(scores, left, lambda c, rows: B[rows, places[c]] * self.shares[c])

    def rounding(self, largest: NDArray) -> NDArray:
        return logarithmic_rounding(largest)

    def _left(self, B: NDArray, energies: NDArray) -> NDArray:
        """Return o_c of every signal and class."""
        if not on_host(B):
            shares = Stack.of([shares[:, None] for shares in self.shares])
            of_atoms = B[:, : sum(shares.heights)]
            return energies[:, None] - (shares.split(of_atoms**2) @ shares.blocks)[:, :, 0].T
        explained = [
            np.square(B[:, place]) @ shares
            for place, shares in zip(class_slices(self.shares), self.shares, strict=True)
        ]
        return energies[:, None] - np.column_stack(explained)

    def _scores(self, B: NDArray, energies: NDArray) -> NDArray:
        left = relative_log(self._left(B, energies), energies)
        scores = B[:, -self.offsets.shape[0] :] - self.weight * left + self.offsets
        scores = namespace(B).where(energies[:, None] > 0, scores, 0)
        return cast(scores, B.dtype, copy=False)
