"""Troublesome tables through the commands, from the file to the labels."""

import gzip
import os
import signal
import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest
from flowers import COMMAND, call, evaluated, records, spawn
from sklearn.datasets import load_iris
from trouble import customers

import kerndict
from kerndict.cli import intake
from kerndict.tables import batch

FAST = ["--linear", "--n-iter", "0"]
FRAME = customers()
USED = ["city", "age", "joined", "income", "member", "note", "zip"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a table, another to be labelled, and a model of the first."""
    folder = tmp_path_factory.mktemp("customers")
    FRAME.to_csv(folder / "train.csv", index=False)
    customers(30, seed=1).to_csv(folder / "test.csv", index=False)
    arguments = ["--label", "level", "--out", folder / "m", "--n-iter", "1"]
    assert call("train", folder / "train.csv", *arguments) == 0
    return folder


def told(output):
    """Return the table of the columns that train prints, by the names of columns."""
    lines = output.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("column "))
    places = [lines[begin].index(title) for title in ("column", "what it is", "taken")]
    end = next(i for i, line in enumerate(lines) if line.startswith("scaling"))
    return {
        line[: places[1]].strip(): (line[places[1] : places[2]].strip(), line[places[2] :])
        for line in lines[begin + 1 : end]
    }


def test_train_says_what_it_does_with_each_column(folder, tmp_path, capsys):
    assert (
        call("train", folder / "train.csv", "--label", "level", "--out", tmp_path / "m", *FAST) == 0
    )
    output = capsys.readouterr().out
    columns = told(output)
    assert list(columns) == [*FRAME.columns[:-1]]
    left_out = {name for name, (_, taken) in columns.items() if taken == "left out"}
    assert left_out == {"customer_id", "code", "region"}
    for name, words in {
        "customer_id": "identifier: 90 different whole numbers",
        "region": "always 'EU'",
        "city": "category, 4 values",
        "joined": "date, 2000-",
        "income": "number, skewed",
        "note": "text, 90 different texts",
        "zip": "category",
    }.items():
        assert columns[name][0].startswith(words), columns[name]
    assert columns["age"][1] == "as a number; 9 gaps: filled and marked"
    assert "90 rows of 7 features in 3 classes" in output
    assert "scaling  columns\n" in output


def test_the_model_does_the_same_to_new_rows(folder, capsys):
    result = evaluated(capsys, folder / "m", folder / "test.csv")  # it knows the label
    assert result["accuracy"] > 0.9
    assert result["undecided"] == 0
    model, test = kerndict.load(folder / "m"), pd.read_csv(folder / "test.csv", dtype={"zip": str})
    assert model.feature_names_in_.tolist() == USED
    assert call("predict", folder / "m", folder / "test.csv") == 0
    labels = [row["label"] for row in records(capsys.readouterr().out)]
    assert model.predict(test).tolist() == labels  # the same in Python, without a warning
    test["joined"] = pd.to_datetime(test["joined"])
    assert model.predict(test[USED[::-1]]).tolist() == labels


@pytest.mark.parametrize("kind", ["gz", "jsonl", "parquet", "feather", "commas"])
def test_new_rows_may_come_in_another_dress(kind, folder, tmp_path, capsys):
    test, path = pd.read_csv(folder / "test.csv", dtype={"zip": str}), tmp_path / "d"
    if kind == "gz":
        path.write_bytes(gzip.compress((folder / "test.csv").read_bytes()))
    elif kind == "jsonl":
        test.to_json(path, orient="records", lines=True)
    elif kind == "commas":
        test.to_csv(path, index=False, sep=";", decimal=",")
    else:
        test["joined"] = pd.to_datetime(test["joined"])
        getattr(test.astype({"city": "category"}), f"to_{kind}")(path)
    outputs = []
    for data in (folder / "test.csv", path):
        assert call("predict", folder / "m", data, "--proba") == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]


def test_what_was_never_seen(folder, tmp_path, capsys):
    test = customers(30, seed=1)
    expected = len(test)
    test.loc[0, "city"] = "Oslo"
    test.loc[1, ["age", "city", "joined", "income", "member", "note", "zip"]] = [
        np.nan,
        *[None] * 6,
    ]
    test.loc[2, "joined"] = "yesterday"
    test.to_csv(tmp_path / "d.csv", index=False)
    assert call("predict", folder / "m", tmp_path / "d.csv") == 0
    found = records(capsys.readouterr().out)
    assert len(found) == expected
    assert all(row["label"] for row in found)


def test_a_row_with_a_gap_has_no_label_where_training_had_none(flowers, tmp_path, capsys):
    lines = flowers.test.read_text().splitlines()
    lines[3] = "," + lines[3].split(",", 1)[1]
    lines[5] = "?," + lines[5].split(",", 1)[1]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert call("predict", flowers.model, flowers.test, "--proba", "--reject", "0.01") == 0
        whole = capsys.readouterr().out.splitlines()
        options = ["--proba", "--reject", "0.01", "--id", "species"]
        assert call("predict", flowers.model, tmp_path / "d.csv", *options) == 0
        output, errors = capsys.readouterr()
    found = output.splitlines()
    assert "warning: 2 rows have gaps in columns without any in training, and no label" in errors
    assert [i for i, line in enumerate(found) if "setosa,,,,,,,," in line] == [3, 5]
    assert [line.split(",", 1)[1] for i, line in enumerate(found) if i not in (3, 5)] == [
        line for i, line in enumerate(whole) if i not in (3, 5)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = evaluated(capsys, flowers.model, tmp_path / "d.csv")
        assert call("evaluate", flowers.model, tmp_path / "d.csv") == 0
    assert (result["rows"], result["undecided"]) == (73, 2)
    assert "undecided          2 more rows, with gaps" in capsys.readouterr().out


def test_every_choice_can_be_overruled(folder, tmp_path, capsys):
    def trained(*options):
        arguments = ["--label", "level", "--out", tmp_path / "m", *FAST]
        assert call("train", folder / "train.csv", *arguments, *options) == 0
        return told(capsys.readouterr().out)

    columns = trained("--drop", "note,zip", "--category", "code", "--text", "member,city")
    assert not {"note", "zip"} & set(columns)
    assert columns["code"][0].startswith("category, 90 values")
    assert columns["member"][0].startswith("text")
    assert columns["city"][0].startswith("text")
    columns = trained("--number", "customer_id", "--number", "zip", "--category", "age")
    assert columns["customer_id"][0].startswith("number, 1000 to")
    assert columns["zip"][0].startswith("number, 10")
    assert columns["age"][0].startswith("category")
    trained("--scale", "rows")
    assert [type(s).__name__ for _, s in kerndict.load(tmp_path / "m").steps[:2]] == [
        "ColumnTransformer",
        "Normalizer",
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--drop", "a,b", "--category", "b"], "--category b and --drop b: leave out one"),
        (["--raw", "--number", "a"], "--raw takes columns as they are: leave out --number a"),
        (["--raw", "--scale", "rows"], "leave out --scale rows"),
    ],
)
def test_choices_that_contradict_each_other(options, words, capsys):
    assert call("train", "d.csv", "--label", "y", "--out", "m", *options) == 2
    assert words in capsys.readouterr().err


def test_one_message_lists_all_columns_in_trouble(tmp_path, capsys):
    frame = customers()[["age", "income", "city", "level"]].astype(
        {"age": object, "income": object}
    )
    frame.loc[4, "age"], frame.loc[[7, 8], "income"] = "old", "a lot"
    frame.to_csv(tmp_path / "d.csv", index=False)
    arguments = ["--label", "level", "--out", tmp_path / "m", *FAST]
    assert call("train", tmp_path / "d.csv", *arguments) == 1
    words = capsys.readouterr().err
    assert words.count("\n") == 1
    assert (
        "2 columns are not all numbers: 'age' holds 'old', which is not a number (line 6); "
        "'income' holds 'a lot', which is not a number (line 9). Mend the cells; or give "
        "--number age,income, for which they are gaps"
    ) in words
    assert call("train", tmp_path / "d.csv", *arguments, "--number", "age,income") == 0
    assert told(capsys.readouterr().out)["income"][1].endswith("2 gaps: filled and marked")
    assert call("train", tmp_path / "d.csv", *arguments, "--raw") == 1
    assert "3 columns are not all numbers" in capsys.readouterr().err


def test_columns_of_no_use(tmp_path, capsys):
    (tmp_path / "d.csv").write_text("a,b,kind\n" + "".join(f"1,x,{i % 2}\n" for i in range(20)))
    arguments = ["train", tmp_path / "d.csv", "--label", "kind", "--out", tmp_path / "m"]
    assert call(*arguments) == 1
    words = "no column that is of use as a feature: 'a' (always 1); 'b' (always 'x'). Say by"
    assert words in capsys.readouterr().err
    assert call(*arguments, "--category", "kind") == 1
    assert "'kind' is the label, and no feature" in capsys.readouterr().err


def test_a_table_without_a_header(tmp_path, capsys):
    iris = load_iris()
    rows = [[*map(str, row), f"k{y}"] for row, y in zip(iris.data, iris.target, strict=True)]
    text = "".join(";".join(row).replace(".", ",") + "\n" for row in rows[::2])
    (tmp_path / "train").write_text(text)
    arguments = ["--label", "-1", "--out", tmp_path / "m", "--scale", "columns", "--n-iter", "1"]
    assert call("train", tmp_path / "train", *arguments) == 0
    assert "75 rows of 4 features in 3 classes" in capsys.readouterr().out
    (tmp_path / "test").write_text("".join(",".join(row) + "\n" for row in rows[1::2]))
    assert evaluated(capsys, tmp_path / "m", tmp_path / "test")["accuracy"] > 0.8
    (tmp_path / "bare").write_text("".join(",".join(row[:4]) + "\n" for row in rows[1::2]))
    outputs = []
    for name in ("test", "bare"):
        assert call("predict", tmp_path / "m", tmp_path / name) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert outputs[0].count("\n") == 76


def test_several_files_are_one_table(folder, tmp_path, capsys):
    for i in range(3):
        FRAME[i::3].to_csv(tmp_path / f"part-{i}.csv", index=False)
    pd.concat([FRAME[i::3] for i in range(3)]).to_csv(tmp_path / "whole.csv", index=False)
    models = []
    parts = [tmp_path / f"part-{i}.csv" for i in range(3)]
    for data in ([tmp_path / "whole.csv"], [tmp_path / "part-*.csv"], parts):
        out = tmp_path / f"m{len(models)}"
        assert call("train", *data, "--label", "level", "--out", out, *FAST) == 0
        models.append(out.read_bytes())
    assert models[0] == models[1] == models[2]
    assert call("predict", folder / "m", *parts) == 0
    assert capsys.readouterr().out.count("\n") > len(FRAME)
    assert call("train", *parts, "--label", "level", "--out", parts[1]) == 2
    assert f"would replace {parts[1]}, which is read" in capsys.readouterr().err


def test_text_from_a_pipe_may_be_read_twice(folder, tmp_path):
    arguments = ["--label", "level", "--out", tmp_path / "m", *FAST]
    done = spawn("train", "-", *arguments, input=(folder / "train.csv").read_text())
    assert done.returncode == 0, done.stderr
    assert "90 rows of 7 features" in done.stdout


def test_rows_or_columns_by_what_loses_less(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    directions = np.array([[1.0, 2, 3, 4], [4.0, 3, 2, 1]])[y]
    proportions = directions * rng.lognormal(0, 2, (120, 1)) * rng.lognormal(0, 0.1, (120, 4))
    units = np.column_stack([y + rng.normal(0, 0.1, 120), rng.normal(1000, 100, (120, 3))])
    for X, best in ((proportions, "rows"), (units, "columns")):
        np.savez(tmp_path / "d.npz", X=X, y=y)
        assert call("train", tmp_path / "d.npz", "--out", tmp_path / "m") == 0
        output = capsys.readouterr().out
        assert f"scaling  {best}: log-loss" in output
        other = {"rows": "columns", "columns": "rows"}[best]
        better, worse = (float(w) for w in output.split() if w.startswith("0.") and len(w) == 6)
        assert better < worse
        assert (
            call("train", tmp_path / "d.npz", "--out", tmp_path / "m", "--scale", other, *FAST) == 0
        )
        assert f"scaling  {other}\n" in capsys.readouterr().out


def test_a_large_table_is_settled_by_its_sample(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(intake, "WHOLE", 20_000)
    monkeypatch.setattr(intake, "WHOLE_ROWS", 500)
    monkeypatch.setattr(batch, "MAX_ROWS", 250)
    frame = customers(1500)
    frame["city"] = frame["city"].sort_values().to_numpy()  # one value in the first batches
    frame["late"] = ["1"] * 1400 + ["x"] * 100  # numbers, up to the last batches
    frame.to_csv(tmp_path / "d.csv", index=False)
    arguments = ["--label", "level", "--out", tmp_path / "m", "--n-landmarks", "100"]
    assert call("train", tmp_path / "d.csv", *arguments) == 0
    columns = told(capsys.readouterr().out)
    assert columns["city"][0].startswith("category, 4 values")
    assert columns["late"][0] == "category, 2 values: 1, x"
    assert columns["customer_id"][1] == "left out"
    customers(200, seed=1).assign(late="x").to_csv(tmp_path / "t.csv", index=False)
    result = evaluated(capsys, tmp_path / "m", tmp_path / "t.csv", "--label", "level")
    assert result["accuracy"] > 0.9


def test_top_and_proba(flowers, capsys):
    assert call("predict", flowers.model, flowers.test) == 0
    plain = records(capsys.readouterr().out)
    assert call("predict", flowers.model, flowers.test, "--top", 9, "--proba") == 0
    found = records(capsys.readouterr().out)
    names = ["setosa", "versicolor", "virginica"]
    ranked = ["label", "probability", "label_2", "probability_2", "label_3", "probability_3"]
    assert list(found[0]) == [*ranked, *(f"probability_{name}" for name in names)]
    for row, other in zip(found, plain, strict=True):
        assert (row["label"], row["label_2"]) == (other["label"], other["runner_up"])
        assert row["probability_2"] == other["runner_up_probability"]
        assert sorted(row[name] for name in ranked[::2]) == names
        probabilities = {name: row[f"probability_{name}"] for name in names}
        assert [probabilities[row[name]] for name in ranked[::2]] == [row[n] for n in ranked[1::2]]
        assert sum(map(float, probabilities.values())) == pytest.approx(1, abs=1e-5)
    assert call("predict", flowers.model, flowers.test, "--top", "1") == 0
    assert capsys.readouterr().out.startswith("label,probability\n")
    assert call("predict", flowers.model, flowers.test, "--top", "2", "--reject", "1") == 0
    both = list(zip(records(capsys.readouterr().out), plain, strict=True))
    rejected = [
        (row["probability"], row["label_2"]) for row, _ in both if row["label"] == "unknown"
    ]
    assert rejected == [("", other["label"]) for row, other in both if row["typicality"] != "1"]
    assert len(rejected) > 50
    assert call("predict", flowers.residual, flowers.test, "--proba") == 1
    assert "has no probabilities: --proba needs a model" in capsys.readouterr().err


def test_an_interrupt_ends_a_fit_within_a_second(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "d.npz", X=rng.normal(size=(6000, 30)), y=rng.integers(0, 2, 6000))
    arguments = ["--out", tmp_path / "m", "--n-landmarks", "6000", "--scale", "rows"]
    run = subprocess.Popen(
        [*COMMAND, "train", tmp_path / "d.npz", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert run.stdout.readline().startswith("data ")  # before the fit, which takes minutes
    assert run.stdout.readline().startswith("scaling")
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=30)
    assert (run.returncode, errors) == (130, "")
    assert os.listdir(tmp_path) == ["d.npz"]
