"""A store that was damaged does not open, and overwrites nothing that it cannot read."""

import sqlite3

import numpy as np
import pytest
from store_rows import KEPT, fill

from kerndict import cli
from kerndict.paper.store import Store, StoreError


@pytest.fixture
def folder(tmp_path):
    fill(tmp_path)
    return tmp_path


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def refused(folder, words):
    before = (folder / "results.csv").read_bytes()
    with pytest.raises(StoreError, match=words):
        Store(folder)
    assert (folder / "results.csv").read_bytes() == before


def change(folder, *statements):
    """Change the database behind the back of the store."""
    database = sqlite3.connect(folder / "results.sqlite")
    with database:
        for statement in statements:
            database.execute(statement)
    database.close()


def test_what_was_kept_is_read(folder):
    before = content(folder)
    with Store(folder) as store:
        assert [row["accuracy"] for row in store.rows()] == [row["accuracy"] for _, row in KEPT]
        assert store.grid()[0]["parameters"] == {"n_atoms": 10}
        assert store.fact("data digits") == "(3, 2) 1 2"
        np.testing.assert_array_equal(store.arrays("digits")["a"], np.arange(3))
    assert content(folder) == before


CHANGES = [
    "update rows set accuracy = 0.247 where round = 1",
    "update rows set accuracy = '0.989' where round = 1",
    "update rows set details = '{}'",
    "update rows set details = '{' where round = 2",
    "update rows set details = x'ff' where round = 2",
    "update rows set details = cast(x'ff' as text)",
    "update rows set details = null",
    "update rows set round = 7 where round = 2",
    "update rows set checksum = null",
    "update grid set score = 0.5",
    "update grid set parameters = '[]'",
    "update facts set value = 'other'",
    "update facts set value = x'00'",
]


@pytest.mark.parametrize("statement", CHANGES)
def test_changed_rows_are_refused(folder, statement):
    change(folder, statement)
    refused(folder, r"results\.sqlite (is damaged, a row of its table|cannot be used)")


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (["delete from rows"], r"results\.csv has 3 rows that .*results\.sqlite lacks"),
        (["delete from rows where round = 2"], r"results\.csv has 1 rows that"),
        (["pragma user_version = 2"], "was written by another version of kerndict"),
        (["drop table facts"], "cannot be used: no such table"),
        (["alter table rows drop column accuracy"], "is damaged, a row of its table rows"),
        (["drop table rows", "drop table grid", "drop table facts"], "has 3 rows that"),
    ],
)
def test_changed_tables_are_refused(folder, statements, words):
    change(folder, *statements)
    refused(folder, words)


def test_an_emptied_database_is_refused(folder):
    (folder / "results.sqlite").write_bytes(b"")
    refused(folder, r"results\.csv has 3 rows that .* lacks, and would be overwritten: put back")
    refused(folder, r"results\.csv has 3 rows that")  # still
    (folder / "results.csv").rename(folder / "elsewhere.csv")
    with Store(folder) as store:
        assert store.rows() == []


@pytest.mark.parametrize("other", [b"name,value\n1,2\n", b"\xff", b'a,"b', b"{}", b"1\n2\n"])
def test_another_results_csv_is_not_overwritten(tmp_path, other):
    (tmp_path / "results.csv").write_bytes(other)
    refused(tmp_path, "is not what this command writes, and would be overwritten: move it away")


def test_the_command_says_what_to_do(folder, capsys):
    change(folder, CHANGES[0])
    assert cli.main(["reproduce", "--out", str(folder)]) == 1
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert "put back a copy of the folder, or give another one to begin anew." in errors


@pytest.mark.parametrize("damage", ["flip", "other"])
def test_changed_arrays_are_not_taken(folder, damage):
    path = folder / "arrays" / "digits.npz"
    if damage == "other":
        np.savez(path, a=np.arange(3) + 1)
    else:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    with Store(folder) as store:
        assert store.arrays("digits") is None
