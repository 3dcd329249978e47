"""Why a sample was decided as it was: scores, atoms, and the training samples behind them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from kerndict.core.collaborative import class_parts, class_slices, spanned_energy
from kerndict.core.decide import residuals, settle_scores, settle_ties
from kerndict.core.omp import dense_codes, omp_energies


@dataclass(frozen=True)
class Explanation:
    """What the classifiers' `explain` returns, one entry per sample.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, as in `classes_`.
    scores : ndarray of shape (n_samples, n_classes)
        What is compared: with the residual rule k(y, y) minus the squared residual, with
        the collaborative rule the argument of the softmax.
    residuals : ndarray of shape (n_samples, n_classes)
        The squared residual of the sample over each class: with the residual rule of its
        sparse code over that class alone, with the collaborative rule of that class's part
        of the code over all classes.
    probabilities : ndarray of shape (n_samples, n_classes) or None
        With the collaborative rule.
    top : ndarray of shape (n_samples, 2)
        The winner and the runner-up, as indices into `classes`.
    atoms : ndarray of shape (n_samples, 2, n_nonzero_coefs)
        The atoms that code the sample in these two classes, largest coefficient first;
        -1 where there are fewer.  With the residual rule, all atoms of the sparse code; with
        the collaborative rule, whose code uses every atom, as many of the largest.
    coefficients : ndarray of shape (n_samples, 2, n_nonzero_coefs)
        Their coefficients; atoms have unit norm.
    training_samples : ndarray of shape (n_samples, 2, n_listed)
        Training samples behind these two classes' codes, most important first, as rows of
        the `X` given to `fit`; -1 where there are fewer.  As many as were asked for, but no
        more than the largest class has.
    training_weights : ndarray of shape (n_samples, 2, n_listed)
        How much each stands behind the code.  See the classifier's `explain`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kerndict import KernelDictionaryClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelDictionaryClassifier(
    ...     n_atoms=5, n_nonzero_coefs=2, decision="residual", random_state=0
    ... ).fit(X, y)
    >>> found = model.explain(X[:1])
    >>> found.classes[found.top[0]]
    array([0, 1])
    >>> found.atoms.shape
    (1, 2, 2)
    >>> list(found.to_frame().columns)[:5]
    ['sample', 'class', 'rank', 'score', 'residual']
    """

    classes: NDArray
    scores: NDArray
    residuals: NDArray
    probabilities: NDArray | None
    top: NDArray
    atoms: NDArray
    coefficients: NDArray
    training_samples: NDArray
    training_weights: NDArray

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row per sample and class, best class first.

        Returns
        -------
        frame : DataFrame
            ``sample``, ``class``, ``rank`` (1 is the winner), ``score``, ``residual``,
            ``probability`` with the collaborative rule; and as lists, empty beyond the
            runner-up, ``atoms``, ``coefficients``, ``training_samples`` and
            ``training_weights``.  ``frame.explode(["atoms", "coefficients"])`` has one row
            per atom.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas") from error
        n_samples, n_classes = self.scores.shape
        sample = np.repeat(np.arange(n_samples), n_classes)
        # Winner and runner-up first, the others by their score.
        keys = self.scores.astype(np.float64)
        keys[np.arange(n_samples)[:, None], self.top] = np.inf
        order = np.argsort(-keys, axis=1, kind="stable")
        order[:, : self.top.shape[1]] = self.top
        columns: dict[str, Any] = {
            "sample": sample,
            "class": self.classes[order].ravel(),
            "rank": np.tile(np.arange(1, n_classes + 1), n_samples),
            "score": np.take_along_axis(self.scores, order, axis=1).ravel(),
            "residual": np.take_along_axis(self.residuals, order, axis=1).ravel(),
        }
        if self.probabilities is not None:
            columns["probability"] = np.take_along_axis(self.probabilities, order, 1).ravel()
        columns["atoms"], columns["coefficients"] = self._lists(self.atoms, self.coefficients)
        columns["training_samples"], columns["training_weights"] = self._lists(
            self.training_samples, self.training_weights
        )
        return pd.DataFrame(columns)

    def _lists(self, indices: NDArray, values: NDArray) -> tuple[list, list]:
        """Return both as lists without padding, one per sample and rank."""
        lists: tuple[list, list] = ([], [])
        for row, numbers in zip(indices, values, strict=True):
            for rank in range(len(self.classes)):
                kept = row[rank] >= 0 if rank < len(row) else None
                for out, array in zip(lists, (row, numbers), strict=True):
                    out.append([] if kept is None else array[rank][kept].tolist())
        return lists


def explain(model: Any, X: NDArray, diagonal: NDArray | None, n_samples: int) -> Explanation:
    """Explain checked rows by a fitted model; see `explain` of the classifiers.

    ``diagonal`` holds k(y, y), or is None where the rule does without.  No more training samples
    are listed than the largest class has.
    """
    n_samples = min(n_samples, int(model._class_sizes.max()))

    def part(rows: slice) -> tuple[NDArray, ...]:
        known = None if diagonal is None else diagonal[rows]
        return _explain_rows(model, X[rows], known, n_samples)

    parts = zip(*model._map_chunks(part, len(X)), strict=True)
    scores, rest, top, *found = (np.concatenate(arrays) for arrays in parts)
    probabilities = None if model._rule is None else softmax(scores, axis=1)
    return Explanation(model.classes_, scores, rest, probabilities, top, *found)


def _explain_rows(
    model: Any, X: NDArray, diagonal: NDArray | None, n_samples: int
) -> tuple[NDArray, ...]:
    B, grams = model._correlations(X), model._grams
    places = list(class_slices(grams))
    sparsity = model._sparsity.tolist()
    if model._rule is None:
        codes = None
        each = zip(places, grams, sparsity, strict=True)
        energies = np.stack([omp_energies(B[:, own], G, s) for own, G, s in each], axis=1)
        assert diagonal is not None
        scores, rest = settle_ties(energies), residuals(energies, diagonal)
    else:
        rule = model._rule
        scores = settle_scores(rule.scores(B, model._known_diagonal(X)))
        codes = B @ rule.inverse
        if diagonal is None:
            diagonal = spanned_energy(B, rule.span)
        rest = np.maximum(class_parts(codes, B, rule.blocks, diagonal)[0], 0)

    top = _top_two(scores)
    width = max(min(s, len(G)) for s, G in zip(sparsity, grams, strict=True))
    atoms = np.full((len(X), 2, width), -1)
    coefficients = np.zeros(atoms.shape, scores.dtype)
    samples = np.full((len(X), 2, n_samples), -1)
    weights = np.zeros(samples.shape, scores.dtype)
    for c, (place, G) in enumerate(zip(places, grams, strict=True)):
        rows, rank = np.nonzero(top == c)
        own = dense_codes(B[rows, place], G, sparsity[c]).T if codes is None else codes[rows, place]
        atoms[rows, rank], coefficients[rows, rank] = _largest(
            np.arange(len(G)), own, count=min(sparsity[c], width), width=width
        )
        step = _listed_rows(model, c, len(X))
        for first in range(0, len(rows), step):
            part = slice(first, first + step)
            behind = _largest(*model._behind(c, own[part]), count=n_samples, width=n_samples)
            samples[rows[part], rank[part]], weights[rows[part], rank[part]] = behind
    return scores, rest, top, atoms, coefficients, samples, weights


def _listed_rows(model: Any, c: int, n_rows: int) -> int:
    """Return how many rows at a time are compared with the training samples of a class.

    Each needs numbers for all of the class: their weights, a copy to sort by, and the order.  A
    third of what prediction has been given for the rows is free by then.
    """
    needed = int(model._class_sizes[c]) * (2 * model._dtype.itemsize + 8)
    return max(1, n_rows * model._row_bytes() // (3 * needed))


def _top_two(scores: NDArray) -> NDArray:
    """Return the winner and the runner-up of every row; ties go to the first class."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :2].copy()  # the rest is let go


def _largest(names: NDArray, values: NDArray, *, count: int, width: int) -> tuple[NDArray, NDArray]:
    """Return names and values of the largest nonzero values of each row, padded to width."""
    keys = np.abs(values)
    order = np.argsort(np.negative(keys, out=keys), axis=1, kind="stable")[:, :count]
    indices = np.full((len(values), width), -1)
    kept = np.zeros((len(values), width), values.dtype)
    kept[:, : order.shape[1]] = np.take_along_axis(values, order, axis=1)
    indices[:, : order.shape[1]] = names[order]
    indices[kept == 0] = -1
    return indices, kept
