"""What the collaborative rule weighs: features of a ridge code over the atoms of all classes.

With G the Gram matrix of all atoms and b the correlations of a signal y, the code is
``x = (G + ridge I)^-1 b``.  Class c explains its part of y by its own atoms and coefficients:

    r_c = k(y,y) - 2 b_c'x_c + x_c'G_cc x_c      what it leaves of y
    q_c = |x_c|^2                                what it spends on y
    o_c = k(y,y) - b_c'(G_cc + ridge I)^-1 b_c   what it would leave of y on its own
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import at_least, cast, eps, namespace, on_host, row_dots
from kerndict._stack import Stack
from kerndict.rules.base import class_slices

#: The ridge of o_c; anything from 1e-4 to 3e-2 did as well.
OWN_RIDGE = 0.01


def class_parts(
    X: NDArray, B: NDArray, G: Sequence[NDArray], diagonal: NDArray
) -> tuple[NDArray, NDArray]:
    """Return r_c and q_c of every signal and class; see :func:`rule_features`."""
    if not on_host(B):
        blocks = Stack.of(G)
        x = blocks.split(X)
        return (diagonal + row_dots(x, x @ blocks.blocks - 2 * blocks.split(B))).T, row_dots(x, x).T
    r = np.empty((len(B), len(G)), B.dtype)
    q = np.empty_like(r)
    for c, own in enumerate(class_slices(G)):
        x = X[:, own]
        r[:, c] = diagonal + np.einsum("ij,ij->i", x, x @ G[c] - 2 * B[:, own])
        q[:, c] = np.einsum("ij,ij->i", x, x)
    return r, q


def rule_features(
    X: NDArray, B: NDArray, G: Sequence[NDArray], diagonal: NDArray
) -> tuple[NDArray, NDArray]:
    """Return ``-log r_c`` and ``log q_c`` of every signal and class, relative to k(y, y).

    Parameters
    ----------
    X, B : (N, n), the codes and correlations over all atoms
    G : the blocks G_cc
    diagonal : (N,), k(y, y); features of a signal without energy are zero
    """
    r, q = class_parts(X, B, G, diagonal)
    return -relative_log(r, diagonal), relative_log(q, diagonal)


def own_feature(B: NDArray, inverses: Sequence[NDArray], diagonal: NDArray) -> NDArray:
    """Return ``-log o_c`` of every signal and class; ``inverses`` are those of the blocks."""
    if not on_host(B):
        blocks = Stack.of(inverses)
        b = blocks.split(B)
        return -relative_log((diagonal - row_dots(b @ blocks.blocks, b)).T, diagonal)
    o = np.empty((len(B), len(inverses)), B.dtype)
    for c, own in enumerate(class_slices(inverses)):
        o[:, c] = diagonal - np.einsum("ij,ij->i", B[:, own] @ inverses[c], B[:, own])
    return -relative_log(o, diagonal)


def own_inverses(G: Sequence[NDArray]) -> list[NDArray]:
    """Return ``(G_cc + ridge I)^-1`` of every class, in its precision."""
    if not on_host(G[0]):
        blocks = Stack.of([cast(G_c, np.float64) for G_c in G]).blocks
        xp = namespace(blocks)
        identity = xp.eye(blocks.shape[1], dtype=blocks.dtype, device=blocks.device)
        inverses = cast(xp.linalg.inv(blocks + OWN_RIDGE * identity), G[0].dtype)
        return [inverses[c, : G_c.shape[0], : G_c.shape[0]] for c, G_c in enumerate(G)]
    return [
        np.linalg.inv(G_c.astype(np.float64) + OWN_RIDGE * np.eye(len(G_c))).astype(G_c.dtype)
        for G_c in G
    ]


def relative_log(values: NDArray, diagonal: NDArray) -> NDArray:
    """Return ``log(value / k(y,y))``, floored at the logarithm of eps; 0 without energy."""
    xp = namespace(values)
    energy = xp.where(diagonal > 0, diagonal, 1)[:, None]
    logs = xp.log(at_least(values / energy, eps(values.dtype)))
    if not on_host(logs):
        return xp.where(diagonal[:, None] > 0, logs, 0)
    logs[diagonal <= 0] = 0
    return logs


def ridge_path(
    B: NDArray, G: NDArray, blocks: Sequence[NDArray], diagonal: NDArray, ridges: Sequence[float]
) -> list[tuple[NDArray, NDArray]]:
    """Return the features for several ridges, from one eigendecomposition of G."""
    w, U = namespace(G).linalg.eigh(G)
    if not on_host(B):  # where factors of a product must be of one precision
        BU, dtype = cast(B, U.dtype, copy=False) @ U, B.dtype
        codes = (cast(BU / ridged(w, ridge, dtype) @ U.T, dtype, copy=False) for ridge in ridges)
    else:
        BU = B @ U
        codes = (BU / ridged(w, ridge, B.dtype) @ U.T for ridge in ridges)
    return [rule_features(X, B, blocks, diagonal) for X in codes]


def ridged(w: NDArray, ridge: float, dtype: np.dtype) -> NDArray:
    """Return the eigenvalues of ``G + ridge I`` from those of G, well above rounding."""
    floor = 10 * eps(dtype) * float(w[-1])
    return cast(at_least(w, 0) + max(ridge, floor), dtype)


def ridge_inverse(G: NDArray, ridge: float, dtype: np.dtype) -> NDArray:
    """Return ``(G + ridge I)^-1`` as :func:`ridge_path` sees it."""
    w, U = namespace(G).linalg.eigh(G)
    return cast((U / ridged(w, ridge, dtype)) @ U.T, dtype)


def pseudo_inverse(G: NDArray, dtype: np.dtype) -> NDArray:
    """Return the pseudo-inverse of a Gram matrix known to a precision, cut at rounding."""
    w, U = namespace(G).linalg.eigh(G)
    kept = w > eps(dtype) ** (2 / 3) * w[-1]
    if on_host(w):
        return ((U[:, kept] / w[kept]) @ U[:, kept].T).astype(dtype)
    w = namespace(w).where(kept, w, namespace(w).inf)
    return cast((U / w) @ U.T, dtype)


def spanned_energy(B: NDArray, span: NDArray | None) -> NDArray:
    """Return the energy of the projection of each signal on the span of all atoms."""
    assert span is not None
    xp = namespace(B)
    return at_least(xp.sum((B @ span) * B, axis=1), 0)
