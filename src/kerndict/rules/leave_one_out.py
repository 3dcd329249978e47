"""Leave-one-out for the collaborative rule, in closed form, with the samples as atoms.

Coding sample i over all others by ridge takes no second factorisation: with
``M = (K + ridge I)^-1``, the code is ``-M[:, i] / M_ii`` with entry i set to zero.  That is cheap
enough to compare kernels by, before any dictionary is learned.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri

from kerndict._arrays import namespace, on_host, take, with_diagonal
from kerndict.rules.features import rule_features
from kerndict.rules.weights import fit_weights


def leave_one_out_codes(K: NDArray, ridge: float) -> NDArray:
    """Return the code of every sample over all others, one per row."""
    if not on_host(K):
        xp = namespace(K)
        M = xp.linalg.inv(K + ridge * xp.eye(K.shape[0], dtype=K.dtype, device=K.device))
        M = M / -xp.linalg.diagonal(M)[:, None]
        return with_diagonal(M, 0.0)
    factor, _ = dpotrf(K + ridge * np.eye(len(K)), lower=1)
    M, _ = dpotri(factor, lower=1)  # the lower triangle of the inverse
    M += np.tril(M, -1).T
    M /= -np.diagonal(M)[:, None].copy()
    np.fill_diagonal(M, 0)
    return M


def leave_one_out_loss(K: NDArray, sizes: Sequence[int], ridges: Sequence[float]) -> float:
    """Return the log-loss of the collaborative rule, at the best of some ridges.

    They are tried in turn until the loss rises.

    Parameters
    ----------
    K : (N, N), the kernel matrix of samples grouped by class
    sizes : samples per class; a class of one has nothing to explain its sample by, which is
        then not counted
    ridges : candidates, ascending
    """
    labels = np.repeat(np.arange(len(sizes)), sizes)
    counted = np.asarray(sizes)[labels] > 1
    ends = np.cumsum(sizes)
    own = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    blocks = [K[part, part] for part in own]
    told, energies = np.flatnonzero(counted), namespace(K).linalg.diagonal(K)
    start, best = None, np.inf
    for ridge in ridges:
        codes = take(leave_one_out_codes(K, ridge), told)
        features = rule_features(codes, take(K, told), blocks, take(energies, told))
        weights, offsets, loss = fit_weights(features, labels[counted], start)
        if not loss <= best:  # nor where it is NaN
            break
        best, start = loss, np.r_[weights, offsets]  # neighbours have similar ones
    return best
