"""What all classes hand to the pursuit and the sweep on a device, linear or kernel."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import Array, at_least, at_most, beside, cast, eps, namespace, to_host
from kerndict._stack import padded


class BatchedProblem(ABC):
    """The signals and atoms of all classes; :class:`kerndict.core.problem.Problem` for devices.

    Attributes
    ----------
    R : (C, N, r), float64
    D : (C, n, r), unit rows, set by :meth:`start` and :meth:`accept`
    w : (C, r), the diagonal of (18), ones for IDL
    sizes, n_atoms : signals and atoms of each class, on the host
    dtype : the precision of the pursuit
    floor : the share of a signal's energy that is rounding
    """

    R: Array
    D: Array
    w: Array
    sizes: list[int]
    n_atoms: list[int]
    dtype: Any
    floor: float

    @property
    def xp(self) -> Any:
        """The namespace of the arrays."""
        return namespace(self.R)

    @abstractmethod
    def start(self, atoms: Sequence[NDArray]) -> list[NDArray]:
        """Normalise and set initial atoms, one array per class; return their norms.

        They come as for `Problem.start`, from the host.
        """

    @abstractmethod
    def start_combined(self, weights: Sequence[NDArray]) -> None:
        """Begin with combinations of the signals of each class, weights (N_i, n_i)."""

    @abstractmethod
    def n_rows(self, i: int) -> int:
        """Return the rows of atoms as :meth:`start` takes them."""

    @abstractmethod
    def accept(self, which: slice, D: Array) -> None:
        """Set the atoms of some classes after a sweep."""

    @abstractmethod
    def dictionaries(self) -> list[Array]:
        """Return the atoms of every class as a space has them, in double precision."""

    @abstractmethod
    def penalty(self, i: int, W: Array) -> Array:
        """Return P W for class i, W (r, any)."""

    @abstractmethod
    def mean_penalties(self) -> NDArray:
        """Return the mean eigenvalue of P on the span of the signals of each class."""

    @abstractmethod
    def eigenbasis(self, i: int, right: Array, energies: Array, gamma: float) -> tuple[Any, Any]:
        """Return B (r, q) and values with ``P = B diag(values) B'`` where (12) needs it."""

    @abstractmethod
    def coherence(self) -> float:
        """Return the coherence term of (3) or (7)."""

    @abstractmethod
    def rank(self, i: int) -> int:
        """Return the numerical rank of the signals of class i."""

    def draw(self, i: int, count: int, rng: np.random.RandomState) -> Array:
        """Draw Gaussian atoms for class i, (count, r), of unit norm."""
        weights = beside(rng.standard_normal((self.n_rows(i), count)), self.R)
        return normalised(self._drawn(i, weights))

    @abstractmethod
    def _drawn(self, i: int, weights: Array) -> Array:
        """Return atoms (count, r) from numbers drawn for them."""

    def nonzero(self) -> list[NDArray]:
        """Return the places of the signals of each class that are not zero."""
        xp = self.xp
        some = to_host(xp.any(self.R != 0, axis=2))
        return [np.flatnonzero(row[:size]) for row, size in zip(some, self.sizes, strict=True)]

    def pivots(self, n: Sequence[int]) -> list[NDArray]:
        """Return the signals that a pivoted Cholesky factorisation takes, n of each class."""
        xp, E = self.xp, self.R
        floor = self.floor * xp.sum(E**2, axis=2)
        places = xp.arange(E.shape[1], device=E.device)
        found, counted = [], []
        for _ in range(min(max(n), E.shape[1])):
            squares = xp.sum(E**2, axis=2)
            errors = xp.where(squares > floor, squares, 0.0)
            largest = xp.max(errors, axis=1, keepdims=True)
            close = cast(errors >= largest * (1 - 1e-9), E.dtype)
            best = xp.argmax(close, axis=1)
            here = places == best[:, None]
            taken = xp.sum(xp.where(here[:, :, None], E, 0.0), axis=1)
            q = taken / xp.sqrt(xp.where(largest > 0, largest, 1.0))
            E = xp.where(here[:, :, None], 0.0, E - (E @ q[:, :, None]) * q[:, None, :])
            found.append(best)
            counted.append(largest[:, 0] > 0)
        best, told = to_host(xp.stack(found, axis=1)), to_host(xp.stack(counted, axis=1))
        return [
            row[: min(count, size)][right[: min(count, size)]]
            for row, right, count, size in zip(best, told, n, self.sizes, strict=True)
        ]

    def _as_stack(self, arrays: Sequence[NDArray]) -> Array:
        """Return arrays of the host, one per class, as one with zeros behind the smaller ones."""
        self.n_atoms = [array.shape[1] for array in arrays]
        return beside(padded([np.asarray(a, np.float64) for a in arrays]), self.R, self.R.dtype)


def normalised(atoms: Array) -> Array:
    """Return rows (..., r) at unit norm, zero ones left zero."""
    return scaled_to_one(atoms)[0]


def scaled_to_one(atoms: Array) -> tuple[Array, Array]:
    """Return rows at unit norm, zero ones left zero, and their norms."""
    xp = namespace(atoms)
    largest = xp.max(xp.abs(atoms), axis=-1, keepdims=True)  # squares must not overflow
    scaled = atoms / xp.where(largest > 0, largest, 1.0)
    norms = xp.sqrt(xp.sum(scaled**2, axis=-1, keepdims=True))
    return scaled / xp.where(norms > 0, norms, 1.0), (norms * largest)[..., 0]


def counted_ranks(xp: Any, c: Array, dtype: Any) -> Array:
    """Return which eigenvalues (C, r) are signal; see `kerndict.core.problem.numerical_rank`."""
    largest = at_least(xp.max(c, axis=1, keepdims=True), 0.0)
    lowest = at_most(xp.min(c, axis=1, keepdims=True), 0.0)
    return c > xp.maximum(eps(dtype) ** (2 / 3) * largest, -2 * lowest)
