"""The warning about codes that span their class."""

import numpy as np
from numpy.typing import NDArray

from kerndict._warn import warn_user
from kerndict.core.batched import BatchedProblem
from kerndict.core.problem import Problem
from kerndict.exceptions import SpanWarning


def warn_if_spanning(
    problem: Problem | BatchedProblem, n_atoms: NDArray, sparsity: NDArray, *, atoms_given: bool
) -> None:
    """Warn where codes can span most classes: residuals then do not depend on the dictionary.

    ``atoms_given`` tells whether somebody chose the number of atoms.
    """
    sizes = np.array(problem.sizes)
    several = np.flatnonzero(sizes > 1)
    if not atoms_given:
        several = several[n_atoms[several] >= sparsity[several]]
    ranks = [problem.rank(int(i)) for i in several]
    reaches = np.minimum(n_atoms, sparsity)[several]
    spanned = int(np.sum(reaches >= ranks))
    if not spanned or 2 * spanned < len(ranks):
        return
    name = "n_atoms" if np.median(n_atoms) < np.median(sparsity) else "n_nonzero_coefs"
    reach, rank = int(np.median(reaches)), int(np.median(ranks))
    smaller = f"{name} below the rank of the classes (median {rank}), or " if rank > 1 else ""
    warn_user(
        f"{name}={reach} reaches the rank of the samples in {spanned} of {len(ranks)} classes: a "
        "code can then span its whole class, and the residual no longer depends on the "
        f"dictionary. Give {smaller}more samples per class.",
        SpanWarning,
    )
