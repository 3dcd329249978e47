"""What all tables give: rows in batches, as features, labels and copied columns."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: The size of a batch: cells held as text at a time, and rows.
MAX_CELLS, MAX_ROWS = 2**18, 8192


@dataclass(frozen=True)
class Selection:
    """Columns by position: features, the label or None, and those to be copied."""

    features: Sequence[int]
    label: int | None = None
    copied: Sequence[int] = ()


@dataclass(frozen=True)
class Batch:
    """Some rows: ``X`` (rows, features), finite; labels and the copied columns as text."""

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
    """

    names: Sequence[str] | None
    n_features: int
    label: str | None = None
    needs_labels: bool = False
    drop: Sequence[str] = ()
    copied: Sequence[str] = ()


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
    def training_rows(self, label: str | None, drop: Sequence[str]) -> Rows:
        """Return the rows to learn from: those of the training part where there is a fixed split.

        ``label`` and ``drop`` name what holds the labels, and columns that are no features.
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
