"""From correlations to decisions: energies, residuals and the residual rule."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from kerndict.core.omp import omp_energies

#: In units of eps, relative: residuals below this are zero, energies closer are equal.
ROUNDING = 100


def class_energies(
    classes: Iterable[tuple[NDArray, NDArray, NDArray]], n_rows: int, s: Sequence[int]
) -> NDArray:
    """Return what each class explains of each signal, ``k(y,y)`` minus (21), as rows.

    ``classes`` yields per class the rows ``Z`` and the atoms ``A`` whose product
    holds the correlations (signals and D_i, or ``k(y, Y_i)`` and A_i), and the Gram
    matrix of the atoms; ``s`` holds the nonzeros per code of every class.
    """
    energies = None
    for i, (Z, A, G) in enumerate(classes):
        explained = omp_energies(Z @ A, G, s[i])
        if energies is None:
            energies = np.empty((n_rows, len(s)), explained.dtype)
        energies[:, i] = explained
    assert energies is not None
    return energies


def residuals(energies: NDArray, diagonal: NDArray) -> NDArray:
    """Return the squared residuals (21), never negative; rounding is exactly zero."""
    rest = diagonal[:, None] - energies
    rest[rest < ROUNDING * np.finfo(rest.dtype).eps * diagonal[:, None]] = 0
    return rest


def settle_scores(scores: NDArray) -> NDArray:
    """Raise scores within rounding of the row's largest to it; scores are logarithms."""
    largest = scores.max(axis=1, keepdims=True)
    rounding = np.sqrt(np.finfo(scores.dtype).eps) * (1 + np.abs(largest))
    return np.where(scores >= largest - rounding, largest, scores)


def settle_ties(energies: NDArray) -> NDArray:
    """Raise energies within rounding of the row's largest to it.

    The first class then wins a tie, whichever way the last bits fell.
    """
    largest = energies.max(axis=1, keepdims=True)
    close = energies >= largest * (1 - ROUNDING * np.finfo(energies.dtype).eps)
    return np.where(close, largest, energies)
