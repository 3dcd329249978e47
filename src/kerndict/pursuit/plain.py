"""Pursuit and product in ordinary loops, for where the packed ones do not work.

The pursuit is that of :mod:`kerndict.pursuit.omp`, one signal at a time; only rounding differs.
"""

import numpy as np
from numpy.typing import NDArray

from kerndict._jit import compiled, part
from kerndict.pursuit.given import Given


def codes(given: Given, counts: NDArray, supports: NDArray, values: NDArray) -> None:
    """Write the codes of all signals; see :func:`kerndict.pursuit.omp.omp_codes`."""
    _codes(given, counts, supports, values)


def energies(given: Given, explained: NDArray) -> None:
    """Write what the codes explain; see :func:`kerndict.pursuit.omp.omp_energies`."""
    _energies(given, explained)


def gram(M: NDArray) -> NDArray:
    """Return ``M'M`` of a contiguous matrix in double precision."""
    return M.T @ M


@compiled(ordered=True)
def _codes(given, counts, supports, values):  # type: ignore[no-untyped-def]
    lengths, alpha, Q, c, chosen = _room(given)
    for t in range(given.N):
        size = _pursue(given, t, lengths, alpha, Q, c, chosen)
        counts[t] = size
        # Solve R x = c, R[l, k] = Q[l, chosen[k]], in place.
        for k in range(size - 1, -1, -1):
            c[k] /= Q[k, chosen[k]]
            for i in range(k):
                c[i] -= Q[i, chosen[k]] * c[k]
        order = np.argsort(chosen[:size])
        for k in range(size):
            supports[t, k], values[t, k] = chosen[order[k]], c[order[k]]


@compiled(ordered=True)
def _energies(given, explained):  # type: ignore[no-untyped-def]
    lengths, alpha, Q, c, chosen = _room(given)
    for t in range(given.N):
        energy = given.tau - given.tau  # zero in the precision at hand
        for k in range(_pursue(given, t, lengths, alpha, Q, c, chosen)):
            energy += c[k] * c[k]
        explained[t] = energy


@part(ordered=True)
def _room(given):  # type: ignore[no-untyped-def]
    """Return the norms of the atoms and room for the state of one pursuit.

    ``alpha`` (n,), the correlations of the residual, NaN for atoms that are out; ``Q`` (s, n),
    coordinates of the atoms along the new directions; ``c`` (s,), those of the signal; ``chosen``
    (s,), the atoms.
    """
    G, s = given.G, given.s
    n = len(G)
    lengths = np.zeros(n, G.dtype)
    for j in range(n):
        if G[j, j] > 0:
            lengths[j] = np.sqrt(G[j, j])
    alpha, Q, c = np.zeros(n, G.dtype), np.zeros((s, n), G.dtype), np.zeros(s, G.dtype)
    return lengths, alpha, Q, c, np.zeros(s, np.int32)


@part(ordered=True)
def _pursue(given, t, lengths, alpha, Q, c, chosen):  # type: ignore[no-untyped-def]
    """Select at most s atoms for signal t; return how many."""
    G = given.G
    level = given.tau - given.tau
    for j in range(len(G)):
        alpha[j] = given.B[t * given.row + j * given.step]
        if lengths[j] > 0:
            level = max(level, given.tau * (abs(alpha[j]) / lengths[j]))
    for k in range(given.s):
        best, p = _select(G, lengths, alpha, Q, k, level, given.delta)
        if p == 0:
            return k
        q, pivot = Q[k], np.sqrt(p)
        c[k], chosen[k], q[best] = alpha[best] / pivot, best, pivot
        if k + 1 == given.s:
            break
        for j in range(len(G)):
            q[j] = G[best, j]
        for i in range(k):
            along = Q[i, best]
            for j in range(len(G)):
                q[j] -= along * Q[i, j]
        for j in range(len(G)):
            q[j] /= pivot
            alpha[j] -= c[k] * q[j]
        q[best], alpha[best] = pivot, np.nan
    return given.s


@part(ordered=True)
def _select(G, lengths, alpha, Q, k, level, delta):  # type: ignore[no-untyped-def]
    """Return the k-th atom and its squared distance; the distance is 0 when no atom is left.

    Dependent atoms are put out as they are met: the one that has the largest correlation, and
    the first within rounding of it.
    """
    zero = delta - delta
    while True:
        height, highest = zero, 0
        for j in range(len(G)):
            if abs(alpha[j]) > max(height, level * lengths[j]):
                height, highest = abs(alpha[j]), j
        if height == 0:
            return 0, zero
        best = 0
        while best < highest and not abs(alpha[best]) >= height - level * lengths[best]:
            best += 1
        for j in (highest, best):
            p = G[j, j]
            for i in range(k):
                p -= Q[i, j] * Q[i, j]
            if not p > delta * G[j, j]:
                alpha[j] = np.nan
                break
        else:
            return best, p
