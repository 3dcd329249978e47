"""Labels that would control a terminal, or be formulas in a spreadsheet."""

import csv
import json
import os

import pytest
from flowers import COMMAND, FEATURES, SMALL, call, records, table, write

from kerndict.cli.cells import harmless, printable

EVIL = {"setosa": "=cmd|'/c calc'!A0", "versicolor": "\x1b]0;owned\x07", "virginica": "-1"}
ROWS = [[*row[:4], EVIL[row[4]], "@note;=1"] for row in table()]


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    folder = tmp_path_factory.mktemp("evil")
    data = write(folder / "data.csv", ROWS, [*FEATURES, "\x1b[31mkind", "=note"])
    arguments = ["--label", "\x1b[31mkind", "--drop", "=note", *SMALL]
    assert call("train", data, *arguments, "--out", folder / "m") == 0
    return data, folder / "m"


@pytest.mark.parametrize("cell", ["=1", "+1+1", "-a", "@a", " =1", "\t=1", "\r=1", "-", "+49 1"])
def test_formulas_are_text(cell):
    assert harmless(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "-1", "+1.5", "-.5e-7", "a=b", "1-2", "'=1"])
def test_what_is_no_formula_stays(cell):
    assert harmless(cell) == cell


def test_text_in_other_scripts_stays():
    text = "é Ж 木 नमस्ते می‌خواهم 👩‍🔬"
    assert printable(text) == text
    assert printable("a\u202eb\x9b") == "a\\u202eb\\x9b"


def test_cells_are_written_as_they_are(evil, capsys):
    data, model = evil
    assert call("predict", model, data, "--id", "=note") == 0
    found = records(capsys.readouterr().out)
    assert {row["label"] for row in found} == set(EVIL.values())
    assert {row["=note"] for row in found} == {"@note;=1"}


def test_safe_csv(evil, capsys):
    data, model = evil
    assert call("predict", model, data, "--id", "=note", "--safe-csv") == 0
    output = capsys.readouterr().out
    lines = list(csv.reader(output.splitlines()))
    assert lines[0][:2] == ["'=note", "label"]
    assert {line[0] for line in lines[1:]} == {"'@note;=1"}
    assert {line[1] for line in lines[1:]} == {"'" + EVIL["setosa"], EVIL["versicolor"], "-1"}
    assert all(line.startswith('"') for line in output.splitlines())


def test_reports_do_not_control_the_terminal(evil, capsys):
    data, model = evil
    assert call("inspect", model) == 0
    assert call("evaluate", model, data, "--label", "\x1b[31mkind") == 0
    assert call("predict", model, data, "--id", "\x1b[31m") == 1
    text = "".join(capsys.readouterr())
    assert "\\x1b]0;owned\\x07" in text
    assert "\x1b" not in text
    assert call("inspect", model, "--json") == 0
    output = capsys.readouterr().out
    assert "\x1b" not in output
    assert EVIL["versicolor"] in json.loads(output)["labels"]


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
def test_predictions_do_not_control_the_terminal(evil):
    import pty

    data, model = evil
    read = []

    def reader(descriptor):
        content = os.read(descriptor, 2**16)
        read.append(content)
        return content

    out, kept = os.pipe(), os.dup(1)  # pty.spawn copies to standard output
    os.dup2(out[1], 1)
    try:
        code = pty.spawn([*COMMAND, "predict", str(model), str(data)], reader)
    finally:
        os.dup2(kept, 1)
        for descriptor in (*out, kept):
            os.close(descriptor)
    assert code == 0
    assert b"\\x1b]0;owned\\x07" in b"".join(read)
    assert b"\x1b" not in b"".join(read)
