"""Batch orthogonal matching pursuit in the Gram domain.

With correlations ``b = D'y`` and Gram matrix ``G = D'D``, neither signals nor atoms
are needed, so one pursuit serves linear and kernel dictionaries, in training and in
prediction.  The selected atoms are orthogonalised as they come: ``Q`` holds the
coordinates of every atom along the new directions and ``c`` those of the signal, so

    residual  ``y'y - sum_k c_k^2``              no code, no triangular solve
    code      ``R x = c``, ``R[l, k] = Q[l, support[k]]``

Differs from the textbook:

1. An atom is dependent, and never selected, when its squared distance ``p`` to the span of
   the selected ones falls below a share of its squared norm: ``eps^(2/3)`` in float64,
   ``eps^(1/2)`` in float32.  Each ``c_k^2`` has a relative error of about ``eps / p``, so that
   this bounds what dependence can cost: 6e-6 and 3e-4 of the residual.
2. Correlations below ``eps^(3/4)`` of the signal and the atom are rounding.  The pursuit stops
   there, and among atoms whose correlations differ by less the first is selected, so that
   neither the last bits nor the shape of a batch decide.  In the Gram domain the largest
   ``|b_j| / |d_j|`` stands for the norm of the signal.

All is relative, so supports do not change when signals or atoms are rescaled.
"""

import numpy as np
from numpy.typing import NDArray

from kerndict.pursuit.choice import loops
from kerndict.pursuit.given import prepare


def omp_codes(B: NDArray, G: NDArray, s: int) -> tuple[NDArray, NDArray, NDArray]:
    """Code signals by OMP, one per row of the correlations.

    Parameters
    ----------
    B : (N, n), the correlations ``Y'D``
    G : (n, n), the Gram matrix ``D'D``
    s : nonzeros per code, at most

    Returns
    -------
    counts : (N,), the nonzeros of each code
    supports, values : (N, min(s, n)), the atoms in ascending order and their
        coefficients; row t is filled up to ``counts[t]``
    """
    given = prepare(B, G, s)
    counts = np.zeros(given.N, np.int32)
    supports = np.zeros((given.N, given.s), np.int32)
    values = np.zeros((given.N, given.s), B.dtype)
    loops("codes", B.dtype)(given, counts, supports, values)
    return counts, supports, values


def omp_energies(B: NDArray, G: NDArray, s: int) -> NDArray:
    """Return the energy ``y'y - |y - D x|^2`` that OMP explains of each signal."""
    explained = np.zeros(len(B), B.dtype)
    loops("energies", B.dtype)(prepare(B, G, s), explained)
    return explained


def dense_codes(B: NDArray, G: NDArray, s: int) -> NDArray:
    """Return the codes of :func:`omp_codes` as the paper's dense X (n, N)."""
    counts, supports, values = omp_codes(B, G, s)
    X = np.zeros((len(G), len(B)), B.dtype)
    filled = np.arange(values.shape[1]) < counts[:, None]
    X[supports[filled], np.nonzero(filled)[0]] = values[filled]
    return X
