"""How both classifiers decide: rows in chunks, chunks in threads, two rules."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import gen_batches
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from kerndict._threads import single_blas_thread
from kerndict._validation import check_count
from kerndict.classifiers.explanation import Explanation, explain
from kerndict.classifiers.summary import visual_block
from kerndict.core.collaborative import CollaborativeRule
from kerndict.core.decide import class_energies, residuals, settle_scores, settle_ties
from kerndict.core.workspace import plan

_CHUNK_ROWS = 2048


def _is_collaborative(model: Any) -> bool:
    """Tell whether there are probabilities and typicality; the error says how to get them."""
    fitted = vars(model).get("classes_") is not None
    if fitted and model._rule is None:
        raise AttributeError(
            "this model was fitted with decision='residual', which has neither probabilities nor "
            "typicality: fit it with decision='collaborative'."
        )
    if not fitted and model.decision != "collaborative":
        raise AttributeError(
            f"decision={model.decision!r} has neither probabilities nor typicality: use "
            "decision='collaborative'."
        )
    return True


class DictionaryPredictor(ClassifierMixin, BaseEstimator, ABC):
    """What is decided from the atoms of each class and their Gram matrices."""

    n_jobs: Any
    classes_: NDArray
    n_atoms_: NDArray
    _dtype: np.dtype
    _sparsity: NDArray
    _rule: CollaborativeRule | None

    @abstractmethod
    def _class_blocks(self, X: NDArray) -> Iterator[tuple[NDArray, NDArray, NDArray]]:
        """Yield per class what :func:`kerndict.core.decide.class_energies` takes."""

    @abstractmethod
    def _row_bytes(self) -> int:
        """Return the memory that prediction takes per row."""

    def _row_entries(self) -> int:
        """Return the numbers per row that both rules take, correlations and features."""
        return 4 * int(self.n_atoms_.sum()) + 8 * len(self.n_atoms_)

    @abstractmethod
    def _diagonal(self, X: NDArray, diagonal: ArrayLike | None) -> NDArray:
        """Return k(y, y) of every row of X."""

    @abstractmethod
    def _known_diagonal(self, X: NDArray) -> NDArray | None:
        """Return k(y, y) of every row of X, or None where it cannot be known."""

    @abstractmethod
    def _behind(self, c: int, codes: NDArray) -> tuple[NDArray, NDArray]:
        """Return training samples of class c, and how much they stand behind each code."""

    def _check_rows(self, X: ArrayLike) -> NDArray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=[self._dtype], reset=False)

    def _sk_visual_block_(self) -> Any:
        return visual_block(self)

    def _in_chunks(
        self, function: Callable[[NDArray], NDArray], X: NDArray, pursues: bool | None = None
    ) -> NDArray:
        """Return a function of rows, in chunks; see :meth:`_map_chunks`."""
        return np.concatenate(self._map_chunks(lambda rows: function(X[rows]), len(X), pursues))

    def _map_chunks(
        self, function: Callable[[slice], Any], n_rows: int, pursues: bool | None = None
    ) -> list:
        """Return a function of chunks of rows within the working memory, chunks in threads.

        ``pursues`` tells whether it codes the rows by OMP; by default the residual rule does.
        """
        threads = effective_n_jobs(self.n_jobs)
        parallel = Parallel(n_jobs=threads, prefer="threads", require="sharedmem")
        memory = get_config()["working_memory"] * 2**20 / threads
        if self._rule is None if pursues is None else pursues:
            memory -= self._pursuit_bytes()
        most = max(1, min(int(memory // self._row_bytes()), _CHUNK_ROWS))
        chunks = threads * -(-n_rows // (most * threads))  # every thread gets as many
        with single_blas_thread() if threads > 1 else nullcontext():
            return parallel(
                delayed(function)(part) for part in gen_batches(n_rows, -(-n_rows // chunks))
            )

    def _pursuit_bytes(self) -> int:
        """Return the memory that a pursuit takes, whatever the number of rows."""
        shapes = set(zip(self.n_atoms_.tolist(), self._sparsity.tolist(), strict=True))
        sizes = [plan(n, min(n, s), self._dtype)[1] for n, s in shapes]
        return self._dtype.itemsize * max(sizes)

    def _energies(self, X: NDArray) -> NDArray:
        """Return k(y, y) minus the squared residual of every row over every class."""
        return class_energies(self._class_blocks(X), len(X), self._sparsity.tolist())

    def _correlations(self, X: NDArray) -> NDArray:
        """Return the correlations of every row with the atoms of all classes."""
        return np.hstack([Z @ A for Z, A, _ in self._class_blocks(X)])

    def _rule_scores(self, X: NDArray) -> NDArray:
        assert self._rule is not None
        return self._rule.scores(self._correlations(X), self._known_diagonal(X))

    def class_residuals(self, X: ArrayLike, diagonal: ArrayLike | None = None) -> NDArray:
        """Return the squared residual of each sample over each class, Eq. (21).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; with ``kernel="precomputed"``, their kernel with the training
            samples, (n_samples, n_train), in the order given to `fit`.
        diagonal : array-like of shape (n_samples,), optional
            k(y, y) of each sample, for ``kernel="precomputed"`` when the diagonal of
            the training kernel is not constant; otherwise it is known.

        Returns
        -------
        residuals : ndarray of shape (n_samples, n_classes)
            Never negative; what is below ``100 eps k(y, y)`` is exactly 0.
        """
        X = self._check_rows(X)
        energies = self._in_chunks(self._energies, X, pursues=True)
        return residuals(energies, self._diagonal(X, diagonal))

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
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _scores(self, X: ArrayLike) -> NDArray:
        return self._in_chunks(self._settled, self._check_rows(X))

    def _settled(self, X: NDArray) -> NDArray:
        if self._rule is None:
            return settle_ties(self._energies(X))
        return settle_scores(self._rule_scores(X))

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
        """
        return log_softmax(self._scores(X), axis=1)

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
        return np.exp(self.predict_log_proba(X))

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
            At least ``1 / (n_train + 1)``; 1 where every class had one training sample only,
            and none could be held out.

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
        X = self._check_rows(X)
        return self._in_chunks(self._typicality, X)

    def _typicality(self, X: NDArray) -> NDArray:
        assert self._rule is not None
        return self._rule.typicality(self._correlations(X), self._known_diagonal(X))

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
        winners = self._in_chunks(self._winners, self._check_rows(X))
        return self.classes_[winners]

    def _winners(self, X: NDArray) -> NDArray:
        return self._settled(X).argmax(axis=1)

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
            k(y, y) of each sample, for ``kernel="precomputed"`` when the diagonal of
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
        Weights of training samples that are nearly equal can be large and cancel each
        other.  The atoms of the linear classifier do not remember what they were learned
        from; listed are the training samples of the class that use the same atoms in the
        same proportions, and the weights are the cosines between their codes and the
        sample's, 1 at most.
        """
        X = self._check_rows(X)
        check_count("n_samples", n_samples, 1)
        energies = (
            self._diagonal(X, diagonal)
            if self._rule is None or diagonal is not None
            else self._known_diagonal(X)
        )
        return explain(self, X, energies, n_samples)
