"""The same table in every dress a file may have, and what is told of those that cannot be read."""

import bz2
import gzip
import io
import json
import lzma
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest

from kerndict.tables import Cells, NotNumbers, Selection, Source, open_table
from kerndict.tables.text import TextTable, delimiter_of

FRAME = pd.DataFrame(
    {"a": [1.5, -2.0, np.nan], "city": ["Paris", "", "Rome"], "kind": ["x", "y", "x"]}
)
CSV = FRAME.to_csv(index=False).encode()
KINDS = {"a": Cells.NUMBER, "city": Cells.TEXT}


def jsonl():
    rows = [{k: v for k, v in row.items() if v == v} for row in FRAME.to_dict("records")]
    return "\n".join(map(json.dumps, rows)).encode()


def zipped(content=CSV, name="rows.csv"):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/._rows.csv", b"\0")
        archive.writestr(name, content)
    return file.getvalue()


def by_pandas(way, **options):
    file = io.BytesIO()
    getattr(FRAME, way)(file, **options)
    return file.getvalue()


def zstd():
    import pyarrow

    file = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(file, "zstd") as stream:
        stream.write(CSV)
    return file.getvalue().to_pybytes()


DRESSES = {
    "csv": lambda: CSV,
    "semicolons": lambda: FRAME.to_csv(index=False, sep=";").encode(),
    "decimal commas": lambda: FRAME.to_csv(index=False, sep=";", decimal=",").encode(),
    "tabs": lambda: FRAME.to_csv(index=False, sep="\t", decimal=",").encode(),
    "gz": lambda: gzip.compress(CSV),
    "bz2": lambda: bz2.compress(CSV),
    "xz": lambda: lzma.compress(CSV),
    "zst": zstd,
    "zip": zipped,
    "jsonl": jsonl,
    "jsonl.gz": lambda: gzip.compress(jsonl()),
    "zipped jsonl": lambda: zipped(jsonl(), "rows.jsonl"),
    "parquet": lambda: by_pandas("to_parquet"),
    "feather": lambda: by_pandas("to_feather"),
    "categories": lambda: by_pandas_categories(),
}


def by_pandas_categories():
    file = io.BytesIO()
    FRAME.astype({"city": "category", "kind": "category"}).to_feather(file)
    return file.getvalue()


@pytest.mark.parametrize("dress", DRESSES)
def test_the_same_table_in_every_dress(dress, tmp_path):
    path = tmp_path / "data"
    path.write_bytes(DRESSES[dress]())
    with open_table(str(path)) as table:
        rows = table.training_rows("kind", [], KINDS, Cells.GUESS)
        (batch,) = rows.batches
    assert rows.features == ["a", "city"]
    assert batch.labels == ["x", "y", "x"]
    assert batch.X[:, 1].tolist() == ["Paris", "", "Rome"]
    np.testing.assert_array_equal(batch.X[:, 0].astype(float), [1.5, -2.0, np.nan])


@pytest.mark.parametrize("dress", ["csv", "jsonl", "parquet", "feather"])
def test_columns_that_are_no_numbers_are_told_at_once(dress, tmp_path):
    path = tmp_path / "data"
    path.write_bytes(DRESSES[dress]())
    with open_table(str(path)) as table, pytest.raises(NotNumbers) as found:
        list(table.training_rows("kind", [], {}, Cells.GUESS).batches)
    assert set(found.value.columns) == {"city"}


@pytest.mark.parametrize("joined", ["several", "pattern"])
def test_several_files_are_one_table(joined, tmp_path):
    (tmp_path / "day-1.csv").write_text("a,b,kind\n1,2,x\n3,4,y\n")
    (tmp_path / "day-2.csv").write_text("kind;b;a\nx;6;5,5\n")  # in another order and dress
    (tmp_path / "other.csv").write_text("a,kind\n7,x\n")
    names = [str(tmp_path / "day-*.csv")]
    if joined == "several":
        names = [str(tmp_path / f"day-{i}.csv") for i in (1, 2)]
    source = Source(names)
    for _ in range(2):
        with source.open() as table:
            rows = table.training_rows("kind", [])
            batches = list(rows.batches)
        assert np.vstack([batch.X for batch in batches]).tolist() == [[1, 2], [3, 4], [5.5, 6]]
        assert [label for batch in batches for label in batch.labels] == ["x", "y", "x"]
    with (
        Source([*names, str(tmp_path / "other.csv")]).open() as table,
        pytest.raises(ValueError, match=r"other\.csv has no column 'b'"),
    ):
        list(table.training_rows("kind", []).batches)
    with pytest.raises(FileNotFoundError, match="no file matches"):
        Source([str(tmp_path / "night-*.csv")])


def test_several_files_without_columns(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(2), y=[0, 1])
    (tmp_path / "b.csv").write_text("a,b\n1,2\n")
    for names in (["a.npz", "b.csv"], ["b.csv", "a.npz"]):
        source = Source([str(tmp_path / name) for name in names])
        with (
            pytest.raises(ValueError, match="give several tables with columns"),
            source.open() as t,
        ):
            list(t.training_rows("b", ["a"] if names[0] == "a.npz" else []).batches)


def read(text, label="-1", default=Cells.GUESS):
    table = TextTable(io.BytesIO(text.encode()), "data")
    rows = table.training_rows(label, [], {}, default)
    return rows.features, list(rows.batches)


def test_a_table_without_a_header_is_named_by_place():
    features, (batch,) = read("5.1,3.5,x\n4.9,3,y\n6,,x\n")
    assert features == ["0", "1"]
    np.testing.assert_array_equal(batch.X, [[5.1, 3.5], [4.9, 3], [6, np.nan]])
    assert batch.labels == ["x", "y", "x"]
    features, (batch,) = read("x;1,5;2,5\ny;1,25;2\nx;1,5;2\n", "0")
    assert features == ["1", "2"]
    assert batch.X.tolist() == [[1.5, 2.5], [1.25, 2], [1.5, 2]]


@pytest.mark.parametrize(
    "text",
    ["1990,1991,kind\n1,2,x\n3,4,y\n", "5,red,x\n4,2,x\n", "5,3,x\n", "1990,b,0\n1,2,1\n1,3,1\n"],
)
def test_a_header_of_numbers_is_not_taken_for_a_row(text):
    with pytest.raises(ValueError, match="has no header"):
        read(text)


def test_a_model_of_places_takes_tables_without_a_header():
    from kerndict.tables import Wanted

    for text, names in (("5,2,x\n3,4,y\n", ["0", "1"]), ("5,2\n3,4\n", ["1", "2"])):
        table = TextTable(io.BytesIO(text.encode()), "data")
        (batch,) = table.model_rows(Wanted(names, 2)).batches
        assert batch.X.tolist() == [[5, 2], [3, 4]]
    table = TextTable(io.BytesIO(b"1,2\n3,4\n"), "data")
    with pytest.raises(ValueError, match="has no header"):
        table.model_rows(Wanted(["a", "b"], 2))


def test_several_columns_in_trouble_are_one_message():
    with pytest.raises(ValueError, match="data: 2 columns are not all numbers: 'a' holds 'red',"):
        read("a,b,c,kind\nred,1,2,x\n1,1e999,3,y\n", default=Cells.NUMBER)
    with pytest.raises(NotNumbers) as found:
        read("a,b,c,kind\nred,1,2,x\n1,007,3,y\n")
    assert found.value.columns == {"a": ("line 2", "red"), "b": ("line 3", "007")}


@pytest.mark.parametrize(
    ("lines", "mark"),
    [
        (["a,b,c", "1,2,3"], ","),
        (["a;b", "1,5;2"], ";"),
        (["1,5;2,5;x", "2,5;3,5;y"], ";"),
        (["a\tb", "1,5\t2,5"], "\t"),
        (["a,b,c", "x;y,2,3"], ","),
        (["a,b", "1,2,3"], ","),
        (['"a, b, c, d";e', '"x, y";f'], ";"),
    ],
)
def test_what_separates_cells(lines, mark):
    assert delimiter_of(lines) == mark


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'[{"a": 1}]', "is one JSON array: give one object per line"),
        (b'{"a": 1}\n{"a": 2\n', "line 2: not JSON"),
        (b'{"a": 1}\n[2]\n', "line 2: not a JSON object"),
        (b'{"a": 1, "a": 2}\n', "line 1: not JSON: an object has two values"),
        (b'{"a": ' + b"[" * 100_000, "line 1: not JSON: nested too deeply"),
        (
            b'{"a": 1, "kind": 0}\n' * 9000 + b'{"b": 1, "kind": 1}\n',
            "line 9001: the key 'b' is new",
        ),
        (b"FEA1", "is a feather file of version 1"),
        (b"ARROW1 and nothing more", "the feather file is damaged"),
        (zipped(b"x", "[Content_Types].xml"), "is an office document: save it as csv"),
        (bz2.compress(b"a,kind\n" + b"1,x\n" * 9000)[:-9], "the compressed file is damaged"),
        (lzma.compress(b"a,kind\n" + b"1,x\n" * 9000)[:-9], "the compressed file is damaged"),
        (zstd()[:-9], "the compressed file is damaged"),
    ],
)
def test_what_cannot_be_read(content, words, tmp_path):
    path = tmp_path / "data"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words), open_table(str(path)) as table:
        list(table.training_rows("kind", []).batches)


def test_archives_of_several_files(tmp_path):
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "a\n")
        archive.writestr("b.csv", "a\n")
    with pytest.raises(ValueError, match="holds 2 files: unpack it"), open_table(str(path)):
        pass


def test_zstd_needs_pyarrow(tmp_path, monkeypatch):
    (tmp_path / "d").write_bytes(zstd())
    (tmp_path / "e").write_bytes(by_pandas("to_feather"))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for name in "de":
        with (
            pytest.raises(ImportError, match=r"pip install 'kerndict\[parquet\]'"),
            open_table(str(tmp_path / name)),
        ):
            pass


def test_a_feather_file_gives_its_rows_in_batches(tmp_path):
    frame = pd.DataFrame({"a": np.arange(20_000.0), "kind": np.arange(20_000) % 2})
    frame.to_feather(tmp_path / "d", chunksize=15_000)
    with open_table(str(tmp_path / "d")) as table:
        batches = list(table.batches(Selection([0], 1)))
    assert [len(batch.X) for batch in batches] == [8192, 6808, 5000]
    np.testing.assert_array_equal(np.vstack([b.X for b in batches])[:, 0], frame["a"])
