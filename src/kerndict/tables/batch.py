"""What all tables give: rows in batches, as features, labels and copied columns."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: The size of a batch: cells held as text at a time, and rows.
MAX_CELLS, MAX_ROWS = 2**18, 8192


class Cells(Enum):
    """What the cells of a column of features are read as."""

    STRICT = "numbers; all else, gaps too, is an error"
    NUMBER = "numbers or gaps; all else is an error"
    GUESS = "numbers or gaps; all else is NotNumbers, so that somebody can decide"
    LENIENT = "numbers; all else is a gap"
    TEXT = "text, empty for a gap"


@dataclass(frozen=True)
class Selection:
    """Columns by position: features, the label or None, and those to be copied.

    ``cells`` says of each feature what its cells are read as: numbers, if it is empty.
    """

    features: Sequence[int]
    label: int | None = None
    copied: Sequence[int] = ()
    cells: Sequence[Cells] = ()

    def cells_of(self) -> Sequence[Cells]:
        """Return what the cells of each feature are read as."""
        return self.cells or [Cells.NUMBER] * len(self.features)


@dataclass(frozen=True)
class Batch:
    """Some rows; labels and the copied columns as text.

    ``X`` (rows, features) holds finite numbers and NaN for gaps; where a feature is read as text,
    it is an array of objects, floats and strings.
    """

    X: NDArray
    labels: list[str] | None
    copied: list[list[str]]


@dataclass(frozen=True)
class Wanted:
    """What a model needs of a table.

    Parameters
    ----------
    names : the feature names of the model; None for a model that goes by their order
    n_features : the features of the model
    label : what holds the labels
    needs_labels : whether labels are needed, even where `label` is None
    drop, copied : columns that are neither features nor labels
    cells : what each feature is read as; numbers, if it is empty
    known_label : what held the labels in training; it is looked for where `label` is None
    """

    names: Sequence[str] | None
    n_features: int
    label: str | None = None
    needs_labels: bool = False
    drop: Sequence[str] = ()
    copied: Sequence[str] = ()
    cells: Sequence[Cells] = ()
    known_label: str | None = None


class Rows(NamedTuple):
    """What is read of a table: features by name, where they have names, copied columns, rows."""

    features: list[str] | None
    copied: list[str]
    batches: Iterator[Batch]


class Table(ABC):
    """Rows of a file or a stream: ``name`` is for messages.

    Only where a table has columns, some of them can be dropped or copied.  All that is kept of it
    may take ``limit`` bytes.
    """

    name: str
    limit: int
    has_columns: ClassVar[bool]

    @abstractmethod
    def training_rows(
        self,
        label: str | None,
        drop: Sequence[str],
        cells: Mapping[str, Cells] = {},
        default: Cells = Cells.STRICT,
    ) -> Rows:
        """Return the rows to learn from: those of the training part where there is a fixed split.

        ``label`` and ``drop`` name what holds the labels, and columns that are no features;
        ``cells`` says what some features are read as, ``default`` what all others are.
        """

    @abstractmethod
    def model_rows(self, wanted: Wanted) -> Rows:
        """Return the rows to ask a model about; labelled ones may be those of a test part."""


def batch_rows(width: int) -> int:
    """Return the rows of a batch of a table with so many columns."""
    return max(1, min(MAX_ROWS, MAX_CELLS // max(width, 1)))


def as_text(value: Any) -> str:
    """Return a label or a cell as text; whole numbers look the same in all files.

    Bytes that are not UTF-8 are a ValueError.

    >>> as_text(3.0), as_text(np.int8(3)), as_text(b"cat"), as_text(None), as_text(np.nan)
    ('3', '3', 'cat', '', '')
    """
    if value is None or value != value:
        return ""
    if isinstance(value, (bytes, np.bytes_)):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise ValueError(f"{value!r} is not text in UTF-8: save it as text.") from None
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def joined_columns(columns: Sequence[NDArray]) -> NDArray:
    """Return columns as one array: of objects, if one of them is."""
    if all(column.dtype != object for column in columns):
        return np.column_stack(columns)
    X = np.empty((len(columns[0]), len(columns)), object)
    for i, column in enumerate(columns):
        X[:, i] = column
    return X


def bad_label(labels: Sequence[str]) -> tuple[int, str] | None:
    """Return the place of a label that cannot be one, and what is wrong with it.

    Arrays of text end at NUL characters, so that labels would be taken for one another.

    >>> bad_label(["a", ""]), bad_label(["a", "b"])
    ((1, 'is empty'), None)
    """
    for label in sorted(set(labels)):
        if not label or "\0" in label:
            words = "holds a NUL character: remove it" if label else "is empty"
            return labels.index(label), words
    return None
