"""How alike the dictionaries of different classes are."""

import numpy as np
from numpy.typing import NDArray

from kerndict.model import Model


def squared_correlations(model: Model, K: NDArray | None = None) -> NDArray:
    """Return ``|D_l'D_i|_F^2``, or ``|A_l'K_li A_i|_F^2``, for all pairs of classes.

    Parameters
    ----------
    model : what was fitted
    K : (n_train, n_train), the kernel matrix given to `fit`, for ``kernel="precomputed"``

    Returns
    -------
    terms : (n_classes, n_classes), symmetric; the diagonal holds each class's own
    """
    ends = np.cumsum(model.n_atoms)[:-1]
    terms = np.empty((len(model.n_atoms), len(model.n_atoms)))
    for i, product in enumerate(model.space.atom_products(model.atoms, K)):
        terms[i] = [np.sum(part**2) for part in np.split(product, ends, axis=1)]
    return (terms + terms.T) / 2


def mean_coherence(terms: NDArray, model: Model) -> NDArray:
    """Return the mean squared correlation between atoms, from their sums.

    On the diagonal, between different atoms of one class; NaN for a class of one.
    """
    n = model.n_atoms.astype(np.float64)
    means = terms / np.outer(n, n)
    norms = [np.sum(np.diagonal(G) ** 2) for G in model.grams]
    pairs = np.where(n > 1, n * (n - 1), np.nan)
    np.fill_diagonal(means, (np.diagonal(terms) - norms) / pairs)
    return means
