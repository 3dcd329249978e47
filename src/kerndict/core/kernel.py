"""IKDL as a problem: Algorithm 2 in whitened coordinates, where it is linear."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kerndict.core.incoherence import pairwise_coherence
from kerndict.core.problem import Problem, normalise, numerical_rank

#: How far below zero an eigenvalue may fall, relative to the largest: the matrix may have
#: been computed in single precision.
NEGATIVE = 1e-6


class NotPositiveSemidefinite(ValueError):
    """The kernel matrix of a class has an eigenvalue below zero, beyond rounding."""

    def __init__(self, class_index: int, eigenvalue: float, largest: float) -> None:
        super().__init__(class_index, eigenvalue, largest)
        self.class_index, self.eigenvalue, self.largest = class_index, eigenvalue, largest


class KernelProblem(Problem):
    """IKDL: each class whitened by a rank-revealing factor of its kernel matrix.

    With ``K_i = V diag(w) V'`` cut to its numerical rank, ``R = diag(sqrt(w)) V'`` holds
    the signals and ``d = R a`` the atoms; ``a = V diag(1 / sqrt(w)) d`` brings them back.

    Parameters
    ----------
    K : (N, N), the kernel matrix of all signals grouped by class; overwritten
    sizes : the numbers N_i
    """

    def __init__(self, K: NDArray, sizes: Sequence[int]) -> None:
        ends = np.cumsum(sizes)
        places = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
        self.dtype = K.dtype
        self.signals, self.stretch, self._unwhiten = [], [], []
        for i, place in enumerate(places):
            w, V = self._decompose(i, K[place, place])
            self.signals.append(_clear(np.asfortranarray(np.sqrt(w)[:, None] * V.T)))
            self.stretch.append(w)
            self._unwhiten.append(V / np.sqrt(w))
        self._whiten(K, places)
        self._cross, self._places = K, places
        self.atoms = [np.empty((0, 0))] * len(sizes)
        self._duals: list[NDArray | None] = [None] * len(sizes)

    def _decompose(self, i: int, K_i: NDArray) -> tuple[NDArray, NDArray]:
        w, V = np.linalg.eigh(K_i.astype(np.float64, copy=False))
        rounding = max(NEGATIVE, np.sqrt(np.finfo(self.dtype).eps))
        if w[0] < -rounding * max(w[-1], 0):
            raise NotPositiveSemidefinite(i, float(w[0]), float(w[-1]))
        rank = numerical_rank(w, self.dtype)
        return w[len(w) - rank :], V[:, len(w) - rank :]

    def _whiten(self, K: NDArray, places: list[slice]) -> None:
        """Turn the blocks K_il into ``Q_i'Q_l``, the angles between whitened classes.

        Each keeps its place and fills it up to the ranks of its two classes.
        """
        for T, place in zip(self._unwhiten, places, strict=True):
            K[place][: T.shape[1]] = T.T @ K[place]
        for T, place in zip(self._unwhiten, places, strict=True):
            K[:, place][:, : T.shape[1]] = K[:, place] @ T

    def _angles(self, i: int, k: int) -> NDArray:
        block = self._cross[self._places[i], self._places[k]]
        return block[: len(self.stretch[i]), : len(self.stretch[k])]

    def start(self, i: int, atoms: NDArray) -> NDArray:
        D, norms = normalise(self.signals[i] @ atoms)
        self.atoms[i] = D
        self._duals[i] = np.where(norms > 0, atoms / np.where(norms > 0, norms, 1), 0)
        return norms

    def n_rows(self, i: int) -> int:
        return self.signals[i].shape[1]

    def combine(self, i: int, weights: NDArray) -> NDArray:
        return weights

    def accept(self, i: int, D: NDArray) -> None:
        self.atoms[i] = D
        self._duals[i] = None

    def dictionary(self, i: int) -> NDArray:
        dual = self._duals[i]
        return self._unwhiten[i] @ self.atoms[i] if dual is None else dual

    def draw(self, i: int, count: int, rng: np.random.RandomState) -> NDArray:
        R = self.signals[i]
        return normalise(R @ rng.standard_normal((R.shape[1], count)))[0]

    def _K_hat(self, i: int) -> NDArray:
        """K̂ of (14) in the whitened coordinates of class i, ((C - 1) n, r_i)."""
        others = (k for k in range(len(self.atoms)) if k != i)
        return np.vstack([self.atoms[k].T @ self._angles(k, i) for k in others])

    def penalty(self, i: int, W: NDArray) -> NDArray:
        K_hat = self._K_hat(i)
        return K_hat.T @ (K_hat @ W)

    def eigenbasis(
        self, i: int, right: NDArray, energies: NDArray, gamma: float
    ) -> tuple[NDArray, NDArray]:
        K_hat = self._K_hat(i)
        values, B = np.linalg.eigh(K_hat.T @ K_hat)
        return B, np.maximum(values, 0)

    def coherence(self) -> float:
        return pairwise_coherence(
            len(self.atoms),
            lambda i, k: self.atoms[i].T @ (self._angles(i, k) @ self.atoms[k]),
        )

    def rank(self, i: int) -> int:
        return len(self.stretch[i])

    def gram(self, i: int, A: NDArray) -> NDArray:
        """Return ``A' K_i A`` for dual coefficients A (N_i, n)."""
        D = self.signals[i] @ A
        return D.T @ D


def _clear(R: NDArray) -> NDArray:
    """Set the columns of R that are zero up to rounding to zero."""
    norms = np.sqrt(np.sum(R**2, axis=0))
    R[:, norms <= np.finfo(R.dtype).eps * norms.max(initial=0)] = 0
    return R
