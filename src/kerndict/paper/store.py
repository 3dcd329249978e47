"""Results on disk: every row the moment it exists, safe against kills and second writers."""

import csv
import json
import sqlite3
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kerndict._files import text_written_whole, written_whole
from kerndict.paper.protocol import Row

#: Columns of results.csv; ``details`` holds settings, versions and traces as JSON.
COLUMNS = (
    "dataset",
    "table",
    "method",
    "round",
    "accuracy",
    "accuracy_per_class",
    "fit_seconds",
    "predict_seconds",
    "kernel_fit_seconds",
    "kernel_predict_seconds",
    "details",
)
GRID_COLUMNS = ("dataset", "method", "kernel", "score", "parameters", "seconds", "details")

_SCHEMA = f"""
create table if not exists rows (
    {", ".join(f'"{name}"' for name in COLUMNS)},
    primary key (dataset, "table", method, round)
);
create table if not exists grid (
    {", ".join(f'"{name}"' for name in GRID_COLUMNS)},
    primary key (dataset, method, kernel)
);
create table if not exists facts (name primary key, value);
"""


class StoreError(OSError):
    """The results in a folder cannot be read or written."""


class Store:
    """The folder of one run: ``results.sqlite``, ``results.csv`` and arrays for the figures.

    The database is locked as long as the store is open; the lock goes with the process,
    however it ends.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "arrays").mkdir(parents=True, exist_ok=True)
        with self._explained():
            self._database = sqlite3.connect(folder / "results.sqlite", timeout=0.5)
            self._database.execute("pragma locking_mode = exclusive")
            self._database.execute("begin exclusive")
            self._database.commit()
            self._database.executescript(_SCHEMA)
        self.write_csv()  # a kill may have come between a row and its line

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of the database into one that says what to do."""
        try:
            yield
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                raise StoreError(
                    f"{self.folder} is in use by another run: wait for it, or give another folder."
                ) from error
            raise StoreError(
                f"{self.folder / 'results.sqlite'} cannot be used: {error}. Free some space if the "
                "disk is full; give another folder if the file is damaged."
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def add(self, row: Row, result: dict[str, Any], arrays: dict[str, NDArray] | None) -> None:
        """Keep a finished row; its arrays first, so that a row never lacks them."""
        if arrays:
            with written_whole(self.arrays_path(row.dataset)) as file:
                np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
        values = {**vars(row), **result, "details": json.dumps(result["details"])}
        self._insert("rows", COLUMNS, values)
        self.write_csv()

    def add_grid(self, result: dict[str, Any]) -> None:
        """Keep the outcome of one grid search."""
        coded = {name: json.dumps(result[name]) for name in ("parameters", "details")}
        values = {**result, **coded}
        self._insert("grid", GRID_COLUMNS, values)

    def _insert(self, table: str, columns: Iterable[str], values: dict[str, Any]) -> None:
        names = list(columns)
        marks = ", ".join("?" for _ in names)
        with self._explained(), self._database:
            self._database.execute(
                f"insert or replace into {table} values ({marks})", [values[name] for name in names]
            )

    def results(self) -> dict[Row, dict[str, Any]]:
        """Return the rows that are there, by their keys."""
        keys = ("dataset", "table", "method", "round")
        return {Row(*(row[key] for key in keys)): row for row in self.rows()}

    def rows(self) -> list[dict[str, Any]]:
        """Return all rows in a stable order, details decoded."""
        query = 'select * from rows order by dataset, "table", method, round'
        rows = [dict(zip(COLUMNS, values, strict=True)) for values in self._database.execute(query)]
        return [{**row, "details": json.loads(row["details"])} for row in rows]

    def grid(self) -> list[dict[str, Any]]:
        """Return the outcomes of all grid searches, parameters decoded."""
        query = "select * from grid order by dataset, method, kernel"
        rows = [
            dict(zip(GRID_COLUMNS, values, strict=True)) for values in self._database.execute(query)
        ]
        coded = ("parameters", "details")
        return [{**row, **{name: json.loads(row[name]) for name in coded}} for row in rows]

    def fact(self, name: str, value: str | None = None) -> str | None:
        """Return a fact about the run, kept the first time that a value is given."""
        if value is not None:
            with self._explained(), self._database:
                self._database.execute("insert or ignore into facts values (?, ?)", [name, value])
        found = self._database.execute("select value from facts where name = ?", [name]).fetchone()
        return found[0] if found else None

    def arrays_path(self, dataset: str) -> Path:
        """Return where the arrays behind a dataset's figures are kept."""
        return self.folder / "arrays" / f"{dataset}.npz"

    def arrays(self, dataset: str) -> dict[str, NDArray] | None:
        """Return the arrays behind a dataset's figures, or None if they are lost or damaged."""
        try:
            with np.load(self.arrays_path(dataset)) as file:
                return dict(file)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile):
            return None

    def write_csv(self) -> None:
        """Write ``results.csv`` anew, whole or not at all."""
        path = self.folder / "results.csv"
        with text_written_whole(path) as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            for row in self.rows():
                writer.writerow({**row, "details": json.dumps(row["details"])})
