"""How alike the dictionaries of different classes are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils import check_array, gen_batches


def squared_correlations(model: Any, K: Any = None) -> NDArray:
    """Return ``|D_l'D_i|_F^2``, or ``|A_l'K_li A_i|_F^2``, for all pairs of classes.

    Parameters
    ----------
    model : fitted classifier
    K : (n_train, n_train), the kernel matrix given to `fit`, for ``kernel="precomputed"``

    Returns
    -------
    terms : (n_classes, n_classes), symmetric; the diagonal holds each class's own
    """
    if hasattr(model, "dictionaries_"):
        products = _linear_products(model.dictionaries_)
    else:
        products = _kernel_products(model, K)
    ends = np.cumsum(model.n_atoms_)[:-1]
    terms = np.empty((len(model.n_atoms_), len(model.n_atoms_)))
    for i, product in enumerate(products):
        terms[i] = [np.sum(part**2) for part in np.split(product, ends, axis=1)]
    return (terms + terms.T) / 2


def mean_coherence(terms: NDArray, model: Any) -> NDArray:
    """Return the mean squared correlation between atoms, from their sums.

    On the diagonal, between different atoms of one class; NaN for a class of one.
    """
    n = model.n_atoms_.astype(np.float64)
    means = terms / np.outer(n, n)
    own = [np.sum(np.diagonal(G) ** 2) for G in model._grams]
    pairs = np.where(n > 1, n * (n - 1), np.nan)
    np.fill_diagonal(means, (np.diagonal(terms) - own) / pairs)
    return means


def _linear_products(D: list[NDArray]) -> Any:
    every = np.hstack(D).astype(np.float64, copy=False)
    for D_i in D:
        yield D_i.T.astype(np.float64, copy=False) @ every


def _kernel_products(model: Any, K: Any) -> Any:
    """Yield ``A_i'K_i. A``, the kernel in chunks of rows within the working memory."""
    order = model.fit_indices_
    if model.X_fit_ is None:
        K = _checked_kernel(K, len(order))
    duals = [A.astype(np.float64, copy=False) for A in model.dual_dictionaries_]
    ends = np.cumsum([len(A) for A in duals])
    rows = max(1, int(get_config()["working_memory"] * 2**20 // (16 * len(order))))
    for A, end in zip(duals, ends, strict=True):
        product = np.zeros((A.shape[1], len(order)))
        for part in gen_batches(len(A), rows):
            own = np.arange(end - len(A), end)[part]
            if model.X_fit_ is None:
                block = K[np.ix_(order[own], order)]
            else:
                training = model._training_rows()
                block = model._kernel.between(training[own], training)
            product += A[part].T @ block
        pieces = np.split(product, ends[:-1], axis=1)
        yield np.hstack([piece @ B for piece, B in zip(pieces, duals, strict=True)])


def _checked_kernel(K: Any, n_train: int) -> Any:
    if K is None:
        raise ValueError(
            "kernel='precomputed' does not keep the kernel matrix of the training samples: "
            "give the one given to fit as K=..."
        )
    K = check_array(K, dtype=[np.float64, np.float32], input_name="K")
    if K.shape != (n_train, n_train):
        raise ValueError(
            f"K has shape {K.shape}: give the kernel matrix of the {n_train} training samples, "
            f"shape ({n_train}, {n_train}), in the order given to fit."
        )
    return K
