"""Which training samples are left out together."""

import numpy as np
from numpy.typing import NDArray

N_FOLDS = 5


def assign_folds(
    sizes: NDArray, rng: np.random.RandomState, groups: NDArray | None = None
) -> NDArray:
    """Return the fold of every sample, grouped by class; -1 is never left out.

    The samples of a class are spread evenly over the folds.  With groups, all samples of a group
    are in the same fold, and classes are spread as evenly as that allows.  A class that would be
    gone without a fold must stay in the training part.

    Parameters
    ----------
    sizes : samples of each class
    groups : (N,), that of every sample, None where each is its own
    """
    labels = np.repeat(np.arange(len(sizes)), sizes)
    if groups is None:
        folds = []
        for size in sizes.tolist():
            start = rng.randint(N_FOLDS)
            folds.append((rng.permutation(size) + start) % N_FOLDS)
        found = np.concatenate(folds)
    else:
        found = _by_group(labels, groups, rng)
    kept = np.bincount(labels * N_FOLDS + found, minlength=N_FOLDS * len(sizes))
    whole = kept.reshape(-1, N_FOLDS).max(axis=1) == sizes
    return np.where(whole[labels], -1, found)


def _by_group(labels: NDArray, groups: NDArray, rng: np.random.RandomState) -> NDArray:
    """Deal groups, the largest first, each to the fold that has least of its classes so far."""
    names, groups = np.unique(groups, return_inverse=True)
    if len(names) < 2:
        raise ValueError(
            "groups are all the same: the samples of a fold are those of whole groups, so give at "
            "least two, or None."
        )
    counts = np.zeros((len(names), int(labels.max()) + 1))
    np.add.at(counts, (groups, labels), 1)
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    order = rng.permutation(len(names))
    order = order[np.argsort(-counts[order].sum(axis=1), kind="stable")]
    so_far, fold_of = np.zeros((N_FOLDS, shares.shape[1])), np.empty(len(names), np.int64)
    for group in order:
        fold = int(np.argmin(((so_far + shares[group]) ** 2 - so_far**2).sum(axis=1)))
        so_far[fold] += shares[group]
        fold_of[group] = fold
    return fold_of[groups]
