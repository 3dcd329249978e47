"""Sums over all rows: all that a head needs of them, whatever their number."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dtpttr, dtrttp

from kerndict._arrays import Array, at_least, beside, cast, namespace, on_host, one_hot, solve_upper
from kerndict._state import stored
from kerndict.landmarks.draw import Landmarks


@dataclass
class Sums:
    """Weighted sums over rows y with k the kernel of y with the landmarks.

    Parameters
    ----------
    products : (M, M), ``sum w k k'``; on the host only the lower triangle counts
    by_class : (C, M), ``sum w k`` over the rows of each class
    weight : (C,), ``sum w`` of each class
    rows : (C,), how many rows
    energy : ``sum w k(y, y)``
    """

    products: NDArray = stored("real", "M M", name="learner.products")
    by_class: NDArray = stored("real", "C M", name="learner.by_class")
    weight: NDArray = stored("real", "C", name="learner.weight")
    rows: NDArray = stored("index", "C", name="learner.rows")
    energy: float = stored("real", name="learner.energy", default=0.0)

    @classmethod
    def empty(cls, n_landmarks: int, n_classes: int, like: Array = None) -> Self:
        """Return the sums over no rows; those of their kernel are where ``like`` is."""
        products = np.zeros((n_landmarks, n_landmarks), order="F")
        by_class = np.zeros((n_classes, n_landmarks))
        if like is not None:
            products, by_class = beside(products, like), beside(by_class, like)
        return cls(
            products,
            by_class,
            np.zeros(n_classes),
            np.zeros(n_classes, np.int64),
        )

    def add(self, K: NDArray, energies: NDArray, labels: NDArray, weights: NDArray) -> None:
        """Add rows: their kernel with the landmarks, k(y, y), classes and weights."""
        K, n_classes = cast(K, np.float64, copy=False), len(self.weight)
        heavy = beside(weights, K)
        scaled = K * namespace(K).sqrt(heavy)[:, None]
        if on_host(K):
            self.products = dsyrk(1.0, scaled.T, beta=1.0, c=self.products, lower=1, overwrite_c=1)
            order = np.argsort(labels, kind="stable")
            present, starts = np.unique(labels[order], return_index=True)
            self.by_class[present] += np.add.reduceat((K * heavy[:, None])[order], starts, axis=0)
        else:
            self.products += scaled.T @ scaled
            self.by_class += (cast(one_hot(labels, n_classes, K), K.dtype) * heavy[:, None]).T @ K
        self.weight += np.bincount(labels, weights, minlength=n_classes)
        self.rows += np.bincount(labels, minlength=n_classes)
        self.energy += float(heavy @ cast(energies, np.float64, copy=False))

    def packed(self) -> Self:
        """Return the same with the lower triangle of ``products`` alone, (M (M + 1) / 2,).

        It is what a sum takes on its way between machines; :meth:`merge` adds such sums, too.
        """
        return self._with(dtrttp(self.products, uplo="L")[0])

    def unpacked(self) -> Self:
        """Return what :meth:`packed` was made from."""
        products = dtpttr(self.by_class.shape[1], self.products, uplo="L")[0]
        return self._with(products)

    def _with(self, products: NDArray) -> Self:
        """Return these sums with other products; nothing that is added to them changes others."""
        apart = {name: getattr(self, name).copy() for name in ("by_class", "weight", "rows")}
        return replace(self, products=products, **apart)

    def merge(self, other: "Sums") -> None:
        """Add the sums over other rows."""
        for name in ("products", "by_class", "weight", "rows"):
            getattr(self, name)[...] += getattr(other, name)
        self.energy += other.energy


@dataclass(frozen=True)
class Principal:
    """Orthonormal coordinates in which the second moment of all rows is diagonal.

    Parameters
    ----------
    basis : (M, M), coordinates are ``k(y, landmarks) basis``
    spread : (M,), the second moment of each, largest first
    by_class : (C, M), the sums of the rows of each class
    unit : the mean of k(y, y), of which ridges are multiples
    """

    basis: NDArray
    spread: NDArray
    by_class: NDArray
    unit: float

    @classmethod
    def from_sums(cls, landmarks: Landmarks, sums: Sums, mean: float = 1.0) -> Self:
        """Return the coordinates of all rows that were added; ``mean`` counts as a weight of 1."""
        R, G = landmarks.factor, sums.products
        xp = namespace(R)
        if on_host(G):
            G = np.tril(G)
            G += np.tril(G, -1).T
        half = solve_upper(R, G, transposed=True)
        S = solve_upper(R, half.T, transposed=True)
        spread, U = xp.linalg.eigh((S + S.T) / 2)
        basis = solve_upper(R, xp.flip(U, axis=1))
        spread = at_least(xp.flip(spread), 0) / mean
        unit = sums.energy / max(float(sums.weight.sum()), np.finfo(np.float64).tiny)
        return cls(basis, spread, sums.by_class @ basis / mean, unit or 1.0)
