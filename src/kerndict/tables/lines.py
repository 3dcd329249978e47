"""Tables of lines: rows of cells as text, read a batch at a time, with the line in errors."""

import csv
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from kerndict.tables.batch import Batch, Cells, Selection, bad_label, batch_rows, joined_columns
from kerndict.tables.cells import NotNumbers, any_code, joined, numbers, plain_numbers
from kerndict.tables.columns import ColumnTable
from kerndict.tables.streams import DAMAGED

#: Rows as cells, and the line at which each of them ends.
Lines = tuple[list[list[str]], list[int]]


class LineTable(ColumnTable):
    """A table of lines, each of them as many cells as there are columns.

    ``decimal`` is the mark in its numbers.
    """

    decimal: str = "."

    @abstractmethod
    def rows(self, size: int, selection: Selection) -> Iterator[Lines]:
        """Yield some rows at a time."""

    @property
    @abstractmethod
    def where(self) -> str:
        """The place that is being read."""

    def batches(self, selection: Selection) -> Iterator[Batch]:
        """Yield all rows, once."""
        for rows, lines in self.rows(batch_rows(len(self.columns)), selection):
            labels = None
            if selection.label is not None:
                labels = self._labels(rows, lines, selection.label)
            copied = [[row[i] for row in rows] for i in selection.copied]
            yield Batch(self._features(rows, lines, selection), labels, copied)

    def _features(self, rows: list[list[str]], lines: list[int], selection: Selection) -> NDArray:
        places, cells = selection.features, selection.cells_of()
        if Cells.TEXT not in cells:
            every = joined([[row[i] for i in places] for row in rows])
            X = plain_numbers(every)
            if X is not None and (Cells.GUESS not in cells or not any_code(every)):
                return X.reshape(len(rows), len(places))
        found: list[NDArray] = []
        bad: dict[int, int] = {}
        for i, kind in zip(places, cells, strict=True):
            column = [row[i] for row in rows]
            if kind is Cells.TEXT:
                found.append(as_words(column))
                continue
            values, wrong = numbers(column, self.decimal)
            if kind is Cells.GUESS and not wrong and any_code(column):
                wrong = [next(k for k, cell in enumerate(column) if any_code([cell]))]
            elif kind is Cells.STRICT:
                wrong = np.flatnonzero(~np.isfinite(values)).tolist()
            if wrong and kind is not Cells.LENIENT:
                bad[i] = wrong[0]
            found.append(values)
        if bad:
            self._fail_at_cells(rows, lines, bad, guessed=Cells.GUESS in cells)
        return joined_columns(found)

    def _labels(self, rows: list[list[str]], lines: list[int], label: int) -> list[str]:
        labels = [row[label].strip() for row in rows]
        bad = bad_label(labels)
        if bad is not None:
            self.fail(lines[bad[0]], f"the label, column {self.columns[label]!r}, {bad[1]}.")
        return labels

    def _fail_at_cells(
        self, rows: list[list[str]], lines: list[int], bad: dict[int, int], guessed: bool
    ) -> NoReturn:
        """Tell which cells are no numbers: the first one of each column."""
        told = {self.columns[i]: (f"line {lines[k]}", rows[k][i]) for i, k in bad.items()}
        if guessed:
            raise NotNumbers(told)
        raise ValueError(not_numbers(self.name, told))

    def fail(self, line: int, words: str) -> NoReturn:
        """Tell what is wrong with a line."""
        raise ValueError(f"{self.name}, line {line}: {words}")


def as_words(column: Sequence[str]) -> NDArray:
    """Return cells as text, empty for a gap."""
    words = np.empty(len(column), object)
    words[:] = [cell.strip() for cell in column]
    return words


def not_numbers(name: str, told: dict[str, tuple[str, str]], remedy: str = "") -> str:
    """Return what to tell of columns that hold something else than numbers.

    ``told`` has for each the place and the text of the first such cell.
    """
    words = {column: _what(cell) for column, (_, cell) in told.items()}
    if len(told) == 1:
        ((column, (place, _)),) = told.items()
        return f"{name}, {place}: column {column!r} {words[column]}{remedy or '.'}"
    each = "; ".join(f"{column!r} {words[column]} ({place})" for column, (place, _) in told.items())
    return f"{name}: {len(told)} columns are not all numbers: {each}{remedy or '.'}"


def _what(cell: str) -> str:
    """Return what is wrong with a cell."""
    if not cell.strip():
        return "is empty: fill it in, or leave out the row"
    return f"holds {cell!r}, which is not {_kind(cell)}"


def _kind(cell: str) -> str:
    """Return what a cell is not."""
    try:
        return "a number" if np.isfinite(float(cell)) or "_" in cell else "a finite number"
    except ValueError:
        return "a number"


@contextmanager
def explained(table: LineTable) -> Iterator[None]:
    """Turn what can go wrong in reading text into errors for people."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise ValueError(f"{table.where}: not text in UTF-8; give csv in UTF-8.") from error
    except csv.Error as error:
        raise ValueError(
            f"{table.where}: not csv: {error}. Is a quote not closed, or not doubled within quotes?"
        ) from error
    except DAMAGED as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{table.where}: the compressed file is damaged: {error}") from error
