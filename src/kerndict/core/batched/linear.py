"""IDL on a device: Algorithm 1 in feature space; see :mod:`kerndict.core.linear`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import Array, at_least, cast, eps, namespace, to_host
from kerndict._stack import padded
from kerndict.core.batched.problem import BatchedProblem, counted_ranks, normalised, scaled_to_one
from kerndict.core.incoherence import krylov_eigenbasis, orthonormal
from kerndict.core.linear import SMALL


class BatchedLinearProblem(BatchedProblem):
    """IDL: the signals as they are.

    Parameters
    ----------
    X : (sum of sizes, r), the signals grouped by class, as rows
    sizes : signals of each class
    """

    def __init__(self, X: Array, sizes: Sequence[int]) -> None:
        self.dtype, self.sizes = X.dtype, list(sizes)
        self.floor = float(eps(X.dtype)) ** (2 / 3)
        ends = np.cumsum(sizes).tolist()
        wide = cast(X, np.float64, copy=False)
        parts = [wide[end - size : end, :] for end, size in zip(ends, sizes, strict=True)]
        self.R = padded(parts)
        self.w = namespace(X).ones_like(self.R[:, 0, :])
        self._ranks: NDArray | None = None

    def start(self, atoms: Sequence[NDArray]) -> list[NDArray]:
        self.D, norms = scaled_to_one(self.xp.matrix_transpose(self._as_stack(atoms)))
        found = to_host(norms)
        return [row[:count] for row, count in zip(found, self.n_atoms, strict=True)]

    def start_combined(self, weights: Sequence[NDArray]) -> None:
        self.D = normalised(self.xp.matrix_transpose(self._as_stack(weights)) @ self.R)

    def n_rows(self, i: int) -> int:
        return self.R.shape[2]

    def accept(self, which: slice, D: Array) -> None:
        self.D[which, :, :] = D

    def dictionaries(self) -> list[Array]:
        return [self.D[i, :n, :].T for i, n in enumerate(self.n_atoms)]

    def _drawn(self, i: int, weights: Array) -> Array:
        return weights.T

    def _others(self, i: int) -> Array:
        """Return the atoms of all other classes as rows: P is their product with themselves."""
        D = self.xp.asarray(self.D, copy=True)
        D[i, :, :] = 0.0
        return self.xp.reshape(D, (-1, D.shape[2]))

    def penalty(self, i: int, W: Array) -> Array:
        D = self._others(i)
        return D.T @ (D @ W)

    def mean_penalties(self) -> NDArray:
        xp, means = self.xp, []
        for i, size in enumerate(self.sizes):
            Q = orthonormal(normalised(self.R[i, :size, :]).T)
            means.append(xp.sum(Q * self.penalty(i, Q)) / max(1, Q.shape[1]))
        return to_host(xp.stack(means))

    def eigenbasis(self, i: int, right: Array, energies: Array, gamma: float) -> tuple[Any, Any]:
        xp, own = self.xp, self.D[i, : self.n_atoms[i], :]
        W = xp.concat([normalised(self.R[i, : self.sizes[i], :]), own], axis=0).T
        if W.shape[0] <= max(SMALL, 2 * W.shape[1]):
            D = self._others(i)
            values, B = xp.linalg.eigh(D.T @ D)
            return B, at_least(values, 0.0)
        return krylov_eigenbasis(lambda V: self.penalty(i, V), W, right, energies, gamma)

    def coherence(self) -> float:
        total = 0.0
        for i in range(len(self.sizes)):
            total = total + self.xp.sum((self._others(i) @ self.D[i, :, :].T) ** 2)
        return float(total)

    def rank(self, i: int) -> int:
        if self._ranks is None:
            xp, R = self.xp, self.R
            flipped = xp.matrix_transpose(R)
            gram = R @ flipped if R.shape[1] <= R.shape[2] else flipped @ R
            kept = counted_ranks(xp, xp.linalg.eigvalsh(gram), self.dtype)
            self._ranks = to_host(xp.count_nonzero(kept, axis=1))
        return int(self._ranks[i])
