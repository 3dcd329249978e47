"""Fitted classifiers go from one device to another."""

from collections.abc import Callable
from copy import copy
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from kerndict.classifiers.place import move, place_of
from kerndict.model import Model


class Moves(BaseEstimator):
    """What is computed with is in `model_`, and in `learner_` while batches come in."""

    model_: Model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags

    def to(self, device: Any) -> Self:
        """Return the fitted classifier on another device, where rows must then be too.

        Parameters
        ----------
        device : str, device of torch, or array
            ``"cpu"`` is the host, with NumPy arrays; others are devices of torch, such as
            ``"cuda"``.  An array stands for its namespace and device, whatever they are.

        Returns
        -------
        moved : object
            A copy; this one stays as it is.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_digits
        >>> from kerndict import KernelDictionaryClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = KernelDictionaryClassifier(random_state=0).fit(X[:500], y[:500])
        >>> bool((model.to("cpu").predict(X) == model.predict(X)).all())
        True
        """
        check_is_fitted(self)
        there = place_of(device)
        return self.__sklearn_array_api_convert__(lambda array: move(array, there))

    def __sklearn_array_api_convert__(self, converter: Callable[[Any], Any]) -> Self:
        """Return a copy with converted arrays, as scikit-learn moves estimators."""
        other = copy(self)
        other.model_ = self.model_.converted(converter)
        if "learner_" in vars(other):
            other.learner_ = other.learner_.converted(converter)
        return other
