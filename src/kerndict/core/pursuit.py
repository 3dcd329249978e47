"""The compiled pursuit behind :mod:`kerndict.core.omp`, which says what it computes.

Two signals are pursued side by side, each step of one beside the same step of the other, so
that the processor always has a second chain of operations to work on; the last of an odd
number keeps itself company.  Every signal goes through the same operations in the same order
wherever it stands, so that its code does not depend on its neighbours.

Rows of ``Q`` are an odd number of vectors apart: a power of two apart, they would compete for
the same places in the caches.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kerndict.core._jit import ORDERED
from kerndict.core.vectors import (
    BYTES,
    aligned,
    at,
    first_from,
    fma,
    largest_above,
    load,
    magnitude,
    store,
    times,
)

#: Vectors per tile: two signals' tiles of ``Q`` stay in registers through a loop.
TILE = 5


class Shape(NamedTuple):
    """Lengths of rows, in numbers."""

    n: int
    s: int
    lanes: int  # of a vector
    extent: int  # n in whole vectors; the atoms added are zero
    stride: int  # from row to row of Q
    width: int  # s in whole vectors


class Atoms(NamedTuple):
    """Pointers to what the signals share."""

    G: NDArray  # (n, extent)
    norms: NDArray  # (extent,), |d_j|
    inverses: NDArray  # (extent,), 1 / |d_j|, or 0


class Signal(NamedTuple):
    """Pointers to the state of one pursuit."""

    alpha: NDArray  # (extent,), correlations of the residual; NaN for atoms that are out
    Q: NDArray  # (s, stride), coordinates of the atoms along the new directions
    R: NDArray  # (s, width), R[k, i] = -Q[i, support[k]] for i < k
    c: NDArray  # (width,), coordinates of the signal
    inverses: NDArray  # (width,), 1 / Q[k, support[k]]
    support: NDArray  # (s,)


class Step(NamedTuple):
    """The new direction: ``q_k = (g + R[k] Q) * inverse``; the signal's coordinate is c."""

    g: NDArray
    r: NDArray
    inverse: float
    c: float


def shape_of(n: int, s: int, dtype: np.dtype) -> tuple[Shape, int]:
    """Return the lengths of rows and the numbers of work space they need."""
    lanes = BYTES // dtype.itemsize
    vectors = -(-n // lanes)
    shape = Shape(n, s, lanes, vectors * lanes, (vectors | 1) * lanes, -(-s // lanes) * lanes)
    shared = (shape.extent + 2) * shape.extent
    signal = shape.extent + s * shape.stride + (s + 2) * shape.width
    return shape, shared + 2 * signal + lanes


@njit(**ORDERED)
def _share(G, shape, space):  # type: ignore[no-untyped-def]
    """Lay out what the signals share; return it and the rest of the space."""
    n, extent = shape.n, shape.extent
    norms, inverses = at(space, 0), at(space, extent)
    rows, rest = at(space, 2 * extent), at(space, (2 + extent) * extent)
    for j in range(n):
        if G[j, j] > 0:
            norms[j] = np.sqrt(G[j, j])
            inverses[j] = 1 / norms[j]
    if n == extent:
        return Atoms(at(G, 0), norms, inverses), rest
    for j in range(n):
        for i in range(n):
            rows[j * extent + i] = G[j, i]
    return Atoms(rows, norms, inverses), rest


@njit(**ORDERED)
def _signal(shape, space, support):  # type: ignore[no-untyped-def]
    alpha, Q = at(space, 0), at(space, shape.extent)
    R = at(Q, shape.s * shape.stride)
    c = at(R, shape.s * shape.width)
    inverses = at(c, shape.width)
    return Signal(alpha, Q, R, c, inverses, support), at(inverses, shape.width)


@njit(**ORDERED)
def _start(signal, b, atoms, shape, tau):  # type: ignore[no-untyped-def]
    """Set ``alpha = b``; return the level of rounding and the height above it."""
    alpha = signal.alpha
    for j in range(shape.n):
        alpha[j] = b[j]
    zero = tau - tau  # in the precision at hand
    top = zero
    for j in range(0, shape.extent, shape.lanes):
        relative = times(magnitude(load(alpha, j, 1)), load(atoms.inverses, j, 1))
        top = max(top, largest_above(relative, zero))
    return tau * top, _height(alpha, atoms, shape, tau * top)


@njit(**ORDERED)
def _height(alpha, atoms, shape, level):  # type: ignore[no-untyped-def]
    """Return the largest correlation above rounding, 0 if there is none."""
    height = level - level
    for j in range(0, shape.extent, shape.lanes):
        floor = times(level, load(atoms.norms, j, 1))
        height = max(height, largest_above(magnitude(load(alpha, j, 1)), floor))
    return height


@njit(forceinline=True, **ORDERED)
def _first(alpha, atoms, shape, level, height):  # type: ignore[no-untyped-def]
    """Return the first atom whose correlation is the height, but for rounding."""
    size = TILE * shape.lanes
    tail = shape.extent - shape.extent % size
    for j in range(0, tail, size):
        floor = fma(-level, load(atoms.norms, j, TILE), height)
        i = first_from(magnitude(load(alpha, j, TILE)), floor)
        if i < size:
            return j + i
    for j in range(tail, shape.extent, shape.lanes):
        floor = fma(-level, load(atoms.norms, j, 1), height)
        i = first_from(magnitude(load(alpha, j, 1)), floor)
        if i < shape.lanes:
            return j + i
    return 0  # never: some atom has the height


@njit(forceinline=True, **ORDERED)
def _project(signal, atoms, shape, j, k):  # type: ignore[no-untyped-def]
    """Fill R[k] for atom j; return its squared distance to the span of the selected ones."""
    r = at(signal.R, k * shape.width)
    p = atoms.G[j * shape.extent + j]
    for i in range(k):
        r[i] = -signal.Q[i * shape.stride + j]
        p = fma(r[i], -r[i], p)
    return p


@njit(**ORDERED)
def _search(signal, atoms, shape, delta, k, level, height):  # type: ignore[no-untyped-def]
    """Return the k-th atom and its squared distance, which is 0 when no atom is left.

    Dependent atoms are put out as they are met, among them the highest when it is not the
    first of a tie.
    """
    alpha, zero = signal.alpha, level - level
    while height > 0:
        best = _first(alpha, atoms, shape, level, height)
        highest = _first(alpha, atoms, shape, zero, height)
        for j in (highest, best):
            p = _project(signal, atoms, shape, j, k)
            if not p > delta * atoms.G[j * shape.extent + j]:
                alpha[j] = np.nan
                break
        else:
            return best, p
        height = _height(alpha, atoms, shape, level)
    return 0, zero


@njit(forceinline=True, **ORDERED)
def _step(signal, atoms, shape, delta, k, level, height, best, p):  # type: ignore[no-untyped-def]
    """Select the k-th atom; the step is zero when none is left."""
    alpha, zero = signal.alpha, level - level
    if height == 0:
        p = zero
    elif abs(alpha[best]) < height or not p > delta * atoms.G[best * shape.extent + best]:
        best, p = _search(signal, atoms, shape, delta, k, level, height)
    if p == 0:
        return Step(atoms.G, signal.R, zero, zero)
    inverse = np.sqrt(p) / p
    c = alpha[best] * inverse
    alpha[best] = np.nan
    signal.support[k], signal.c[k], signal.inverses[k] = best, c, inverse
    return Step(at(atoms.G, best * shape.extent), at(signal.R, k * shape.width), inverse, c)


@njit(inline="always")
def _advance_tiles(count, j, k, atoms, shape, x, u, level_x, y, v, level_y):  # type: ignore[no-untyped-def]
    """Advance atoms j, j + 1, ... of both signals; return their heights."""
    q_x, q_y = load(u.g, j, count), load(v.g, j, count)
    for i in range(k):
        q_x = fma(u.r[i], load(x.Q, i * shape.stride + j, count), q_x)
        q_y = fma(v.r[i], load(y.Q, i * shape.stride + j, count), q_y)
    q_x, q_y = times(u.inverse, q_x), times(v.inverse, q_y)
    store(x.Q, k * shape.stride + j, q_x)
    store(y.Q, k * shape.stride + j, q_y)
    alpha_x = fma(-u.c, q_x, load(x.alpha, j, count))
    alpha_y = fma(-v.c, q_y, load(y.alpha, j, count))
    store(x.alpha, j, alpha_x)
    store(y.alpha, j, alpha_y)
    norms = load(atoms.norms, j, count)
    return (
        largest_above(magnitude(alpha_x), times(level_x, norms)),
        largest_above(magnitude(alpha_y), times(level_y, norms)),
    )


@njit(forceinline=True, **ORDERED)
def _advance(k, atoms, shape, x, u, level_x, y, v, level_y):  # type: ignore[no-untyped-def]
    """Add the new direction to Q and take it out of alpha, for both signals.

    ``q_k = (G[best] - sum_i Q[i, best] Q[i]) / pivot``, ``alpha -= c_k q_k``
    """
    top_x = top_y = level_x - level_x
    size = TILE * shape.lanes
    tail = shape.extent - shape.extent % size
    for j in range(0, tail, size):
        h_x, h_y = _advance_tiles(TILE, j, k, atoms, shape, x, u, level_x, y, v, level_y)
        top_x, top_y = max(top_x, h_x), max(top_y, h_y)
    for j in range(tail, shape.extent, shape.lanes):
        h_x, h_y = _advance_tiles(1, j, k, atoms, shape, x, u, level_x, y, v, level_y)
        top_x, top_y = max(top_x, h_x), max(top_y, h_y)
    return top_x, top_y


@njit(**ORDERED)
def _pursue(x, b_x, y, b_y, atoms, shape, tau, delta):  # type: ignore[no-untyped-def]
    """Select at most s atoms for each of two signals; return how many."""
    level_x, height_x = _start(x, b_x, atoms, shape, tau)
    level_y, height_y = _start(y, b_y, atoms, shape, tau)
    size_x = size_y = 0
    for k in range(shape.s):
        best_x = _first(x.alpha, atoms, shape, level_x, height_x)
        best_y = _first(y.alpha, atoms, shape, level_y, height_y)
        p_x = _project(x, atoms, shape, best_x, k)
        p_y = _project(y, atoms, shape, best_y, k)
        u = _step(x, atoms, shape, delta, k, level_x, height_x, best_x, p_x)
        v = _step(y, atoms, shape, delta, k, level_y, height_y, best_y, p_y)
        size_x += u.inverse > 0
        size_y += v.inverse > 0
        if max(size_x, size_y) == k:
            break
        if k + 1 < shape.s:
            height_x, height_y = _advance(k, atoms, shape, x, u, level_x, y, v, level_y)
    return size_x, size_y


@njit(**ORDERED)
def _solve(signal, shape, size, support, values):  # type: ignore[no-untyped-def]
    """Solve ``R x = c`` and write it in the order of the atoms."""
    x = signal.c
    for k in range(size - 1, -1, -1):
        r = at(signal.R, k * shape.width)
        x[k] *= signal.inverses[k]
        for i in range(k):
            x[i] = fma(r[i], x[k], x[i])
    for k in range(size):
        rank = 0
        for i in range(size):
            rank += signal.support[i] < signal.support[k]
        support[rank], values[rank] = signal.support[k], x[k]


@njit(**ORDERED)
def codes(B, G, shape, tau, delta, space, chosen, counts, supports, values):  # type: ignore[no-untyped-def]
    """Code every row of B."""
    atoms, rest = _share(G, shape, aligned(space))
    x, rest = _signal(shape, rest, at(chosen, 0))
    y, rest = _signal(shape, rest, at(chosen, shape.s))
    n, s, last = shape.n, shape.s, len(B) - 1
    for t in range(0, len(B), 2):
        z = min(t + 1, last)
        counts[t], counts[z] = _pursue(x, at(B, t * n), y, at(B, z * n), atoms, shape, tau, delta)
        _solve(x, shape, counts[t], at(supports, t * s), at(values, t * s))
        _solve(y, shape, counts[z], at(supports, z * s), at(values, z * s))


@njit(**ORDERED)
def _energy(signal, size, zero):  # type: ignore[no-untyped-def]
    energy = zero
    for k in range(size):
        energy = fma(signal.c[k], signal.c[k], energy)
    return energy


@njit(**ORDERED)
def energies(B, G, shape, tau, delta, space, chosen, result):  # type: ignore[no-untyped-def]
    """Write the energy that each row of B explains."""
    atoms, rest = _share(G, shape, aligned(space))
    x, rest = _signal(shape, rest, at(chosen, 0))
    y, rest = _signal(shape, rest, at(chosen, shape.s))
    n, last = shape.n, len(B) - 1
    for t in range(0, len(B), 2):
        z = min(t + 1, last)
        size_x, size_y = _pursue(x, at(B, t * n), y, at(B, z * n), atoms, shape, tau, delta)
        result[t] = _energy(x, size_x, tau - tau)
        result[z] = _energy(y, size_y, tau - tau)
