"""The layouts of feature files found in the field: which arrays hold what."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Features as rows, labels, and the mask of the training part or None.
Parts = tuple[NDArray, NDArray, NDArray | None]


@dataclass(frozen=True)
class Layout:
    """A layout.

    Parameters
    ----------
    title : for messages
    names : the arrays that it needs
    assemble : makes the parts from the arrays by name
    optional : arrays that it takes where they are
    labels : which of the names are the labels; None where features come in several arrays, so
        that other labels cannot take their place
    axis : of the samples in the array of features, the other one of the names
    """

    title: str
    names: tuple[str, ...]
    assemble: Callable[[Mapping[str, NDArray]], Parts]
    optional: tuple[str, ...] = ()
    labels: str | None = None
    axis: int = 0

    @property
    def features(self) -> str:
        """The array of features, or the first of them."""
        return self.names[0]


def _ours(arrays: Mapping[str, NDArray]) -> Parts:
    X = arrays["X"]
    if "scale" in arrays:
        if arrays["scale"].size != 1:
            raise ValueError(f"scale has shape {arrays['scale'].shape}: it must be one number.")
        X = X * float(arrays["scale"].item())
    train = arrays.get("train")
    if train is not None:
        train = _flat(train, "train")
        if train.dtype != bool and not np.isin(train, (0, 1)).all():
            raise ValueError("train is not a mask of zeros and ones.")
    return X, _flat(arrays["y"], "y"), train


def _two_parts(*names: str) -> Callable[[Mapping[str, NDArray]], Parts]:
    """Read a training and a test part with signals as columns."""

    def read(arrays: Mapping[str, NDArray]) -> Parts:
        first, labels, second, more = (arrays[name] for name in names)
        if first.ndim != 2 or second.ndim != 2 or first.shape[0] != second.shape[0]:
            raise ValueError(
                f"{names[0]} {first.shape} and {names[2]} {second.shape} must have the same rows."
            )
        if _one_hot(labels) != _one_hot(more):
            raise ValueError(f"{names[1]} and {names[3]} encode labels in different ways.")
        parts = [
            _labels(labels, first.shape[1], names[1]),
            _labels(more, second.shape[1], names[3]),
        ]
        train = np.arange(first.shape[1] + second.shape[1]) < first.shape[1]
        return np.hstack([first, second]).T, np.concatenate(parts), train

    return read


def _lc_ksvd(arrays: Mapping[str, NDArray]) -> Parts:
    features = arrays["featureMat"]
    return features.T, _labels(arrays["labelMat"], features.shape[-1], "labelMat"), None


def _dictol(arrays: Mapping[str, NDArray]) -> Parts:
    Y, given = arrays["Y"], _flat(arrays["Y_range"], "Y_range")
    bounds = given.astype(np.int64)
    whole = (bounds == given).all() and len(bounds) > 1
    if not whole or bounds[0] != 0 or bounds[-1] != Y.shape[-1] or (np.diff(bounds) <= 0).any():
        raise ValueError(f"Y_range does not cut the {Y.shape[-1]} columns of Y into classes.")
    return Y.T, np.repeat(np.arange(1, len(bounds)), np.diff(bounds)), None


def _fea_gnd(arrays: Mapping[str, NDArray]) -> Parts:
    return arrays["fea"], _flat(arrays["gnd"], "gnd"), None


def _flat(array: NDArray, name: str) -> NDArray:
    if max(array.shape, default=1) != array.size:
        raise ValueError(f"{name} has shape {array.shape}: it must be one row or column.")
    return array.reshape(-1)


def _one_hot(array: NDArray) -> bool:
    return array.ndim == 2 and min(array.shape) > 1


def _labels(array: NDArray, n_samples: int, name: str) -> NDArray:
    """Return labels from one row or column, or from one-hot columns."""
    if _one_hot(array):
        if array.shape[1] != n_samples and array.shape[0] == n_samples:
            array = array.T
        if array.shape[1] != n_samples or not (np.count_nonzero(array, axis=0) == 1).all():
            raise ValueError(
                f"{name} has shape {array.shape}: not one-hot for {n_samples} signals."
            )
        return array.argmax(axis=0)
    if array.size != n_samples:
        raise ValueError(f"{name} has {array.size} labels for {n_samples} signals.")
    return _flat(array, name)


LAYOUTS = (
    Layout("kerndict", ("X", "y"), _ours, ("train", "scale"), "y"),
    Layout(
        "a training and a test part",
        ("x_train", "y_train", "x_test", "y_test"),
        _two_parts("x_train", "y_train", "x_test", "y_test"),
    ),
    Layout("LC-KSVD", ("featureMat", "labelMat"), _lc_ksvd, labels="labelMat", axis=1),
    Layout(
        "DPL",
        ("TrData", "TtData", "TrLabel", "TtLabel"),
        _two_parts("TrData", "TrLabel", "TtData", "TtLabel"),
    ),
    Layout("DICTOL", ("Y", "Y_range"), _dictol),
    Layout("fea and gnd", ("fea", "gnd"), _fea_gnd, labels="gnd"),
)
