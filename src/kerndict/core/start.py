"""Initial dictionaries."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kerndict._jit import compiled
from kerndict.core.problem import Problem


def start_from_samples(problem: Problem, n: Sequence[int], rng: np.random.RandomState) -> None:
    """Start every class from random nonzero signals of its own.

    Beyond the class size the atoms are random combinations of its signals; a class
    that has no nonzero signal gets zero atoms, and explains nothing.
    """
    for i in range(len(problem.signals)):
        _start_from_signals(problem, i, n[i], np.empty(0, np.int64), rng)


def start_from_pivots(problem: Problem, n: Sequence[int], rng: np.random.RandomState) -> None:
    """Start every class from the signals that a pivoted Cholesky factorisation takes.

    Each is the one that the others before it represent worst; once they span the class,
    the rest is drawn as in :func:`start_from_samples`.
    """
    for i, Y in enumerate(problem.signals):
        E = Y.T.astype(np.float64, order="C")
        floor = np.finfo(Y.dtype).eps ** (2 / 3) * np.sum(E**2, axis=1)
        _start_from_signals(problem, i, n[i], _pivots(E, floor, n[i]), rng)


@compiled()
def _pivots(E, floor, n):  # type: ignore[no-untyped-def]
    """Return the pivots among the rows of E, which become what the pivots leave of them."""
    errors = np.empty(len(E))
    pivots = np.empty(min(n, len(E)), np.int64)
    for count in range(len(pivots)):
        for t in range(len(E)):
            square = 0.0
            for k in range(E.shape[1]):
                square += E[t, k] ** 2
            errors[t] = square if square > floor[t] else 0.0
        largest = errors.max()
        if largest == 0:
            return pivots[:count]
        j = np.argmax(errors >= largest * (1 - 1e-9))
        pivots[count] = j
        q = E[j] / np.sqrt(errors[j])
        for t in range(len(E)):
            along = 0.0
            for k in range(E.shape[1]):
                along += q[k] * E[t, k]
            for k in range(E.shape[1]):
                E[t, k] -= along * q[k]
        E[j] = 0
    return pivots


def _start_from_signals(
    problem: Problem, i: int, n: int, first: NDArray, rng: np.random.RandomState
) -> None:
    Y = problem.signals[i]
    nonzero = np.flatnonzero(np.any(Y != 0, axis=0))
    A = combination(Y.shape[1], nonzero, n, first, rng)
    problem.start(i, problem.combine(i, A))


def combination(
    size: int, nonzero: NDArray, n: int, first: NDArray, rng: np.random.RandomState
) -> NDArray:
    """Return n atoms as combinations of the ``size`` signals of a class, (size, n).

    The ``first`` signals, then others that are not zero, then Gaussian combinations of all.
    """
    drawn = rng.permutation(np.setdiff1d(nonzero, first))[: n - len(first)]
    chosen = np.concatenate([first, drawn])
    A = np.zeros((size, n))
    A[chosen, np.arange(len(chosen))] = 1
    A[:, len(chosen) :] = rng.standard_normal((size, n - len(chosen)))
    return A


def start_from_gaussian(problem: Problem, n: Sequence[int], rng: np.random.RandomState) -> None:
    """Start every class from Gaussian atoms, in feature space or in dual coefficients."""
    for i in range(len(problem.signals)):
        problem.start(i, rng.standard_normal((problem.n_rows(i), n[i])))


class ZeroAtom(ValueError):
    """A given atom has no norm in the metric of its class."""

    def __init__(self, class_index: int, column: int) -> None:
        super().__init__(class_index, column)
        self.class_index, self.column = class_index, column


def start_from_arrays(problem: Problem, arrays: list[NDArray]) -> None:
    """Start every class from given atoms; see :meth:`Problem.start`.

    Raises
    ------
    ZeroAtom
        An atom is zero in the metric of its class.
    """
    for i, atoms in enumerate(arrays):
        norms = problem.start(i, atoms)
        if not np.all(norms > 0):
            raise ZeroAtom(i, int(np.argmin(norms > 0)))
