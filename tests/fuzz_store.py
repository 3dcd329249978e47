"""Damage to the results of `kerndict reproduce`, and what may become of them.

A store must open with all that was kept, or say that it is damaged; what it cannot read it leaves
as it is.
"""

import shutil
import sqlite3
import tracemalloc

from damage import BYTES
from fuzz_tables import CORPUS

from kerndict.paper.store import Store, StoreError

#: Bytes for a store of some kilobytes, whatever its pages say.
MEMORY = 2**24
REMEDIES = ["put back", "give another folder", "move it away"]
VALUES = ["null", "0", "1", "0.247", "''", "'x'", "'{}'", "'[]'", "x'ff'", "cast(x'ff' as text)"]
VALUES += ["1e999", "9223372036854775807", "zeroblob(1000)", "'{\"spans\": 1}'", "randomblob(32)"]


def content(folder):
    """Return all that a store has kept."""
    with Store(folder) as store:
        arrays = store.arrays("digits")
        return (
            store.rows(),
            store.grid(),
            store.fact("data digits"),
            None if arrays is None else {name: array.tolist() for name, array in arrays.items()},
        )


class Stores:
    """What `fuzz.py` does to stores."""

    def __init__(self, folder):
        self.origin, self.folder = CORPUS / "store", folder / "store"
        self.path = self.folder / "results.sqlite"
        self.csv = (self.origin / "results.csv").read_bytes()
        shutil.copytree(self.origin, self.folder)
        self.kept = content(self.folder)
        self.files = [
            path.relative_to(self.origin) for path in self.origin.rglob("*") if path.is_file()
        ]

    def damaged(self, rng):
        """Return the name of a way, a damaged file, and which of the files it is."""
        if rng.random() < 0.25:
            return "sql", self.changed(rng), self.path.relative_to(self.folder)
        name = rng.choice([*self.files, *([self.path.relative_to(self.folder)] * 5)])
        way = rng.choice(BYTES)
        other = (self.origin / rng.choice(self.files)).read_bytes()
        return way.__name__, way((self.origin / name).read_bytes(), other, rng), name

    def changed(self, rng):
        """Return the database with other values, or fewer rows."""
        self.path.write_bytes((self.origin / "results.sqlite").read_bytes())
        database = sqlite3.connect(self.path)
        table = rng.choice(["rows", "rows", "grid", "facts"])
        columns = [row[1] for row in database.execute(f"pragma table_info({table})")]
        column, value = rng.choice(columns), rng.choice(VALUES)
        statements = [f'update or ignore {table} set "{column}" = {value} where rowid = 1'] * 5
        statements += ["delete from rows where rowid = 1", f"drop table {table}", "vacuum"]
        statements += ["pragma user_version = 7", f'alter table {table} rename "{column}" to other']
        with database:
            database.execute(rng.choice(statements))
        database.close()
        return self.path.read_bytes()

    def judge(self, data, name):
        """Return what became of it; raise if it is none of what may be."""
        for each in self.files:
            (self.folder / each).write_bytes((self.origin / each).read_bytes())
        (self.folder / name).write_bytes(data)
        before = (self.folder / "results.csv").read_bytes()
        tracemalloc.reset_peak()
        start = tracemalloc.get_traced_memory()[0]
        try:
            *found, arrays = content(self.folder)
        except StoreError as error:
            return self.refused(str(error), before)
        finally:
            peak = tracemalloc.get_traced_memory()[1] - start
            assert peak <= MEMORY, f"{peak} bytes"
        *kept, known = self.kept
        assert found == kept, "a changed store was read"
        assert arrays in (None, known), "changed arrays were read"
        assert (self.folder / "results.csv").read_bytes() == self.csv
        return "equal" if arrays else "equal, without arrays"

    def refused(self, words, before):
        assert any(remedy in words for remedy in REMEDIES), words
        assert (self.folder / "results.csv").read_bytes() == before
        return "error"
