"""Why a sample was decided as it was: scores, atoms, and the training samples behind them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

if TYPE_CHECKING:
    from kerndict.model import Model


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


def join_rows(
    classes: NDArray, parts: Sequence[tuple[NDArray, ...]], has_probabilities: bool
) -> Explanation:
    """Return the explanation of all rows from what :func:`explained_rows` gives for some."""
    scores, rest, top, *found = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    probabilities = softmax(scores, axis=1) if has_probabilities else None
    return Explanation(classes, scores, rest, probabilities, top, *found)


def explained_rows(
    model: "Model", X: NDArray, energies: NDArray | None, n_samples: int
) -> tuple[NDArray, ...]:
    """Return scores, residuals, and for the two best classes atoms and training samples.

    ``energies`` holds k(y, y), or is None where the rule does without.
    """
    B = np.hstack(list(model.space.correlations(X, [*model.atoms, *model.rule.heads])))
    scores, rest, codes_of = model.rule.parts(B, energies)
    scores = model.settled(X, scores, energies)
    top = top_two(scores)
    sparsity = np.minimum(model.sparsity, model.n_atoms).tolist()
    width = max(sparsity)
    atoms = np.full((len(X), 2, width), -1)
    coefficients = np.zeros(atoms.shape, scores.dtype)
    samples = np.full((len(X), 2, n_samples), -1)
    weights = np.zeros(samples.shape, scores.dtype)
    for c, n in enumerate(model.n_atoms.tolist()):
        rows, rank = np.nonzero(top == c)
        codes = codes_of(c, rows)
        atoms[rows, rank], coefficients[rows, rank] = _largest(
            np.arange(n), codes, count=sparsity[c], width=width
        )
        step = _listed_rows(model, c, len(X))
        for first in range(0, len(rows), step):
            part = slice(first, first + step)
            behind = _largest(
                *_samples_behind(model, c, codes[part]), count=n_samples, width=n_samples
            )
            samples[rows[part], rank[part]], weights[rows[part], rank[part]] = behind
    return scores, rest, top, atoms, coefficients, samples, weights


def _samples_behind(model: "Model", c: int, codes: NDArray) -> tuple[NDArray, NDArray]:
    """Return the training samples of class c, and how much they stand behind each code."""
    theirs = None if model.codes is None else model.codes[c]
    weights = model.space.training_weights(codes, model.atoms[c], theirs)
    start = int(model.class_sizes[:c].sum())
    rows = model.space.listed_rows(start, int(model.class_sizes[c]))
    if weights is None or rows is None:
        return np.empty(0, np.int64), np.empty((len(codes), 0), codes.dtype)
    return rows, weights


def _listed_rows(model: "Model", c: int, n_rows: int) -> int:
    """Return how many rows at a time are compared with the training samples of a class.

    Each needs numbers for all of the class: their weights, a copy to sort by, and the order.  A
    third of what prediction has been given for the rows is free by then.
    """
    needed = int(model.class_sizes[c]) * (2 * model.dtype.itemsize + 8)
    return max(1, n_rows * model.row_bytes() // (3 * needed))


def top_two(scores: NDArray) -> NDArray:
    """Return the places of the two largest entries of each row; ties go to the first.

    >>> top_two(np.array([[1.0, 3.0, 3.0], [5.0, 4.0, 2.0]]))
    array([[1, 2],
           [0, 1]])
    """
    first = scores.argmax(axis=1)
    others = scores.copy()
    others[np.arange(len(scores)), first] = -np.inf
    return np.column_stack([first, others.argmax(axis=1)])


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
