"""parquet, read a batch of a row group at a time, and feather; pyarrow is an extra."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kerndict._limits import check_bytes, max_bytes
from kerndict.tables.arrow import ArrowTable
from kerndict.tables.batch import batch_rows


def _pyarrow(path: Path, kind: str) -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            f"{path} is a {kind} file: install pyarrow to read it, pip install 'kerndict[parquet]'."
        ) from error
    return pyarrow


class ParquetTable(ArrowTable):
    """A parquet file."""

    kind = "parquet"

    def __init__(self, path: Path) -> None:
        self.name, self.arrow = str(path), _pyarrow(path, self.kind)
        from pyarrow import parquet

        self.limit = max_bytes(path.stat().st_size)
        try:
            self._file = parquet.ParquetFile(path)
        except (self.arrow.ArrowException, OSError) as error:
            raise self.damaged(error) from error
        self.take_schema(self._file.schema_arrow)

    def record_batches(self, wanted: Sequence[str]) -> Iterator[Any]:
        """Yield some rows of some columns at a time."""
        size = batch_rows(len(wanted))
        self._check_groups()
        try:
            # Group by group: asked for all of them, pyarrow reads ahead and holds what it has read.
            for group in range(self._file.num_row_groups):
                for batch in self._file.iter_batches(size, [group], list(wanted)):
                    if batch.num_rows:
                        yield batch
        except (self.arrow.ArrowException, OSError) as error:
            raise self.damaged(error) from error

    def _check_groups(self) -> None:
        """Check how much the row groups take, which are read as a whole.

        More is not asked of their description: pyarrow ends the process at some that are damaged.
        """
        groups = self._file.metadata
        for number in range(groups.num_row_groups):
            size = groups.row_group(number).total_byte_size
            check_bytes(size, self.limit, f"{self.name}: row group {number + 1}")


class FeatherTable(ArrowTable):
    """A feather file of version 2, which is Arrow's own format."""

    kind = "feather"

    def __init__(self, path: Path) -> None:
        self.name, self.arrow = str(path), _pyarrow(path, self.kind)
        from pyarrow import ipc

        self.limit = max_bytes(path.stat().st_size)
        try:
            self._file = ipc.open_file(self.arrow.memory_map(str(path)))
        except (self.arrow.ArrowException, OSError) as error:
            raise self.damaged(error) from error
        self.take_schema(self._file.schema)

    def record_batches(self, wanted: Sequence[str]) -> Iterator[Any]:
        """Yield some rows of some columns at a time."""
        size = batch_rows(len(wanted))
        try:
            for number in range(self._file.num_record_batches):
                whole = self._file.get_batch(number).select(list(wanted))
                whole.validate(full=True)  # else a damaged one could end the process
                check_bytes(whole.nbytes, self.limit, f"{self.name}: batch {number + 1}")
                for start in range(0, whole.num_rows, size):
                    yield whole.slice(start, size)
        except (self.arrow.ArrowException, OSError, KeyError) as error:
            raise self.damaged(error) from error
