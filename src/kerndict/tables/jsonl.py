"""JSON lines: one object per line, whose keys are the columns."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from kerndict._limits import max_bytes
from kerndict.tables.batch import Cells, Rows, Selection, as_text
from kerndict.tables.lines import Lines, LineTable, explained
from kerndict.tables.text import MAX_LINE, AheadText


class JsonTable(LineTable):
    """Text with one JSON object per line; what an object lacks is a gap.

    Its columns are the keys of the first lines.  A later one that is new is an error in training,
    and passed over in prediction.
    """

    def __init__(self, stream: BinaryIO, name: str, size: int = 0) -> None:
        self.name, self.limit = name, max_bytes(size)
        self._line, self._strict = 0, False
        with explained(self):
            self._text = AheadText(stream)
        keys: dict[str, None] = {}
        whole = self._text.ahead[:-1] if len(self._text.ahead) > 1 else self._text.ahead
        for number, line in enumerate(whole, 1):
            if line.strip():
                keys |= dict.fromkeys(self._object(line, number))
        self.columns = list(keys)

    def _object(self, line: str, number: int) -> dict[str, Any]:
        try:
            found = json.loads(line, object_pairs_hook=_distinct)
        except (ValueError, RecursionError) as error:
            words = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            self.fail(number, f"not JSON: {words}")
        if not isinstance(found, dict):
            self.fail(number, 'not a JSON object: give one per line, such as {"a": 1}.')
        return found

    def training_rows(
        self,
        label: str | None,
        drop: Sequence[str],
        cells: Mapping[str, Cells] = {},
        default: Cells = Cells.STRICT,
    ) -> Rows:
        """Return all rows; see :class:`Table`."""
        self._strict = True
        return super().training_rows(label, drop, cells, default)

    def rows(self, size: int, selection: Selection) -> Iterator[Lines]:
        """Yield rows of cells; empty lines are passed over."""
        rows: list[list[str]] = []
        lines: list[int] = []
        known = set(self.columns)
        with explained(self):
            for number, line in enumerate(self._text.lines(self), 1):
                if line.strip():
                    found = self._object(line, number)
                    if self._strict and not known.issuperset(found):
                        new = next(key for key in found if key not in known)
                        self.fail(number, f"the key {new!r} is new: put it into the first line.")
                    rows.append([_cell(found.get(column)) for column in self.columns])
                    lines.append(number)
                self._line = number
                if len(rows) == size or self._text.read > MAX_LINE:
                    yield rows, lines
                    rows, lines = [], []
                    self._text.read = 0
        if rows:
            yield rows, lines

    @property
    def where(self) -> str:
        """The place that is being read."""
        return f"{self.name}, from line {self._line + 1} on"


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has two values for one key")
    return found


def _cell(value: Any) -> str:
    """Return a value as the text of a cell."""
    if isinstance(value, (dict, list)):
        return json.dumps(value)
    return as_text(value)
