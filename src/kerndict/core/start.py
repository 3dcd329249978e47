"""Initial dictionaries."""

import numpy as np
from numpy.typing import NDArray

from kerndict.core.problem import Problem


def start_from_samples(problem: Problem, n: int, rng: np.random.RandomState) -> None:
    """Start every class from random nonzero signals of its own.

    Beyond the class size the atoms are random combinations of its signals; a class
    that has no nonzero signal gets zero atoms, and explains nothing.
    """
    for i, Y in enumerate(problem.signals):
        nonzero = rng.permutation(np.flatnonzero(np.any(Y != 0, axis=0)))[:n]
        A = np.zeros((Y.shape[1], n))
        A[nonzero, np.arange(len(nonzero))] = 1
        A[:, len(nonzero) :] = rng.standard_normal((Y.shape[1], n - len(nonzero)))
        problem.start(i, problem.combine(i, A))


def start_from_gaussian(problem: Problem, n: int, rng: np.random.RandomState) -> None:
    """Start every class from Gaussian atoms, in feature space or in dual coefficients."""
    for i in range(len(problem.signals)):
        problem.start(i, rng.standard_normal((problem.n_rows(i), n)))


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
