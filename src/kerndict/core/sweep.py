"""One pass over the atoms of one class: Algorithms 1 and 2 are one function.

Both run in coordinates whose metric is the identity.  IDL is there already; IKDL
gets there by a factor ``K_i = R'R`` of its kernel matrix, with signals ``R`` and
atoms ``d = R a``.  Then, for both,

    E = Y - D X                            error, kept up to date
    F = E[:, I] + d x'                     error without the atom, on its signals I
    power step  (5)   v = F x - 2 gamma P d
                (18)  v = R R' (F x - 2 gamma P d)
    exact step  (12)  (|x|^2 + 2 gamma P) v = F x
    d = v / |v|
    AK-SVD            x = F'd
    UAK-SVD     (19)  x = E[:, I]'d + x

Differs from the paper:

1. ``F`` is never formed: ``F x = E[:, I] x + d |x|^2`` and
   ``F'd_new = E[:, I]'d_new + (d_old'd_new) x``.
2. ``P`` times the old atoms, or its eigenvalues, come ready for the whole class, so
   that an atom costs as much as its share of ``E``.
3. A step that vanishes leaves its atom as it was.
4. (12) followed by normalisation is not the constrained minimiser of (8).  Where the new
   atom with its best coefficients would be worse than the old atom with the old ones, as
   happens at a stationary point, the old atom stays and only its coefficients are fitted:
   the exact step with AK-SVD coefficients never raises the atom's objective.

The compiled loops below take ``E``, ``D``, ``Y`` and what goes with them transposed, each
signal and each atom a contiguous row.
"""

import numpy as np

from kerndict._jit import compiled, part

EPS = np.finfo(np.float64).eps


@part()
def update_atom(E, D, X, j, exact, shift, repulsion, eigenvalues, uaksvd):  # type: ignore[no-untyped-def]
    """Update atom j, its coefficients and the error, in place.

    Parameters
    ----------
    E, D : (N, r) and (n, r)
    X : (n, N)
    exact : bool
    shift : (r,), ``2 gamma`` times the eigenvalues of P, for the exact step: it runs
        in the eigenbasis of P, where (12) is a division
    repulsion, eigenvalues : (n, r) and (r,), ``2 gamma P D`` and the diagonal ``R R'`` (ones
        for IDL), for the power step
    uaksvd : bool, Eq. (19) rather than AK-SVD
    """
    N, r = E.shape
    x = X[j]
    old = D[j].copy()
    Ex = np.zeros(r)
    energy = 0.0
    for t in range(N):
        if x[t] != 0:
            energy += x[t] * x[t]
            for k in range(r):
                Ex[k] += x[t] * E[t, k]

    v = np.empty(r)
    for k in range(r):
        v[k] = Ex[k] + energy * old[k]  # F x
        if exact:
            v[k] /= energy + shift[k]  # Eq. (12)
        else:
            v[k] = eigenvalues[k] * (v[k] - repulsion[j, k])  # Eqs. (5), (18)
    norm = np.sqrt(np.sum(v * v))
    if norm > 0 and norm < np.inf:
        v /= norm
    else:
        v[:] = old

    best = np.empty(N)
    explained = _fit_coefficients(E, x, old, v, best)
    if exact:
        # |E_I|^2 - |F - v best'|^2 = |best|^2 - |x|^2 |d|^2 - 2 d'E x
        gain = explained
        for k in range(r):
            gain += shift[k] * (old[k] * old[k] - v[k] * v[k])
            gain -= old[k] * (energy * old[k] + 2 * Ex[k])
        if gain < 0:
            v[:] = old
            _fit_coefficients(E, x, old, v, best)

    overlap = np.sum(old * v)
    for t in range(N):
        if x[t] != 0:
            new = best[t]
            if uaksvd:  # Eq. (19) takes old'v = 1
                new += (1 - overlap) * x[t]
            for k in range(r):
                E[t, k] += x[t] * old[k] - new * v[k]
            x[t] = new
    D[j] = v


@part()
def _fit_coefficients(E, x, old, v, best):  # type: ignore[no-untyped-def]
    """Set ``best = F'v``, where x is not zero; return its squared norm."""
    overlap = np.sum(old * v)
    explained = 0.0
    for t in range(x.shape[0]):
        if x[t] != 0:
            best[t] = overlap * x[t]
            for k in range(v.shape[0]):
                best[t] += E[t, k] * v[k]
            explained += best[t] * best[t]
    return explained


@part()
def replace_atom(E, D, Y, j, taken):  # type: ignore[no-untyped-def]
    """Replace atom j by the worst represented signal that was not taken yet.

    Errors that differ by rounding only are equal, and the first signal is taken.  Once
    every signal was taken, all are free again; a zero signal makes no atom.
    """
    N, r = E.shape
    for _ in range(2):
        worst, largest, size = -1, 0.0, 0.0
        for t in range(N):
            error, norm = 0.0, 0.0
            for k in range(r):
                error += E[t, k] * E[t, k]
                norm += Y[t, k] * Y[t, k]
            beaten = error > largest * (1 + 1e-9) + EPS * norm
            if norm > 0 and not taken[t] and (worst < 0 or beaten):
                worst, largest, size = t, error, np.sqrt(norm)
        if worst >= 0:
            taken[worst] = True
            for k in range(r):
                D[j, k] = Y[worst, k] / size
            return
        taken[:] = False


@compiled()
def sweep(E, D, X, exact, shift, repulsion, eigenvalues, uaksvd, Y, fresh):  # type: ignore[no-untyped-def]
    """Update all atoms in turn, in place; see :func:`update_atom`.

    An atom that no signal uses is replaced when its turn comes, and its coefficients
    stay zero: by the next row of ``fresh`` (number of unused atoms, r), as in the
    published code, or, when ``fresh`` is empty, by a worst represented signal of
    ``Y`` (N, r).
    """
    taken = np.zeros(E.shape[0], np.bool_)
    used = 0
    for j in range(D.shape[0]):
        if np.any(X[j] != 0):
            update_atom(E, D, X, j, exact, shift, repulsion, eigenvalues, uaksvd)
        elif fresh.shape[0] > 0:
            D[j] = fresh[used]
            used += 1
        else:
            replace_atom(E, D, Y, j, taken)
