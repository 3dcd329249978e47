"""csv: a header or none, then rows of cells, read a batch at a time."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

from kerndict._limits import max_bytes
from kerndict.tables.batch import Cells, Selection
from kerndict.tables.cells import decimal_of, is_gap, is_number
from kerndict.tables.lines import Lines, LineTable, explained

#: Characters of a line, at most; no more than twice as many are held at a time.
MAX_LINE = 2**24
#: Characters that are looked at before anything is read.
AHEAD = 2**16
_DELIMITERS = "\t;,"
_DIGIT = re.compile(r"\d")
_QUOTED = re.compile(r'"[^"]*"')
_LINE_BREAK = re.compile(r"\r\n|\r|\n")


class AheadText:
    """Text in UTF-8, line by line, of which some lines are looked at first."""

    def __init__(self, stream: BinaryIO) -> None:
        self._text = io.TextIOWrapper(stream, "utf-8-sig", newline="")
        self._broken: Exception | None = None
        self.read = 0  # characters that were given since somebody set it to 0
        first = self._text.readline(MAX_LINE)
        self.ahead, seen = [first], len(first)
        try:
            while self.ahead[-1] and seen < AHEAD:
                self.ahead.append(self._text.readline(MAX_LINE))
                seen += len(self.ahead[-1])
        except Exception as error:  # which whoever comes to that line is told
            self._broken = error

    def lines(self, where: "LineTable") -> Iterator[str]:
        """Yield all lines, none of them longer than memory can take."""
        for line in self._all():
            if len(line) == MAX_LINE and line[-1] not in "\r\n":
                words = f"a line of more than {MAX_LINE:,} characters: give csv with shorter ones."
                raise ValueError(f"{where.where}: {words}")
            self.read += len(line)
            yield line

    def _all(self) -> Iterator[str]:
        ahead, self.ahead = self.ahead, []
        for line in ahead:
            if not line:
                return
            yield line
        if self._broken is not None:
            raise self._broken
        while line := self._text.readline(MAX_LINE):
            yield line


class TextTable(LineTable):
    """Text with one row per line, separated by ``,``, ``;`` or tab.

    Parameters
    ----------
    stream : binary, UTF-8
    name : for messages
    size : bytes of the file; 0 where they are not known
    """

    def __init__(self, stream: BinaryIO, name: str, size: int = 0) -> None:
        self.name, self.limit = name, max_bytes(size)
        self._line = 0  # the last line of what has been read as whole rows
        with explained(self):
            self._text = AheadText(stream)
            first = self._text.ahead[0]
            if not first.strip():
                raise ValueError(f"{name} is empty, or begins with an empty line.")
            whole = self._text.ahead[:-1] if len(self._text.ahead) > 1 else self._text.ahead
            self._delimiter = delimiter_of(whole)
            self._sample = self._parsed(whole)
            self._reader = self._csv(self._text.lines(self))
            header = next(self._reader)
            self._check_is_one_row(header, len(header), ())
            self._line = self._reader.line_num
        self._first = header
        self._pushed = False
        self.columns = [column.strip() for column in header]
        below = [row for row in self._sample[1:] if len(row) == len(header)]
        self.decimal = decimal_of([*zip(*below, strict=True)])
        numbers = [name for name in self.columns if _DIGIT.search(name) and self._holds(name)]
        if numbers and not counts(numbers):
            self.number = numbers[0]

    def _csv(self, lines: Iterator[str]) -> Any:
        return csv.reader(lines, delimiter=self._delimiter, skipinitialspace=True, strict=True)

    def _parsed(self, lines: Sequence[str]) -> list[list[str]]:
        """Return the rows in some lines, up to the first that cannot be read."""
        rows: list[list[str]] = []
        with suppress(csv.Error):
            for row in self._csv(iter(lines)):
                if row:
                    rows.append(row)
        return rows

    def _holds(self, cell: str) -> bool:
        return is_number(cell, self.decimal)

    def begins_with_row(self, label: int | None) -> bool:
        """Tell whether the first line is a row like those below it, and no header.

        Its cells are numbers where those below are, and its label is one of theirs.
        """
        below = [row for row in self._sample[1:] if len(row) == len(self._first)]
        if not below:
            return False
        for i, column in enumerate(zip(*below, strict=True)):
            cell = self._first[i].strip()
            if i == label and not self._holds(cell):
                if cell not in {other.strip() for other in column}:
                    return False
            elif not (is_gap(cell) or self._holds(cell)) and all(
                is_gap(other) or self._holds(other) for other in column
            ):
                return False
        return True

    def name_by_place(self) -> None:
        """Take the first line for a row, and name the columns 0, 1 and so on."""
        self.columns = [str(i) for i in range(len(self._first))]
        self.number, self._pushed = None, True

    def rows(self, size: int, selection: Selection) -> Iterator[Lines]:
        """Yield rows of cells; empty lines are passed over, unless they would be a cell."""
        width = len(self.columns)
        both = zip(selection.features, selection.cells_of(), strict=True)
        features = [i for i, kind in both if kind is not Cells.TEXT]
        rows: list[list[str]] = [self._first] if self._pushed else []
        lines: list[int] = [self._line] if self._pushed else []
        empty = 0
        with explained(self):
            for row in self._reader:
                line = self._reader.line_num
                if row:
                    if width == 1 and empty:
                        self.fail(empty, f"column {self.columns[0]!r} is empty: fill it in.")
                    if len(row) != width:
                        self.fail(line, f"{len(row)} cells where the header has {width}.")
                    if line > self._line + 1:
                        self._check_is_one_row(row, width, features)
                    rows.append(row)
                    lines.append(line)
                else:
                    empty = line
                self._line = line
                if len(rows) >= size or self._text.read > MAX_LINE:
                    yield rows, lines
                    rows, lines = [], []
                    self._text.read = 0
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
            return len(cells) == width and all(
                self._holds(cells[i]) or is_gap(cells[i]) for i in features
            )

        if is_row(first) and any(map(is_row, others)):
            self.fail(
                self._line + 1,
                f"a quote is open until line {self._reader.line_num}, with whole rows in it: "
                'close it, or write " as "" within quotes.',
            )

    @property
    def where(self) -> str:
        """The place that is being read."""
        return f"{self.name}, from line {self._line + 1} on"


def delimiter_of(lines: Sequence[str]) -> str:
    """Return what separates the cells of some lines: what all have as many of, tab before ; and ,.

    Decimal commas are as many as cells at most; more of them separate cells.  Where no line is
    like the others, it is what the first has most of.

    >>> delimiter_of(["1,5;2,5;x", "1,0;2,0;y"]), delimiter_of(["a,b;c,d", "1,2,3"])
    (';', ',')
    """
    bare = [_QUOTED.sub("", line) for line in lines if line.strip()]
    counted = {mark: {line.count(mark) for line in bare} for mark in _DELIMITERS}
    even = {mark: min(found) for mark, found in counted.items() if len(found) == 1 and min(found)}
    most = max(reversed(_DELIMITERS), key=bare[0].count)
    if most not in even:
        return next(iter(even), most) if len(even) == 1 else most
    near = [mark for mark in even if even[mark] + 1 >= even[most]]
    return near[0]


def counts(names: Sequence[str]) -> bool:
    """Tell whether names count columns, from 0 or 1 on; fewer than three may be a row.

    >>> counts(["0", "1", "2"]), counts(["1", "2", "3"]), counts(["0", "1"])
    (True, True, False)
    """
    counted = [[str(i + first) for i in range(len(names))] for first in (0, 1)]
    return len(names) >= 3 and list(names) in counted
