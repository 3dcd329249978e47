"""Readers of feature files, in the layouts found in the field.

A file is recognised by what it holds, not by its name.  Nothing is ever unpickled.
"""

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from kerndict.datasets.containers import Found, read_container


def load_features(path: str | PathLike) -> Bunch:
    """Read a file of features and labels.

    Parameters
    ----------
    path : str or path-like
        One of

        - ``.npz`` with ``X`` (n_samples, n_features) and ``y``, and optionally ``train``
          (a mask) and ``scale`` (a number that multiplies ``X``);
        - ``.npz`` with ``x_train``, ``y_train``, ``x_test``, ``y_test``, signals as columns;
        - ``.mat`` with ``featureMat`` and one-hot ``labelMat`` (LC-KSVD), signals as columns;
        - ``.mat`` with ``TrData``, ``TtData``, ``TrLabel``, ``TtLabel`` (DPL), signals as
          columns;
        - ``.mat`` with ``Y`` and ``Y_range`` (DICTOL), signals as columns, grouped by class;
        - ``.mat`` with ``fea`` (n_samples, n_features) and ``gnd``.

        ``.mat`` files of version 7.3 need h5py, an extra: ``pip install 'kerndict[mat]'``.

    Returns
    -------
    features : Bunch
        ``data`` (n_samples, n_features), float; ``target`` (n_samples,), 0 to C - 1;
        ``train``, a mask or None; ``target_names`` (C,), the labels in the file; ``DESCR``.

    Raises
    ------
    ValueError
        The file is damaged or holds none of these layouts; the message says what it holds.
    """
    path = Path(path)
    try:
        found = read_container(path)
    except ValueError as error:
        raise ValueError(f"{path}: {error} {_expected()}") from error
    return features_in(path, found)


def features_in(path: Path, found: Found) -> Bunch:
    """Return the features among what a file holds; see :func:`load_features`."""
    arrays = {name: item for name, item in found.items() if isinstance(item, np.ndarray)}
    for names, layout, read in _LAYOUTS:
        if set(names) <= set(arrays):
            try:
                data, labels, train = read(arrays)
                return _bunch(path, layout, data, labels, train)
            except (ValueError, TypeError, IndexError) as error:
                raise ValueError(
                    f"{path}: the layout is that of {layout}, but {error} {_listed(found)}"
                ) from error
    raise ValueError(f"{path}: no known layout. {_listed(found)} {_expected()}")


# ---------------------------------------------------------------------------------- layouts

_Parts = tuple[NDArray, NDArray, NDArray | None]


def _ours(arrays: Mapping[str, NDArray]) -> _Parts:
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


def _two_parts(*names: str) -> Callable[[Mapping[str, NDArray]], _Parts]:
    """Read a training and a test part with signals as columns."""

    def read(arrays: Mapping[str, NDArray]) -> _Parts:
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


def _lc_ksvd(arrays: Mapping[str, NDArray]) -> _Parts:
    features = arrays["featureMat"]
    return features.T, _labels(arrays["labelMat"], features.shape[-1], "labelMat"), None


def _dictol(arrays: Mapping[str, NDArray]) -> _Parts:
    Y, given = arrays["Y"], _flat(arrays["Y_range"], "Y_range")
    bounds = given.astype(np.int64)
    whole = (bounds == given).all() and len(bounds) > 1
    if not whole or bounds[0] != 0 or bounds[-1] != Y.shape[-1] or (np.diff(bounds) <= 0).any():
        raise ValueError(f"Y_range does not cut the {Y.shape[-1]} columns of Y into classes.")
    return Y.T, np.repeat(np.arange(1, len(bounds)), np.diff(bounds)), None


def _fea_gnd(arrays: Mapping[str, NDArray]) -> _Parts:
    return arrays["fea"], _flat(arrays["gnd"], "gnd"), None


_LAYOUTS: list[tuple[tuple[str, ...], str, Callable[[Mapping[str, NDArray]], _Parts]]] = [
    (("X", "y"), "kerndict", _ours),
    (
        ("x_train", "y_train", "x_test", "y_test"),
        "a training and a test part",
        _two_parts("x_train", "y_train", "x_test", "y_test"),
    ),
    (("featureMat", "labelMat"), "LC-KSVD", _lc_ksvd),
    (
        ("TrData", "TtData", "TrLabel", "TtLabel"),
        "DPL",
        _two_parts("TrData", "TrLabel", "TtData", "TtLabel"),
    ),
    (("Y", "Y_range"), "DICTOL", _dictol),
    (("fea", "gnd"), "fea and gnd", _fea_gnd),
]


# ------------------------------------------------------------------------------------- parts


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


def _bunch(path: Path, layout: str, data: Any, labels: NDArray, train: NDArray | None) -> Bunch:
    if data.ndim != 2 or data.size == 0 or data.dtype.kind not in "fiub":
        raise ValueError(f"the features have shape {data.shape} and type {data.dtype}.")
    if data.dtype not in (np.float32, np.float64):
        data = data.astype(np.float64)
    if not np.all(np.isfinite(data)):
        raise ValueError("the features hold NaN or infinity.")
    if labels.dtype.kind not in "iufUSb":
        raise ValueError(
            f"the labels have type {labels.dtype}: save them as numbers or plain text, a cell "
            "array of MATLAB by char(y)."
        )
    if labels.dtype.kind == "f" and not (labels == np.round(labels)).all():
        raise ValueError("the labels are not whole numbers.")
    for name, part in (("labels", labels), ("entries of the mask", train)):
        if part is not None and len(part) != len(data):
            raise ValueError(f"there are {len(data)} samples and {len(part)} {name}.")
    if train is not None and len(np.unique(train)) < 2:
        raise ValueError("the mask leaves no samples for one of the two parts.")
    names, target = np.unique(labels, return_inverse=True)
    description = (
        f"{path.name}: {data.shape[0]} samples of {data.shape[1]} features in {len(names)} classes "
        f"(layout: {layout}{'' if train is None else ', with a fixed split'})."
    )
    return Bunch(
        data=np.ascontiguousarray(data),
        target=target.astype(np.int64),
        train=None if train is None else train.astype(bool),
        target_names=names,
        DESCR=description,
    )


def _listed(found: Found) -> str:
    listed = ", ".join(
        f"{name} ({item})" if isinstance(item, str) else f"{name} {item.shape} {item.dtype}"
        for name, item in found.items()
    )
    return f"Found: {listed or 'nothing'}."


def _expected() -> str:
    layouts = "; ".join(f"{layout} ({', '.join(names)})" for names, layout, _ in _LAYOUTS)
    return f"Expected one of: {layouts}."
