"""One pass over the atoms of several classes at once: :mod:`kerndict.core.sweep` for devices.

What the loops there do for one class, one atom after the other, is done here for the j-th atoms of
all classes.  Atoms that no signal uses, and padding, come out as they went in; the former are then
replaced.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import Array, beside, cast, namespace, to_host
from kerndict.core.sweep import EPS


class Step:
    """What an update of the atoms needs beside them.

    Parameters
    ----------
    exact : Eq. (12) rather than (5) or (18)
    uaksvd : Eq. (19) rather than AK-SVD
    shift : (C, r), ``2 gamma`` times the eigenvalues of P, for the exact step
    repulsion : (C, n, r) or None, ``2 gamma P D``, for the power step
    w : (C, r), the diagonal of (18)
    """

    def __init__(
        self, exact: bool, uaksvd: bool, shift: Array, repulsion: Array | None, w: Array
    ) -> None:
        self.exact, self.uaksvd, self.shift = exact, uaksvd, shift
        self.repulsion, self.w = repulsion, w


def sweep(
    E: Array, D: Array, X: Array, step: Step, unused: NDArray, R: Array, fresh: Array | None
) -> Array:
    """Update all atoms in turn; D (C, n, r) and X (C, N, n) in place.  Return the error.

    Parameters
    ----------
    unused : (C, n), on the host, the atoms that no signal uses
    R : (C, N, r), signals that may take their place
    fresh : (C, n, r), what takes their place instead, or None
    """
    taken: Array | None = None
    for j in range(D.shape[1]):
        E = _update(E, D, X, j, step)
        if unused[:, j].any():
            replaced = beside(unused[:, j], R)[:, None]
            if fresh is None:
                atom, taken = _worst(E, R, replaced, taken)
            else:
                atom = fresh[:, j, :]
            xp = namespace(R)
            some = xp.any(atom != 0, axis=1, keepdims=True)
            D[:, j, :] = xp.where(replaced & some, atom, D[:, j, :])
    return E


def _update(E: Array, D: Array, X: Array, j: int, step: Step) -> Array:
    """Update the j-th atom of every class and its coefficients; return the error."""
    xp, x, old = namespace(E), X[:, :, j], D[:, j, :]
    energy = xp.sum(x * x, axis=1, keepdims=True)
    Ex = (x[:, None, :] @ E)[:, 0, :]
    v = Ex + energy * old  # F x
    if step.exact:
        weight = energy + step.shift  # Eq. (12)
        v = v / xp.where(weight > 0, weight, 1.0)
    else:
        pushed = v if step.repulsion is None else v - step.repulsion[:, j, :]
        v = step.w * pushed  # Eqs. (5), (18)
    norm = xp.sqrt(xp.sum(v * v, axis=1, keepdims=True))
    right = (norm > 0) & (norm < xp.inf) & (energy > 0)
    v = xp.where(right, v / xp.where(right, norm, 1.0), old)
    best = _fitted(xp, E, x, old, v)
    if step.exact:
        # |E_I|^2 - |F - v best'|^2 = |best|^2 - |x|^2 |d|^2 - 2 d'E x
        gain = xp.sum(best * best, axis=1, keepdims=True) + xp.sum(
            step.shift * (old * old - v * v) - old * (energy * old + 2 * Ex), axis=1, keepdims=True
        )
        v = xp.where(gain < 0, old, v)
        best = xp.where(gain < 0, _fitted(xp, E, x, old, old), best)
    if step.uaksvd:  # Eq. (19) takes old'v = 1
        best = best + (1 - xp.sum(old * v, axis=1, keepdims=True)) * x
    E = E + x[:, :, None] * old[:, None, :] - best[:, :, None] * v[:, None, :]
    X[:, :, j] = best
    D[:, j, :] = v
    return E


def _fitted(xp: Any, E: Array, x: Array, old: Array, v: Array) -> Array:
    """Return ``F'v`` where x is not zero, (C, N)."""
    overlap = xp.sum(old * v, axis=1, keepdims=True)
    return xp.where(x != 0, overlap * x + (E @ v[:, :, None])[:, :, 0], 0.0)


def _worst(E: Array, R: Array, replaced: Array, taken: Array | None) -> tuple[Array, Array]:
    """Return the worst represented signal of each class that was not taken yet, at unit norm.

    Errors that differ by rounding only are equal, and the first signal is taken.  Once every
    signal was taken, all are free again; a class without a nonzero signal gets zeros.
    """
    xp = namespace(E)
    errors, norms = xp.sum(E * E, axis=2), xp.sum(R * R, axis=2)
    taken = xp.zeros_like(norms > 0) if taken is None else taken
    free = (norms > 0) & ~taken
    none = ~xp.any(free, axis=1, keepdims=True) & replaced
    taken, free = taken & ~none, free | ((norms > 0) & none)
    largest = xp.max(xp.where(free, errors, -1.0), axis=1, keepdims=True)
    equal = free & (errors * (1 + 1e-9) + float(EPS) * norms >= largest)
    best = xp.argmax(cast(equal, E.dtype), axis=1)
    here = (xp.arange(R.shape[1], device=R.device) == best[:, None]) & free
    atom = xp.sum(xp.where(here[:, :, None], R, 0.0), axis=1)
    size = xp.sqrt(xp.sum(atom * atom, axis=1, keepdims=True))
    return atom / xp.where(size > 0, size, 1.0), taken | (here & replaced)


def unused_atoms(X: Array, n_atoms: list[int]) -> NDArray:
    """Return the atoms of each class that no signal uses (C, n), on the host."""
    used = to_host(namespace(X).any(X != 0, axis=1))
    return ~used & (np.arange(X.shape[2]) < np.array(n_atoms)[:, None])
