"""Classes side by side: those of alike size are padded to one size, and computed in one node.

The graph then has as many nodes for a hundred classes as for two.  Classes of very different sizes
are told apart, so that padding never more than doubles a side of what is stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kerndict.export.graph import Graph


@dataclass(frozen=True)
class Groups:
    """Classes in groups; what belongs to the classes stands side by side in columns.

    Parameters
    ----------
    sizes : the columns of every class
    members : the classes of each group
    """

    sizes: list[int]
    members: list[list[int]]

    @classmethod
    def of(cls, sizes: Sequence[int], others: Sequence[int] | None = None) -> Self:
        """Group classes by their columns, and by a second size of theirs."""
        alike: dict[tuple, list[int]] = {}
        pairs = zip(sizes, sizes if others is None else others, strict=True)
        for c, pair in enumerate(pairs):
            alike.setdefault(tuple(int(size).bit_length() for size in pair), []).append(c)
        return cls([int(size) for size in sizes], list(alike.values()))

    def with_sizes(self, sizes: Sequence[int]) -> "Groups":
        """Return the same groups of other columns."""
        return Groups([int(size) for size in sizes], self.members)

    def width(self, members: Sequence[int]) -> int:
        """Return the size that the classes of a group are padded to."""
        return max(self.sizes[c] for c in members)

    def split(self, graph: Graph, flat: str) -> list[str]:
        """Return columns (N, n) as one array (classes, N, width) per group, zeros behind them."""
        even = len(self.members) == 1 and len(set(self.sizes)) == 1
        total = sum(self.sizes)
        if even:
            padded = flat
        else:
            ends = graph.indices([0, 0, 0, 1])
            padded = graph.op("Pad", flat, ends, graph.reals(0.0))
        parts = []
        for members in self.members:
            part, width = padded, self.width(members)
            if not even:
                part = graph.columns(padded, self._places(members, total).ravel())
            part = graph.reshape(part, 0, len(members), width)
            part = graph.op("Transpose", part, perm=[1, 0, 2])
            # The same shape again.  It keeps older versions of onnxruntime from joining this and a
            # product behind it into an operator that they do not have in double precision.
            parts.append(graph.reshape(part, len(members), -1, width))
        return parts

    def join(self, graph: Graph, parts: Sequence[str]) -> str:
        """Return arrays (classes, N, width) as columns (N, n): the way back."""
        flat, places, start = [], np.empty(sum(self.sizes), np.int64), 0
        for members, part in zip(self.members, parts, strict=True):
            width = self.width(members)
            part = graph.op("Transpose", part, perm=[1, 0, 2])
            flat.append(graph.reshape(part, 0, len(members) * width))
            own = self._places(members, -1)
            places[own[own >= 0]] = start + np.flatnonzero(own.ravel() >= 0)
            start += own.size
        every = flat[0] if len(flat) == 1 else graph.op("Concat", *flat, axis=1)
        if (places == np.arange(start)[: len(places)]).all() and len(places) == start:
            return every
        return graph.columns(every, places)

    def by_class(self, graph: Graph, parts: Sequence[str]) -> str:
        """Return one number per class, (classes, N) of each group, as (N, C)."""
        every = parts[0] if len(parts) == 1 else graph.op("Concat", *parts, axis=0)
        order = [c for members in self.members for c in members]
        if order != sorted(order):
            every = graph.columns(every, np.argsort(order), axis=0)
        return graph.op("Transpose", every, perm=[1, 0])

    def matrices(self, members: Sequence[int], blocks: Sequence[NDArray]) -> NDArray:
        """Return the matrices of the classes of a group, padded with zeros to one shape."""
        own = [blocks[c] for c in members]
        shape = tuple(max(block.shape[axis] for block in own) for axis in (0, 1))
        found = np.zeros((len(own), *shape))
        for place, block in zip(found, own, strict=True):
            place[: block.shape[0], : block.shape[1]] = block
        return found

    def _places(self, members: Sequence[int], nothing: int) -> NDArray:
        """Return where the columns of classes are, (classes, width); ``nothing`` behind them."""
        starts = list(accumulate(self.sizes, initial=0))
        places = np.full((len(members), self.width(members)), nothing)
        for row, c in zip(places, members, strict=True):
            row[: self.sizes[c]] = np.arange(starts[c], starts[c + 1])
        return places
