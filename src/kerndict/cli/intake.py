"""What ``kerndict train`` takes in: rows or a sample of them, and what each column is."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kerndict._limits import check_bytes
from kerndict.cli.common import UsageError
from kerndict.cli.stream import WHOLE, WHOLE_ROWS, Overview, overview
from kerndict.tables import Batch, Cells, NotNumbers, Rows, Source, Table, not_numbers
from kerndict.tables.columns import ColumnTable, find, find_all
from kerndict.tabular import Column, Mixed, Role, decide, used_rows

#: Options that say what a column is, and how its cells are read then.
OVERRULES = {
    "number": (Role.NUMBER, Cells.LENIENT),
    "category": (Role.CATEGORY, Cells.TEXT),
    "text": (Role.WORDS, Cells.TEXT),
}
#: Bytes that an object in an array takes, on average.
_OBJECT = 64


@dataclass
class Intake:
    """What was read.

    Parameters
    ----------
    X, labels : rows and labels, or a sample of them
    names : of the features, None where they have none
    columns : what the columns of the table are; those that are left out, too
    overview : what the first pass over a large table found; None where all rows were read
    limit : bytes that may be held
    cells : what each feature is read as
    label : the column of labels
    """

    X: NDArray
    labels: list[str]
    names: list[str] | None
    columns: list[Column]
    overview: Overview | None
    limit: int
    cells: dict[str, Cells] = field(default_factory=dict)
    label: str | None = None

    @property
    def used(self) -> list[Column]:
        """The columns that are features."""
        return [column for column in self.columns if column.role is not Role.OUT]


def held_by(options: argparse.Namespace) -> str:
    """Return the option for which all rows are held at once; empty if there is none."""
    given = vars(options)
    if given.get("n_landmarks") == "all":
        return "--n-landmarks all"
    if given.get("decision") == "residual":
        return "--decision residual"
    return "--search" if options.search else "--grid" if options.grid else ""


def take_in(options: argparse.Namespace, source: Source) -> Intake:
    """Read a table; of one that is large an overview, unless an option needs all rows at once."""
    places: dict[str, tuple[str, str]] = {}
    while True:
        try:
            with source.open() as table:
                return _Reading(options, table, places).done()
        except NotNumbers as found:  # once more, with these columns as text
            if set(found.columns) <= set(places):
                raise
            places |= found.columns


class _Reading:
    """One attempt to read a table; ``places`` are where columns hold no numbers."""

    def __init__(
        self, options: argparse.Namespace, table: Table, places: Mapping[str, tuple[str, str]]
    ) -> None:
        self._table, self._places = table, places
        self._options = options
        if table.has_columns and options.label is None:
            raise UsageError("--label is needed: the column of labels, by name or index.")
        if not table.has_columns:
            for name in ("drop", *OVERRULES):
                if getattr(options, name):
                    raise UsageError(f"--{name} needs a table with columns, csv or parquet.")
        self._default = Cells.STRICT if options.raw else Cells.GUESS

    def done(self) -> Intake:
        """Read the rows."""
        table, options = self._table, self._options
        words = {
            word: cells for name, (_, cells) in OVERRULES.items() for word in _given(options, name)
        }
        cells = words | dict.fromkeys(self._places, Cells.TEXT)
        rows = table.training_rows(options.label, options.drop, cells, self._default)
        found = self._read(rows)
        if isinstance(found, Overview):
            X, labels, places = found.sample.X, found.drawn_labels, found.sample.weights
        else:
            X, labels = found
            places = np.arange(len(X))
        if not isinstance(table, ColumnTable):
            plain = [Column("", Role.NUMBER, "")] * X.shape[1]
            return Intake(X, labels, None, plain, None, table.limit)
        names = rows.features or []
        columns = self._columns(table, names, X, places)
        used = [column for column in columns if column.role is not Role.OUT]
        if not used:
            reasons = "; ".join(f"{column.name!r} ({column.words})" for column in columns)
            raise ValueError(
                f"{table.name} has no column that is of use as a feature: {reasons}. Say by "
                "--number, --category or --text what one of them is."
            )
        X = used_rows(X, names, columns, self._decimal)
        if isinstance(found, Overview):
            found.sample.X = X
        return Intake(
            X,
            labels,
            [column.name for column in used],
            columns + self._unnamed(table, names),
            found if isinstance(found, Overview) else None,
            table.limit,
            {c.name: Cells.NUMBER if c.role.is_number else Cells.TEXT for c in used},
            table.columns[find(table, options.label)],
        )

    @property
    def _decimal(self) -> str:
        return getattr(self._table, "decimal", ".")

    def _read(self, rows: Rows) -> tuple[NDArray, list[str]] | Overview:
        table, held = self._table, held_by(self._options)
        parts: list[Batch] = []
        taken = n_rows = 0
        for batch in rows.batches:
            parts.append(batch)
            size = _OBJECT * batch.X.size if batch.X.dtype == object else batch.X.nbytes
            taken += size + sum(map(sys.getsizeof, batch.labels or []))
            n_rows += len(batch.X)
            if table.has_columns and not held and taken > WHOLE and n_rows > WHOLE_ROWS:
                return overview(parts, rows.batches, rows.features)
            if table.has_columns:
                why = f", all held because of {held}" if held else ""
                what = f"{table.name}, {n_rows} rows and more{why},"
                check_bytes(taken, table.limit, what)
        if not parts:
            raise ValueError(f"{table.name} has no rows.")
        labels = [label for part in parts for label in part.labels or []]
        X = [part.X for part in parts]
        return X[0] if len(X) == 1 else np.concatenate(X), labels  # no second copy of all rows

    def _columns(
        self, table: ColumnTable, names: list[str], X: NDArray, places: NDArray
    ) -> list[Column]:
        if self._options.raw:
            return [Column(name, Role.NUMBER, "") for name in names]
        forced = {
            table.columns[i]: role
            for name, (role, _) in OVERRULES.items()
            for i in find_all(table, _given(self._options, name))
        }
        try:
            return decide(names, X, places, forced, self._decimal)
        except Mixed as mixed:
            told = {}
            for name, cell in mixed.columns.items():
                told[name] = self._places.get(name, ("", ""))
                if told[name][1] != cell:  # a type, not a cell
                    row = np.flatnonzero(X[:, names.index(name)] == cell)[0]
                    told[name] = f"row {int(places[row]) + 1}", cell
            some = ",".join(told)
            remedy = (
                f". Mend the cells; or give --number {some}, for which they are gaps, --category "
                f"{some}, which takes values as they are, or --drop {some}."
            )
            raise ValueError(not_numbers(table.name, told, remedy)) from None

    def _unnamed(self, table: ColumnTable, names: Sequence[str]) -> list[Column]:
        """Return the columns without a name, which are left out."""
        if self._options.raw:
            return []
        dropped = find_all(table, self._options.drop)
        return [
            Column(f"column {i}", Role.OUT, "without a name")
            for i, name in enumerate(table.columns)
            if not name and i not in dropped
        ]


def _given(options: argparse.Namespace, name: str) -> list[str]:
    return list(getattr(options, name))


def described(columns: Sequence[Column]) -> list[tuple[str, str, str]]:
    """Return what is told of columns: a name or several, what they are, what becomes of them."""
    lines: list[tuple[str, str, str]] = []
    run: list[Column] = []
    for column in [*columns, None]:
        if run and (column is None or not _alike(run[0], column)):
            lines.append(_line(run))
            run = []
        if column is not None:
            run.append(column)
    return lines


def _alike(one: Column, other: Column) -> bool:
    """Tell whether two columns next to each other are told in one line."""
    plain = one.role.is_number or (one.role is Role.OUT and one.words == other.words)
    return plain and one.role is other.role and not one.gaps and not other.gaps


_DONE: dict[Role, Callable[[Column], str]] = {
    Role.NUMBER: lambda column: "as a number",
    Role.SKEWED: lambda column: "by its ranks: a few values are very far out",
    Role.CATEGORY: lambda column: "a feature for each value; rare ones share one",
    Role.DATE: lambda column: "days since 1970, day of the year, weekday, and hour if any",
    Role.WORDS: lambda column: "topics of its words",
    Role.OUT: lambda column: "left out",
}


def _line(run: Sequence[Column]) -> tuple[str, str, str]:
    first = run[0]
    name = first.name if len(run) == 1 else f"{first.name} to {run[-1].name} ({len(run)} columns)"
    what = first.role.value if first.role is not Role.OUT else first.words
    if len(run) == 1 and first.role is not Role.OUT and first.words:
        what = f"{what}, {first.words}"
    done = _DONE[first.role](first)
    if first.gaps and first.role is not Role.OUT:
        filled = "a value of their own" if first.role is Role.CATEGORY else "filled and marked"
        done += f"; {first.gaps} {'gap' if first.gaps == 1 else 'gaps'}: {filled}"
    return name, what, done
