"""npz and mat: whole arrays, read at once and given in batches."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from numpy.typing import NDArray

from kerndict.containers import Container
from kerndict.datasets.layouts import LAYOUTS, Layout
from kerndict.datasets.readers import find_layout, read_features
from kerndict.tables.batch import Batch, Cells, Rows, Table, Wanted, as_text, bad_label, batch_rows


class ArrayTable(Table):
    """A file in one of the layouts of :func:`kerndict.datasets.load_features`.

    One array of features may also come without labels, or with labels of another name.
    """

    has_columns: ClassVar[bool] = False

    def __init__(self, container: Container, name: str) -> None:
        self.name, self._container, self.limit = name, container, container.limit

    def training_rows(
        self,
        label: str | None,
        drop: Sequence[str],
        cells: Mapping[str, Cells] = {},
        default: Cells = Cells.STRICT,
    ) -> Rows:
        """Return the rows at once; ``label`` is the name of an array, None for the layout's."""
        X, labels = self._read_labelled(label, part=True)
        return Rows(None, [], iter([Batch(X, labels, [])]))

    def model_rows(self, wanted: Wanted) -> Rows:
        """Return all rows, or the labelled rows of the test part where there is a fixed split."""
        labels = None
        if wanted.needs_labels or wanted.label is not None:
            X, labels = self._read_labelled(wanted.label, part=False)
        else:
            X, _ = self._read(self._layout(), None, None)
        if X.shape[1] != wanted.n_features:
            raise ValueError(
                f"{self.name} has {X.shape[1]} features, the model was trained on "
                f"{wanted.n_features}."
            )
        return Rows(None, [], _split(X, labels))

    def _read_labelled(self, label: str | None, part: bool) -> tuple[NDArray, list[str]]:
        """Return the features of one part of a fixed split, and the labels as text."""
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
        """Return rows and labels: with ``part`` those of the training or the test part."""
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


def _split(X: NDArray, labels: list[str] | None) -> Iterator[Batch]:
    """Yield arrays in batches."""
    size = batch_rows(X.shape[1])
    for start in range(0, len(X), size):
        rows = slice(start, start + size)
        yield Batch(X[rows], None if labels is None else labels[rows], [])
