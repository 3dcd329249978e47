"""Training rows grouped by class, and what spaces can be made of them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import namespace, take
from kerndict.kernels import Kernel, distance_shift, median_distance
from kerndict.preparation import Preparation, Recipe, prepare, spread_of
from kerndict.spaces.base import Space, TrainingSet
from kerndict.spaces.kernel import KernelSpace, PrecomputedSpace
from kerndict.spaces.kernel_training import constant_diagonal
from kerndict.spaces.kinds import kernel_training_set, linear_training_set
from kerndict.spaces.linear import LinearSpace

#: Prepared rows that tell the median distance between all of them.
MEDIAN_ROWS = 600


@dataclass(frozen=True, kw_only=True)
class TrainingRows(ABC):
    """Training rows grouped by class, before it is settled how they are prepared.

    Parameters
    ----------
    X : (N, m), rows grouped by class; or with kernel values in the order given to `fit`
    sizes : (n_classes,), rows of each class
    weights : (N,), those of the rows in that order, None for 1 each
    indices : (N,), the rows given to `fit` that they are
    """

    X: NDArray
    sizes: NDArray
    weights: NDArray | None
    indices: NDArray
    #: How rows spread within their classes, by what was asked before.
    spreads: dict = field(default_factory=dict, init=False, repr=False)

    @property
    def labels(self) -> NDArray:
        """The class of every row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @abstractmethod
    def whole(self, recipe: Recipe) -> tuple[Space, TrainingSet]:
        """Return the space of the rows, prepared by what all of them tell, and them in it."""

    @abstractmethod
    def fold(self, recipe: Recipe, left_out: NDArray) -> TrainingSet:
        """Return a training set without some rows, prepared by what the others tell."""

    @property
    def energies_known(self) -> bool:
        """Whether k(y, y) of new rows is known."""
        return True

    def part(self, places: NDArray, sizes: NDArray) -> Self:
        """Return some of the rows, grouped by class, ``sizes`` of each."""
        weights = None if self.weights is None else self.weights[places]
        return replace(
            self, X=take(self.X, places), sizes=sizes, weights=weights, indices=self.indices[places]
        )

    def _preparation(self, recipe: Recipe, told: NDArray | slice) -> Preparation | None:
        """Return what rows go through, learned from some; strengths share what they can."""
        if recipe == Recipe():
            return None
        which = b"" if isinstance(told, slice) else told.tobytes()
        key = recipe.square_root, recipe.strength > 0, which
        if key not in self.spreads:
            weights = None if self.weights is None else self.weights[told]
            self.spreads[key] = spread_of(recipe, _some(self.X, told), self.labels[told], weights)
        return prepare(recipe, self.X, self.spreads[key])


@dataclass(frozen=True, kw_only=True)
class LinearRows(TrainingRows):
    """Rows whose features are multiplied as they are."""

    def whole(self, recipe: Recipe) -> tuple[LinearSpace, TrainingSet]:
        preparation = self._preparation(recipe, slice(None))
        space = LinearSpace(
            n_features=self.X.shape[1], fit_indices=self.indices, preparation=preparation
        )
        return space, self._training(preparation)

    def fold(self, recipe: Recipe, left_out: NDArray) -> TrainingSet:
        return self._training(self._preparation(recipe, ~left_out)).without(left_out)

    def _training(self, preparation: Preparation | None) -> TrainingSet:
        X = self.X if preparation is None else preparation(self.X)
        return linear_training_set(X).from_rows(X, self.sizes, self.weights)


@dataclass(frozen=True, kw_only=True)
class KernelRows(TrainingRows):
    """Rows that a kernel compares.

    ``kernel`` is the one for rows as they are; ``multiples`` holds the width of an RBF kernel in
    median distances, for rows as they are and for their square roots, None where it was given.
    """

    kernel: Kernel
    multiples: tuple[float, float] | None = None

    def whole(self, recipe: Recipe) -> tuple[KernelSpace, TrainingSet]:
        kernel, training = self._compared(self._preparation(recipe, slice(None)), slice(None))
        space = KernelSpace(
            n_features=self.X.shape[1], kernel=kernel, fit_indices=self.indices, rows=self.X
        )
        return space, training

    def fold(self, recipe: Recipe, left_out: NDArray) -> TrainingSet:
        preparation = self._preparation(recipe, ~left_out)
        return self._compared(preparation, ~left_out)[1].without(left_out)

    def _compared(
        self, preparation: Preparation | None, told: NDArray | slice
    ) -> tuple[Kernel, TrainingSet]:
        """Return the kernel of prepared rows, and all rows; those ``told`` settle the width."""
        kernel, X = self.kernel, self.X
        if preparation is not None:
            X = preparation(X)
            multiple = self.multiples and self.multiples[preparation.square_root]
            kernel = kernel_of_prepared(kernel, _some(X, told), multiple)
        training = kernel_training_set(X).from_rows(kernel, X, self.sizes, self.weights)
        return replace(kernel, preparation=preparation), training


def _some(X: NDArray, told: NDArray | slice) -> NDArray:
    """Return rows, some or all of them."""
    return X if isinstance(told, slice) else take(X, np.flatnonzero(told))


def kernel_of_prepared(kernel: Kernel, Z: NDArray, multiple: float | None) -> Kernel:
    """Return a kernel for prepared rows, some of which are given.

    An RBF kernel gets the width ``multiple`` in their median distances, or keeps its own.
    """
    if kernel.name != "rbf":
        return kernel
    sigma = kernel.sigma
    if multiple is not None:
        sigma = multiple * median_distance(Z, np.random.RandomState(0), MEDIAN_ROWS)
    return replace(kernel, sigma=sigma, shift=distance_shift(Z, sigma))


@dataclass(frozen=True, kw_only=True)
class PrecomputedRows(TrainingRows):
    """Rows of a kernel matrix, which are never prepared; ``indices`` puts them in order."""

    @property
    def energies_known(self) -> bool:
        """Whether k(y, y) of new rows is known."""
        return self._constant() is not None

    def _constant(self) -> float | None:
        return constant_diagonal(namespace(self.X).linalg.diagonal(self.X))

    def whole(self, recipe: Recipe) -> tuple[PrecomputedSpace, TrainingSet]:
        space = PrecomputedSpace(
            n_features=self.X.shape[0], fit_indices=self.indices, training_diagonal=self._constant()
        )
        kind = kernel_training_set(self.X)
        return space, kind.from_matrix(self.X, self.indices, self.sizes, self.weights)

    def fold(self, recipe: Recipe, left_out: NDArray) -> TrainingSet:
        return self.whole(recipe)[1].without(left_out)
