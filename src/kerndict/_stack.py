"""The matrices of all classes in one array, so that a device multiplies them all at once.

On a device a product of every class would take as long to begin as to run.  Classes that differ in
size are padded with zeros, which change neither sums nor products.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import Array, beside, namespace


@dataclass(frozen=True)
class Stack:
    """Matrices (C, a, b) of C classes; that of class c is in the first rows and columns of its own.

    ``heights`` and ``widths`` are those of the matrices.
    """

    blocks: Array
    heights: tuple[int, ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, blocks: Sequence[Array]) -> "Stack":
        """Stack matrices, one of each class."""
        heights = tuple(block.shape[0] for block in blocks)
        widths = tuple(block.shape[1] for block in blocks)
        return cls(padded(blocks), heights, widths)

    def split(self, rows: Array) -> Array:
        """Return (N, sum of heights), side by side for all classes, as (C, N, a)."""
        return split(rows, self.heights)

    def join(self, parts: Array) -> Array:
        """Return (C, N, b) as (N, sum of widths), side by side for all classes."""
        xp, (_, n_rows, _) = namespace(parts), parts.shape
        wide = xp.reshape(xp.permute_dims(parts, (1, 0, 2)), (n_rows, -1))
        if len(set(self.widths)) == 1:
            return wide
        return xp.take(wide, beside(_filled(self.widths), parts), axis=1)


def split(rows: Array, sizes: tuple[int, ...]) -> Array:
    """Return (N, sum of sizes), side by side for all classes, as (C, N, largest size)."""
    xp, shape = namespace(rows), (rows.shape[0], len(sizes), max(sizes))
    if len(set(sizes)) == 1:
        return xp.permute_dims(xp.reshape(rows, shape), (1, 0, 2))
    places, mask = _places(sizes)
    wide = xp.take(rows, beside(places, rows), axis=1) * beside(mask, rows, rows.dtype)
    return xp.permute_dims(xp.reshape(wide, shape), (1, 0, 2))


def padded(blocks: Sequence[Array]) -> Array:
    """Return matrices of one array as (C, a, b), the smaller ones with zeros behind them."""
    xp, shapes = namespace(*blocks), tuple(block.shape for block in blocks)
    if len(set(shapes)) == 1:
        return xp.stack(list(blocks))
    flat = [xp.reshape(block, (-1,)) for block in blocks]
    flat.append(xp.zeros_like(blocks[0][:1, :1])[0, :])  # what padding reads
    places, shape = _flat_places(tuple((int(h), int(w)) for h, w in shapes))
    return xp.reshape(xp.take(xp.concat(flat), beside(places, blocks[0]), axis=0), shape)


@lru_cache(maxsize=32)
def _filled(sizes: tuple[int, ...]) -> NDArray:
    """Return the columns of padded matrices that hold something."""
    most = max(sizes)
    return np.concatenate([c * most + np.arange(size) for c, size in enumerate(sizes)])


@lru_cache(maxsize=32)
def _places(sizes: tuple[int, ...]) -> tuple[NDArray, NDArray]:
    """Return for every column of padded matrices where it comes from, and whether from anywhere."""
    columns, counts = np.arange(max(sizes)), np.array(sizes)[:, None]
    starts = (np.cumsum(sizes) - sizes)[:, None]
    inside = columns < counts
    return np.where(inside, starts + columns, 0).reshape(-1), inside.reshape(-1).astype(np.float64)


@lru_cache(maxsize=32)
def _flat_places(
    shapes: tuple[tuple[int, int], ...],
) -> tuple[NDArray, tuple[int, int, int]]:
    """Return where the entries of padded matrices come from; behind all others there is a zero."""
    heights, widths = np.array(shapes).T
    ends = np.cumsum(heights * widths)
    rows, columns = np.arange(heights.max())[:, None], np.arange(widths.max())
    starts = (ends - heights * widths)[:, None, None]
    inside = (rows < heights[:, None, None]) & (columns < widths[:, None, None])
    places = np.where(inside, starts + rows * widths[:, None, None] + columns, ends[-1])
    return places.reshape(-1), (len(shapes), int(heights.max()), int(widths.max()))
