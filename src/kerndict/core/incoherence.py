"""The penalty P that keeps the dictionaries of different classes apart.

For class i, ``d'P d = sum_{l != i} |D_l'd|^2``; the coherence term of (3) and (7) is
``sum_i sum_{l != i} |D_i'D_l|_F^2``, over ordered pairs.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsymm, dsyrk

from kerndict._arrays import at_least, eps, namespace, on_host

#: Dictionaries that a product with S takes at once.
GROUP = 8
#: Relative residual of (12) at which the Krylov space is deep enough.
RESIDUAL = 1e-6
#: Blocks beyond the first, at most.
MAX_DEPTH = 2


class OuterSum:
    """``S = sum_l D_l D_l'``, a running sum over the dictionaries of all classes.

    ``P = S - D_i D_i'``, so that a class costs one product with S, not one with each
    other dictionary.  S is symmetric: only its lower triangle is kept, the rest is zero.
    When the atoms are few beside the features, S stays a product: forming it would cost
    more, in time and in memory (m x m).

    Products with S are the faster the wider they are.  What replaces a dictionary therefore
    waits in a list until S is needed as it is, and :meth:`repulsion` multiplies S by the
    dictionaries of the next few classes at once, adding what has waited since.
    """

    def __init__(self, D: Sequence[NDArray]) -> None:
        self._D = list(D)
        m, total = D[0].shape[0], sum(d.shape[1] for d in D)
        self._waiting: list[tuple[NDArray, NDArray]] = []  # old and new
        self._ahead: dict[int, NDArray] = {}  # S D_l of classes to come, but for what waits
        self._S: NDArray | None = None
        if m <= 2 * total:
            self._S = np.zeros((m, m), order="F")
            for d in D:
                self._add(1.0, d)

    def _add(self, sign: float, d: NDArray) -> None:
        self._S = dsyrk(sign, d, beta=1.0, c=self._S, overwrite_c=1, lower=1)

    def _settle(self) -> None:
        """Bring S up to date."""
        if self._waiting:
            for sign, d in zip((-1.0, 1.0), zip(*self._waiting, strict=True), strict=True):
                self._add(sign, np.hstack(d))
            self._waiting, self._ahead = [], {}

    def replace(self, i: int, D_i: NDArray) -> None:
        """Let D_i take the place of the dictionary of class i."""
        if self._S is not None:
            self._waiting.append((self._D[i], D_i))
            self._ahead.pop(i, None)
        self._D[i] = D_i

    def penalty(self, i: int, W: NDArray) -> NDArray:
        """Return P W for class i, W (m, any)."""
        self._settle()
        if self._S is not None:
            return dsymm(1.0, self._S, W, lower=1) - self._D[i] @ (self._D[i].T @ W)
        return sum(d @ (d.T @ W) for k, d in enumerate(self._D) if k != i)

    def lower(self, i: int) -> NDArray:
        """Return the lower triangle of P for class i; what is above it means nothing."""
        self._settle()
        own = self._D[i] @ self._D[i].T
        return (sum(d @ d.T for d in self._D) if self._S is None else self._S) - own

    def repulsion(self, i: int) -> NDArray:
        """Return P D_i for class i."""
        D = self._D[i]
        if self._S is None:
            return self.penalty(i, D)
        if i not in self._ahead:
            self._settle()
            group = self._D[i : i + GROUP]
            images = dsymm(1.0, self._S, np.hstack(group), lower=1)
            ends = np.cumsum([d.shape[1] for d in group])
            self._ahead = dict(enumerate(np.split(images, ends[:-1], axis=1), i))
        image = self._ahead[i] - D @ (D.T @ D)
        for old, new in self._waiting:
            image += new @ (new.T @ D) - old @ (old.T @ D)
        return image

    def coherence(self) -> float:
        """Return the coherence term, ``|S|_F^2 - sum_i |D_i'D_i|_F^2``."""
        self._settle()
        if self._S is not None:
            lower = self._S.ravel(order="K")
            squares = 2 * (lower @ lower) - np.sum(np.diagonal(self._S) ** 2)
            own = sum(np.sum((d.T @ d) ** 2) for d in self._D)
            return max(0.0, float(squares - own))
        return pairwise_coherence(len(self._D), lambda i, k: self._D[i].T @ self._D[k])


def pairwise_coherence(n_classes: int, product: Callable[[int, int], NDArray]) -> float:
    """Return the coherence term from the products ``D_i'D_l``, each pair once."""
    pairs = ((i, k) for i in range(n_classes) for k in range(i))
    return float(2 * sum(np.sum(product(i, k) ** 2) for i, k in pairs))


def krylov_eigenbasis(
    penalty: Callable[[NDArray], NDArray],
    W: NDArray,
    right: NDArray,
    energies: NDArray,
    gamma: float,
) -> tuple[NDArray, NDArray]:
    """Return orthonormal columns B and values with ``P ~ B diag(values) B'``.

    Every atom of a class solves (12), ``(|x|^2 + 2 gamma P) v = F x``, and starts from
    right-hand sides in the span of ``W = [Y_i D_i]``.  The solutions are functions of P
    applied to that span, so they are sought in the block Krylov space
    ``[W, P W, P^2 W, ...]``: as deep as a residual test on all atoms asks, but at most
    ``MAX_DEPTH``.  Since W holds the old atoms, the minimum of (8) over the space
    is never above its value at the old atom, however shallow the space.

    Parameters
    ----------
    penalty : W -> P W
    W : (m, any), normalised columns
    right, energies : (m, n) and (n,), ``F x`` and ``|x|^2`` of the atoms in use
    gamma : float
    """
    xp = namespace(W)
    block = basis = orthonormal(W)
    T: NDArray | None = None
    for depth in range(MAX_DEPTH + 1):
        image = penalty(block)
        column = basis.T @ image
        if T is None:
            T = column.T
        else:
            above = xp.concat([T, column[: T.shape[0], :]], axis=1)
            T = xp.concat([above, column.T], axis=0)
        values, V = xp.linalg.eigh(T)
        if depth == MAX_DEPTH:
            break
        rest = image - basis @ column
        rest -= basis @ (basis.T @ rest)
        # The residual of (12) leaves the space through its last block only.
        solution = V @ ((V.T @ (basis.T @ right)) / (energies + 2 * gamma * values[:, None]))
        residual = 2 * gamma * rest @ solution[-block.shape[1] :, :]
        if xp.all(_norms(residual) <= RESIDUAL * _norms(right)):
            break
        block = orthonormal(rest)
        basis = xp.concat([basis, block], axis=1)
    return basis @ V, at_least(values, 0)


def _norms(W: NDArray) -> NDArray:
    xp = namespace(W)
    return xp.sqrt(xp.sum(W**2, axis=0))


def orthonormal(W: NDArray) -> NDArray:
    """Return an orthonormal basis of the columns, from their Gram matrix.

    Directions that weigh less than about ``eps^(1/2)`` of the strongest are left out: in
    energies they are rounding.  The second round mends what the first loses to the square of
    the condition; together they take half the time of a singular value decomposition.
    """
    for _ in range(2):
        xp = namespace(W)
        w, V = xp.linalg.eigh(W.T @ W)
        if on_host(W):
            kept = w > max(W.shape) * np.finfo(W.dtype).eps * w.max(initial=0)
            W = W @ (V[:, kept] / np.sqrt(w[kept]))
        else:  # ascending
            lost = int(xp.count_nonzero(w <= max(W.shape) * eps(W.dtype) * w[-1]))
            W = W @ (V[:, lost:] / xp.sqrt(w[lost:]))
    return W
