"""The kernel matrix of all signals, grouped by class: half of it is kept, and shared by subsets."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kerndict.core.panels import BlockDiagonal, BlockTriangle


class KernelMatrix:
    """A symmetric matrix of signals grouped by class, or of some of the signals.

    Only the blocks on and below the diagonal are stored, N^2 / 2 numbers, and a subset refers to
    those of the whole: nothing is computed or stored a second time.

    Parameters
    ----------
    triangle : the blocks of all signals
    members : for every class, which of its signals take part, in ascending order
    """

    def __init__(self, triangle: BlockTriangle, members: Sequence[NDArray] | None = None) -> None:
        self._triangle = triangle
        self._whole = members is None
        if members is None:
            members = [np.arange(size) for size in triangle.sizes]
        self._members = list(members)

    @classmethod
    def from_panels(
        cls, panels: Iterable[NDArray], sizes: Sequence[int], dtype: np.dtype
    ) -> "KernelMatrix":
        """Store panels as they come: per class its columns, from its own rows down."""
        triangle = BlockTriangle(sizes, dtype)
        for i, panel in enumerate(panels):
            triangle.panel(i)[:] = panel
        return cls(triangle)

    @property
    def dtype(self) -> np.dtype:
        """The precision of the entries."""
        return self._triangle.dtype

    @property
    def sizes(self) -> list[int]:
        """The signals of each class that take part."""
        return [len(part) for part in self._members]

    def subset(self, members: Sequence[NDArray]) -> Self:
        """Return the matrix of some of the signals of the whole, which is shared."""
        return type(self)(self._triangle, members)

    def scale(self, roots: NDArray) -> None:
        """Multiply every signal of the whole by a number of its own; the entries are changed."""
        starts = self._triangle.starts
        for i in range(len(self._members)):
            panel = self._triangle.panel(i)
            panel *= roots[starts[i] :, None].astype(self.dtype)
            panel *= roots[starts[i] : starts[i + 1]].astype(self.dtype)

    def own_block(self, i: int) -> NDArray:
        """Return the block of class i in double precision, a copy."""
        block = self._triangle.block(i, i)
        if not self._whole:
            block = block[np.ix_(self._members[i], self._members[i])]
        return block.astype(np.float64)

    def diagonal(self) -> NDArray:
        """Return k(y, y) of the signals that take part."""
        blocks = (self._triangle.block(i, i) for i in range(len(self._members)))
        return np.concatenate(
            [np.diagonal(K)[part] for K, part in zip(blocks, self._members, strict=True)]
        )

    def gram(self, A: Sequence[NDArray]) -> NDArray:
        """Return ``A'K A`` of all classes, ``A`` their dual atoms, in double precision."""
        starts = _starts([atoms.shape[1] for atoms in A])
        G = np.zeros((starts[-1], starts[-1]))
        for i, below in enumerate(self._products(A)):
            columns = slice(starts[i], starts[i + 1])
            G[starts[i + 1] :, columns] = below
            G[columns, starts[i + 1] :] = below.T
            own = A[i].astype(np.float64, copy=False)
            G[columns, columns] = own.T @ self.own_block(i) @ own
        return G

    def coherence(self, A: Sequence[NDArray]) -> float:
        """Return ``sum |A_l'K_li A_i|_F^2`` over ordered pairs of classes."""
        parts = (below.astype(np.float64, copy=False).ravel() for below in self._products(A))
        return float(2 * sum(part @ part for part in parts))

    def _products(self, A: Sequence[NDArray]) -> Iterator[NDArray]:
        """Yield ``A_l'K_li A_i`` of all classes l beyond i, for every class i in turn."""
        left = BlockDiagonal([atoms.T for atoms in A], self.dtype)
        for i, atoms in enumerate(A):
            panel = self._below(i) @ atoms.astype(self.dtype, copy=False)
            yield left.times(panel, i + 1, origin=i + 1)

    def whitened(self, W: BlockDiagonal) -> BlockTriangle:
        """Return ``W K W'`` for the block-diagonal matrix W, one block per class."""
        result = BlockTriangle(W.heights.tolist(), self.dtype)
        for i in range(len(self._members)):
            panel = self._panel(i) @ W.block(i).T
            W.times(panel, i, origin=i, out=result.panel(i))
        return result

    def correlations(self, A: Sequence[NDArray], others: Sequence[NDArray]) -> NDArray:
        """Return ``K A`` for signals of the whole that do not take part, as rows.

        ``others`` holds their places in every class, as ``members`` does.
        """
        rows = _starts([len(part) for part in others])
        columns = _starts([atoms.shape[1] for atoms in A])
        B = np.empty((rows[-1], columns[-1]), self.dtype)
        left = BlockDiagonal([atoms.T for atoms in A], self.dtype)
        for i, (atoms, own) in enumerate(zip(A, others, strict=True)):
            panel = self._triangle.panel(i)
            # Their classes at or beyond i, with the atoms of i; those of i, with atoms beyond.
            part = panel[np.ix_(self._places(others, i), self._members[i])]
            B[rows[i] :, columns[i] : columns[i + 1]] = part @ atoms.astype(self.dtype, copy=False)
            beyond = panel[np.ix_(self._places(self._members, i + 1, origin=i), own)]
            B[rows[i] : rows[i + 1], columns[i + 1] :] = left.times(beyond, i + 1, origin=i + 1).T
        return B

    def _panel(self, i: int) -> NDArray:
        """Return the columns of class i, from its own rows down."""
        panel = self._triangle.panel(i)
        if self._whole:
            return panel
        return panel[np.ix_(self._places(self._members, i), self._members[i])]

    def _below(self, i: int) -> NDArray:
        """Return the columns of class i, from the rows of the next class down."""
        return self._panel(i)[len(self._members[i]) :]

    def _places(self, parts: Sequence[NDArray], i: int, origin: int | None = None) -> NDArray:
        """Return the rows of signals of classes i and beyond in the panel of class ``origin``."""
        starts = self._triangle.starts
        first = starts[i if origin is None else origin]
        shifted = [part + starts[k] - first for k, part in enumerate(parts) if k >= i]
        return np.concatenate(shifted) if shifted else np.empty(0, np.int64)


def _starts(sizes: Sequence[int]) -> list[int]:
    return [0, *np.cumsum(sizes).tolist()]
