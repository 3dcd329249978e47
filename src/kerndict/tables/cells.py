"""What cells of text hold: numbers, gaps, or something else."""

import re
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

#: What stands for nothing in a column of numbers, in lower case.
GAPS = frozenset(("", "?", "-", ".", "na", "n/a", "#n/a", "nan", "<na>", "null", "none", "missing"))
_TRUTH = {"true": 1.0, "false": 0.0}
#: 1,234.5 and, where decimals have a comma, 1.234,5.
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)?(,\d*)?([eE][+-]?\d+)?")
#: 007, which is a code and not a number; 0.5 is one.
_CODE = re.compile(r"^[ \t]*[+-]?0\d+[ \t]*$", re.MULTILINE)


class NotNumbers(ValueError):
    """Columns that were taken for numbers hold something else.

    ``columns`` has for each of them the place and the text of the first such cell.
    """

    def __init__(self, columns: dict[str, tuple[str, str]]) -> None:
        super().__init__(", ".join(columns))
        self.columns = columns


def is_gap(text: str) -> bool:
    """Tell whether a cell stands for nothing.

    >>> is_gap(" "), is_gap("N/A"), is_gap("0")
    (True, True, False)
    """
    return text.strip().lower() in GAPS


def number(text: str, decimal: str = ".") -> float:
    """Return the number in a cell; what is none, or a gap, is a ValueError.

    float takes 1_0, which is not a number here, and no truth.

    >>> number(" 1e3"), number("True"), number("1,234.5"), number("1.234,5", ",")
    (1000.0, 1.0, 1234.5, 1234.5)
    """
    cell = text.strip()
    truth = _TRUTH.get(cell.lower())
    if truth is not None:
        return truth
    if "_" in cell:
        raise ValueError(text)
    if decimal == "," and ("," in cell or "." in cell):
        if not _COMMA.fullmatch(cell):
            raise ValueError(text)
        cell = cell.replace(".", "").replace(",", ".")
    elif "," in cell and _GROUPED.fullmatch(cell):
        cell = cell.replace(",", "")
    return float(cell)


def is_number(text: str, decimal: str = ".") -> bool:
    """Tell whether a cell holds a number, finite or not."""
    try:
        number(text, decimal)
    except ValueError:
        return False
    return True


def any_code(cells: Sequence[str]) -> bool:
    """Tell whether one of some cells is a number that is written as a code.

    >>> any_code(["1", "007"]), any_code(["0", "0.5"])
    (True, False)
    """
    return _CODE.search("\n".join(cells)) is not None


def plain_numbers(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """Return numbers, or None unless all cells are finite ones with a decimal point: fast."""
    if "_" in "".join(cells):
        return None
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def numbers(cells: Sequence[str], decimal: str = ".") -> tuple[NDArray[np.float64], list[int]]:
    """Return the numbers in cells, NaN for gaps; and the places of cells that are neither.

    >>> numbers(["1", "", "red"])
    (array([ 1., nan, nan]), [2])
    """
    values = plain_numbers(cells)
    if values is not None:
        return values, []
    values, bad = np.full(len(cells), np.nan), []
    for i, cell in enumerate(cells):
        try:
            values[i] = number(cell, decimal)
        except ValueError:
            values[i] = np.nan
        if not np.isfinite(values[i]) and not is_gap(cell):
            values[i] = np.nan
            bad.append(i)
    return values, bad


def decimal_of(columns: Sequence[Sequence[str]]) -> str:
    """Return the decimal mark of the numbers in some columns.

    It is a comma where one column is made of numbers with commas that are no 1,234, and no column
    is made of numbers with points.

    >>> decimal_of([["1,5", "2"], ["x", "y"]]), decimal_of([["1,5"], ["0.5"]])
    (',', '.')
    """
    filled = [[cell for cell in column if not is_gap(cell)] for column in columns]
    point = any("." in "".join(c) and all(map(is_number, c)) for c in filled if c)
    comma = any(
        any("," in cell and not _GROUPED.fullmatch(cell.strip()) for cell in column)
        and all(is_number(cell, ",") for cell in column)
        for column in filled
        if column
    )
    return "," if comma and not point else "."


def joined(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return all cells of some rows, one after the other."""
    return list(chain.from_iterable(rows))
