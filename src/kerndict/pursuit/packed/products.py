"""The product ``M'M`` of a matrix with few columns, in packed vectors."""

import numpy as np
from numpy.typing import NDArray

from kerndict._jit import compiled, part
from kerndict.pursuit.packed.vectors import at, fma, load, spread, store
from kerndict.pursuit.shape import BYTES

#: The tile of the product that stays in the 32 registers of AVX-512: rows, and numbers in its
#: two vectors.  With fewer registers it is right, and slower.
_HEIGHT, _WIDTH = 8, 2 * BYTES // 8


def gram(M: NDArray) -> NDArray:
    """Return ``M'M`` of a contiguous matrix in double precision; rows and columns are not zero."""
    rows, n = M.shape
    # A tile reads past the end of a row, into the next ones: the last few are copied to where
    # there is enough behind them.
    few = min(rows, -(-_WIDTH // n))
    tail = np.zeros(few * n + _WIDTH)
    tail[: few * n] = M[rows - few :].reshape(-1)
    P = np.empty((-(-n // _WIDTH) * _WIDTH,) * 2)
    _gram(M, rows - few, tail, few, P)
    return P[:n, :n]


@compiled(ordered=True)
def _gram(M, rows, tail, few, P):  # type: ignore[no-untyped-def]
    """Write the product to P, whose sides are rounded up: tiles below the diagonal, then the rest.

    The factors are ``rows`` rows of M and all ``few`` of the tail.
    """
    n = M.shape[1]
    for i in range(0, n, _HEIGHT):
        for j in range(0, i + _HEIGHT, _WIDTH):
            x, y, out = at(tail, i), at(tail, j), at(P, i * len(P) + j)
            _tile(at(M, i), at(M, j), rows, x, y, few, n, out, len(P))
    for i in range(n):
        for j in range(i):
            P[j, i] = P[i, j]


@part(ordered=True, inline=True)
def _tile(x, y, rows, x_tail, y_tail, few, n, out, step):  # type: ignore[no-untyped-def]
    """Write the sum of ``x[k n + i] * y[k n + j]`` over the rows k to ``out[i step + j]``."""
    a = b = c = d = e = f = g = h = spread(0.0, 2)
    for _ in range(2):
        for _ in range(rows):
            t = load(y, 0, 2)
            a, b, c, d = fma(x[0], t, a), fma(x[1], t, b), fma(x[2], t, c), fma(x[3], t, d)
            e, f, g, h = fma(x[4], t, e), fma(x[5], t, f), fma(x[6], t, g), fma(x[7], t, h)
            x, y = at(x, n), at(y, n)
        x, y, rows = x_tail, y_tail, few
    i = 0
    for row in (a, b, c, d, e, f, g, h):
        store(out, i, row)
        i += step
