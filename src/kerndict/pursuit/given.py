"""What a pursuit is given."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import host_dtype


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
    shares = thresholds(dtype)
    G = np.ascontiguousarray(G, dtype=dtype)
    if B.flags.f_contiguous:
        return Given(B.T.reshape(-1), len(B), 1, len(B), G, min(s, n), *shares)
    rows = np.ascontiguousarray(B).reshape(-1)
    return Given(rows, len(B), n, 1, G, min(s, n), *shares)


def thresholds(dtype: Any) -> tuple[np.floating, np.floating]:
    """Return tau and delta for a precision of any namespace; see :class:`Given`."""
    kind = host_dtype(dtype)
    eps = np.finfo(kind).eps
    dependent = eps ** (2 / 3) if kind == np.float64 else eps ** (1 / 2)
    return kind.type(eps ** (3 / 4)), kind.type(dependent)
