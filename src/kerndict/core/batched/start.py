"""Initial dictionaries on a device; :mod:`kerndict.core.start` says what they are."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kerndict.core.batched.problem import BatchedProblem
from kerndict.core.start import ZeroAtom, combination


def start(
    problem: BatchedProblem,
    init: str | Sequence[NDArray],
    n: Sequence[int],
    rng: np.random.RandomState,
) -> None:
    """Start every class in one of the ways that have a name, or from arrays.

    Raises
    ------
    ZeroAtom
        A given atom is zero in the metric of its class.
    """
    if not isinstance(init, str):
        for i, norms in enumerate(problem.start(init)):
            if not np.all(norms > 0):
                raise ZeroAtom(i, int(np.argmin(norms > 0)))
    elif init == "random":
        shapes = [(problem.n_rows(i), count) for i, count in enumerate(n)]
        problem.start([rng.standard_normal(shape) for shape in shapes])
    else:
        none = [np.empty(0, np.int64)] * len(n)
        first = problem.pivots(n) if init == "pivoted" else none
        every = zip(problem.sizes, problem.nonzero(), n, first, strict=True)
        problem.start_combined([combination(*each, rng) for each in every])
