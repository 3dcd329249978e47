"""Where a pursuit keeps its numbers: one array, cut into rows of whole vectors."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kerndict._jit import part
from kerndict.pursuit.packed.vectors import aligned, at


class Atoms(NamedTuple):
    """Pointers to what the signals share."""

    G: NDArray  # (extent, extent)
    norms: NDArray  # (extent,), |d_j|
    inverses: NDArray  # (extent,), 1 / |d_j|, or 0


class Signal(NamedTuple):
    """Pointers to the state of one pursuit."""

    alpha: NDArray  # (extent,), correlations of the residual; NaN for atoms that are out
    Q: NDArray  # (s, stride), coordinates of the atoms along the new directions
    R: NDArray  # (s, width), R[k, i] = -Q[i, support[k]] for i < k
    c: NDArray  # (s,), coordinates of the signal along the new directions
    inverses: NDArray  # (s,), 1 / Q[k, support[k]]
    support: NDArray  # (s,)


@part(ordered=True)
def layout(G, shape, space, chosen):  # type: ignore[no-untyped-def]
    """Return the atoms and two signals, laid out in the work space."""
    n, extent = shape.n, shape.extent
    norms = aligned(space)
    inverses, rows = at(norms, extent), at(norms, 2 * extent)
    for j in range(n):
        if G[j, j] > 0:
            norms[j] = np.sqrt(G[j, j])
            inverses[j] = 1 / norms[j]
        if n < extent:
            for i in range(n):
                rows[j * extent + i] = G[j, i]
    atoms = Atoms(rows if n < extent else at(G, 0), norms, inverses)
    x, rest = _signal(shape, at(rows, extent * extent), at(chosen, 0))
    y, rest = _signal(shape, rest, at(chosen, shape.s))
    return atoms, x, y


@part(ordered=True)
def _signal(shape, space, support):  # type: ignore[no-untyped-def]
    Q = at(space, shape.extent)
    R = at(Q, shape.s * shape.stride)
    c = at(R, shape.s * shape.width)
    inverses = at(c, shape.width)
    return Signal(space, Q, R, c, inverses, support), at(inverses, shape.width)
