"""IDL as a problem: Algorithm 1 in feature space."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kerndict.core.incoherence import OuterSum, krylov_eigenbasis, orthonormal
from kerndict.core.problem import Problem, normalise, numerical_rank

#: Features up to which P is decomposed whole, which solves (12) to rounding.  A Krylov space would
#: cost less from about five times its columns on.
SMALL = 600


class LinearProblem(Problem):
    """IDL: the signals as they are.

    Parameters
    ----------
    Y : list of (m, N_i)
    incoherent : bool, whether gamma > 0: only then is ``S = sum_l D_l D_l'`` kept
    """

    def __init__(self, Y: Sequence[NDArray], incoherent: bool) -> None:
        self.signals = list(Y)
        self.dtype = Y[0].dtype
        self.eigenvalues = [np.ones(len(Y[0]))] * len(Y)
        self.atoms = [np.empty((0, 0))] * len(Y)
        self._incoherent = incoherent
        self._sum: OuterSum | None = None

    def start(self, i: int, atoms: NDArray) -> NDArray:
        self.atoms[i], norms = normalise(atoms)
        self._sum = None
        return norms

    def n_rows(self, i: int) -> int:
        return self.signals[i].shape[0]

    def combine(self, i: int, weights: NDArray) -> NDArray:
        return self.signals[i] @ weights

    def accept(self, i: int, D: NDArray) -> None:
        self.atoms[i] = D
        if self._incoherent:
            self._running().replace(i, D)

    def dictionary(self, i: int) -> NDArray:
        return self.atoms[i]

    def draw(self, i: int, count: int, rng: np.random.RandomState) -> NDArray:
        return normalise(rng.standard_normal((len(self.signals[i]), count)))[0]

    def penalty(self, i: int, W: NDArray) -> NDArray:
        return self._running().penalty(i, W)

    def repulsion(self, i: int) -> NDArray:
        return self._running().repulsion(i)

    def mean_penalty(self, i: int) -> float:
        Q = orthonormal(normalise(self.signals[i])[0])
        return float(np.sum(Q * self.penalty(i, Q))) / max(1, Q.shape[1])

    def eigenbasis(
        self, i: int, right: NDArray, energies: NDArray, gamma: float
    ) -> tuple[NDArray, NDArray]:
        W = np.hstack([normalise(self.signals[i])[0], self.atoms[i]])
        if len(W) <= max(SMALL, 2 * W.shape[1]):
            values, B = np.linalg.eigh(self._running().lower(i))  # UPLO="L"
            return B, np.maximum(values, 0)
        return krylov_eigenbasis(lambda V: self.penalty(i, V), W, right, energies, gamma)

    def coherence(self) -> float:
        return (self._running() if self._incoherent else OuterSum(self.atoms)).coherence()

    def rank(self, i: int) -> int:
        Y = self.signals[i].astype(np.float64, copy=False)
        gram = Y.T @ Y if Y.shape[1] <= Y.shape[0] else Y @ Y.T
        return numerical_rank(np.linalg.eigvalsh(gram), self.dtype)

    def _running(self) -> OuterSum:
        if self._sum is None:
            self._sum = OuterSum(self.atoms)
        return self._sum
