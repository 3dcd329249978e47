"""Several files as one table."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from kerndict.tables.batch import Batch, Selection, Table
from kerndict.tables.columns import ColumnTable, find


class JoinedTable(ColumnTable):
    """The rows of several tables with the same columns, in any order, one table after the other.

    Parameters
    ----------
    first : the first of them
    others : their names
    opened : opens a table by its name
    """

    def __init__(
        self,
        first: ColumnTable,
        others: Sequence[str],
        opened: Callable[[str], AbstractContextManager[Table]],
    ) -> None:
        self._first, self._others, self._opened = first, others, opened
        self.name, self.limit = f"{first.name} and {len(others)} more files", first.limit
        self.columns, self.n_index, self.number = first.columns, first.n_index, first.number
        self._by_place = False

    def begins_with_row(self, label: int | None) -> bool:
        """Tell whether the first line of the first table is a row, and no header."""
        return self._first.begins_with_row(label)

    def name_by_place(self) -> None:
        """Take the first line of every table for a row."""
        self._first.name_by_place()
        self.columns, self.number, self._by_place = self._first.columns, None, True

    def batches(self, selection: Selection) -> Iterator[Batch]:
        """Yield all rows, once."""
        yield from self._first.batches(selection)
        for name in self._others:
            with self._opened(name) as table:
                if not isinstance(table, ColumnTable):
                    raise ValueError(f"{name} has no columns: give several tables with columns.")
                if self._by_place:
                    table.name_by_place()
                yield from table.batches(self._in(table, selection))

    def _in(self, table: ColumnTable, selection: Selection) -> Selection:
        """Return a selection by the places that its columns have in another table."""

        def places(mine: Sequence[int]) -> list[int]:
            return [find(table, self.columns[i]) for i in mine]

        label = selection.label
        return Selection(
            places(selection.features),
            None if label is None else places([label])[0],
            places(selection.copied),
            selection.cells,
        )
