"""npz and mat: whole arrays, read at once and given in batches."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kerndict.datasets.containers import Found, read_container
from kerndict.datasets.readers import features_in
from kerndict.tables.batch import Batch, as_text, batch_rows


class ArrayTable:
    """A file in one of the layouts of :func:`kerndict.datasets.load_features`.

    ``X`` may also come without labels, or with labels of another name.
    """

    def __init__(self, path: Path) -> None:
        self.name, self._path = str(path), path
        try:
            self._found = read_container(path)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def read(self, label: str | None, part: bool | None = None) -> tuple[NDArray, list[str] | None]:
        """Return the features, and the labels as text or None where there are none.

        Parameters
        ----------
        label : the name of the array of labels; None for that of the layout
        part : True for the training part of a file that has a fixed split, False for its
            test part, None for all rows
        """
        found, unlabelled = self._labelled(label)
        features = features_in(self._path, found)
        rows = slice(None)
        if part is not None and features.train is not None:
            rows = features.train == part
        if unlabelled:
            return features.data[rows], None
        names = [as_text(name) for name in features.target_names.tolist()]
        return features.data[rows], [names[i] for i in features.target[rows].tolist()]

    def _labelled(self, label: str | None) -> tuple[Found, bool]:
        """Return what the file holds with labels as ``y``, and whether they are made up."""
        found = dict(self._found)
        if label is not None:
            if not isinstance(found.get(label), np.ndarray):
                raise ValueError(
                    f"{self.name} has no array {label!r}: it has {', '.join(map(repr, found))}."
                )
            found["y"] = found[label]
        X = found.get("X")
        if isinstance(X, np.ndarray) and X.ndim and "y" not in found:
            return {**found, "y": np.zeros(len(X), np.int64)}, True
        return found, False


def split(X: NDArray, labels: list[str] | None) -> Iterator[Batch]:
    """Yield arrays in batches."""
    size = batch_rows(X.shape[1])
    for start in range(0, len(X), size):
        rows = slice(start, start + size)
        yield Batch(X[rows], None if labels is None else labels[rows], [])
