"""The pursuit of :mod:`kerndict.pursuit.omp`, which says what it computes, in packed vectors.

Two signals are pursued side by side, each phase of one beside the same phase of the other, so
that the processor always has a second chain of operations to work on; the last of an odd
number keeps itself company.  Every signal goes through the same operations in the same order
wherever it stands, so its code does not depend on its neighbours.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kerndict._jit import compiled, part
from kerndict.pursuit.packed.vectors import (
    at,
    first_from,
    fma,
    largest,
    load,
    magnitude,
    spread,
    store,
    times,
    upper,
)
from kerndict.pursuit.packed.workspace import layout

#: Vectors per tile: two signals' tiles of ``Q`` stay in registers through a loop.
TILE = 5


class Step(NamedTuple):
    """A new direction ``q = (g + r Q) * inverse`` and the signal's coordinate along it."""

    g: NDArray
    r: NDArray
    inverse: float
    c: float


@part(ordered=True)
def _start(signal, b, step, atoms, shape, tau):  # type: ignore[no-untyped-def]
    """Set ``alpha = b``; return the level of rounding and the largest correlation."""
    alpha, zero = signal.alpha, tau - tau  # in the precision at hand
    for j in range(shape.n):
        alpha[j] = b[j * step]
    top = length = spread(zero, 1)
    for j in range(0, shape.extent, shape.lanes):
        height = magnitude(load(alpha, j, 1))
        top = upper(height, top)
        length = upper(times(height, load(atoms.inverses, j, 1)), length)
    return tau * largest(length), largest(top)


@part(ordered=True, inline=True)
def _first(alpha, atoms, shape, level, height):  # type: ignore[no-untyped-def]
    """Return the first atom within rounding of a height that one of them has."""
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
    return 0  # all atoms are out


@part(ordered=True, inline=True)
def _project(signal, atoms, shape, k, j):  # type: ignore[no-untyped-def]
    """Fill R[k] for atom j; return its squared distance to the span of the selected ones."""
    r = at(signal.R, k * shape.width)
    p = atoms.G[j * shape.extent + j]
    for i in range(k):
        r[i] = -signal.Q[i * shape.stride + j]
        p = fma(r[i], -r[i], p)
    return p


@part(ordered=True)
def _search(signal, atoms, shape, delta, k, level):  # type: ignore[no-untyped-def]
    """Return the k-th atom and its squared distance; the distance is 0 when no atom is left.

    Dependent atoms are put out as they are met: the one that has the height, and the first
    within rounding of it.
    """
    alpha, zero = signal.alpha, delta - delta  # the level may be infinite
    while True:
        height, highest = zero, 0
        for j in range(shape.n):
            if abs(alpha[j]) > max(height, level * atoms.norms[j]):
                height, highest = abs(alpha[j]), j
        if height == 0:
            return 0, zero
        best = 0
        while best < highest and not abs(alpha[best]) >= fma(-level, atoms.norms[best], height):
            best += 1
        for j in (highest, best):
            p = _project(signal, atoms, shape, k, j)
            if not p > delta * atoms.G[j * shape.extent + j]:
                alpha[j] = np.nan
                break
        else:
            return best, p


@part(ordered=True, inline=True)
def _step(signal, atoms, shape, delta, k, level, top, best, p):  # type: ignore[no-untyped-def]
    """Select the k-th atom: the best one unless it ties, is dependent or is but rounding.

    The step is zero when no atom is left.
    """
    alpha, zero = signal.alpha, delta - delta  # the level may be infinite
    clear = abs(alpha[best]) == top and top > level * atoms.norms[best]
    if not (clear and p > delta * atoms.G[best * shape.extent + best]):
        best, p = _search(signal, atoms, shape, delta, k, level)
    if p == 0:
        return Step(atoms.G, signal.R, zero, zero)
    inverse = np.sqrt(p) / p
    c = alpha[best] * inverse
    alpha[best] = np.nan
    signal.support[k], signal.c[k], signal.inverses[k] = best, c, inverse
    return Step(at(atoms.G, best * shape.extent), at(signal.R, k * shape.width), inverse, c)


@njit(inline="always")
def _advance_tiles(count, j, k, stride, x, u, top_x, y, v, top_y):  # type: ignore[no-untyped-def]
    q_x, q_y = load(u.g, j, count), load(v.g, j, count)
    for i in range(k):
        q_x = fma(u.r[i], load(x.Q, i * stride + j, count), q_x)
        q_y = fma(v.r[i], load(y.Q, i * stride + j, count), q_y)
    q_x, q_y = times(u.inverse, q_x), times(v.inverse, q_y)
    store(x.Q, k * stride + j, q_x)
    store(y.Q, k * stride + j, q_y)
    alpha_x = fma(-u.c, q_x, load(x.alpha, j, count))
    alpha_y = fma(-v.c, q_y, load(y.alpha, j, count))
    store(x.alpha, j, alpha_x)
    store(y.alpha, j, alpha_y)
    return upper(magnitude(alpha_x), top_x), upper(magnitude(alpha_y), top_y)


@part(ordered=True, inline=True)
def _advance(k, shape, x, u, y, v):  # type: ignore[no-untyped-def]
    """Take the k-th step with both signals; return the largest correlations left.

    ``q_k = (G[best] - sum_i Q[i, best] Q[i]) / pivot``, ``alpha -= c_k q_k``
    """
    top_x = top_y = spread(u.c - u.c, 1)
    size = TILE * shape.lanes
    tail = shape.extent - shape.extent % size
    for j in range(0, tail, size):
        top_x, top_y = _advance_tiles(TILE, j, k, shape.stride, x, u, top_x, y, v, top_y)
    for j in range(tail, shape.extent, shape.lanes):
        top_x, top_y = _advance_tiles(1, j, k, shape.stride, x, u, top_x, y, v, top_y)
    return largest(top_x), largest(top_y)


@part(ordered=True)
def _pursue(x, b_x, y, b_y, step, atoms, shape, tau, delta):  # type: ignore[no-untyped-def]
    """Select at most s atoms for each of two signals; return how many.

    What is given comes piece by piece: to hand it on whole, with its arrays, would cost a call as
    much as a few atoms do.
    """
    level_x, top_x = _start(x, b_x, step, atoms, shape, tau)
    level_y, top_y = _start(y, b_y, step, atoms, shape, tau)
    size_x = size_y = 0
    for k in range(shape.s):
        best_x = _first(x.alpha, atoms, shape, level_x, top_x)
        best_y = _first(y.alpha, atoms, shape, level_y, top_y)
        p_x = _project(x, atoms, shape, k, best_x)
        p_y = _project(y, atoms, shape, k, best_y)
        u = _step(x, atoms, shape, delta, k, level_x, top_x, best_x, p_x)
        v = _step(y, atoms, shape, delta, k, level_y, top_y, best_y, p_y)
        size_x += u.inverse > 0
        size_y += v.inverse > 0
        if max(size_x, size_y) <= k:
            break
        if k + 1 < shape.s:
            top_x, top_y = _advance(k, shape, x, u, y, v)
    return size_x, size_y


@part(ordered=True)
def _solve(signal, shape, size, support, values):  # type: ignore[no-untyped-def]
    """Solve ``R' x = c`` and write x by ascending atoms."""
    x = signal.c
    for k in range(size - 1, -1, -1):
        x[k] *= signal.inverses[k]
        r = at(signal.R, k * shape.width)
        for i in range(k):
            x[i] = fma(r[i], x[k], x[i])
    for k in range(size):
        rank = 0
        for i in range(size):
            rank += signal.support[i] < signal.support[k]
        support[rank], values[rank] = signal.support[k], x[k]


@part(ordered=True)
def _energy(signal, size, zero):  # type: ignore[no-untyped-def]
    energy = zero
    for k in range(size):
        energy = fma(signal.c[k], signal.c[k], energy)
    return energy


@compiled(ordered=True)
def codes(given, shape, space, chosen, counts, supports, values):  # type: ignore[no-untyped-def]
    """Code all signals."""
    atoms, x, y = layout(given.G, shape, space, chosen)
    B, N, row, step, s = given.B, given.N, given.row, given.step, shape.s
    tau, delta = given.tau, given.delta
    for t in range(0, N, 2):
        z = min(t + 1, N - 1)
        b_t, b_z = at(B, t * row), at(B, z * row)
        counts[t], counts[z] = _pursue(x, b_t, y, b_z, step, atoms, shape, tau, delta)
        _solve(x, shape, counts[t], at(supports, t * s), at(values, t * s))
        _solve(y, shape, counts[z], at(supports, z * s), at(values, z * s))


@compiled(ordered=True)
def energies(given, shape, space, chosen, result):  # type: ignore[no-untyped-def]
    """Write the energies that the signals have along their atoms."""
    atoms, x, y = layout(given.G, shape, space, chosen)
    B, N, row, step = given.B, given.N, given.row, given.step
    tau, delta = given.tau, given.delta
    for t in range(0, N, 2):
        z = min(t + 1, N - 1)
        b_t, b_z = at(B, t * row), at(B, z * row)
        size_x, size_y = _pursue(x, b_t, y, b_z, step, atoms, shape, tau, delta)
        result[t] = _energy(x, size_x, tau - tau)
        result[z] = _energy(y, size_y, tau - tau)
