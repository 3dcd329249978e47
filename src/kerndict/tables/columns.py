"""Tables with columns, and which of them is what."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from reprlib import Repr
from typing import ClassVar

from kerndict.tables.batch import Batch, Cells, Rows, Selection, Table, Wanted

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

    def begins_with_row(self, label: int | None) -> bool:
        """Tell whether the first line is a row like those below it, and no header."""
        return False

    def name_by_place(self) -> None:
        """Take the first line for a row, and name the columns 0, 1 and so on."""
        raise NotImplementedError

    def training_rows(
        self,
        label: str | None,
        drop: Sequence[str],
        cells: Mapping[str, Cells] = {},
        default: Cells = Cells.STRICT,
    ) -> Rows:
        """Return all rows; see :class:`Table`."""
        if label is None:
            raise ValueError(f"{self.name}: say by --label where the labels are.")
        return self._selected(select_for_training(self, label, drop, cells, default))

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


def find_all(table: ColumnTable, wanted: Iterable[str]) -> list[int]:
    """Return the places of columns; a word that is no column is taken for several, ``a,b``."""
    places = []
    for word in wanted:
        single = word in table.columns or _is_index(table, word) or "," not in word
        places += [find(table, each.strip()) for each in ([word] if single else word.split(","))]
    return places


def _settle_header(
    table: ColumnTable, wanted: Sequence[str], label: str | None, names: Sequence[str] | None
) -> None:
    """Find out whether the first line names the columns, or is a row of numbers.

    It names them where one of them is wanted that is no index, or where all ``names`` that a model
    knows are among them.  It is a row where the model knows no names but places, or in training
    (``names`` is empty) where it is like the rows below it.
    """
    if not table.columns:
        raise ValueError(f"{table.name} has no columns.")
    if table.number is None or (names and set(names) <= set(table.columns)):
        return
    if any(name in table.columns and not _is_index(table, name) for name in wanted):
        return
    target = find(table, label) if label is not None and _is_index(table, label) else None
    training = names is not None and not names
    by_place = not training and all(name.isdecimal() for name in names or ())
    if all(_is_index(table, name) for name in wanted) and (
        by_place or (training and table.begins_with_row(target))
    ):
        table.name_by_place()
        return
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


def select_for_training(
    table: ColumnTable,
    label: str,
    drop: Sequence[str],
    cells: Mapping[str, Cells] = {},
    default: Cells = Cells.STRICT,
) -> Selection:
    """Return the label, and all columns that are neither it nor dropped as features.

    Those without a name are left out, too, unless all columns must hold numbers.
    """
    _settle_header(table, [label, *drop, *cells], label, ())
    target = find(table, label)
    asked = {i: kind for word, kind in cells.items() for i in find_all(table, [word])}
    if target in asked:
        raise ValueError(f"{table.name}: {table.columns[target]!r} is the label, and no feature.")
    features = _rest(table, [target, *find_all(table, drop)])
    if default is not Cells.STRICT:
        features = [i for i in features if table.columns[i] or i in asked]
    if not features:
        raise ValueError(f"{table.name} has no column left for the features.")
    for i in features:
        if not table.columns[i]:
            raise ValueError(f"{table.name}: column {i} has no name: name it, or --drop {i}.")
    _check_single(table, [table.columns[i] for i in features])
    return Selection(features, target, cells=[asked.get(i, default) for i in features])


def select_for_model(table: ColumnTable, wanted: Wanted) -> Selection:
    """Return the columns that a model was trained on."""
    names, label = wanted.names, wanted.label
    beside = [*wanted.drop, *wanted.copied]
    asked = beside if label is None else [label, *beside]
    _settle_header(table, asked, label, names)
    target = None if label is None else find(table, label)
    drop, copied = find_all(table, wanted.drop), find_all(table, wanted.copied)
    others = [*drop, *copied]
    taken = others if target is None else [*others, target]
    if names is None or _goes_by_place(table, names, taken):
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
        dropped = set(features) & set(drop)
        if dropped:
            name = table.columns[min(dropped)]
            raise ValueError(f"--drop {name}: the model was trained on that column, and needs it.")
        known = wanted.known_label
        if wanted.needs_labels and target is None and known is not None and known in table.columns:
            target = find(table, known)
        if wanted.needs_labels and target is None:
            target = _guessed(table, _rest(table, [*features, *others]))
    return Selection(features, target, copied, wanted.cells)


def _goes_by_place(table: ColumnTable, names: Sequence[str], taken: Sequence[int]) -> bool:
    """Tell whether a table without a header lacks the column of labels that the model's had."""
    if table.number is not None or not all(name.isdecimal() for name in names):
        return False
    rest = _rest(table, taken)
    return len(rest) == len(names) and not set(names) <= set(table.columns)


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
