"""Models that learned from different samples, added up."""

from collections.abc import Iterable
from copy import copy
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from kerndict._arrays import is_array_api_obj, namespace, on_host
from kerndict.classifiers.batches import LearnsInBatches
from kerndict.classifiers.place import described

Estimator = TypeVar("Estimator", bound=LearnsInBatches)
#: Parameters that what is learned does not depend on.
_FREE = ("n_jobs", "verbose", "random_state", "client")


def merge(models: Iterable[Estimator]) -> Estimator:
    """Add up models that learned from different samples with the same landmarks.

    What landmarks say of samples are sums, and sums over different samples add up: the result is
    the model of all samples of all models, as if one had learned from them in this order.

    Parameters
    ----------
    models : iterable of classifiers
        Each one has learned by `partial_fit`, from a copy of one that was made ready by `settle`:
        then they have the same landmarks.  Copies of a model that has learned already count its
        samples once in each.

    Returns
    -------
    merged : classifier
        Of the kind and with the parameters of the first; it may go on learning.

    Raises
    ------
    TypeError
        They are not of one kind, or cannot learn from batches.
    ValueError
        There is none, one has learned nothing in batches, or landmarks, classes or parameters
        differ.

    Examples
    --------
    >>> from copy import deepcopy
    >>> from sklearn.datasets import load_digits
    >>> from kerndict import DictionaryClassifier, merge
    >>> X, y = load_digits(return_X_y=True)
    >>> settled = DictionaryClassifier(n_landmarks=100, random_state=0)
    >>> settled = settled.settle(X[::3], y[::3], n_samples=1200)
    >>> parts = [deepcopy(settled).partial_fit(X[k : k + 400], y[k : k + 400])
    ...          for k in (0, 400, 800)]
    >>> merge(parts).score(X[1200:], y[1200:]) > 0.9
    True
    """
    every = list(models)
    if not every:
        raise ValueError("models is empty: give at least one model.")
    first = every[0]
    for number, model in enumerate(every):
        _check(model, first, number)
    merged = copy(first)
    merged.learner_ = first.learner_.copy()
    merged.__dict__.pop("model_", None)
    for model in every[1:]:
        merged.learner_.merge(model.learner_)
    return merged


def _check(model: Any, first: Any, number: int) -> None:
    """Check that a model can be added to the first."""
    if not isinstance(model, LearnsInBatches) or type(model) is not type(first):
        kinds = f"a {type(model).__name__}, models[0] a {type(first).__name__}"
        raise TypeError(
            f"models[{number}] is {kinds}: give classifiers of this package, all of one kind."
        )
    if "learner_" not in vars(model):
        raise ValueError(
            f"models[{number}] has not learned by partial_fit, and fit keeps no sums: let it learn "
            "by partial_fit from a copy of what settle returns."
        )
    ours, theirs = first.get_params(deep=False), model.get_params(deep=False)
    for name, value in ours.items():
        if name not in _FREE and not _same(value, theirs[name]):
            raise ValueError(
                f"models[{number}] has {name}={theirs[name]!r}, models[0] has {value!r}: merge "
                "models with the same parameters."
            )
    if not np.array_equal(model.batch_classes_, first.batch_classes_):
        raise ValueError(
            f"models[{number}] has the classes {model.batch_classes_.tolist()}, models[0] has "
            f"{first.batch_classes_.tolist()}: give all labels as classes=... to settle."
        )
    places = [described(each.learner_.landmarks.rows) for each in (model, first)]
    if places[0] != places[1]:
        raise ValueError(
            f"models[{number}] is of {places[0]}, models[0] of {places[1]}: move one by its "
            "method to(device)."
        )
    if not _same_landmarks(model.learner_, first.learner_):
        raise ValueError(
            f"models[{number}] has other landmarks than models[0]: call settle once, and let "
            "copies of what it returns learn by partial_fit."
        )


def _same(one: Any, other: Any) -> bool:
    """Tell whether two parameters, or two kernels with all that belongs to them, are the same."""
    if one is other or type(one) is not type(other):
        return one is other
    if is_dataclass(one):
        return all(_same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if is_array_api_obj(one) and not on_host(one):
        return one.shape == other.shape and bool(namespace(one).all(one == other))
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else bool(one == other)


def _same_landmarks(one: Any, other: Any) -> bool:
    ours, theirs = one.landmarks, other.landmarks
    return (
        one.seed == other.seed
        and ours.rows.dtype == theirs.rows.dtype
        and _same(ours.rows, theirs.rows)
        and _same(ours.kernel, theirs.kernel)
    )
