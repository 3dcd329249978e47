"""Which training samples are left out together."""

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold

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
    groups = np.unique(groups, return_inverse=True)[1]
    count = min(N_FOLDS, int(groups.max()) + 1)
    if count < 2:
        raise ValueError(
            "groups are all the same: the samples of a fold are those of whole groups, so give at "
            "least two, or None."
        )
    splits = StratifiedGroupKFold(count, shuffle=True, random_state=rng.randint(2**31 - 1))
    found = np.empty(len(labels), np.int64)
    for fold, (_, left_out) in enumerate(splits.split(labels, labels, groups)):
        found[left_out] = fold
    return found
