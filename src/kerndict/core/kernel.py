"""IKDL as a problem: Algorithm 2 in whitened coordinates, where it is linear."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kerndict.core.incoherence import pairwise_coherence
from kerndict.core.problem import Problem, normalise, numerical_rank

#: How far below zero an eigenvalue may fall, relative to the largest: the matrix may have
#: been computed in single precision.
NEGATIVE = 1e-6
EPS = np.finfo(np.float64).eps


class NotPositiveSemidefinite(ValueError):
    """The kernel matrix of a class has an eigenvalue below zero, beyond rounding."""

    def __init__(self, class_index: int, eigenvalue: float, largest: float) -> None:
        super().__init__(class_index, eigenvalue, largest)
        self.class_index, self.eigenvalue, self.largest = class_index, eigenvalue, largest


class KernelProblem(Problem):
    """IKDL: each class whitened by a rank-revealing factor of its kernel matrix.

    ``K_i = R'R``, where the rows of R are orthogonal: R holds the signals and ``d = R a``
    the atoms; ``R R'`` is diagonal, and ``a = R'(R R')^-1 d`` brings atoms back.  What is
    signal and what is rounding is decided with all signals scaled to unit norm, so that a
    weak signal counts as much as a strong one.

    Parameters
    ----------
    K : (N, N), the kernel matrix of all signals grouped by class; its blocks between
        classes are overwritten
    sizes : the numbers N_i
    """

    def __init__(self, K: NDArray, sizes: Sequence[int]) -> None:
        ends = np.cumsum(sizes)
        self._places = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
        self._K = K
        self.dtype = K.dtype
        self.signals, self.stretch, self._unwhiten = [], [], []
        for i in range(len(sizes)):
            w, V = self._decompose(i)
            self.signals.append(np.asfortranarray(np.sqrt(w)[:, None] * V.T))
            self.stretch.append(w)
            self._unwhiten.append(V / np.sqrt(w))
        self._whiten()
        self.atoms = [np.empty((0, 0))] * len(sizes)
        self._duals: list[NDArray | None] = [None] * len(sizes)

    def _block(self, i: int) -> NDArray:
        return self._K[self._places[i], self._places[i]].astype(np.float64, copy=False)

    def _decompose(self, i: int) -> tuple[NDArray, NDArray]:
        """Return w and V, ``K_i = V diag(w) V'``, cut to the numerical rank."""
        K_i = self._block(i)
        scale = np.sqrt(np.maximum(np.diagonal(K_i), 0))
        scale[scale <= np.finfo(self.dtype).eps * scale.max()] = 0
        inverse = 1 / np.where(scale > 0, scale, np.inf)
        c, U = np.linalg.eigh(K_i * np.outer(inverse, inverse))
        rounding = max(NEGATIVE, np.sqrt(np.finfo(self.dtype).eps))
        if c[0] < -rounding * max(c[-1], 1) or np.diagonal(K_i).min() < -rounding * self._largest():
            w = np.linalg.eigvalsh(K_i)
            raise NotPositiveSemidefinite(i, float(w[0]), float(w[-1]))
        rank = numerical_rank(c, self.dtype)
        c, U = c[len(c) - rank :], U[:, len(c) - rank :]
        if np.ptp(scale) == 0:
            return c * scale[0] ** 2, U
        # K_i = B B' with B = diag(scale) U diag(sqrt(c)) = V diag(sigma) W'
        V, sigma, _ = np.linalg.svd(scale[:, None] * U * np.sqrt(c), full_matrices=False)
        V[scale == 0] = 0
        return sigma**2, V

    def _largest(self) -> float:
        return float(np.abs(np.diagonal(self._K)).max())

    def _whiten(self) -> None:
        """Turn the blocks K_il into ``Q_i'Q_l``, the angles between whitened classes.

        Each keeps its place and fills it up to the ranks of its two classes; the diagonal
        blocks stay as they are.
        """
        K = self._K
        own = [self._block(i).astype(K.dtype) for i in range(len(self._places))]
        for T, place in zip(self._unwhiten, self._places, strict=True):
            K[place][: T.shape[1]] = T.T @ K[place]
        for T, place in zip(self._unwhiten, self._places, strict=True):
            K[:, place][:, : T.shape[1]] = K[:, place] @ T
        for block, place in zip(own, self._places, strict=True):
            K[place, place] = block

    def _angles(self, i: int, k: int) -> NDArray:
        block = self._K[self._places[i], self._places[k]]
        return block[: len(self.stretch[i]), : len(self.stretch[k])]

    def start(self, i: int, atoms: NDArray) -> NDArray:
        K_i = self._block(i)
        atoms, sizes = normalise(atoms)
        squares = np.sum(atoms * (K_i @ atoms), axis=0)
        # |sum_t a_t phi_t| <= sum_t |a_t| |phi_t|; far below that, all has cancelled.
        bound = (np.sqrt(np.maximum(np.diagonal(K_i), 0)) @ np.abs(atoms)) ** 2
        norms = np.sqrt(np.where(squares > 100 * EPS * bound, squares, 0))
        self._duals[i] = np.where(norms > 0, atoms / np.where(norms > 0, norms, 1), 0)
        self.atoms[i] = normalise(self.signals[i] @ self._duals[i])[0]
        return norms * sizes

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

    def mean_penalty(self, i: int) -> float:
        return float(np.sum(self._K_hat(i) ** 2)) / max(1, len(self.stretch[i]))

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

    def full_gram(self) -> NDArray:
        classes = range(len(self.atoms))
        return np.block(
            [
                [
                    self.atoms[i].T @ self.atoms[k]
                    if i == k
                    else self.atoms[i].T @ (self._angles(i, k) @ self.atoms[k])
                    for k in classes
                ]
                for i in classes
            ]
        )

    def rank(self, i: int) -> int:
        return len(self.stretch[i])

    def gram(self, i: int, A: NDArray) -> NDArray:
        """Return ``A' K_i A`` for dual coefficients A (N_i, n)."""
        A = A.astype(np.float64, copy=False)
        return A.T @ self._block(i) @ A
