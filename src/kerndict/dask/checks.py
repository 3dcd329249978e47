"""What is checked of a chunk; errors name it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, column_or_1d

#: Labels of these kinds of dtype can be told from each other.
_NUMBERS, _WORDS = "biuf", "OUST"


@contextmanager
def naming(number: int, first: int, count: int | None) -> Iterator[None]:
    """Let errors say which chunk they are about; ``first`` is None where its place is unknown."""
    try:
        yield
    except (ValueError, TypeError) as error:
        rows = "" if count is None or not count else f", rows {first} to {first + count - 1}"
        raise type(error)(f"chunk {number} of X{rows}: {error}") from error


def checked_rows(X: Any) -> Any:
    """Return the rows of a chunk, finite and in single or double precision."""
    return check_array(
        X, dtype=[np.float64, np.float32], ensure_min_samples=0, input_name="X", estimator=None
    )


def checked_labels(y: Any, n_rows: int) -> NDArray:
    """Return the labels of a chunk."""
    labels = column_or_1d(np.asarray(y))
    _check_length("y", len(labels), n_rows)
    if hasattr(y, "isna"):
        missing = np.flatnonzero(np.asarray(y.isna()))
    else:
        missing = np.array([i for i, each in enumerate(labels) if each is None or each != each])
    if len(missing):
        raise ValueError(f"y holds no label in row {missing[0]} of the chunk: leave such rows out.")
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        raise ValueError("y holds fractions, which are no labels: give whole numbers or text.")
    return labels


def checked_weights(weights: Any, n_rows: int) -> NDArray:
    """Return the weights of the rows of a chunk."""
    found = column_or_1d(np.asarray(weights, np.float64))
    _check_length("sample_weight", len(found), n_rows)
    if not (np.isfinite(found) & (found >= 0)).all():
        raise ValueError("sample_weight holds a value that is negative or not finite.")
    return found


def _check_length(name: str, found: int, n_rows: int) -> None:
    if found != n_rows:
        raise ValueError(f"{name} has {found} values for {n_rows} rows of X: give one per row.")


def same_kind(one: NDArray, other: NDArray) -> bool:
    """Tell whether the labels of two chunks can be compared: both numbers, or both text."""
    both = {one.dtype.kind, other.dtype.kind}
    return both <= set(_NUMBERS) or both <= set(_WORDS)
