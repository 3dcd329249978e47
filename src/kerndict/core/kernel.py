"""IKDL as a problem: Algorithm 2 in whitened coordinates, where it is linear."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgeqrf

from kerndict.core.blocks import KernelMatrix
from kerndict.core.panels import BlockDiagonal, BlockTriangle
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

    The blocks between classes matter to the penalty only: they are whitened when it is first
    asked for.

    Parameters
    ----------
    K : the kernel matrix of the signals grouped by class, which is left as it is
    """

    def __init__(self, K: KernelMatrix) -> None:
        self.dtype = K.dtype
        self._K = K
        self._largest = float(np.abs(K.diagonal()).max())
        self.signals, self.eigenvalues = [], []
        for i in range(len(K.sizes)):
            w, V = self._decompose(i)
            self.signals.append(np.asfortranarray(np.sqrt(w)[:, None] * V.T))
            self.eigenvalues.append(w)
        self.atoms = [np.empty((0, 0))] * len(K.sizes)
        self._duals: list[NDArray | None] = [None] * len(K.sizes)
        self._angles: BlockTriangle | None = None
        self._factors: BlockDiagonal | None = None
        self._below: dict[int, NDArray] = {}

    def _decompose(self, i: int) -> tuple[NDArray, NDArray]:
        """Return w and V, ``K_i = V diag(w) V'``, cut to the numerical rank."""
        K_i = self._K.own_block(i)
        scale = np.sqrt(np.maximum(np.diagonal(K_i), 0))
        scale[scale <= np.finfo(self.dtype).eps * scale.max()] = 0
        inverse = 1 / np.where(scale > 0, scale, np.inf)
        c, U = np.linalg.eigh(K_i * np.outer(inverse, inverse))
        rounding = max(NEGATIVE, np.sqrt(np.finfo(self.dtype).eps))
        if c[0] < -rounding * max(c[-1], 1) or np.diagonal(K_i).min() < -rounding * self._largest:
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

    def _between_classes(self) -> BlockTriangle:
        """Return ``Q_l'Q_i`` of all pairs, the angles between whitened classes."""
        if self._angles is None:
            pairs = zip(self.signals, self.eigenvalues, strict=True)
            whitening = BlockDiagonal([R / w[:, None] for R, w in pairs], self.dtype)
            self._angles = self._K.whitened(whitening)
        return self._angles

    def start(self, i: int, atoms: NDArray) -> NDArray:
        K_i = self._K.own_block(i)
        atoms, sizes = normalise(atoms)
        squares = np.sum(atoms * (K_i @ atoms), axis=0)
        # |sum_t a_t phi_t| <= sum_t |a_t| |phi_t|; far below that, all has cancelled.
        bound = (np.sqrt(np.maximum(np.diagonal(K_i), 0)) @ np.abs(atoms)) ** 2
        norms = np.sqrt(np.where(squares > 100 * EPS * bound, squares, 0))
        self._duals[i] = np.where(norms > 0, atoms / np.where(norms > 0, norms, 1), 0)
        self.atoms[i] = normalise(self.signals[i] @ self._duals[i])[0]
        self._factors, self._below = None, {}
        return norms * sizes

    def n_rows(self, i: int) -> int:
        return self.signals[i].shape[1]

    def combine(self, i: int, weights: NDArray) -> NDArray:
        return weights

    def accept(self, i: int, D: NDArray) -> None:
        self.atoms[i] = D
        self._duals[i] = None
        if self._factors is not None:
            self._factors.replace(i, _factor(D))
        self._below = {k: P for k, P in self._below.items() if k <= i}

    def dictionary(self, i: int) -> NDArray:
        dual = self._duals[i]
        if dual is not None:
            return dual
        return self.signals[i].T @ (self.atoms[i] / self.eigenvalues[i][:, None])

    def draw(self, i: int, count: int, rng: np.random.RandomState) -> NDArray:
        R = self.signals[i]
        return normalise(R @ rng.standard_normal((R.shape[1], count)))[0]

    def _penalty_below(self, i: int) -> NDArray:
        """Return the part of P of class i that the classes before it make, (r_i, r_i).

        It is kept until one of them changes: a pass over the classes leaves all that
        :meth:`coherence` needs.
        """
        if i not in self._below:
            self._below[i] = self._outer().square_before(self._between_classes(), i)
        return self._below[i]

    def _penalty_above(self, i: int) -> NDArray:
        """Return the part of P of class i that the classes beyond it make."""
        panel = self._between_classes().panel(i)[len(self.eigenvalues[i]) :]
        return self._outer().square(panel, i + 1, origin=i + 1)

    def _outer(self) -> BlockDiagonal:
        """Return a factor of the outer product of every dictionary.

        With K̂ of (14) in whitened coordinates, ``P = K̂'K̂``; of each dictionary only its
        outer product counts, so that factors of it with no more rows than columns do.
        """
        if self._factors is None:
            self._factors = BlockDiagonal([_factor(D) for D in self.atoms], self.dtype)
        return self._factors

    def _penalty(self, i: int) -> NDArray:
        """Return P of class i."""
        return self._penalty_below(i) + self._penalty_above(i)

    def penalty(self, i: int, W: NDArray) -> NDArray:
        return self._penalty(i) @ W

    def mean_penalty(self, i: int) -> float:
        return float(np.trace(self._penalty(i))) / max(1, len(self.eigenvalues[i]))

    def eigenbasis(
        self, i: int, right: NDArray, energies: NDArray, gamma: float
    ) -> tuple[NDArray, NDArray]:
        values, B = np.linalg.eigh(self._penalty(i))
        return B, np.maximum(values, 0)

    def coherence(self) -> float:
        if self._angles is None:
            # |A_l'K_li A_i|_F depends on A A' alone.
            duals = (self.dictionary(i) for i in range(len(self.atoms)))
            return self._K.coherence([_factor(A).T for A in duals])
        # sum_i sum_{l < i} |D_l'D_i|^2, each pair once
        total = 0.0
        for i, D in enumerate(self.atoms):
            total += np.vdot(self._penalty_below(i), D @ D.T)
        return float(2 * max(0.0, total))

    def rank(self, i: int) -> int:
        return len(self.eigenvalues[i])


def _factor(D: NDArray) -> NDArray:
    """Return F with ``F'F = D D'`` and no more rows than D has, or D' itself."""
    if D.shape[1] <= D.shape[0]:
        return D.T
    packed = dgeqrf(D.T)[0]
    return np.triu(packed[: D.shape[0]])
