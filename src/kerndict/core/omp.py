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
from numba import njit
from numpy.typing import NDArray

from kerndict.core._jit import JIT


@njit(**JIT)
def _pursue(b, G, s, tau, delta, alpha, p, Q, c, support):  # type: ignore[no-untyped-def]
    """Select at most s atoms for one signal; return how many.

    ``alpha`` holds the correlations of the residual, ``p`` the squared distances of
    the atoms to the span of the selected ones.
    """
    n = b.shape[0]
    zero = tau - tau  # in the precision at hand
    level = zero
    for j in range(n):
        alpha[j] = b[j]
        p[j] = G[j, j]
        if p[j] > 0:
            level = max(level, abs(b[j]) / np.sqrt(p[j]))
    level *= tau

    for k in range(s):
        height = zero
        for j in range(n):
            if p[j] > delta * G[j, j] and abs(alpha[j]) > level * np.sqrt(G[j, j]):
                height = max(height, abs(alpha[j]))
        if height == 0:
            return k
        best = 0
        while not (
            p[best] > delta * G[best, best]
            and abs(alpha[best]) >= height - level * np.sqrt(G[best, best])
        ):
            best += 1

        # q_k = (G[:, best] - sum_l Q[l, best] Q[l]) / pivot
        q = Q[k]
        for j in range(n):
            q[j] = G[best, j]
        for i in range(k):
            weight = Q[i, best]
            for j in range(n):
                q[j] -= weight * Q[i, j]
        pivot = np.sqrt(p[best])
        ck = alpha[best] / pivot
        for j in range(n):
            q[j] /= pivot
            alpha[j] -= ck * q[j]
            p[j] -= q[j] * q[j]
        p[best] = 0
        c[k] = ck
        support[k] = best
    return s


@njit(**JIT)
def _codes(B, G, s, tau, delta, counts, supports, values):  # type: ignore[no-untyped-def]
    n = B.shape[1]
    alpha, p, c = np.empty(n, B.dtype), np.empty(n, B.dtype), np.empty(s, B.dtype)
    Q = np.empty((s, n), B.dtype)
    for t in range(B.shape[0]):
        support, x = supports[t], values[t]
        size = _pursue(B[t], G, s, tau, delta, alpha, p, Q, c, support)
        for k in range(size - 1, -1, -1):
            rest = c[k]
            for i in range(k + 1, size):
                rest -= Q[k, support[i]] * x[i]
            x[k] = rest / Q[k, support[k]]
        counts[t] = size


@njit(**JIT)
def _energies(B, G, s, tau, delta, energies):  # type: ignore[no-untyped-def]
    n = B.shape[1]
    alpha, p, c = np.empty(n, B.dtype), np.empty(n, B.dtype), np.empty(s, B.dtype)
    Q = np.empty((s, n), B.dtype)
    support = np.empty(s, np.int32)
    for t in range(B.shape[0]):
        size = _pursue(B[t], G, s, tau, delta, alpha, p, Q, c, support)
        total = tau - tau
        for k in range(size):
            total += c[k] * c[k]
        energies[t] = total


def _prepare(B: NDArray, G: NDArray, s: int) -> tuple:
    eps = np.finfo(B.dtype).eps
    dependent = eps ** (2 / 3) if B.dtype == np.float64 else eps ** (1 / 2)
    tau, delta = B.dtype.type(eps ** (3 / 4)), B.dtype.type(dependent)
    return (
        np.ascontiguousarray(B),
        np.ascontiguousarray(G, dtype=B.dtype),
        min(s, len(G)),
        tau,
        delta,
    )


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
    supports, values : (N, min(s, n)), the atoms in order of selection and their
        coefficients; row t is filled up to ``counts[t]``
    """
    B, G, s, tau, delta = _prepare(B, G, s)
    counts = np.zeros(len(B), np.int32)
    supports = np.zeros((len(B), s), np.int32)
    values = np.zeros((len(B), s), B.dtype)
    _codes(B, G, s, tau, delta, counts, supports, values)
    return counts, supports, values


def omp_energies(B: NDArray, G: NDArray, s: int) -> NDArray:
    """Return the energy ``y'y - |y - D x|^2`` that OMP explains of each signal."""
    B, G, s, tau, delta = _prepare(B, G, s)
    energies = np.zeros(len(B), B.dtype)
    _energies(B, G, s, tau, delta, energies)
    return energies


def dense_codes(B: NDArray, G: NDArray, s: int) -> NDArray:
    """Return the codes of :func:`omp_codes` as the paper's dense X (n, N)."""
    counts, supports, values = omp_codes(B, G, s)
    X = np.zeros((len(G), len(B)), B.dtype)
    filled = np.arange(values.shape[1]) < counts[:, None]
    X[supports[filled], np.nonzero(filled)[0]] = values[filled]
    return X
