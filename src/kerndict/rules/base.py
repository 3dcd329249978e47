"""What every rule can do."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import namespace

#: Rows are in doubt up to so many times the difference of scores that is taken for a tie.
DOUBT = 16


class Parts(NamedTuple):
    """What a decision is made of: scores and squared residuals of all classes, and codes.

    ``codes(c, rows)`` returns the codes of some signals over the atoms of class c.
    """

    scores: NDArray
    residuals: NDArray
    codes: Callable[[int, NDArray], NDArray]


class Rule(ABC):
    """How a class is decided on from the correlations of a signal with all atoms.

    ``grams`` are the Gram matrices of the atoms, one per class.
    """

    has_probabilities: ClassVar[bool]
    #: Whether signals are coded by OMP, which takes memory of its own.
    pursues: ClassVar[bool]
    grams: list[NDArray]

    @property
    def heads(self) -> list[NDArray]:
        """What else a signal is correlated with, behind the atoms of all classes."""
        return []

    @abstractmethod
    def scores(self, correlations: Iterable[NDArray], energies: NDArray | None) -> NDArray:
        """Return the score of each signal and class, the largest wins.

        Scores that differ from the largest by rounding only are made equal to it.

        Parameters
        ----------
        correlations : of the signals with the atoms of each class, (N, n_i) each, and with the
            heads
        energies : (N,), k(y, y), or None where it is not known
        """

    @abstractmethod
    def rounding(self, largest: NDArray) -> NDArray:
        """Return by how much a score may lie below the largest of a signal to be equal to it."""

    def settle(self, scores: NDArray) -> NDArray:
        """Raise scores within rounding of the signal's largest to it.

        The first class then wins a tie, whichever way the last bits fell.
        """
        xp = namespace(scores)
        largest = xp.max(scores, axis=1, keepdims=True)
        return xp.where(scores >= largest - self.rounding(largest), largest, scores)

    def doubtful(self, scores: NDArray) -> NDArray:
        """Tell which signals other products of the same numbers could give to another class.

        That is where two classes are ties or nearly so, unless nothing speaks for any.
        """
        largest = scores.max(axis=1, keepdims=True)
        close = scores >= largest - DOUBT * self.rounding(largest)
        return (np.count_nonzero(close, axis=1) > 1) & scores.any(axis=1)

    @abstractmethod
    def parts(self, B: NDArray, energies: NDArray | None) -> Parts:
        """Return what the decisions are made of; ``B`` holds the correlations side by side."""


def class_slices(blocks: Sequence[NDArray]) -> Iterator[slice]:
    """Yield the place of every class among all atoms."""
    start = 0
    for block in blocks:
        yield slice(start, start + len(block))
        start += len(block)
