"""What each column of a table is, by its name and its cells."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from kerndict.tables.cells import any_code, is_gap, numbers
from kerndict.tabular.dates import date_format, parse

#: A column of which so much is numbers was meant to be one, and what else it holds is a mistake.
MOSTLY = 0.95
#: Below so many rows nothing is taken for an identifier.
FEW_ROWS = 10
#: Words per cell, on average, from which on a column is text and not a name for something.
WORDS = 3
#: Values of a category that have a column of their own, at most; the rest have one together.
MOST_VALUES = 40
#: A column of numbers with one so many robust deviations from the median is taken by its ranks.
FAR = 30
#: So is one with a number so large that its square might not be finite.
LARGE = 1e100
_ID = re.compile(
    r"(?i:(^|[\W_])(id|idx|index|key|uuid|guid|no|nr|row|number)$|^unnamed)|[a-z](Id|ID|No)$"
)


class Role(Enum):
    """What becomes of a column."""

    NUMBER = "number"
    SKEWED = "number, skewed"
    CATEGORY = "category"
    DATE = "date"
    WORDS = "text"
    OUT = "left out"

    @property
    def is_number(self) -> bool:
        """Whether its cells are read as numbers."""
        return self in (Role.NUMBER, Role.SKEWED)


@dataclass(frozen=True)
class Column:
    """A column with its role; ``words`` say why, or what it holds, ``gaps`` are cells without."""

    name: str
    role: Role
    words: str
    gaps: int = 0


class Mixed(ValueError):
    """Columns that are mostly numbers; ``columns`` has an odd cell of each."""

    def __init__(self, columns: dict[str, str]) -> None:
        super().__init__(", ".join(columns))
        self.columns = columns


def decide(
    names: Sequence[str],
    X: NDArray,
    places: NDArray,
    forced: Mapping[str, Role],
    decimal: str = ".",
) -> list[Column]:
    """Return what each column is.

    Parameters
    ----------
    names : of the columns
    X : some rows or all: numbers, or an array of objects in which some columns are text
    places : the numbers of these rows
    forced : the role that somebody wants for some of them
    decimal : the mark in numbers

    Raises
    ------
    Mixed
        Columns are numbers but for a few cells.
    """
    columns: list[Column] = []
    mixed: dict[str, str] = {}
    for i, name in enumerate(names):
        column = X[:, i]
        wanted = forced.get(name)
        try:
            if is_text(column):
                columns.append(_text_column(name, column, wanted, decimal))
            else:
                values = column.astype(np.float64)
                columns.append(_number_column(name, values, places, wanted))
        except Mixed as found:
            mixed |= found.columns
    if mixed:
        raise Mixed(mixed)
    return columns


def is_text(column: NDArray) -> bool:
    """Tell whether a column was read as text."""
    return column.dtype == object and len(column) > 0 and isinstance(column[0], str)


def used_rows(X: NDArray, names: Sequence[str], columns: Sequence[Column], decimal: str) -> NDArray:
    """Return the columns that are features; text that is numbers becomes numbers."""
    kept = [(i, c) for i, c in enumerate(columns) if c.role is not Role.OUT]
    assert len(names) == len(columns)
    if X.dtype != object and len(kept) == X.shape[1]:
        return X
    found = X[:, [i for i, _ in kept]]
    for k, (_, column) in enumerate(kept):
        if column.role.is_number and is_text(found[:, k]):
            found[:, k] = numbers(found[:, k].tolist(), decimal)[0]
    if all(column.role.is_number for _, column in kept):
        return found.astype(np.float64) if found.dtype == object else found
    return found


def _number_column(name: str, values: NDArray, places: NDArray, wanted: Role | None) -> Column:
    present = values[~np.isnan(values)]
    gaps = len(values) - len(present)
    if not len(present):
        if wanted is not None:
            raise ValueError(f"--number {name}: no cell of that column is a number.")
        return Column(name, Role.OUT, "empty", gaps)
    low, high = float(present.min()), float(present.max())
    if wanted is None:
        if low == high and not gaps:
            return Column(name, Role.OUT, f"always {low:g}")
        if not gaps and _identifies(name, values, places):
            return Column(name, Role.OUT, f"identifier: {len(values)} different whole numbers")
    words = f"{low:g} to {high:g}"
    if max(high, -low) > LARGE:
        return Column(name, Role.SKEWED, words, gaps)
    quarters = np.quantile(present, [0.25, 0.5, 0.75])
    spread = (quarters[2] - quarters[0]) / 1.349
    far = max(high - quarters[1], quarters[1] - low)
    role = Role.SKEWED if spread > 0 and far > FAR * spread else Role.NUMBER
    return Column(name, role, words, gaps)


def _identifies(name: str, values: NDArray, places: NDArray) -> bool:
    """Tell whether whole numbers only say which row it is."""
    if len(values) < FEW_ROWS or (values != np.round(values)).any():
        return False
    if len(np.unique(values)) < len(values):
        return False
    counts = values.max() - values.min() == len(values) - 1 or np.ptp(values - places) == 0
    return bool(counts) or is_id(name)


def is_id(name: str) -> bool:
    """Tell whether a name is that of an identifier.

    >>> is_id("customer_id"), is_id("userId"), is_id("acid"), is_id("Unnamed: 0")
    (True, True, False, True)
    """
    return _ID.search(name) is not None


def _text_column(name: str, column: NDArray, wanted: Role | None, decimal: str) -> Column:
    counted = Counter(column.tolist())
    gaps = counted.pop("", 0)
    if wanted is Role.CATEGORY:
        return _category(name, counted, gaps)
    if wanted is Role.WORDS:
        return Column(name, Role.WORDS, f"{len(counted)} different texts", gaps)
    if not counted:
        return Column(name, Role.OUT, "empty", gaps)
    rows = sum(counted.values())
    if len(counted) == 1 and not gaps:
        return Column(name, Role.OUT, f"always {next(iter(counted))!r}")
    number = _if_number(name, counted, column, decimal)
    if number is not None:
        return number
    dates = [cell for cell in counted if not is_gap(cell)]
    form = date_format(dates)
    if form is not None:
        dates.sort(key=lambda cell: parse(cell, form) or datetime.min)
        return Column(name, Role.DATE, f"{dates[0]} to {dates[-1]}", gaps)
    words = sum(len(cell.split()) * count for cell, count in counted.items()) / rows
    if words >= WORDS and len(counted) > min(MOST_VALUES, rows / 2):
        return Column(name, Role.WORDS, f"{len(counted)} different texts", gaps)
    if rows >= FEW_ROWS and len(counted) > rows / 2:
        return Column(name, Role.OUT, f"identifier: {len(counted)} different values", gaps)
    return _category(name, counted, gaps)


def _if_number(name: str, counted: Counter[str], column: NDArray, decimal: str) -> Column | None:
    """Return a column of numbers that came as text, None if it is something else."""
    cells = list(counted)
    if any_code(cells):
        return None
    values, bad = numbers(cells, decimal)
    odd = sum(counted[cells[i]] for i in bad)
    right = sum(counted[cell] for cell, v in zip(cells, values, strict=True) if not np.isnan(v))
    if not bad:
        if not right:
            return None
        every = numbers(column.tolist(), decimal)[0]
        return _number_column(name, every, np.arange(len(every)), None)
    if right > 1 and (odd == 1 or odd <= (1 - MOSTLY) * (odd + right)) and right > odd:
        raise Mixed({name: cells[bad[0]]})
    return None


def _category(name: str, counted: Counter[str], gaps: int) -> Column:
    few = ", ".join(value for value, _ in counted.most_common(3))
    more = ", ..." if len(counted) > 3 else ""
    return Column(name, Role.CATEGORY, f"{len(counted)} values: {few}{more}", gaps)
