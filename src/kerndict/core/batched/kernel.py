"""IKDL on a device: Algorithm 2 in whitened coordinates; see :mod:`kerndict.core.kernel`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import Array, at_least, cast, eps, namespace, to_host
from kerndict._stack import padded, split
from kerndict.core.batched.problem import BatchedProblem, counted_ranks, normalised, scaled_to_one
from kerndict.core.kernel import EPS, NEGATIVE, NotPositiveSemidefinite


class BatchedKernelProblem(BatchedProblem):
    """IKDL: each class whitened by a rank-revealing factor of its kernel matrix.

    Parameters
    ----------
    K : (sum of sizes, same), the kernel matrix of the signals grouped by class
    sizes : signals of each class
    """

    def __init__(self, K: Array, sizes: Sequence[int]) -> None:
        self.dtype, self.sizes, self.floor = K.dtype, list(sizes), float(EPS) ** (2 / 3)
        self._whole, ends = K, np.cumsum(sizes).tolist()
        places = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
        self.K = cast(padded([K[part, part] for part in places]), np.float64, copy=False)
        self.w, V = self._decompose()
        xp = namespace(K)
        self.R = V * xp.sqrt(self.w)[:, None, :]
        self._ranks = to_host(xp.count_nonzero(self.w, axis=1))
        self._duals: Array | None = None
        self._angles: Array | None = None

    def _decompose(self) -> tuple[Array, Array]:
        """Return w and V with ``K_i = V diag(w) V'``; what is beyond the rank is zero."""
        xp, K = namespace(self.K), self.K
        own = xp.linalg.diagonal(K)
        scale = xp.sqrt(at_least(own, 0.0))
        largest = xp.max(scale, axis=1, keepdims=True)
        scale = xp.where(scale <= eps(self.dtype) * largest, 0.0, scale)
        inverse = xp.where(scale > 0, 1 / xp.where(scale > 0, scale, 1.0), 0.0)
        c, U = xp.linalg.eigh(K * inverse[:, :, None] * inverse[:, None, :])
        self._check(xp, c, own)
        kept = counted_ranks(xp, c, self.dtype)
        c = xp.where(kept, c, 0.0)
        even = xp.all((scale == largest) | (own == 0), axis=1)
        if bool(xp.all(even)):
            w, V = c * largest**2, U
        else:
            half = scale[:, :, None] * U * xp.sqrt(c)[:, None, :]
            V, sigma, _ = xp.linalg.svd(half, full_matrices=False)
            counts = xp.count_nonzero(kept, axis=1)
            real = xp.arange(c.shape[1], device=c.device) < counts[:, None]
            w = xp.where(real, sigma**2, 0.0)
        return w, xp.where((scale > 0)[:, :, None] & (w > 0)[:, None, :], V, 0.0)

    def _check(self, xp: Any, c: Array, own: Array) -> None:
        """Raise an error where the matrix of a class is not positive semidefinite."""
        rounding = max(NEGATIVE, eps(self.dtype) ** 0.5)
        lowest = c[:, 0] < -rounding * at_least(c[:, -1], 1.0)
        bad = to_host(lowest | (xp.min(own, axis=1) < -rounding * xp.max(xp.abs(own))))
        if bad.any():
            i = int(np.argmax(bad))
            own_block = self.K[i, : self.sizes[i], : self.sizes[i]]
            w = to_host(xp.linalg.eigvalsh(own_block))
            raise NotPositiveSemidefinite(i, float(w[0]), float(w[-1]))

    def start(self, atoms: Sequence[NDArray]) -> list[NDArray]:
        xp = self.xp
        A, sizes = scaled_to_one(xp.matrix_transpose(self._as_stack(atoms)))
        squares = xp.sum(A * (A @ self.K), axis=2)
        # |sum_t a_t phi_t| <= sum_t |a_t| |phi_t|; far below that, all has cancelled.
        lengths = xp.sqrt(at_least(xp.linalg.diagonal(self.K), 0.0))
        bound = (xp.abs(A) @ lengths[:, :, None])[:, :, 0] ** 2
        norms = xp.sqrt(xp.where(squares > 100 * float(EPS) * bound, squares, 0.0))
        alive = (norms > 0)[:, :, None]
        self._duals = xp.where(alive, A / xp.where(norms > 0, norms, 1.0)[:, :, None], 0.0)
        self.D = normalised(self._duals @ self.R)
        found = to_host(norms * sizes)
        return [row[:count] for row, count in zip(found, self.n_atoms, strict=True)]

    def start_combined(self, weights: Sequence[NDArray]) -> None:
        self.start(weights)

    def n_rows(self, i: int) -> int:
        return self.sizes[i]

    def accept(self, which: slice, D: Array) -> None:
        self.D[which, :, :] = D
        self._duals = None

    def dictionaries(self) -> list[Array]:
        xp, duals = self.xp, self._duals
        if duals is None:
            inverse = xp.where(self.w > 0, 1 / xp.where(self.w > 0, self.w, 1.0), 0.0)
            duals = (self.D * inverse[:, None, :]) @ xp.matrix_transpose(self.R)
        A = xp.matrix_transpose(duals)
        return [A[i, :N, :n] for i, (N, n) in enumerate(zip(self.sizes, self.n_atoms, strict=True))]

    def _drawn(self, i: int, weights: Array) -> Array:
        return weights.T @ self.R[i, : self.sizes[i], :]

    def _between(self) -> Array:
        """Return ``Q_l'Q_i`` of all pairs (C, r, C, r), the angles between whitened classes."""
        if self._angles is None:
            xp, sizes = self.xp, tuple(self.sizes)
            inverse = xp.where(self.w > 0, 1 / xp.where(self.w > 0, self.w, 1.0), 0.0)
            W = self.R * inverse[:, None, :]  # (C, N, r)
            whole = cast(self._whole, np.float64, copy=False)
            right = split(whole, sizes) @ W  # (C, all, r)
            C, n_rows, r = right.shape
            right = xp.reshape(xp.permute_dims(right, (0, 2, 1)), (C * r, n_rows))
            both = split(right, sizes) @ W  # (C, C r, r)
            self._angles = xp.permute_dims(xp.reshape(both, (C, C, r, r)), (0, 3, 1, 2))
        return self._angles

    def _shares(self, i: int) -> Array:
        """Return ``D_l'Q_l'Q_i`` of all other classes (C n, r): P is its product with itself."""
        xp = self.xp
        M = self.D @ self._between()[:, :, i, :]
        M[i, :, :] = 0.0
        return xp.reshape(M, (-1, M.shape[2]))

    def penalty(self, i: int, W: Array) -> Array:
        M = self._shares(i)
        return M.T @ (M @ W)

    def mean_penalties(self) -> NDArray:
        xp = self.xp
        traces = xp.stack([xp.sum(self._shares(i) ** 2) for i in range(len(self.sizes))])
        return to_host(traces) / np.maximum(1, self._ranks)

    def eigenbasis(self, i: int, right: Array, energies: Array, gamma: float) -> tuple[Any, Any]:
        M = self._shares(i)
        values, B = self.xp.linalg.eigh(M.T @ M)
        return B, at_least(values, 0.0)

    def coherence(self) -> float:
        total = 0.0
        for i in range(len(self.sizes)):
            total = total + self.xp.sum((self._shares(i) @ self.D[i, :, :].T) ** 2)
        return float(total)

    def rank(self, i: int) -> int:
        return int(self._ranks[i])
