"""Learning from batches of rows, one after the other."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from kerndict._arrays import take
from kerndict._threads import single_blas_thread
from kerndict.classifiers.many import Given, draw_landmarks, learn_rows, model_of
from kerndict.classifiers.parameters import has_sums
from kerndict.classifiers.place import check_place, checked, float_types
from kerndict.classifiers.prediction import DictionaryPredictor
from kerndict.classifiers.progress import CallbackSupport, Progress
from kerndict.kernels import Kernel
from kerndict.landmarks import MOST_ATOMS, Learner, landmark_count
from kerndict.learning import Settings


class LearnsInBatches(CallbackSupport, DictionaryPredictor):
    """What has been learned so far is `learner_`; the model comes from it when it is asked for."""

    learner_: Learner
    n_landmarks: int | str | None
    class_weight: dict | str | None
    random_state: int | np.random.RandomState | None
    ridge: float | str

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Make the model of what has been learned from batches."""
            if name != "model_" or "learner_" not in vars(self):
                return super().__getattribute__(name)  # which says why it is not there
            if not self.learner_.sums.rows.any():
                raise NotFittedError(
                    f"This {type(self).__name__} has settled its landmarks and learned from no "
                    "sample yet: call partial_fit."
                )
            settings = self._settings(self.learner_.sums.rows, MOST_ATOMS)
            with single_blas_thread():
                self.model_ = model_of(self.learner_, self.batch_classes_, settings, self.ridge)
            return self.model_

    @abstractmethod
    def check_parameters(self) -> None:
        """Check all parameters, as `fit` does first."""

    @abstractmethod
    def _settings(self, sizes: NDArray, most_atoms: int | None) -> Settings:
        """Return the parameters as learning takes them."""

    @abstractmethod
    def _weights(
        self, sample_weight: ArrayLike | None, X: NDArray, y: NDArray, classes: NDArray
    ) -> NDArray:
        """Return the weight of every row: its own times that of its class."""

    @abstractmethod
    def _landmark_kernel(self, given: Given, rng: np.random.RandomState) -> Kernel:
        """Return the kernel of rows with landmarks."""

    @available_if(has_sums)
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from a batch of samples, beside all those of earlier calls.

        The first batch settles landmarks and kernel: let it hold some thousands of samples of all
        kinds.  Later ones may be cut in any way.  `fit` begins anew.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), optional
            All labels there will ever be, in the first call; by default those of its `y`.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample counts.

        Returns
        -------
        self : object
            Fitted to all batches so far.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from kerndict import KernelDictionaryClassifier
        >>> X, y = make_classification(3000, 20, n_informative=10, random_state=0)
        >>> model = KernelDictionaryClassifier(n_landmarks=200, random_state=0)
        >>> for start in range(0, 2500, 500):
        ...     rows = slice(start, start + 500)
        ...     model = model.partial_fit(X[rows], y[rows], classes=[0, 1])
        >>> model.score(X[2500:], y[2500:]) > 0.9
        True
        """
        before = self.__dict__.copy()
        try:
            return self._learn_batch(X, y, classes, sample_weight)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    @available_if(has_sums)
    def fit_batches(
        self,
        batches: Iterable[tuple[ArrayLike, ArrayLike]],
        X: ArrayLike,
        y: ArrayLike,
        *,
        n_samples: int,
        indices: NDArray | None = None,
    ) -> Self:
        """Fit to samples that come in batches, of which some were drawn before.

        Nothing of the batches is kept but sums and a sample of bounded size.

        Parameters
        ----------
        batches : iterable of (X, y)
            All samples, those drawn among them.
        X, y : array-like of shape (n_drawn, n_features) and (n_drawn,)
            Samples drawn at random, some of every class: they settle landmarks and kernel.
        n_samples : int
            How many samples there are in all batches, which settles the number of landmarks.
        indices : array-like of shape (n_drawn,), optional
            Their places among all samples, for `explain`.

        Returns
        -------
        self : object
            Fitted.
        """
        before = self.__dict__.copy()
        try:
            self.settle(X, y, n_samples=n_samples, indices=indices)
            for rows, target in batches:
                self._learn_batch(rows, target, None, None, in_place=True)
            self.finish()
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    @available_if(has_sums)
    def settle(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        n_samples: int,
        classes: ArrayLike | None = None,
        indices: NDArray | None = None,
    ) -> Self:
        """Settle landmarks and kernel by some samples, and learn from none of them.

        Copies of what is settled may then learn from other samples each, with `partial_fit`, in
        other processes or on other machines; :func:`kerndict.merge` adds them up.

        Parameters
        ----------
        X, y : array-like of shape (n_drawn, n_features) and (n_drawn,)
            Samples drawn at random, some of every class; 20,000 are enough.
        n_samples : int
            How many samples will be learned from, about; it settles the number of landmarks.
        classes : array-like of shape (n_classes,), optional
            All labels there will ever be; by default those of `y`.
        indices : array-like of shape (n_drawn,), optional
            The places of these samples among all, for `explain`.

        Returns
        -------
        self : object
            Ready for `partial_fit`; what it had learned before is forgotten.

        Examples
        --------
        >>> from copy import deepcopy
        >>> from sklearn.datasets import make_classification
        >>> from kerndict import KernelDictionaryClassifier, merge
        >>> X, y = make_classification(3000, 20, n_informative=10, random_state=0)
        >>> settled = KernelDictionaryClassifier(n_landmarks=200, random_state=0)
        >>> settled = settled.settle(X[:1000], y[:1000], n_samples=2500)
        >>> one = deepcopy(settled).partial_fit(X[:1500], y[:1500])
        >>> other = deepcopy(settled).partial_fit(X[1500:2500], y[1500:2500])
        >>> merge([one, other]).score(X[2500:], y[2500:]) > 0.9
        True
        """
        self.check_parameters()
        before = self.__dict__.copy()
        try:
            rows, target = checked(self, X, y, float_types(X))
            for name in ("learner_", "batch_classes_", "model_"):
                self.__dict__.pop(name, None)
            given = self._batch(rows, target, classes, None)
            if indices is not None:
                given = given._replace(indices=np.asarray(indices)[given.indices])
            with single_blas_thread():
                learner = self._new_learner(given, landmark_count(n_samples, rows.shape[1]))
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        self.learner_, self.batch_classes_ = learner, given.classes
        return self

    def finish(self) -> Self:
        """Make the model of what has been learned, and forget what it was made of.

        Returns
        -------
        self : object
            Fitted; it learns from no more batches.
        """
        self.model_ = self.model_
        del self.learner_, self.batch_classes_
        return self

    def _new_learner(self, given: Given, count: int | None) -> Learner:
        """Return a learner of no rows, with landmarks among those given."""
        rng = check_random_state(self.random_state)
        kernel = self._landmark_kernel(given, rng)
        wanted = count if self.n_landmarks is None else self.n_landmarks
        assert not isinstance(wanted, str)
        landmarks = draw_landmarks(given, kernel, wanted, rng)
        return Learner(landmarks, len(given.classes), rng.randint(2**31 - 1))

    def _learn_batch(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None,
        sample_weight: ArrayLike | None,
        in_place: bool = False,
    ) -> Self:
        self.check_parameters()
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all samples at once: give partial_fit a dict of "
                "weights."
            )
        first = "learner_" not in vars(self)
        known = None if first else self.learner_.landmarks.rows
        if known is not None:
            check_place(self, X, "partial_fit", known)
        rows, target = checked(self, X, y, [known.dtype] if known is not None else None, first)
        given = self._batch(rows, target, classes, sample_weight)
        progress = Progress(self, X, y)
        with single_blas_thread():
            if first:
                learner = self._new_learner(given, None)
            else:  # an error must leave the one there is
                learner = self.learner_ if in_place else self.learner_.copy()
            learn_rows(learner, given, progress)
        self.learner_, self.batch_classes_ = learner, given.classes
        self.__dict__.pop("model_", None)
        progress.done()
        return self

    def _batch(
        self,
        X: NDArray,
        y: NDArray,
        classes: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> Given:
        """Return the rows of a batch that count, with their places among all classes."""
        known = vars(self).get("batch_classes_")
        said = None if classes is None else np.unique(classes)
        if known is not None and said is not None and not np.array_equal(said, known):
            raise ValueError(
                f"classes={classes!r} are not those of the first call, {known!r}: leave them out, "
                "or begin anew with fit."
            )
        every = next(found for found in (known, said, np.unique(y)) if found is not None)
        remedy = "give all labels as classes=... in the first call of partial_fit."
        if len(every) < 2:
            raise ValueError(f"there is one class only ({every[0]}): {remedy}")
        strange = np.setdiff1d(y, every).tolist()
        if strange:
            raise ValueError(f"y holds {strange[0]!r}, which is none of {every.tolist()}: {remedy}")
        seen = 0 if known is None else int(self.learner_.sums.rows.sum())
        weights = self._weights(sample_weight, X, y, every)
        kept = np.flatnonzero(weights)
        labels = np.searchsorted(every, y[kept])
        return Given(take(X, kept), labels, weights[kept], every, seen + kept)
