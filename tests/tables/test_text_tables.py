"""Rows of text: the same numbers whatever the dress, and the right line in errors."""

import gzip
import io

import numpy as np
import pytest

from kerndict.tables import Selection, Wanted, open_table
from kerndict.tables.columns import find, select_for_model
from kerndict.tables.text import TextTable


def read(content, selection):
    table = TextTable(io.BytesIO(content), "data")
    parts = list(table.batches(selection))
    return table, parts


def test_numbers_are_read_bit_for_bit_across_batches(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 3)) * 10.0 ** rng.integers(-300, 300, (20_000, 1))
    lines = ["a,b,c", *(",".join(map(repr, row)) for row in X.tolist())]
    path = tmp_path / "data.txt"
    path.write_text("\n".join(lines))  # no newline at the end
    with open_table(str(path)) as table:
        parts = [batch.X for batch in table.batches(Selection([2, 0]))]
    assert [len(part) for part in parts] == [8192, 8192, 3616]
    np.testing.assert_array_equal(np.vstack(parts), X[:, [2, 0]])


PLAIN = b"id,a,b,kind\nx,1,2.5,p\ny,-3e2,.5,q\n"


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        PLAIN.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + PLAIN,
        PLAIN.replace(b",", b";"),
        PLAIN.replace(b",", b"\t"),
        PLAIN.replace(b",", b", "),
        PLAIN.replace(b"1", b'"1"').replace(b"\nx", b'\n\n"x"'),
    ],
)
def test_the_same_table_in_many_dresses(content):
    table, (batch,) = read(content, Selection([1, 2], 3, [0]))
    assert table.columns == ["id", "a", "b", "kind"]
    assert batch.X.tolist() == [[1, 2.5], [-300, 0.5]]
    assert batch.labels == ["p", "q"]
    assert batch.copied == [["x", "y"]]


def test_one_feature():
    _, (batch,) = read(PLAIN, Selection([1]))
    assert batch.X.tolist() == [[1], [-300]]
    assert batch.labels is None


def test_lines_are_counted_through_quoted_line_breaks():
    content = b'id,a\n"two\nlines",1\n\nz,oops\n'
    with pytest.raises(ValueError, match="data, line 5: column 'a' holds 'oops'"):
        read(content, Selection([1]))


LONG = b"1,2,x\n" * 50_000


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'1,2,x\n1,2,"x\n1,2,x\n', "from line 3 on: not csv: unexpected end of data"),
        (b'1,2,x\n1,2,"x\n1,2,"y, z"\n', "from line 3 on: not csv: ',' expected after"),
        (b'1,2,"x"y\n', "from line 2 on: not csv: ',' expected after"),
        (b'1,2,x\n1,2,"x\n' + LONG, "from line 3 on: not csv: field larger than field limit"),
        (b'1,2,x\n1,2,"x\n1,2,x\n\n1,2,x"\n1,2,x\n', "line 3: a quote is open until line 6"),
        (b'1,2,"\n1,2,"\n1,2,x\n', "line 2: a quote is open until line 3"),
        (b'1,2,x\n1,2,"x\r\n1,2,""\r\n1,2,x"\n', "line 3: a quote is open until line 5"),
    ],
)
def test_no_row_is_lost_to_a_quote(content, words):
    with pytest.raises(ValueError, match=words):
        read(b"a,b,note\n" + content, Selection([0, 1]))


def test_no_row_is_lost_to_a_quote_in_the_header():
    with pytest.raises(ValueError, match="line 1: a quote is open until line 3"):
        TextTable(io.BytesIO(b'a,b,"note\n1,2,x\n1,2,x"\n1,2,x\n'), "data")


def test_an_empty_line_is_an_empty_cell_where_there_is_but_one_column():
    _, (batch,) = read(b"a\n1\n2\n\n\n", Selection([0]))
    assert batch.X.tolist() == [[1], [2]]
    with pytest.raises(ValueError, match="data, line 3: column 'a' is empty"):
        read(b"a\n1\n\n2\n", Selection([0]))


def test_cells_may_have_line_breaks():
    content = b'a,"b\n(cm)",note\n1,2,"one\ntwo, three\n4"\n3,4,"5, ""6"", 7\n8"\n'
    table, (batch,) = read(content, Selection([0, 1], copied=[2]))
    assert table.columns == ["a", "b\n(cm)", "note"]
    assert batch.X.tolist() == [[1, 2], [3, 4]]
    assert batch.copied == [["one\ntwo, three\n4", '5, "6", 7\n8']]


def test_what_cannot_be_read_names_the_place():
    body = b"a,b\n" + b"1,2\n" * 3000
    with pytest.raises(ValueError, match=r"data, from line .* on: not text in UTF-8"):
        read(body + b"\xff,1\n", Selection([0]))
    with pytest.raises(ValueError, match="not csv: field larger than field limit"):
        read(body + b"1" * 200_000 + b",1\n", Selection([0]))
    cut = gzip.compress(body)[:-12]
    table = TextTable(gzip.GzipFile(fileobj=io.BytesIO(cut)), "data")
    with pytest.raises(ValueError, match="the compressed file is damaged"):
        list(table.batches(Selection([0])))


def test_columns_by_name_before_index():
    table = TextTable(io.BytesIO(b"1,0,x\n"), "data")
    assert [find(table, wanted) for wanted in ("0", "1", "2", "-1", "x")] == [1, 0, 2, 2, 2]
    for wanted in ("3", "-4", "y", "", "1.0"):
        with pytest.raises(ValueError, match=f"data has no column {wanted!r}"):
            find(table, wanted)


def test_a_model_with_names_takes_its_columns_wherever_they_are():
    table = TextTable(io.BytesIO(b"c,note,a,kind,b\n"), "data")
    chosen = select_for_model(table, Wanted(["a", "b", "c"], 3, "kind", copied=["note"]))
    assert chosen == Selection([2, 4, 0], 3, [1])
    guessed = select_for_model(table, Wanted(["a", "b", "c"], 3, needs_labels=True, drop=["note"]))
    assert guessed == Selection([2, 4, 0], 3, [])


@pytest.mark.parametrize("name", ["flowers.csv", "flowers.npz"])
def test_every_table_gives_rows_to_learn_from_and_to_ask_about(name, tmp_path):
    X, kinds = np.arange(8.0).reshape(4, 2), ["p", "p", "q", "q"]
    path = tmp_path / name
    if name.endswith("npz"):
        np.savez(path, X=X, y=kinds)
    else:
        rows = (f"{a},{b},{kind}" for (a, b), kind in zip(X.tolist(), kinds, strict=True))
        path.write_text("\n".join(["a,b,y", *rows]))
    with open_table(str(path)) as table:
        names, _, batches = table.training_rows("y" if table.has_columns else None, [])
        (batch,) = batches
    assert names == (["a", "b"] if table.has_columns else None)
    np.testing.assert_array_equal(batch.X, X)
    assert batch.labels == kinds
    with open_table(str(path)) as table:
        (batch,) = table.model_rows(Wanted(names, 2)).batches
    np.testing.assert_array_equal(batch.X, X)
    assert batch.labels is None
