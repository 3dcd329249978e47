"""What both classifiers do on a cluster: fit there, and decide about chunks where they are."""

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from dask.base import is_dask_collection
from distributed import Client, get_client
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from kerndict.classifiers.base import BaseDictionaryClassifier
from kerndict.dask.chunks import aligned
from kerndict.dask.fitting import fit_chunks, right_share
from kerndict.dask.prediction import lazily

_Base: Any = BaseDictionaryClassifier if TYPE_CHECKING else object


class OnCluster(_Base):
    """Goes before one of the classifiers: Dask collections go to the cluster, all else to it."""

    local_class: ClassVar[Any]
    client: Client | None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from a Dask collection, in two passes over its chunks on the cluster.

        Parameters
        ----------
        X : dask array or dataframe of shape (n_samples, n_features)
            Training samples in any chunks, of known sizes or not; float32 is kept.  It is computed
            twice: persist it if that takes longer than reading it from memory does.
        y : dask array or series of shape (n_samples,)
            Class labels, in the same chunks.
        sample_weight : dask array or series of shape (n_samples,), optional
            How much each sample counts; those that count nothing are left out.
        groups : None
            Not there on a cluster.

        Returns
        -------
        self : object
            Fitted.  If `fit` ends in an error or by Ctrl-C, the estimator is as it was before.
        """
        self.check_parameters()
        if groups is not None:
            raise ValueError("groups are not supported on a cluster: leave them out.")
        plain = self.local_class(**self._local_parameters())
        try:
            plain.settle  # noqa: B018  # which says why where it is not there
        except AttributeError as error:
            raise ValueError(f"{error.__cause__ or error}") from None
        fitted = fit_chunks(plain, aligned(X, y, sample_weight), self._cluster())
        for name in self._left_by_fit(self):
            delattr(self, name)
        self.__dict__.update(self._left_by_fit(fitted))
        return self

    def to_local(self) -> Any:
        """Return the classifier without Dask: to save, explain, draw, or decide in memory.

        Returns
        -------
        local : DictionaryClassifier or KernelDictionaryClassifier
            Fitted, with the same parameters; nothing of it is on the cluster.
        """
        check_is_fitted(self)
        local = self.local_class(**self._local_parameters())
        local.__dict__.update(self._left_by_fit(self))
        return local

    def predict(self, X: Any) -> Any:
        """Return the class of each sample: of a Dask collection lazily, in the same chunks.

        Parameters
        ----------
        X : dask array or dataframe, or array-like, of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        labels : dask array or series, or ndarray, of shape (n_samples,)
        """
        if not is_dask_collection(X):
            return super().predict(X)
        return self._lazily("predict", X, self.to_local().classes_.dtype)

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class: of a Dask collection lazily, in the same chunks.

        Parameters
        ----------
        X : dask array or dataframe, or array-like, of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : dask array or dataframe, or ndarray, of shape (n_samples, n_classes)
            The columns of a dataframe are the classes.
        """
        if not is_dask_collection(X):
            return super().predict_proba(X)
        return self._lazily("predict_proba", X, self._precision(), every_class=True)

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the probabilities; see :meth:`predict_proba`."""
        if not is_dask_collection(X):
            return super().predict_log_proba(X)
        return self._lazily("predict_log_proba", X, self._precision(), every_class=True)

    def decision_function(self, X: Any) -> Any:
        """Return the score of each class, as the classifiers without Dask do, lazily."""
        if not is_dask_collection(X):
            return super().decision_function(X)
        several = len(self.to_local().classes_) > 2
        return self._lazily("decision_function", X, self._precision(), every_class=several)

    def typicality(self, X: Any) -> Any:
        """Return how typical each sample is of the class it is given: lazily, in the same chunks.

        Parameters
        ----------
        X : dask array or dataframe, or array-like, of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        p_values : dask array or series, or ndarray, of shape (n_samples,)
        """
        if not is_dask_collection(X):
            return super().typicality(X)
        return self._lazily("typicality", X, self._precision())

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of samples whose class is right; of Dask collections it is computed."""
        if not is_dask_collection(X):
            return super().score(X, y, sample_weight)
        if sample_weight is not None:
            raise ValueError("sample_weight is not supported in score of Dask collections.")
        return right_share(self._cluster(), self.to_local(), aligned(X, y))

    def check_rows(self, X: ArrayLike, method: str = "predict") -> NDArray:
        """Return rows in memory as `model_` takes them."""
        if is_dask_collection(X):
            raise TypeError(
                "X is a Dask collection: compute the rows you ask about first, or use predict, "
                "predict_proba, predict_log_proba, decision_function or typicality."
            )
        return super().check_rows(X, method)

    def __sklearn_clone__(self) -> Self:  # a client cannot be copied
        other = type(self)(**clone(self.local_class(**self._local_parameters())).get_params(False))
        other.client = self.client
        return other

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"client": None}

    def _lazily(self, method: str, X: Any, dtype: np.dtype, every_class: bool = False) -> Any:
        local = self.to_local()
        return lazily(local, method, X, dtype, local.classes_.tolist() if every_class else None)

    def _precision(self) -> np.dtype:
        """Return the dtype of probabilities."""
        return self.to_local().model_.dtype

    def _cluster(self) -> Client:
        if self.client is not None:
            return self.client
        try:
            return get_client()
        except ValueError:
            raise ValueError(
                "client=None takes the current Dask client, and there is none: make one, "
                "distributed.Client(address), or Client() for a cluster on this machine."
            ) from None

    def _local_parameters(self) -> dict[str, Any]:
        parameters = self.get_params(deep=False)
        parameters.pop("client")
        return parameters

    @staticmethod
    def _left_by_fit(estimator: Any) -> dict[str, Any]:
        """Return what `fit` left."""
        parameters = estimator.get_params(deep=False)
        return {name: value for name, value in vars(estimator).items() if name not in parameters}
