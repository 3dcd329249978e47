"""Tables with columns, and which of them is what."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from reprlib import Repr
from typing import ClassVar

from kerndict.tables.batch import Batch, Rows, Selection, Table, Wanted

_short = Repr()
_short.maxlist = 12


class ColumnTable(Table):
    """A table with columns.

    The last ``n_index`` columns number or name the rows of a data frame; ``number`` is a number
    among the columns' names that may show that they are no names, but a row.
    """

    has_columns: ClassVar[bool] = True
    columns: list[str]
    n_index: int = 0
    number: str | None = None

    @abstractmethod
    def batches(self, selection: Selection) -> Iterator[Batch]:
        """Yield all rows, once."""

    def training_rows(self, label: str | None, drop: Sequence[str]) -> Rows:
        """Return all rows; see :class:`Table`."""
        if label is None:
            raise ValueError(f"{self.name}: say by --label where the labels are.")
        return self._selected(select_for_training(self, label, drop))

    def model_rows(self, wanted: Wanted) -> Rows:
        """Return all rows; where labels are not named, they are the only other column."""
        return self._selected(select_for_model(self, wanted))

    def _selected(self, selection: Selection) -> Rows:
        features, copied = (
            [self.columns[i] for i in places] for places in (selection.features, selection.copied)
        )
        return Rows(features, copied, self.batches(selection))


def find(table: ColumnTable, wanted: str) -> int:
    """Return the place of a column given by its name, or else by its index (-1 is the last)."""
    columns = table.columns
    if wanted in columns:
        _check_single(table, [wanted])
        return columns.index(wanted)
    if _is_index(table, wanted):
        return int(wanted) % (len(columns) - table.n_index)
    raise ValueError(f"{table.name} has no column {wanted!r}: it has {_short.repr(columns)}.")


def _is_index(table: ColumnTable, wanted: str) -> bool:
    width = len(table.columns) - table.n_index
    return wanted.removeprefix("-").isdecimal() and -width <= int(wanted) < width


def _check_header(table: ColumnTable, wanted: Iterable[str], names: Sequence[str] = ()) -> None:
    """Check that a table has columns, and that their names are no row of numbers.

    They are names where one of them is wanted that is no index, or where all names that a model
    knows are among them.
    """
    if not table.columns:
        raise ValueError(f"{table.name} has no columns.")
    if table.number is None or (names and set(names) <= set(table.columns)):
        return
    if not any(name in table.columns and not _is_index(table, name) for name in wanted):
        raise ValueError(
            f"{table.name} has no header: its first line holds {table.number}, and no column that "
            "was asked for. Begin with a line that names the columns; if it does, ask for one of "
            "them by its name."
        )


def _check_single(table: ColumnTable, names: Sequence[str]) -> None:
    """Check that no two columns share one of some names."""
    counts = Counter(table.columns)
    for name in names:
        if counts[name] > 1:
            raise ValueError(f"{table.name} has two columns with the name {name!r}: rename one.")


def select_for_training(table: ColumnTable, label: str, drop: Sequence[str]) -> Selection:
    """Return the label, and all columns that are neither it nor dropped as features."""
    _check_header(table, [label, *drop])
    target = find(table, label)
    features = _rest(table, [target, *(find(table, name) for name in drop)])
    if not features:
        raise ValueError(f"{table.name} has no column left for the features.")
    for i in features:
        if not table.columns[i]:
            raise ValueError(f"{table.name}: column {i} has no name: name it, or --drop {i}.")
    _check_single(table, [table.columns[i] for i in features])
    return Selection(features, target)


def select_for_model(table: ColumnTable, wanted: Wanted) -> Selection:
    """Return the columns that a model was trained on."""
    names, label, drop = wanted.names, wanted.label, wanted.drop
    beside = [*drop, *wanted.copied]
    _check_header(table, beside if label is None else [label, *beside], names or ())
    target = None if label is None else find(table, label)
    others = [find(table, name) for name in beside]
    taken = others if target is None else [*others, target]
    if names is None:
        features = _rest(table, taken)
        if wanted.needs_labels and target is None:
            raise ValueError("the model has no feature names: say by --label where the labels are.")
        if len(features) != wanted.n_features:
            raise ValueError(
                f"{table.name} has {len(features)} feature columns, the model was trained on "
                f"{wanted.n_features} without names: leave out the others by --drop."
            )
    else:
        features = _named(table, names)
        dropped = set(features) & set(others[: len(drop)])
        if dropped:
            name = table.columns[min(dropped)]
            raise ValueError(f"--drop {name}: the model was trained on that column, and needs it.")
        if wanted.needs_labels and target is None:
            target = _guessed(table, _rest(table, [*features, *others]))
    return Selection(features, target, others[len(drop) :])


def _named(table: ColumnTable, names: Sequence[str]) -> list[int]:
    places = {column: i for i, column in enumerate(table.columns)}
    missing = [name for name in names if name not in places]
    if missing:
        raise ValueError(
            f"{table.name} lacks {len(missing)} of the {len(names)} columns that the model was "
            f"trained on: {_short.repr(missing)}. It has {_short.repr(table.columns)}."
        )
    _check_single(table, names)
    return [places[name] for name in names]


def _guessed(table: ColumnTable, others: list[int]) -> int:
    if len(others) == 1:
        return others[0]
    found = _short.repr([table.columns[i] for i in others]) if others else "no column"
    raise ValueError(
        f"{table.name} has {found} beside the features: say by --label where the labels are."
    )


def _rest(table: ColumnTable, taken: Sequence[int]) -> list[int]:
    """Return what may be features: all columns but those taken, and the index."""
    return sorted(set(range(len(table.columns) - table.n_index)) - set(taken))
