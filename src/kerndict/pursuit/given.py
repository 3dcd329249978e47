"""What a pursuit is given."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Given(NamedTuple):
    """Signals and atoms by their products, and the thresholds of :mod:`kerndict.pursuit.omp`.

    The correlation of signal t with atom j is ``B[t * row + j * step]``.
    """

    B: NDArray
    N: int  # signals
    row: int
    step: int
    G: NDArray  # (n, n), contiguous
    s: int  # nonzeros per code, n at most
    tau: np.floating  # the share of a correlation that is rounding
    delta: np.floating  # the share of its squared norm by which an atom is independent


def prepare(B: NDArray, G: NDArray, s: int) -> Given:
    """Return what a pursuit is given for correlations B (N, n), in any order in memory."""
    dtype, n = B.dtype, len(G)
    eps = np.finfo(dtype).eps
    dependent = eps ** (2 / 3) if dtype == np.float64 else eps ** (1 / 2)
    thresholds = dtype.type(eps ** (3 / 4)), dtype.type(dependent)
    G = np.ascontiguousarray(G, dtype=dtype)
    if B.flags.f_contiguous:
        return Given(B.T.reshape(-1), len(B), 1, len(B), G, min(s, n), *thresholds)
    rows = np.ascontiguousarray(B).reshape(-1)
    return Given(rows, len(B), n, 1, G, min(s, n), *thresholds)
