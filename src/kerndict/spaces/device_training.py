"""Training rows on a device: what all products of a fit and its folds are taken from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import Array, beside, cast, namespace, row_dots, side_by_side, take
from kerndict._stack import Stack, padded
from kerndict.core.batched import BatchedKernelProblem, BatchedLinearProblem, BatchedProblem
from kerndict.kernels import Kernel
from kerndict.spaces.base import TrainingSet
from kerndict.spaces.kernel_training import check_symmetric
from kerndict.spaces.linear import check_squares


@dataclass(frozen=True)
class DeviceKernelTrainingSet(TrainingSet):
    """The whole kernel matrix of training rows grouped by class, and which of them take part.

    ``members`` and ``left_out`` are places in the matrix, on the host.
    """

    K: Array
    sizes: NDArray
    members: NDArray
    left_out: NDArray
    roots: Array | None = None

    @classmethod
    def from_rows(
        cls, kernel: Kernel, X: Array, sizes: NDArray, weights: NDArray | None = None
    ) -> Self:
        """Compute the kernel matrix of rows grouped by class, ``sizes`` of each."""
        K = kernel.matrix(X, X)
        if callable(kernel.name):
            check_symmetric(kernel.name, K)
        return cls.from_matrix(K, np.arange(X.shape[0]), sizes, weights)

    @classmethod
    def from_matrix(
        cls, K: Array, order: NDArray, sizes: NDArray, weights: NDArray | None = None
    ) -> Self:
        """Take a kernel matrix; ``order`` puts its rows behind one another by class."""
        if not np.array_equal(order, np.arange(len(order))):
            K = _block(K, order, order)
        roots = None
        if weights is not None:
            roots = beside(np.sqrt(weights), K, K.dtype)
            K = K * roots[:, None] * roots
        everyone = np.arange(len(order))
        return cls(K, np.asarray(sizes), everyone, everyone[:0], roots)

    @property
    def dtype(self) -> Any:  # type: ignore[override]
        """The precision of the kernel matrix."""
        return self.K.dtype

    def problem(self, incoherent: bool) -> BatchedProblem:
        return BatchedKernelProblem(self._own(), self.sizes.tolist())

    def without(self, left_out: NDArray) -> Self:
        labels = np.repeat(np.arange(len(self.sizes)), self.sizes)
        sizes = np.bincount(labels[~left_out], minlength=len(self.sizes))
        places = self.members
        return type(self)(self.K, sizes, places[~left_out], places[left_out])

    def unweighted(
        self, atoms: Sequence[Array], codes: Sequence[Array]
    ) -> tuple[list[Array], list[Array]]:
        if self.roots is None:
            return list(atoms), list(codes)
        parts = _parts(self.roots, [A.shape[0] for A in atoms])
        duals = [A * part[:, None] for A, part in zip(atoms, parts, strict=True)]
        return duals, _divided(codes, self.roots)

    def grams(self, atoms: Sequence[Array]) -> list[Array]:
        ends = np.cumsum(self.sizes).tolist()
        parts = [slice(end - size, end) for end, size in zip(ends, self.sizes, strict=True)]
        own = self._own()
        K = cast(padded([own[part, part] for part in parts]), np.float64, copy=False)
        A = padded([cast(A, np.float64, copy=False) for A in atoms])
        return _grams(namespace(K).matrix_transpose(A) @ (K @ A), atoms, self.dtype)

    def full_gram(self, atoms: Sequence[Array]) -> Array:
        stack = Stack.of([cast(A, np.float64, copy=False) for A in atoms])
        half = stack.join(stack.split(cast(self._own(), np.float64, copy=False)) @ stack.blocks)
        return stack.join(stack.split(half.T) @ stack.blocks)

    def left_out_correlations(self, atoms: Sequence[Array]) -> Array:
        stack = Stack.of(atoms)
        return stack.join(stack.split(_block(self.K, self.left_out, self.members)) @ stack.blocks)

    def left_out_energies(self) -> Array:
        return take(namespace(self.K).linalg.diagonal(self.K), self.left_out)

    def _own(self) -> Array:
        """Return the kernel matrix of the rows that take part."""
        if len(self.members) == self.K.shape[0]:
            return self.K
        return _block(self.K, self.members, self.members)


@dataclass(frozen=True)
class DeviceLinearTrainingSet(TrainingSet):
    """Training rows (N, m) grouped by class, and those left out."""

    X: Array
    sizes: NDArray
    left_out: Array
    roots: Array | None = None

    @classmethod
    def from_rows(cls, X: Array, sizes: NDArray, weights: NDArray | None = None) -> Self:
        """Take rows grouped by class; as for :class:`kerndict.spaces.LinearTrainingSet`."""
        check_squares(X)
        if weights is None:
            return cls(X, sizes, X[:0, :])
        roots = beside(np.sqrt(weights), X, X.dtype)
        return cls(X * roots[:, None], sizes, X[:0, :], roots)

    @property
    def dtype(self) -> Any:  # type: ignore[override]
        """The precision of the rows."""
        return self.X.dtype

    def problem(self, incoherent: bool) -> BatchedProblem:
        return BatchedLinearProblem(self.X, self.sizes.tolist())

    def without(self, left_out: NDArray) -> Self:
        labels = np.repeat(np.arange(len(self.sizes)), self.sizes)
        sizes = np.bincount(labels[~left_out], minlength=len(self.sizes))
        kept, rest = (take(self.X, np.flatnonzero(which)) for which in (~left_out, left_out))
        return type(self)(kept, sizes, rest)

    def unweighted(
        self, atoms: Sequence[Array], codes: Sequence[Array]
    ) -> tuple[list[Array], list[Array]]:
        return list(atoms), list(codes) if self.roots is None else _divided(codes, self.roots)

    def grams(self, atoms: Sequence[Array]) -> list[Array]:
        D = padded([cast(D, np.float64, copy=False) for D in atoms])
        return _grams(namespace(D).matrix_transpose(D) @ D, atoms, self.dtype)

    def full_gram(self, atoms: Sequence[Array]) -> Array:
        D = cast(side_by_side(atoms), np.float64, copy=False)
        return D.T @ D

    def left_out_correlations(self, atoms: Sequence[Array]) -> Array:
        return self.left_out @ side_by_side(atoms)

    def left_out_energies(self) -> Array:
        return row_dots(self.left_out, self.left_out)


def _block(K: Array, rows: NDArray, columns: NDArray) -> Array:
    return namespace(K).take(take(K, rows), beside(columns, K), axis=1)


def _grams(G: Array, atoms: Sequence[Array], dtype: Any) -> list[Array]:
    """Return the Gram matrix of each class from all of them, padded."""
    G = cast(G, dtype, copy=False)
    return [G[c, : A.shape[1], : A.shape[1]] for c, A in enumerate(atoms)]


def _parts(values: Array, sizes: Sequence[int]) -> list[Array]:
    ends = np.cumsum(sizes).tolist()
    return [values[end - size : end] for end, size in zip(ends, sizes, strict=True)]


def _divided(codes: Sequence[Array], roots: Array) -> list[Array]:
    """Return the codes of rows from those of ``roots`` times the rows, one array per class."""
    parts = _parts(roots, [X.shape[0] for X in codes])
    return [X / part[:, None] for X, part in zip(codes, parts, strict=True)]
