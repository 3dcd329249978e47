"""npz and mat: whole arrays, read at once and given in batches."""

from collections.abc import Iterator

from numpy.typing import NDArray

from kerndict.containers import Container
from kerndict.datasets.layouts import LAYOUTS, Layout
from kerndict.datasets.readers import find_layout, read_features
from kerndict.tables.batch import Batch, as_text, bad_label, batch_rows


class ArrayTable:
    """A file in one of the layouts of :func:`kerndict.datasets.load_features`.

    One array of features may also come without labels, or with labels of another name.
    """

    def __init__(self, container: Container, name: str) -> None:
        self.name, self._container, self.limit = name, container, container.limit

    def read(self, part: bool | None = None) -> NDArray:
        """Return the features.

        Parameters
        ----------
        part : True for the training part of a file that has a fixed split, False for its
            test part, None for all rows
        """
        return self._read(self._layout(), None, part)[0]

    def read_labelled(
        self, label: str | None, part: bool | None = None
    ) -> tuple[NDArray, list[str]]:
        """Return the features, and the labels as text.

        Parameters
        ----------
        label : the name of the array of labels; None for that of the layout
        part : as in :meth:`read`
        """
        layout = self._layout()
        if layout.labels is None and label is not None:
            raise ValueError(f"{self.name} has labels of its own: leave out --label {label}.")
        chosen = layout.labels if label is None else label
        if chosen is not None:
            self._check_labels(chosen)
        X, labels = self._read(layout, chosen, part)
        bad = bad_label(labels)
        if bad is not None:
            raise ValueError(f"{self.name}, row {bad[0] + 1}: the label {bad[1]}.")
        return X, labels

    def _layout(self) -> Layout:
        """Return the layout; of those with one array of features, that array is enough."""
        items = self._container.items
        for layout in LAYOUTS:
            alone = layout.labels is not None and layout.features in items
            if alone and items[layout.features].is_array:
                return layout
        try:
            return find_layout(self._container)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error

    def _check_labels(self, label: str) -> None:
        items = self._container.items
        if label not in items:
            raise ValueError(
                f"{self.name} has no array {label!r}: it has {', '.join(map(repr, items))}. "
                "Say by --label where the labels are."
            )
        if not items[label].is_array:
            raise ValueError(
                f"{self.name}: the labels {label!r} are {items[label].words}: save them as text, "
                f"{label}.astype(str), or char({label}) in MATLAB."
            )

    def _read(
        self, layout: Layout, label: str | None, part: bool | None
    ) -> tuple[NDArray, list[str]]:
        try:
            features = read_features(self._container, layout, label, self.name)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error
        rows: NDArray | slice = slice(None)
        if part is not None and features.train is not None:
            rows = features.train == part
        try:
            names = [as_text(name).strip() for name in features.target_names.tolist()]
        except ValueError as error:
            raise ValueError(f"{self.name}: the label {error}") from error
        return features.data[rows], [names[i] for i in features.target[rows].tolist()]


def split(X: NDArray, labels: list[str] | None) -> Iterator[Batch]:
    """Yield arrays in batches."""
    size = batch_rows(X.shape[1])
    for start in range(0, len(X), size):
        rows = slice(start, start + size)
        yield Batch(X[rows], None if labels is None else labels[rows], [])
