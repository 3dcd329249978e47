"""What every space and every training set can do."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from kerndict.core.batched import BatchedProblem
from kerndict.core.problem import Problem
from kerndict.preparation import Preparation


class Space(ABC):
    """Where the signals and atoms of a fitted model live.

    Atoms are one array per class, in coordinates of the space: features, or training rows.

    Attributes
    ----------
    n_features : int, the numbers in a row
    fit_indices : (N,), the rows given to `fit` in the order in which the model has them, or None
        where they were not kept
    """

    #: The array of the atoms in a file, and its shape in letters.
    atom_name: ClassVar[str]
    atom_shape: ClassVar[str]
    #: Whether an atom is a row of features itself; else it is a combination of training rows.
    atoms_are_rows: ClassVar[bool]
    n_features: int
    fit_indices: NDArray | None
    #: What rows go through first, None where they are taken as they are.
    preparation: Preparation | None

    @property
    def energies_known(self) -> bool:
        """Whether the space can tell k(y, y) of new rows."""
        return True

    def check_shape(self, shape: tuple[int, ...]) -> None:  # noqa: B027
        """Raise a ValueError where rows of this shape are something else than the space takes."""

    @abstractmethod
    def check(self, X: NDArray) -> None:
        """Raise a ValueError where numbers in the rows are too large to be multiplied."""

    @abstractmethod
    def energies(self, X: NDArray) -> NDArray | None:
        """Return k(y, y) of every row, or None where it cannot be known.

        Raises
        ------
        ValueError
            The energies overflow.
        """

    @abstractmethod
    def correlations(self, X: NDArray, atoms: Sequence[NDArray]) -> Iterator[NDArray]:
        """Yield the correlations of every row with the atoms of each class in turn."""

    @abstractmethod
    def numbers_per_row(self) -> int:
        """Return the numbers per row that :meth:`correlations` holds beside its result."""

    @abstractmethod
    def atom_products(self, atoms: Sequence[NDArray], K: NDArray | None) -> Iterator[NDArray]:
        """Yield the correlations of the atoms of each class with those of all classes.

        ``K`` is the kernel matrix given to `fit`, where the space does not keep what it needs.
        """

    @abstractmethod
    def atom_rows(self, atoms: Sequence[NDArray], samples: NDArray | None) -> list[NDArray]:
        """Return something to see of the atoms of each class, as rows of features.

        The atoms themselves, or in the place of combinations of training rows their weighted
        mean, ``X_i' a / |a|_1``.  ``samples`` are the training rows as given to `fit`, where the
        space does not keep them.
        """

    @abstractmethod
    def training_weights(
        self, codes: NDArray, atoms: NDArray, training_codes: NDArray | None
    ) -> NDArray | None:
        """Return how much each training row of a class stands behind codes over its atoms.

        ``training_codes`` are those of the class after the last pass, None where they are gone.
        The result is (rows of codes, rows of the class), or None where it cannot be told.
        """

    def listed_rows(self, start: int, count: int) -> NDArray | None:
        """Return the rows given to `fit` that :meth:`training_weights` speaks of, or None.

        ``start`` and ``count`` tell the place of the class among all rows grouped by class.
        """
        return None if self.fit_indices is None else self.fit_indices[start : start + count]


class TrainingSet(ABC):
    """The training rows of a fit grouped by class; or those of a fold, and the rows left out.

    Attributes
    ----------
    sizes : (n_classes,), the rows of each class that take part
    dtype : the precision of the rows
    """

    sizes: NDArray
    dtype: np.dtype

    @abstractmethod
    def problem(self, incoherent: bool) -> Problem | BatchedProblem:
        """Return the rows as signals to learn from; ``incoherent`` tells whether gamma > 0."""

    @abstractmethod
    def without(self, left_out: NDArray) -> Self:
        """Return the same without some of the rows, a mask over all rows grouped by class."""

    @abstractmethod
    def unweighted(
        self, atoms: Sequence[NDArray], codes: Sequence[NDArray]
    ) -> tuple[list[NDArray], list[NDArray]]:
        """Return atoms and codes of the rows as they are, where weighted ones were learned from.

        A row of weight w is learned from as a signal ``sqrt(w)`` times itself.
        """

    @abstractmethod
    def grams(self, atoms: Sequence[NDArray]) -> list[NDArray]:
        """Return the Gram matrix of the atoms of every class, in the precision of the rows."""

    @abstractmethod
    def full_gram(self, atoms: Sequence[NDArray]) -> NDArray:
        """Return the Gram matrix of the atoms of all classes, in double precision."""

    @abstractmethod
    def left_out_correlations(self, atoms: Sequence[NDArray]) -> NDArray:
        """Return the correlations of the rows left out with the atoms of all classes."""

    @abstractmethod
    def left_out_energies(self) -> NDArray:
        """Return k(y, y) of the rows left out."""
