"""The paper's splits into a training and a test part."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def split_mask(train: ArrayLike) -> tuple[NDArray, NDArray]:
    """Split by a fixed mask.

    Parameters
    ----------
    train : array-like of bool, shape (n_samples,)
        True for the training samples.

    Returns
    -------
    train_indices, test_indices : ndarray of int
        In ascending order.
    """
    mask = np.asarray(train, dtype=bool)
    return np.flatnonzero(mask), np.flatnonzero(~mask)


def split_per_class(
    y: ArrayLike, n_train: int, n_test: int | None = None, *, seed: int | None = None
) -> tuple[NDArray, NDArray]:
    """Draw a number of samples of every class for training.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    n_train : int
        Training samples per class; every class must have more.
    n_test : int, optional
        Test samples per class, at most; all that are left when None.
    seed : int, optional
        Draws the samples.

    Returns
    -------
    train_indices, test_indices : ndarray of int
        In increasing order.

    Examples
    --------
    >>> from kerndict.datasets import split_per_class
    >>> train, test = split_per_class([0, 0, 0, 1, 1, 1, 1], 2, seed=0)
    >>> len(train), len(test)
    (4, 3)
    """
    if n_train < 1:
        raise ValueError(f"n_train={n_train} is too small: give a whole number >= 1.")
    y = np.asarray(y)
    rng = np.random.default_rng(seed)
    train, test = [], []
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        if len(members) <= n_train:
            raise ValueError(
                f"n_train={n_train}: class {label!r} has {len(members)} samples only. Give less "
                "than the samples of the smallest class."
            )
        train.append(members[:n_train])
        test.append(members[n_train:][:n_test])
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(test))


def split_half(y: ArrayLike, *, seed: int | None = None) -> tuple[NDArray, NDArray]:
    """Draw half of every class for training, rounded up.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    seed : int, optional
        Draws the samples.

    Returns
    -------
    train_indices, test_indices : ndarray of int
        In increasing order.
    """
    y = np.asarray(y)
    rng = np.random.default_rng(seed)
    members = [rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]
    halves = [-(-len(indices) // 2) for indices in members]
    train = [indices[:half] for indices, half in zip(members, halves, strict=True)]
    test = [indices[half:] for indices, half in zip(members, halves, strict=True)]
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(test))
