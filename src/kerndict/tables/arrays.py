"""npz and mat: whole arrays, read at once and given in batches."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kerndict.datasets.containers import Found, read_container
from kerndict.datasets.readers import features_in
from kerndict.tables.batch import Batch, as_text, batch_rows

#: Arrays of features: the array of their labels, and the axis of their samples.
_LAYOUTS = {"X": ("y", 0), "fea": ("gnd", 0), "featureMat": ("labelMat", 1)}


class ArrayTable:
    """A file in one of the layouts of :func:`kerndict.datasets.load_features`.

    One array of features may also come without labels, or with labels of another name.
    """

    def __init__(self, path: Path) -> None:
        self.name, self._path = str(path), path
        try:
            self._found = read_container(path)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def read(self, part: bool | None = None) -> NDArray:
        """Return the features.

        Parameters
        ----------
        part : True for the training part of a file that has a fixed split, False for its
            test part, None for all rows
        """
        found = dict(self._found)
        for name, (labels, axis) in _LAYOUTS.items():
            X = found.get(name)
            if isinstance(X, np.ndarray) and X.ndim == 2:
                found[labels] = np.zeros(X.shape[axis], np.int64)  # whatever it was
        return self._read(found, part)[0]

    def read_labelled(
        self, label: str | None, part: bool | None = None
    ) -> tuple[NDArray, list[str]]:
        """Return the features, and the labels as text.

        Parameters
        ----------
        label : the name of the array of labels; None for that of the layout
        part : as in :meth:`read`
        """
        found = dict(self._found)
        own = next((own for name, (own, _) in _LAYOUTS.items() if name in found), None)
        if own is not None:
            found[own] = self._array(own if label is None else label)
        X, labels = self._read(found, part)
        if own is None and label is not None:
            raise ValueError(f"{self.name} has labels of its own: leave out --label {label}.")
        if "" in labels:
            raise ValueError(f"{self.name}, row {labels.index('') + 1}: the label is empty.")
        return X, labels

    def _array(self, label: str) -> NDArray:
        array = self._found.get(label)
        if array is None:
            raise ValueError(
                f"{self.name} has no array {label!r}: it has {', '.join(map(repr, self._found))}. "
                "Say by --label where the labels are."
            )
        if isinstance(array, str):
            raise ValueError(
                f"{self.name}: the labels {label!r} are {array}: save them as text, "
                f"{label}.astype(str)."
            )
        return array

    def _read(self, found: Found, part: bool | None) -> tuple[NDArray, list[str]]:
        features = features_in(self._path, found)
        rows = slice(None)
        if part is not None and features.train is not None:
            rows = features.train == part
        names = [as_text(name).strip() for name in features.target_names.tolist()]
        return features.data[rows], [names[i] for i in features.target[rows].tolist()]


def split(X: NDArray, labels: list[str] | None) -> Iterator[Batch]:
    """Yield arrays in batches."""
    size = batch_rows(X.shape[1])
    for start in range(0, len(X), size):
        rows = slice(start, start + size)
        yield Batch(X[rows], None if labels is None else labels[rows], [])
