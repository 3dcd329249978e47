"""One dictionary per class, learned from a training set."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import cast
from kerndict.core import batched
from kerndict.core.batched import BatchedProblem
from kerndict.core.batched.start import start
from kerndict.core.learn import balanced_gamma, encode, learn
from kerndict.core.problem import Problem
from kerndict.core.start import (
    start_from_arrays,
    start_from_gaussian,
    start_from_pivots,
    start_from_samples,
)
from kerndict.spaces import TrainingSet

#: Ways to begin that have a name.
STARTS = {
    "samples": start_from_samples,
    "random": start_from_gaussian,
    "pivoted": start_from_pivots,
}
#: Up to so many atoms a class keeps all it has, by default.
FEW_ATOMS = 15


@dataclass(frozen=True)
class Settings:
    """What to learn and how; the names are those of the classifiers' parameters.

    ``relative`` is ``incoherence_scale="relative"``, ``exact`` is ``atom_update="exact"`` and
    ``uaksvd`` is ``coef_update="uaksvd"``.  ``most_atoms`` bounds what nobody gave.
    """

    n_atoms: int | float | None
    n_nonzero_coefs: int | None
    incoherence: float
    relative: bool
    exact: bool
    uaksvd: bool
    n_iter: int
    init: str | Sequence[NDArray]
    few_atoms: int = FEW_ATOMS
    most_atoms: int | None = None

    def in_fold(self, n_folds: int) -> Self:
        """Return the settings for a fold, which holds that much less of a class and its atoms."""
        few = self.few_atoms * (n_folds - 1) // n_folds
        # The shapes of given arrays are those of the whole.
        return replace(
            self, few_atoms=few, init=self.init if isinstance(self.init, str) else "pivoted"
        )

    def starting_from(self, atoms: Sequence[NDArray]) -> Self:
        """Return the settings with given initial atoms, one array per class."""
        return replace(self, init=atoms)

    def counts(self, sizes: NDArray) -> tuple[NDArray, NDArray]:
        """Return atoms per class and nonzeros per code for classes of the given sizes."""
        if self.n_atoms is None:
            half = (
                sizes // 2 if self.most_atoms is None else np.minimum(sizes // 2, self.most_atoms)
            )
            n_atoms = np.minimum(sizes, np.maximum(self.few_atoms, half))
        elif isinstance(self.n_atoms, int):
            n_atoms = np.full(len(sizes), self.n_atoms)
        else:
            n_atoms = np.maximum(1, np.ceil(self.n_atoms * sizes - 1e-9)).astype(np.int64)
        if self.n_nonzero_coefs is None:
            return n_atoms, np.maximum(1, n_atoms // 2)
        return n_atoms, np.full(len(sizes), self.n_nonzero_coefs)


@dataclass(frozen=True)
class Dictionaries:
    """What has been learned.

    ``atoms`` are in the coordinates of the space, ``grams`` their Gram matrices, ``codes`` those
    of the training rows (N_i, n_i), ``sparsity`` the nonzeros per code of each class, ``gamma`` the
    absolute weight of the penalty; ``reconstruction`` and ``coherence`` are the two terms of (3) or
    (7) after each pass.
    """

    atoms: list[NDArray]
    grams: list[NDArray]
    codes: list[NDArray]
    sparsity: NDArray
    gamma: float
    reconstruction: NDArray
    coherence: NDArray


class Listener:
    """Hears how learning gets on; this one does not care."""

    #: Whether the coherence is worth computing after each pass.
    wants_coherence = False

    def started(
        self, problem: Problem | BatchedProblem, n_atoms: NDArray, sparsity: NDArray
    ) -> None:
        """Hear that the initial atoms are there."""

    def iteration(self, so_far: Callable[[], Dictionaries], terms: tuple[float, float]) -> bool:
        """Hear that a pass is done; return whether to stop.

        ``so_far`` returns what would be learned if this pass were the last; ``terms`` are those of
        (3) or (7), the second NaN unless it is wanted.
        """
        return False


def learn_dictionaries(
    training: TrainingSet,
    settings: Settings,
    rng: np.random.RandomState,
    listener: Listener,
) -> Dictionaries:
    """Learn one dictionary per class.

    Raises
    ------
    kerndict.core.kernel.NotPositiveSemidefinite
        The kernel matrix of a class has a negative eigenvalue.
    kerndict.core.start.ZeroAtom
        An atom given by ``init`` is zero.
    """
    problem = training.problem(settings.incoherence > 0)
    n_atoms, sparsity = settings.counts(training.sizes)
    s = sparsity.tolist()
    balanced: Callable = balanced_gamma
    passes: Callable = learn
    coded: Callable = _encode_all
    if isinstance(problem, BatchedProblem):
        balanced, passes, coded = batched.balanced_gamma, batched.learn, batched.encode
        start(problem, settings.init, n_atoms.tolist(), rng)
    elif isinstance(settings.init, str):
        STARTS[settings.init](problem, n_atoms.tolist(), rng)
    else:
        start_from_arrays(problem, list(settings.init))
    listener.started(problem, n_atoms, sparsity)
    gamma = settings.incoherence
    if gamma > 0 and settings.relative:
        gamma *= balanced(problem, s)
    codes: list[NDArray] = []
    trace: list[tuple[float, float]] = []

    def so_far() -> Dictionaries:
        return _learned(training, problem, codes, sparsity, gamma, trace)

    for step in passes(problem, s, gamma, settings.n_iter, settings.exact, settings.uaksvd, rng):
        codes = step.codes
        coherence = problem.coherence() if listener.wants_coherence else np.nan
        trace.append((step.reconstruction, coherence))
        if listener.iteration(so_far, trace[-1]):
            break
    if not codes:
        codes = coded(problem, s)
    return so_far()


def _encode_all(problem: Problem, s: Sequence[int]) -> list[NDArray]:
    return [encode(problem, i, s[i]) for i in range(len(s))]


def _learned(
    training: TrainingSet,
    problem: Problem | BatchedProblem,
    codes: list[NDArray],
    sparsity: NDArray,
    gamma: float,
    trace: list[tuple[float, float]],
) -> Dictionaries:
    dtype = training.dtype
    if isinstance(problem, BatchedProblem):
        atoms = [cast(A, dtype, copy=False) for A in problem.dictionaries()]
        codes = [cast(X.T, dtype, copy=False) for X in codes]
    else:
        atoms = [np.ascontiguousarray(problem.dictionary(i), dtype) for i in range(len(sparsity))]
        codes = [np.ascontiguousarray(X.T, dtype=dtype) for X in codes]
    reconstruction, coherence = np.array(trace).reshape(-1, 2).T
    return Dictionaries(
        atoms,
        training.grams(atoms),
        codes,
        sparsity,
        gamma,
        reconstruction.copy(),
        coherence.copy(),
    )
