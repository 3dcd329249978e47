"""What one class hands to OMP and to the sweep, linear or kernel.

A problem keeps, for every class, signals and atoms in coordinates whose metric is the
identity.  The rest of the core does not know which of the two it works on.
"""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import DTypeLike, NDArray


def numerical_rank(eigenvalues: NDArray, dtype: DTypeLike) -> int:
    """Count the eigenvalues of a Gram matrix that are signal, not rounding.

    The threshold is ``eps^(2/3)`` of the largest, below which OMP takes an atom for
    dependent; a negative eigenvalue shows how far rounding reaches.
    """
    largest = max(eigenvalues.max(initial=0), 0)
    floor = max(np.finfo(dtype).eps ** (2 / 3) * largest, -2 * eigenvalues.min(initial=0))
    return int(np.sum(eigenvalues > floor))


class Problem(ABC):
    """The signals and atoms of all classes.

    Attributes
    ----------
    signals : list of (r_i, N_i), the signals of each class
    atoms : list of (r_i, n), unit columns, set by :meth:`start` and :meth:`accept`
    eigenvalues : list of (r_i,), the diagonal ``R R'`` of (18), ones for IDL
    dtype : the precision of OMP; the sweeps and factorisations run in float64
    """

    signals: list[NDArray]
    atoms: list[NDArray]
    eigenvalues: list[NDArray]
    dtype: np.dtype

    @property
    def sizes(self) -> list[int]:
        """The signals of each class."""
        return [Y.shape[1] for Y in self.signals]

    @abstractmethod
    def start(self, i: int, atoms: NDArray) -> NDArray:
        """Normalise and set the initial atoms of class i; return their norms.

        They come as (m, n) for IDL and as dual coefficients (N_i, n) for IKDL; a
        zero atom stays zero.
        """

    @abstractmethod
    def n_rows(self, i: int) -> int:
        """Return the rows of atoms as :meth:`start` takes them: m or N_i."""

    @abstractmethod
    def combine(self, i: int, weights: NDArray) -> NDArray:
        """Return combinations of the signals of class i as :meth:`start` takes atoms.

        ``weights`` is (N_i, any).
        """

    @abstractmethod
    def accept(self, i: int, D: NDArray) -> None:
        """Set the atoms of class i after a sweep."""

    @abstractmethod
    def dictionary(self, i: int) -> NDArray:
        """Return the atoms of class i as :meth:`start` takes them."""

    @abstractmethod
    def draw(self, i: int, count: int, rng: np.random.RandomState) -> NDArray:
        """Draw Gaussian atoms for class i, (r_i, count), of unit norm."""

    @abstractmethod
    def penalty(self, i: int, W: NDArray) -> NDArray:
        """Return P W for class i, W (r_i, any)."""

    def repulsion(self, i: int) -> NDArray:
        """Return P D for class i and its own atoms D."""
        return self.penalty(i, self.atoms[i])

    @abstractmethod
    def mean_penalty(self, i: int) -> float:
        """Return the mean eigenvalue of P on the span of the signals of class i."""

    @abstractmethod
    def eigenbasis(
        self, i: int, right: NDArray, energies: NDArray, gamma: float
    ) -> tuple[NDArray, NDArray]:
        """Return B (r_i, q) and values with ``P = B diag(values) B'`` where (12) needs it.

        ``right`` (r_i, any) and ``energies`` hold F x and ``|x|^2`` of the atoms in use.
        """

    @abstractmethod
    def coherence(self) -> float:
        """Return the coherence term of (3) or (7)."""

    @abstractmethod
    def rank(self, i: int) -> int:
        """Return the numerical rank of the signals of class i."""

    def correlations(self, i: int) -> tuple[NDArray, NDArray]:
        """Return what OMP needs for class i: ``Y'D`` (N_i, n) and ``D'D`` (n, n)."""
        Y, D = self.signals[i], self.atoms[i]
        return (Y.T @ D).astype(self.dtype, copy=False), D.T @ D


def normalise(atoms: NDArray) -> tuple[NDArray, NDArray]:
    """Return the columns at unit norm in float64, zero ones left zero, and the norms."""
    atoms = atoms.astype(np.float64, copy=False)
    largest = np.abs(atoms).max(axis=0, initial=0)  # squares must not overflow
    scaled = atoms / np.where(largest > 0, largest, 1)
    norms = np.sqrt(np.sum(scaled**2, axis=0))
    return np.asfortranarray(scaled / np.where(norms > 0, norms, 1)), norms * largest
