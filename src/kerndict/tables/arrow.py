"""Tables of Arrow columns, read a batch of rows at a time: parquet and feather."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerndict.tables.batch import Batch, Cells, Selection, as_text, bad_label, joined_columns
from kerndict.tables.cells import NotNumbers, numbers
from kerndict.tables.columns import ColumnTable
from kerndict.tables.lines import as_words, not_numbers


class ArrowTable(ColumnTable):
    """Typed columns: numbers of any type, and float32 is kept; text; dates, which are text here.

    ``arrow`` is pyarrow and ``schema`` that of the columns.
    """

    arrow: Any
    schema: Any
    kind: str

    @abstractmethod
    def record_batches(self, wanted: Sequence[str]) -> Iterator[Any]:
        """Yield some rows of some columns at a time."""

    def take_schema(self, schema: Any) -> None:
        """Settle the columns; the index of a data frame comes last."""
        self.schema = schema
        described = self._described_index(schema)
        index = [name for name in schema.names if name in described]
        self.columns = [name for name in schema.names if name not in described] + index
        self.n_index = len(index)

    def damaged(self, error: Exception) -> ValueError:
        """Return what to tell of a file that cannot be read."""
        words = " ".join(str(error).split())  # some have several lines
        return ValueError(f"{self.name}: the {self.kind} file is damaged: {words}")

    def _described_index(self, schema: Any) -> list[Any]:
        """Return what pandas notes about the index: names, or what stands for a range."""
        try:
            described = (schema.pandas_metadata or {}).get("index_columns", [])
        except (ValueError, AttributeError):  # not JSON, or something else than a dictionary
            described = None
        if not isinstance(described, list):
            raise ValueError(
                f"{self.name}: the notes of pandas in the {self.kind} file are damaged: write it "
                "anew."
            )
        return described

    def batches(self, selection: Selection) -> Iterator[Batch]:
        """Yield all rows, once."""
        features = [self.columns[i] for i in selection.features]
        copied = [self.columns[i] for i in selection.copied]
        label = None if selection.label is None else self.columns[selection.label]
        wanted = list(dict.fromkeys([*features, *copied, *([] if label is None else [label])]))
        self._check_guesses(features, selection.cells_of())
        seen = 0
        for batch in self.record_batches(wanted):
            X = self._features(batch, features, selection.cells_of(), seen)
            cells = [self._texts(batch[name], name, seen) for name in copied]
            yield Batch(
                X, None if label is None else self._labels(batch[label], label, seen), cells
            )
            seen += batch.num_rows

    def _check_guesses(self, features: Sequence[str], cells: Sequence[Cells]) -> None:
        """Tell of columns that are no numbers by their type."""
        told = {
            name: ("row 1", str(self.schema.field(name).type))
            for name, kind in zip(features, cells, strict=True)
            if kind is Cells.GUESS and not self._is_number(name)
        }
        if told:
            raise NotNumbers(told)

    def _is_number(self, name: str) -> bool:
        kind, types = self.schema.field(name).type, self.arrow.types
        tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
        return any(test(kind) for test in tests)

    def _features(
        self, batch: Any, names: Sequence[str], cells: Sequence[Cells], seen: int
    ) -> NDArray:
        found: list[NDArray] = []
        bad: dict[str, tuple[str, str]] = {}
        for name, kind in zip(names, cells, strict=True):
            if kind is Cells.TEXT:
                found.append(as_words(self._texts(batch[name], name, seen)))
                continue
            values, wrong = self._numbers(batch[name], name, seen)
            if kind is Cells.STRICT:
                wrong = np.flatnonzero(~np.isfinite(values)).tolist()
            if wrong and kind is not Cells.LENIENT:
                cell = batch[name][wrong[0]].as_py()
                bad[name] = f"row {seen + wrong[0] + 1}", "" if cell is None else str(cell)
            found.append(values)
        if bad:
            raise ValueError(not_numbers(self.name, bad))
        return joined_columns(found)

    def _numbers(self, column: Any, name: str, seen: int) -> tuple[NDArray, list[int]]:
        """Return numbers, NaN for gaps, and the places of what is neither."""
        if not self._is_number(name):
            return numbers(self._texts(column, name, seen))
        kind = self.schema.field(name).type
        target = kind if self.arrow.types.is_float32(kind) else self.arrow.float64()
        values = column.cast(target, safe=False).to_numpy(zero_copy_only=False)
        infinite = np.flatnonzero(np.isinf(values)).tolist()
        if infinite:
            values = np.where(np.isinf(values), np.nan, values)
        return values, infinite

    def _labels(self, column: Any, name: str, seen: int) -> list[str]:
        labels = [cell.strip() for cell in self._texts(column, name, seen)]
        bad = bad_label(labels)
        if bad is not None:
            row, words = seen + bad[0] + 1, bad[1]
            raise ValueError(f"{self.name}, row {row}: the label, column {name!r}, {words}.")
        return labels

    def _texts(self, column: Any, name: str, seen: int) -> list[str]:
        if self.arrow.types.is_temporal(column.type):
            column = column.cast(self.arrow.string())
        try:
            return [as_text(value) for value in column.to_pylist()]
        except ValueError as error:
            words = f"from row {seen + 1} on: column {name!r} holds a cell that is no text"
            raise ValueError(f"{self.name}, {words}: {error}") from error
