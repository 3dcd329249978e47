"""parquet, read a batch of a row group at a time; pyarrow is an extra."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerndict._limits import check_bytes, max_bytes
from kerndict.tables.batch import Batch, Selection, as_text, bad_label, batch_rows
from kerndict.tables.columns import ColumnTable


class ParquetTable(ColumnTable):
    """A parquet file; features may be of any numeric type, and float32 is kept."""

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError as error:
            raise ImportError(
                f"{path} is a parquet file: install pyarrow to read it, "
                "pip install 'kerndict[parquet]'."
            ) from error
        self.name, self._arrow = str(path), pyarrow
        self.limit = max_bytes(path.stat().st_size)
        try:
            self._file = parquet.ParquetFile(path)
        except (pyarrow.ArrowException, OSError) as error:
            raise self._damaged(error) from error
        schema = self._file.schema_arrow
        described = self._described_index(schema)
        index = [name for name in schema.names if name in described]
        self.columns = [name for name in schema.names if name not in described] + index
        self.n_index = len(index)

    def _damaged(self, error: Exception) -> ValueError:
        words = " ".join(str(error).split())  # some have several lines
        return ValueError(f"{self.name}: the parquet file is damaged: {words}")

    def _described_index(self, schema: Any) -> list[Any]:
        """Return what pandas notes about the index: names, or what stands for a range."""
        try:
            described = (schema.pandas_metadata or {}).get("index_columns", [])
        except (ValueError, AttributeError):  # not JSON, or something else than a dictionary
            described = None
        if not isinstance(described, list):
            raise ValueError(
                f"{self.name}: the notes of pandas in the parquet file are damaged: write it anew."
            )
        return described

    def batches(self, selection: Selection) -> Iterator[Batch]:
        """Yield all rows, once."""
        features = [self.columns[i] for i in selection.features]
        targets = {name: self._number_type(name) for name in features}
        copied = [self.columns[i] for i in selection.copied]
        label = None if selection.label is None else self.columns[selection.label]
        wanted = list(dict.fromkeys([*features, *copied, *([] if label is None else [label])]))
        seen = 0
        for batch in self._read(wanted):
            parts = [self._numbers(batch[name], name, targets[name], seen) for name in features]
            cells = [self._texts(batch[name], name, seen) for name in copied]
            yield Batch(
                np.column_stack(parts),
                None if label is None else self._labels(batch[label], label, seen),
                cells,
            )
            seen += batch.num_rows

    def _read(self, wanted: Sequence[str]) -> Iterator[Any]:
        size = batch_rows(len(wanted))
        self._check_groups()
        try:
            # Group by group: asked for all of them, pyarrow reads ahead and holds what it has read.
            for group in range(self._file.num_row_groups):
                for batch in self._file.iter_batches(size, [group], list(wanted)):
                    if batch.num_rows:
                        yield batch
        except (self._arrow.ArrowException, OSError) as error:
            raise self._damaged(error) from error

    def _check_groups(self) -> None:
        """Check how much the row groups take, which are read as a whole.

        More is not asked of their description: pyarrow ends the process at some that are damaged.
        """
        groups = self._file.metadata
        for number in range(groups.num_row_groups):
            size = groups.row_group(number).total_byte_size
            check_bytes(size, self.limit, f"{self.name}: row group {number + 1}")

    def _number_type(self, name: str) -> Any:
        kind, types = self._file.schema_arrow.field(name).type, self._arrow.types
        tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
        if not any(test(kind) for test in tests):
            raise ValueError(f"{self.name}: column {name!r} holds {kind}, which is not a number.")
        return kind if types.is_float32(kind) else self._arrow.float64()

    def _numbers(self, column: Any, name: str, target: Any, seen: int) -> NDArray:
        values = column.cast(target, safe=False).to_numpy(zero_copy_only=False)
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            cell = column[int(bad[0])].as_py()
            words = "is empty" if cell is None else f"holds {cell!r}, which is not a finite number"
            raise ValueError(f"{self.name}, row {seen + bad[0] + 1}: column {name!r} {words}.")
        return values

    def _labels(self, column: Any, name: str, seen: int) -> list[str]:
        labels = [cell.strip() for cell in self._texts(column, name, seen)]
        bad = bad_label(labels)
        if bad is not None:
            row, words = seen + bad[0] + 1, bad[1]
            raise ValueError(f"{self.name}, row {row}: the label, column {name!r}, {words}.")
        return labels

    def _texts(self, column: Any, name: str, seen: int) -> list[str]:
        try:
            return [as_text(value) for value in column.to_pylist()]
        except ValueError as error:
            words = f"from row {seen + 1} on: column {name!r} holds a cell that is no text"
            raise ValueError(f"{self.name}, {words}: {error}") from error
