"""Results on disk: every row the moment it exists, safe against kills and second writers.

Every row has a checksum.  A store that is damaged, or would overwrite what it cannot read, does
not open.
"""

import csv
import hashlib
import json
import sqlite3
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
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
KEYS = COLUMNS[:4]
GRID_COLUMNS = ("dataset", "method", "kernel", "score", "parameters", "seconds", "details")
GRID_KEYS = GRID_COLUMNS[:3]
_TABLES = {
    "rows": (COLUMNS, KEYS),
    "grid": (GRID_COLUMNS, GRID_KEYS),
    "facts": (("name", "value"), ("name",)),
}
_VERSION = 1


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _schema() -> str:
    tables = "".join(
        f"create table {table} "
        f"({_listed([*columns, 'checksum'])}, primary key ({_listed(keys)}));\n"
        for table, (columns, keys) in _TABLES.items()
    )
    return f"begin;\n{tables}pragma user_version = {_VERSION};\ncommit;"


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
            self._database = sqlite3.connect(self._file, timeout=0.5)
        try:
            with self._explained():
                self._database.execute("pragma locking_mode = exclusive")
                self._database.execute("begin exclusive")
                self._database.commit()
                self._begin_or_check()
            self._check_csv()
            self.write_csv()  # a kill may have come between a row and its line
        except BaseException:
            self._database.close()
            raise

    @property
    def _file(self) -> Path:
        return self.folder / "results.sqlite"

    def _begin_or_check(self) -> None:
        """Create the tables, or check those that are there, with all that they hold."""
        if not self._database.execute("select count(*) from sqlite_master").fetchone()[0]:
            self._database.executescript(_schema())
        if self._database.execute("pragma user_version").fetchone()[0] != _VERSION:
            raise StoreError(
                f"{self._file} was written by another version of kerndict: give another folder."
            )
        if self._database.execute("pragma integrity_check").fetchall() != [("ok",)]:
            raise self._damaged("the database is not whole")
        self._select("facts")
        self.rows()
        self.grid()

    def _damaged(self, words: str) -> StoreError:
        return StoreError(
            f"{self._file} is damaged, {words}. Nothing was changed: put back a copy of the "
            "folder, or give another one to begin anew."
        )

    def _check_csv(self) -> None:
        """Check that all rows of ``results.csv`` are known, before it is written anew."""
        path = self.folder / "results.csv"
        if not path.exists() or not path.stat().st_size:
            return
        try:
            with path.open(encoding="utf-8", newline="") as file:
                header, *lines = csv.reader(file, strict=True)
            if tuple(header) != COLUMNS:
                raise ValueError(header)
            kept = {tuple(line[: len(KEYS)]) for line in lines}
        except (OSError, ValueError, csv.Error) as error:
            raise StoreError(
                f"{path} is not what this command writes, and would be overwritten: move it away."
            ) from error
        lost = kept - {tuple(str(row[key]) for key in KEYS) for row in self.rows()}
        if lost:
            raise StoreError(
                f"{path} has {len(lost)} rows that {self._file} lacks, and would be overwritten: "
                "put back a copy of the folder, or move results.csv away to compute them anew."
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of the database into one that says what to do."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # a message may not be text
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                raise StoreError(
                    f"{self.folder} is in use by another run: wait for it, or give another folder."
                ) from error
            raise StoreError(
                f"{self._file} cannot be used: {error}. Free some space if the disk is full; give "
                "another folder if the file is damaged."
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def add(self, row: Row, result: dict[str, Any], arrays: dict[str, NDArray] | None) -> None:
        """Keep a finished row; its arrays first, so that a row never lacks them."""
        details = result["details"]
        if arrays:
            packed = BytesIO()
            np.savez_compressed(packed, **arrays)  # type: ignore[arg-type]
            with written_whole(self.arrays_path(row.dataset)) as file:
                file.write(packed.getbuffer())
            details = {**details, "arrays": hashlib.sha256(packed.getbuffer()).hexdigest()}
        self._insert("rows", {**vars(row), **result, "details": json.dumps(details)})
        self.write_csv()

    def add_grid(self, result: dict[str, Any]) -> None:
        """Keep the outcome of one grid search."""
        coded = {name: json.dumps(result[name]) for name in ("parameters", "details")}
        self._insert("grid", {**result, **coded})

    def _insert(self, table: str, values: dict[str, Any], otherwise: str = "replace") -> None:
        """Insert a row; ``otherwise`` says what becomes of one with the same keys."""
        kept = [values[name] for name in _TABLES[table][0]]
        marks = ", ".join("?" for _ in (*kept, "checksum"))
        with self._explained(), self._database:
            self._database.execute(
                f"insert or {otherwise} into {table} values ({marks})",
                [*kept, _checksum(table, kept)],
            )

    def _select(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a table in a stable order, with their checksums checked."""
        columns, keys = _TABLES[table]
        names = _listed([*columns, "checksum"])
        with self._explained():
            found = self._database.execute(f"select {names} from {table} order by {_listed(keys)}")
            rows = found.fetchall()
        for *values, checksum in rows:
            if checksum != _checksum(table, values):
                raise self._damaged(f"a row of its table {table} was changed")
        return [dict(zip(columns, values, strict=False)) for values in rows]

    def _decoded(self, table: str, coded: Sequence[str]) -> list[dict[str, Any]]:
        """Return the rows of a table, some of their columns decoded."""
        try:
            return [
                {**row, **{name: json.loads(row[name]) for name in coded}}
                for row in self._select(table)
            ]
        except (ValueError, TypeError, RecursionError) as error:
            raise self._damaged(f"a row of its table {table} cannot be read") from error

    def results(self) -> dict[Row, dict[str, Any]]:
        """Return the rows that are there, by their keys."""
        return {Row(*(row[key] for key in KEYS)): row for row in self.rows()}

    def rows(self) -> list[dict[str, Any]]:
        """Return all rows in a stable order, details decoded."""
        return self._decoded("rows", ["details"])

    def grid(self) -> list[dict[str, Any]]:
        """Return the outcomes of all grid searches, parameters decoded."""
        return self._decoded("grid", ["parameters", "details"])

    def keep_fact(self, name: str, value: str) -> None:
        """Keep a fact about the run, unless one of that name is there."""
        self._insert("facts", {"name": name, "value": value}, "ignore")

    def fact(self, name: str) -> str | None:
        """Return a fact about the run, or None where it is not known."""
        return next((row["value"] for row in self._select("facts") if row["name"] == name), None)

    def arrays_path(self, dataset: str) -> Path:
        """Return where the arrays behind a dataset's figures are kept."""
        return self.folder / "arrays" / f"{dataset}.npz"

    def arrays(self, dataset: str) -> dict[str, NDArray] | None:
        """Return the arrays behind a dataset's figures, or None if they are lost or damaged."""
        known = {row["details"].get("arrays") for row in self.rows() if row["dataset"] == dataset}
        try:
            with self.arrays_path(dataset).open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() not in known:
                    return None
                file.seek(0)
                return dict(np.load(file))
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


def _checksum(table: str, values: Sequence[Any]) -> str:
    """Return the SHA-256 of a row, as Python writes its values."""
    text = repr((table, list(values)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
