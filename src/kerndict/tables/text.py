"""csv: a header, then numbers, read a batch at a time."""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from operator import itemgetter
from typing import BinaryIO, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from kerndict._limits import max_bytes
from kerndict.tables.batch import Batch, Selection, bad_label, batch_rows
from kerndict.tables.columns import ColumnTable

#: Characters of a line, at most; no more than twice as many are held at a time.
_MAX_LINE = 2**24
_DELIMITERS = ",;\t"
_DIGIT = re.compile(r"\d")
_QUOTED = re.compile(r'"[^"]*"')
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_TRUTH = {"true": 1.0, "false": 0.0}


class TextTable(ColumnTable):
    """Text with one row per line, separated by whichever of ``, ; tab`` its header has most of.

    Parameters
    ----------
    stream : binary, UTF-8
    name : for messages
    compressed : whether the stream is gzip
    size : bytes of the file; 0 where they are not known
    """

    def __init__(
        self, stream: BinaryIO, name: str, compressed: bool = False, size: int = 0
    ) -> None:
        self.name, self.limit = name, max_bytes(size)
        self._read = 0  # characters since the last batch
        self._line = 0  # the last line of what has been read as whole rows
        opened = cast(BinaryIO, gzip.GzipFile(fileobj=stream)) if compressed else stream
        self._text = io.TextIOWrapper(opened, "utf-8-sig", newline="")
        with _explained(self):
            first = self._text.readline(_MAX_LINE)
            if not first.strip():
                raise ValueError(f"{name} is empty, or begins with an empty line.")
            delimiter = max(_DELIMITERS, key=_QUOTED.sub("", first).count)
            lines = self._lines(first)
            self._delimiter = delimiter
            self._reader = csv.reader(
                lines, delimiter=delimiter, skipinitialspace=True, strict=True
            )
            header = next(self._reader)
            self._check_is_one_row(header, len(header), ())
            self._line = self._reader.line_num
            self.columns = [column.strip() for column in header]
        numbers = [name for name in self.columns if _DIGIT.search(name) and _is_number(name)]
        if numbers and not _counts(numbers):
            self.number = numbers[0]

    def _lines(self, line: str) -> Iterator[str]:
        """Yield a line and all that follow it, none of them longer than memory can take."""
        while line:
            if len(line) == _MAX_LINE and line[-1] not in "\r\n":
                words = f"a line of more than {_MAX_LINE:,} characters: give csv with shorter ones."
                raise ValueError(f"{self.where}: {words}")
            self._read += len(line)
            yield line
            line = self._text.readline(_MAX_LINE)

    def batches(self, selection: Selection) -> Iterator[Batch]:
        """Yield all rows, once; empty lines are passed over, unless they would be a cell."""
        size = batch_rows(len(self.columns))
        for rows, lines in self._rows(size, selection.features):
            X = self._numbers(rows, lines, selection.features)
            labels = None
            if selection.label is not None:
                labels = self._labels(rows, lines, selection.label)
            copied = [[row[i] for row in rows] for i in selection.copied]
            yield Batch(X, labels, copied)

    def _rows(
        self, size: int, features: Sequence[int]
    ) -> Iterator[tuple[list[list[str]], list[int]]]:
        """Yield rows of cells with the line at which each ends."""
        width = len(self.columns)
        rows: list[list[str]] = []
        lines: list[int] = []
        empty = 0
        with _explained(self):
            for row in self._reader:
                line = self._reader.line_num
                if row:
                    if width == 1 and empty:
                        self._fail(empty, f"column {self.columns[0]!r} is empty: fill it in.")
                    if len(row) != width:
                        self._fail(line, f"{len(row)} cells where the header has {width}.")
                    if line > self._line + 1:
                        self._check_is_one_row(row, width, features)
                    rows.append(row)
                    lines.append(line)
                else:
                    empty = line
                self._line = line
                if len(rows) == size or self._read > _MAX_LINE:
                    yield rows, lines
                    rows, lines = [], []
                    self._read = 0
        if rows:
            yield rows, lines

    def _check_is_one_row(self, row: list[str], width: int, features: Sequence[int]) -> None:
        """Check that a quote which was not closed has not made one row of several.

        Line breaks within quotes are part of a cell, unless the lines are rows by themselves:
        the first of them and a later one have all cells, with numbers as features.
        """
        first, *others = _LINE_BREAK.split(self._delimiter.join(row))

        def is_row(line: str) -> bool:
            cells = line.split(self._delimiter)
            return len(cells) == width and all(_is_number(cells[i]) for i in features)

        if is_row(first) and any(map(is_row, others)):
            self._fail(
                self._line + 1,
                f"a quote is open until line {self._reader.line_num}, with whole rows in it: "
                'close it, or write " as "" within quotes.',
            )

    def _numbers(
        self, rows: list[list[str]], lines: list[int], features: Sequence[int]
    ) -> NDArray[np.float64]:
        if len(features) == 1:
            cells = [row[features[0]] for row in rows]
        else:
            cells = list(chain.from_iterable(map(itemgetter(*features), rows)))
        read = _number if "_" in "".join(cells) else float
        try:
            try:
                X = np.fromiter(map(read, cells), np.float64, len(cells))
            except ValueError:
                X = np.fromiter(map(_number, cells), np.float64, len(cells))
        except ValueError:
            self._fail_at_cell(rows, lines, features)
        if not np.isfinite(X).all():
            self._fail_at_cell(rows, lines, features)
        return X.reshape(len(rows), len(features))

    def _labels(self, rows: list[list[str]], lines: list[int], label: int) -> list[str]:
        labels = [row[label].strip() for row in rows]
        bad = bad_label(labels)
        if bad is not None:
            self._fail(lines[bad[0]], f"the label, column {self.columns[label]!r}, {bad[1]}.")
        return labels

    def _fail_at_cell(
        self, rows: list[list[str]], lines: list[int], features: Sequence[int]
    ) -> NoReturn:
        """Tell which cell is not a finite number."""
        row, line, i = next(
            (row, line, i)
            for row, line in zip(rows, lines, strict=True)
            for i in features
            if not _is_number(row[i]) or not np.isfinite(_number(row[i]))
        )
        column, cell = repr(self.columns[i]), row[i]
        if not cell.strip():
            self._fail(line, f"column {column} is empty: fill it in, or leave out the row.")
        kind = "a finite number" if _is_number(cell) else "a number"
        self._fail(line, f"column {column} holds {cell!r}, which is not {kind}.")

    def _fail(self, line: int, words: str) -> NoReturn:
        raise ValueError(f"{self.name}, line {line}: {words}")

    @property
    def where(self) -> str:
        """The place that is being read."""
        return f"{self.name}, from line {self._line + 1} on"


@contextmanager
def _explained(table: TextTable) -> Iterator[None]:
    """Turn what can go wrong in reading text into errors for people."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise ValueError(f"{table.where}: not text in UTF-8; give csv in UTF-8.") from error
    except csv.Error as error:
        raise ValueError(
            f"{table.where}: not csv: {error}. Is a quote not closed, or not doubled within quotes?"
        ) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{table.where}: the compressed file is damaged: {error}") from error


def _number(text: str) -> float:
    """Return what a cell holds: float takes 1_0, which is not a number here, and no truth.

    >>> _number(" 1e3"), _number("True")
    (1000.0, 1.0)
    """
    if "_" in text:
        raise ValueError(text)
    truth = _TRUTH.get(text.strip().lower())
    return float(text) if truth is None else truth


def _is_number(text: str) -> bool:
    try:
        _number(text)
    except ValueError:
        return False
    return True


def _counts(names: Sequence[str]) -> bool:
    """Tell whether names count columns, from 0 or 1 on; fewer than three may be a row.

    >>> _counts(["0", "1", "2"]), _counts(["1", "2", "3"]), _counts(["0", "1"])
    (True, True, False)
    """
    counted = [[str(i + first) for i in range(len(names))] for first in (0, 1)]
    return len(names) >= 3 and list(names) in counted
