"""How both classifiers decide: rows are checked, the fitted model does the rest."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from kerndict._arrays import beside, host_dtype, namespace, on_host, to_host
from kerndict._validation import check_count, check_diagonal, check_real
from kerndict.classifiers.attributes import FittedAttributes
from kerndict.classifiers.moving import Moves
from kerndict.classifiers.place import check_place
from kerndict.classifiers.summary import visual_block
from kerndict.explanation import Explanation
from kerndict.model import Model
from kerndict.rules.weights import log_shares


def _is_collaborative(estimator: "DictionaryPredictor") -> bool:
    """Tell whether there are probabilities and typicality; the error says how to get them."""
    model: Model | None = vars(estimator).get("model_")
    if model is not None and not model.rule.has_probabilities:
        raise AttributeError(
            "this model was fitted with decision='residual', which has neither probabilities nor "
            "typicality: fit it with decision='collaborative'."
        )
    if model is None and estimator.decision != "collaborative":
        raise AttributeError(
            f"decision={estimator.decision!r} has neither probabilities nor typicality: use "
            "decision='collaborative'."
        )
    return True


class DictionaryPredictor(Moves, FittedAttributes, ClassifierMixin, BaseEstimator):
    """What is decided by a fitted model."""

    n_jobs: int | None
    decision: str

    def check_rows(self, X: ArrayLike, method: str = "predict") -> NDArray:
        """Return rows as `model_` takes them: checked, and in its precision.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; with ``kernel="precomputed"``, their kernel with the training samples.
        method : str
            The method that they are for, which errors name.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            A copy only where the precision differs.
        """
        check_is_fitted(self)
        self.model_.space.check_shape(tuple((X if hasattr(X, "shape") else np.asarray(X)).shape))
        check_place(self, X, method, self.model_.grams[0])
        rows = validate_data(self, X, dtype=[self.model_.dtype], reset=False)
        self.model_.space.check(rows)
        return rows

    def _sk_visual_block_(self) -> Any:
        return visual_block(self)

    def _energies(self, X: NDArray, diagonal: ArrayLike | None) -> NDArray:
        """Return k(y, y) of every row, given or known."""
        if diagonal is not None:
            given = to_host(diagonal)
            return beside(check_diagonal(given, X.shape[0], host_dtype(X.dtype)), X)
        energies = self.model_.space.energies(X)
        if energies is None:
            raise ValueError(
                "kernel='precomputed' with a training diagonal that is not constant: k(y, y) of "
                "new samples is unknown. Give it as diagonal=..., k(y, y) of each row."
            )
        return energies

    def class_residuals(self, X: ArrayLike, diagonal: ArrayLike | None = None) -> NDArray:
        """Return the squared residual of each sample over each class, Eq. (21).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; with ``kernel="precomputed"``, their kernel with the training
            samples, (n_samples, n_train), in the order given to `fit`.
        diagonal : array-like of shape (n_samples,), optional
            Energies k(y, y) of the samples, for ``kernel="precomputed"`` when the diagonal of
            the training kernel is not constant; otherwise it is known.

        Returns
        -------
        residuals : ndarray of shape (n_samples, n_classes)
            Never negative; what is below ``100 eps k(y, y)`` is exactly 0.
        """
        rows = self.check_rows(X, "class_residuals")
        return self.model_.residuals(rows, self._energies(rows, diagonal), self.n_jobs)

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return the score of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; with ``kernel="precomputed"``, their kernel with the training
            samples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            With the residual rule, k(y, y) minus the squared residual; with the
            collaborative rule, the argument of the softmax.  For two classes, the second
            minus the first.  Scores that differ by rounding only are made equal.
        """
        rows = self.check_rows(X, "decision_function")
        scores = self.model_.scores(rows, self.n_jobs)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @available_if(_is_collaborative)
    def predict_log_proba(self, X: ArrayLike) -> NDArray:
        """Return the logarithms of the probabilities; see :meth:`predict_proba`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        rows = self.check_rows(X, "predict_log_proba")
        return log_shares(self.model_.scores(rows, self.n_jobs))

    @available_if(_is_collaborative)
    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Return the probability of each class, with the collaborative rule.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`; a row of zeros gets equal ones.  They are calibrated
            out of fold, except where every class has a single training sample.
        """
        rows = self.check_rows(X, "predict_proba")
        return namespace(rows).exp(log_shares(self.model_.scores(rows, self.n_jobs)))

    @available_if(_is_collaborative)
    def typicality(self, X: ArrayLike) -> NDArray:
        """Return how typical each sample is of the class it is given, in [0, 1].

        A p-value: the share of training samples that, held out of the folds of `fit`, won
        their class with at most the score with which the sample wins its own.  It is about
        uniform on new samples of known classes and near 0 on strangers, which makes
        ``typicality(X) < 0.01`` a test that rejects about 1 % of what it should keep.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        p_values : ndarray of shape (n_samples,)
            At least ``1 / (n + 1)`` with n training samples held out; 1 where every class had one
            training sample only, and none could be held out.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from kerndict import KernelDictionaryClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> few = y < 5
        >>> model = KernelDictionaryClassifier(random_state=0).fit(X[few][::2], y[few][::2])
        >>> known, strange = model.typicality(X[few][1::2]), model.typicality(X[~few])
        >>> bool((known < 0.05).mean() < 0.1), bool((strange < 0.05).mean() > 0.7)
        (True, True)
        """
        rows = self.check_rows(X, "typicality")
        return self.model_.typicality(rows, self.n_jobs)

    @available_if(_is_collaborative)
    def predict_set(self, X: ArrayLike, alpha: float = 0.1) -> NDArray:
        """Return the classes that each sample may belong to.

        The sets hold the true class of at least a share ``1 - alpha`` of new samples, on average
        over samples like those of `fit`: a class belongs to the set when its log-loss is no larger
        than those of ``1 - alpha`` of the training samples, held out of the folds (a conformal
        prediction set).  Samples of another kind, such as other speakers, are missed more often;
        see the `groups` of `fit`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        alpha : float, default=0.1
            The share of samples whose class may be missing, in (0, 1).

        Returns
        -------
        sets : ndarray of shape (n_samples, n_classes)
            True where a class belongs to the set, in the order of `classes_`.  A set can be empty,
            where no class is likely enough.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from kerndict import KernelDictionaryClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = KernelDictionaryClassifier(random_state=0).fit(X[::2], y[::2])
        >>> sets = model.predict_set(X[1::2], alpha=0.01)
        >>> bool(sets[range(len(sets)), y[1::2]].mean() > 0.97), bool(sets.sum(axis=1).mean() < 1.2)
        (True, True)
        """
        rows = self.check_rows(X, "predict_set")
        if not 0 < check_real("alpha", alpha) < 1:
            raise ValueError(f"alpha={alpha!r} is out of range: give a number in (0, 1).")
        return self.model_.sets(rows, float(alpha), self.n_jobs)

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the class with the best score.

        That is the smallest residual, Eqs. (2) and (20), or the largest probability.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; with ``kernel="precomputed"``, their kernel with the training
            samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Ties go to the first class.
        """
        rows = self.check_rows(X)
        winners, classes = self.model_.winners(rows, self.n_jobs), self.model_.classes
        if on_host(winners) or classes.dtype.kind not in "biuf":  # strings stay on the host
            return classes[to_host(winners)]
        return namespace(winners).take(beside(classes, winners), winners)

    def explain(
        self, X: ArrayLike, diagonal: ArrayLike | None = None, n_samples: int = 5
    ) -> Explanation:
        """Return why each sample is decided as it is, in numbers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; with ``kernel="precomputed"``, their kernel with the training
            samples.
        diagonal : array-like of shape (n_samples,), optional
            Energies k(y, y) of the samples, for ``kernel="precomputed"`` when the diagonal of
            the training kernel is not constant; as in :meth:`class_residuals`.  The
            collaborative rule does without: residuals then are what is left of the
            sample's projection on all atoms.
        n_samples : int, default=5
            Training samples listed for each of the two classes, at most.

        Returns
        -------
        explanation : Explanation
            Scores and residuals of all classes; for the winner and the runner-up, the atoms
            and coefficients of the sample's code, and the training samples behind it.

        Notes
        -----
        What stands behind a code depends on the classifier.  A kernel classifier's atoms
        *are* combinations of training samples: the weights are ``A x``, and the weighted
        sum of the mapped training samples is exactly the approximation of the sample.
        A model on a device is explained on the host, from copies of it and of the samples.
        Weights of training samples that are nearly equal can be large and cancel each
        other.  The atoms of the linear classifier do not remember what they were learned
        from; listed are the training samples of the class that use the same atoms in the
        same proportions, and the weights are the cosines between their codes and the
        sample's, 1 at most.
        """
        rows = self.check_rows(X, "explain")
        check_count("n_samples", n_samples, 1)
        if not on_host(rows):
            return self.to("cpu").explain(to_host(rows), diagonal, n_samples)
        if self.model_.rule.has_probabilities and diagonal is None:
            energies = self.model_.space.energies(rows)
        else:
            energies = self._energies(rows, diagonal)
        return self.model_.explain(rows, energies, n_samples, self.n_jobs)
