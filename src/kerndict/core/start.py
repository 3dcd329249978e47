"""Initial dictionaries."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kerndict.core.problem import Problem


def start_from_samples(problem: Problem, n: Sequence[int], rng: np.random.RandomState) -> None:
    """Start every class from random nonzero signals of its own.

    Beyond the class size the atoms are random combinations of its signals; a class
    that has no nonzero signal gets zero atoms, and explains nothing.
    """
    for i in range(len(problem.signals)):
        _start_from_signals(problem, i, n[i], [], rng)


def start_from_pivots(problem: Problem, n: Sequence[int], rng: np.random.RandomState) -> None:
    """Start every class from the signals that a pivoted Cholesky factorisation takes.

    Each is the one that the others before it represent worst; once they span the class,
    the rest is drawn as in :func:`start_from_samples`.
    """
    for i, Y in enumerate(problem.signals):
        _start_from_signals(problem, i, n[i], _pivots(Y, n[i]), rng)


def _pivots(Y: NDArray, n: int) -> list[int]:
    E = Y.astype(np.float64)
    norms = np.sum(E**2, axis=0)
    floor = np.finfo(Y.dtype).eps ** (2 / 3) * norms
    pivots: list[int] = []
    for _ in range(min(n, Y.shape[1])):
        errors = np.sum(E**2, axis=0)
        errors[errors <= floor] = 0
        if not errors.any():
            break
        j = int(np.argmax(errors >= errors.max() * (1 - 1e-9)))
        pivots.append(j)
        q = E[:, j] / np.sqrt(errors[j])
        E -= np.outer(q, q @ E)
        E[:, j] = 0
    return pivots


def _start_from_signals(
    problem: Problem, i: int, n: int, first: list[int], rng: np.random.RandomState
) -> None:
    Y = problem.signals[i]
    nonzero = np.flatnonzero(np.any(Y != 0, axis=0))
    drawn = rng.permutation(np.setdiff1d(nonzero, first))[: n - len(first)]
    chosen = np.concatenate([first, drawn]).astype(np.int64)
    A = np.zeros((Y.shape[1], n))
    A[chosen, np.arange(len(chosen))] = 1
    A[:, len(chosen) :] = rng.standard_normal((Y.shape[1], n - len(chosen)))
    problem.start(i, problem.combine(i, A))


def start_from_gaussian(problem: Problem, n: Sequence[int], rng: np.random.RandomState) -> None:
    """Start every class from Gaussian atoms, in feature space or in dual coefficients."""
    for i in range(len(problem.signals)):
        problem.start(i, rng.standard_normal((problem.n_rows(i), n[i])))


def start_from_arrays(problem: Problem, arrays: list[NDArray]) -> None:
    """Start every class from given atoms; see :meth:`Problem.start`."""
    for i, atoms in enumerate(arrays):
        norms = problem.start(i, atoms)
        if not np.all(norms > 0):
            j = int(np.argmin(norms > 0))
            raise ValueError(
                f"init[{i}] has a zero atom (column {j}) in the metric of its class: "
                "every initial atom must have a positive norm."
            )
