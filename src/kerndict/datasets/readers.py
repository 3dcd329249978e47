"""Readers of feature files, in the layouts found in the field.

A file is recognised by what it holds, not by its name.  Nothing is ever unpickled.
"""

from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from kerndict.containers import Container, open_container
from kerndict.datasets.layouts import LAYOUTS, Layout


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
        container = open_container(path)
    except ValueError as error:
        raise ValueError(f"{path}: {error} {_expected()}") from error
    try:
        with container:
            layout = find_layout(container)
            return read_features(container, layout, layout.labels, path.name)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def find_layout(container: Container) -> Layout:
    """Return the first layout whose arrays are all there."""
    items = container.items
    present = [layout for layout in LAYOUTS if set(layout.names) <= set(items)]
    for layout in present:
        if all(items[name].is_array for name in layout.names):
            return layout
    for layout in present:
        name = next(name for name in layout.names if not items[name].is_array)
        raise ValueError(
            f"the layout is that of {layout.title}, but {name} is {items[name].words}: save "
            f"numbers or plain text, a cell array of MATLAB by char({name}). {_listed(container)}"
        )
    raise ValueError(f"no known layout. {_listed(container)} {_expected()}")


def read_features(container: Container, layout: Layout, labels: str | None, name: str) -> Bunch:
    """Return the features of a layout; see :func:`load_features`.

    Parameters
    ----------
    container : where the arrays are; only those that are needed are read
    layout : the layout
    labels : the array to take for the labels; None for labels that are all the same.  It has no
        meaning for a layout with labels in several arrays
    name : of the file, for the description
    """
    items = container.items
    optional = [name for name in layout.optional if name in items and items[name].is_array]
    wanted = [name for name in (*layout.names, *optional) if name != layout.labels]
    try:
        arrays = {name: container.read(name) for name in wanted}
        if layout.labels is not None:
            features = arrays[layout.features]
            arrays[layout.labels] = (
                _same_label(features, layout.axis) if labels is None else container.read(labels)
            )
        return _bunch(name, layout, *layout.assemble(arrays))
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(
            f"the layout is that of {layout.title}, but {error} {_listed(container)}"
        ) from error


def _same_label(features: NDArray, axis: int) -> NDArray:
    return np.zeros(features.shape[min(axis, features.ndim - 1)] if features.ndim else 1, np.int64)


def _bunch(
    name: str, layout: Layout, data: NDArray, labels: NDArray, train: NDArray | None
) -> Bunch:
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
    for words, part in (("labels", labels), ("entries of the mask", train)):
        if part is not None and len(part) != len(data):
            raise ValueError(f"there are {len(data)} samples and {len(part)} {words}.")
    if train is not None and len(np.unique(train)) < 2:
        raise ValueError("the mask leaves no samples for one of the two parts.")
    names, target = np.unique(labels, return_inverse=True)
    description = (
        f"{name}: {data.shape[0]} samples of {data.shape[1]} features in {len(names)} classes "
        f"(layout: {layout.title}{'' if train is None else ', with a fixed split'})."
    )
    return Bunch(
        data=np.ascontiguousarray(data),
        target=target.astype(np.int64),
        train=None if train is None else train.astype(bool),
        target_names=names,
        DESCR=description,
    )


def _listed(container: Container) -> str:
    words = ", ".join(
        f"{name if name.isprintable() else repr(name)} "
        f"{item.words if item.is_array else f'({item.words})'}"
        for name, item in container.items.items()
    )
    return f"Found: {words or 'nothing'}."


def _expected() -> str:
    layouts = "; ".join(f"{layout.title} ({', '.join(layout.names)})" for layout in LAYOUTS)
    return f"Expected one of: {layouts}."
