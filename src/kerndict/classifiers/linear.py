"""Incoherent dictionary learning, linear."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kerndict._validation import check_diagonal
from kerndict.classifiers.base import BaseDictionaryClassifier
from kerndict.core.linear import LinearProblem
from kerndict.core.problem import Problem
from kerndict.kernels import Kernel

_LINEAR = Kernel("linear")


class DictionaryClassifier(BaseDictionaryClassifier):
    """Classification with incoherent dictionary learning (IDL), linear.

    Every class learns a dictionary that represents its samples by few atoms; a penalty
    can keep the dictionaries of different classes apart.  A sample belongs to the class
    whose atoms explain it best.

    The model is linear through the origin: it tells directions apart, not positions.
    It suits many features (faces, spectra, histograms) and cannot separate blobs in two
    features, where two atoms of any class represent everything; use
    :class:`KernelDictionaryClassifier` there.

    Parameters
    ----------
    n_atoms : int, float or None, default=None
        Atoms per class: a count, which may exceed the number of samples of a class; a share
        of the class in (0, 1], rounded up; or None for half of the class, but at least 15
        or all.
    n_nonzero_coefs : int or None, default=None
        Atoms per code, at most.  More than the atoms, or than the rank of a class, does
        not bind.  None takes half of the atoms.
    incoherence : float, default=0.0
        The weight of the penalty on atoms that resemble those of other classes, Eq. (3).
    incoherence_scale : {"relative", "absolute"}, default="relative"
        ``"relative"``: at 1 the penalty pulls on an atom as hard as its own samples do, on
        average and at the start, whatever the data.  ``"absolute"``: `incoherence` is the γ
        of the paper, which weighs against squared errors.
    atom_update : {"exact", "power"}, default="exact"
        ``"exact"`` solves for each atom in closed form, Eq. (12); ``"power"`` takes the
        step of the printed Algorithm 1, Eq. (5), which can raise the objective.
    coef_update : {"aksvd", "uaksvd"}, default="aksvd"
        Least-squares coefficients, or those of Eq. (19).
    decision : {"collaborative", "residual"}, default="collaborative"
        ``"collaborative"``: a sample is coded over the atoms of all classes by ridge; what
        each class leaves of it, spends on it and would leave on its own is weighed into
        probabilities, with an offset per class.  The ridge, the weights and the offsets are
        fitted out of fold, which costs five more fits.
        ``"residual"``: the class with the smallest residual wins, Eq. (2).
    n_iter : int, default=5
        Passes over all classes.  0 keeps the initial dictionaries, the control of every
        experiment.
    init : {"pivoted", "samples", "random"} or sequence of arrays, default="pivoted"
        The samples that a pivoted Cholesky factorisation takes (greedy, and without chance
        until they span the class), random nonzero samples of the class (beyond the class size,
        random combinations of them), Gaussian atoms, or one array (n_features, n_atoms) per
        class in the order of `classes_`.  Atoms are always normalised.
    random_state : int, RandomState instance or None, default=None
        Deals the folds of the collaborative rule, draws initial atoms, and with
        ``atom_update="power"`` the replacements of unused ones.
    n_jobs : int or None, default=None
        Threads in prediction; the result does not depend on it, but for rounding.
    verbose : int, default=0
        Print the objective and the time left after every iteration, and every fold.
    ridge : float or "auto", default="auto"
        The ridge of the collaborative code, relative to atoms of unit norm; ``"auto"``
        chooses it with the weights of the rule.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    dictionaries_ : list of ndarray of shape (n_features, n_atoms)
        The atoms of each class, unit columns.
    fit_indices_ : ndarray of shape (n_samples,)
        The rows of `X` grouped by class, in the order of `codes_`.
    codes_ : list of ndarray of shape (n_samples of the class, n_atoms)
        The codes of the training samples of each class after the last pass.
    reconstruction_, coherence_ : ndarray of shape (n_iter,)
        The two terms of Eq. (3) after each pass, γ not applied; the second sums
        ordered pairs of classes.
    incoherence_ : float
        The absolute weight γ of the penalty.
    n_iter_ : int
        Passes made.
    n_atoms_ : ndarray of shape (n_classes,)
        Atoms of each class.
    ridge_, rule_weights_, rule_offsets_ : float, ndarray (3,), ndarray (n_classes,)
        The ridge, the weights α, β, δ and the offsets of the collaborative rule.
    n_features_in_ : int
        Features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when all are strings.

    See Also
    --------
    KernelDictionaryClassifier : The same with kernels.

    References
    ----------
    D. C. Ilie-Ablachim and B. Dumitrescu, "Classification with Incoherent Kernel
    Dictionary Learning", 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from kerndict import DictionaryClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = DictionaryClassifier(random_state=0).fit(X_train, y_train)
    >>> model.score(X_test, y_test) > 0.95
    True
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _make_problem(
        self, X: NDArray, order: NDArray, sizes: NDArray, rng: np.random.RandomState
    ) -> tuple[Problem, dict[str, Any]]:
        self._check_squares(X)
        groups = np.split(X[order], np.cumsum(sizes)[:-1])
        problem = LinearProblem([group.T for group in groups], incoherent=self.incoherence > 0)
        return problem, {"fit_indices_": order}

    def _store(self, problem: Problem) -> None:
        classes = range(len(problem.signals))
        self.dictionaries_ = [
            np.ascontiguousarray(problem.dictionary(i), problem.dtype) for i in classes
        ]
        wide = (D.astype(np.float64, copy=False) for D in self.dictionaries_)
        self._grams = [(D.T @ D).astype(problem.dtype) for D in wide]

    def _check_squares(self, X: NDArray) -> None:
        with np.errstate(over="ignore"):
            squares = _LINEAR.diagonal(X)
        largest = max(X.max(initial=0), -X.min(initial=0))  # without a copy of X
        if largest > 0 and squares.max() < np.finfo(X.dtype).tiny:
            raise ValueError(
                f"X holds values up to {largest:.3g} only, whose squares underflow "
                f"{X.dtype}: scale the features up."
            )
        if not np.isfinite(squares).all():
            raise ValueError(
                f"X holds values up to {largest:.3g}, whose squares overflow {X.dtype}: "
                "scale the features down."
            )

    def _check_rows(self, X: ArrayLike) -> NDArray:
        X = super()._check_rows(X)
        self._check_squares(X)
        return X

    def _class_blocks(self, X: NDArray) -> Iterator[tuple[NDArray, NDArray, NDArray]]:
        for D, G in zip(self.dictionaries_, self._grams, strict=True):
            yield X, D, G

    def _row_bytes(self) -> int:
        return self._dtype.itemsize * self._row_entries()

    def _known_diagonal(self, X: NDArray) -> NDArray | None:
        return _LINEAR.diagonal(X)

    def _rows(self, X: NDArray, rows: NDArray, train: NDArray) -> NDArray:
        return X[rows]

    def _diagonal(self, X: NDArray, diagonal: ArrayLike | None) -> NDArray:
        if diagonal is None:
            return _LINEAR.diagonal(X)
        return check_diagonal(diagonal, len(X), X.dtype)

    def _behind(self, c: int, codes: NDArray) -> tuple[NDArray, NDArray]:
        if not hasattr(self, "codes_"):  # a loaded model does not know its training samples
            return np.empty(0, np.int64), np.empty((len(codes), 0), codes.dtype)
        start = sum(len(theirs) for theirs in self.codes_[:c])
        theirs = self.codes_[c]
        cosines = codes @ theirs.T
        cosines /= _norms(codes)[:, None]
        cosines /= _norms(theirs)
        return self.fit_indices_[start : start + len(theirs)], cosines


def _norms(rows: NDArray) -> NDArray:
    """Return the norm of each row, 1 for a row of zeros."""
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.where(norms > 0, norms, 1)
