"""The pursuit of :mod:`kerndict.pursuit.omp` for all classes and signals at once, on a device.

A step of all signals costs a dozen calls of the array API, whatever their number.  Differs from
the loops for the host in one thing: an atom that has become dependent is left out from then on,
and not when it is met.  It would never have been selected in between.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kerndict._arrays import Array, beside, namespace
from kerndict.pursuit.given import thresholds


class _Found(NamedTuple):
    """Per step: the atom (C, N), its coordinate (C, N), whether there was one, and Q."""

    chosen: list[Array]
    coordinates: list[Array]
    selected: list[Array]
    Q: Array


def batched_energies(B: Array, G: Array, sparsity: Sequence[int]) -> Array:
    """Return what OMP explains of each signal over each class, (C, N).

    Parameters
    ----------
    B : (C, N, n), the correlations
    G : (C, n, n), the Gram matrices; an atom of zeros is never selected
    sparsity : nonzeros per code of each class, at most
    """
    xp = namespace(B, G)
    energies = xp.zeros_like(B[:, :, 0])
    for c in _pursue(xp, B, G, sparsity).coordinates:
        energies = energies + c * c
    return energies


def batched_codes(B: Array, G: Array, sparsity: Sequence[int]) -> Array:
    """Return dense codes (C, N, n); see :func:`batched_energies`."""
    xp = namespace(B, G)
    chosen, coordinates, selected, Q = _pursue(xp, B, G, sparsity)
    # R x = c with R[l, k] = Q[l, chosen[k]], from the last atom to the first.
    columns = [_entries(xp, Q, atoms[:, :, None])[:, :, :, 0] for atoms in chosen]
    X, left = xp.zeros_like(B), list(coordinates)
    places = xp.arange(B.shape[2], device=B.device)
    for k in range(len(chosen) - 1, -1, -1):
        x = xp.where(selected[k], left[k] / xp.where(selected[k], columns[k][:, :, k], 1.0), 0.0)
        for i in range(k):
            left[i] = left[i] - columns[k][:, :, i] * x
        here = (places == chosen[k][:, :, None]) & selected[k][:, :, None]
        X = xp.where(here, x[:, :, None], X)
    return X


def _pursue(xp: Any, B: Array, G: Array, sparsity: Sequence[int]) -> _Found:
    C, N, n = B.shape
    tau, delta = (float(each) for each in thresholds(B.dtype))
    diagonal = xp.linalg.diagonal(G)[:, None, :]
    lengths = xp.sqrt(diagonal)
    shares = xp.abs(B) / xp.where(lengths > 0, lengths, xp.inf)
    floor = tau * xp.max(shares, axis=2, keepdims=True) * lengths
    alpha, rest = B, xp.broadcast_to(diagonal, B.shape)
    rows = xp.reshape(G, (C * n, n))
    first = (xp.arange(C, device=B.device) * n)[:, None]
    places, allowed = xp.arange(n, device=B.device), beside(np.array(sparsity), B)[:, None]
    steps = min(n, max(sparsity))
    Q = xp.zeros((C, N, steps, n), dtype=B.dtype, device=B.device)
    found = _Found([], [], [], Q)
    for k in range(steps):
        sizes = xp.abs(alpha)
        alive = rest > delta * diagonal
        heights = xp.where(alive & (sizes > floor), sizes, 0.0)
        height = xp.max(heights, axis=2, keepdims=True)
        # Among atoms that differ by rounding only the first is taken.
        within = xp.astype(alive & (sizes >= height - floor), B.dtype)
        best = xp.argmax(within, axis=2)
        selected = (height[:, :, 0] > 0) & (k < allowed)
        pivot = xp.sqrt(xp.where(selected, _entry(xp, rest, best), 1.0))
        c = xp.where(selected, _entry(xp, alpha, best) / pivot, 0.0)
        q = xp.reshape(xp.take(rows, xp.reshape(first + best, (-1,)), axis=0), (C, N, n))
        if k:
            along = _entries(xp, Q[:, :, :k, :], best[:, :, None])
            q = q - (xp.matrix_transpose(along) @ Q[:, :, :k, :])[:, :, 0, :]
        here = places == best[:, :, None]
        q = xp.where(here, pivot[:, :, None], q / pivot[:, :, None])
        q = xp.where(selected[:, :, None], q, 0.0)
        alpha = alpha - c[:, :, None] * q
        rest = xp.where(here & selected[:, :, None], -1.0, rest - q * q)
        Q[:, :, k, :] = q
        found.chosen.append(best)
        found.coordinates.append(c)
        found.selected.append(selected)
    return found


def _entry(xp: Any, values: Array, atoms: Array) -> Array:
    """Return the entry of one atom for each signal, (C, N)."""
    return xp.take_along_axis(values, atoms[:, :, None], axis=2)[:, :, 0]


def _entries(xp: Any, Q: Array, atoms: Array) -> Array:
    """Return those of one atom in all rows of Q, (C, N, rows, 1)."""
    wide = xp.broadcast_to(atoms[:, :, None, :], (*Q.shape[:3], 1))
    return xp.take_along_axis(Q, wide, axis=3)
