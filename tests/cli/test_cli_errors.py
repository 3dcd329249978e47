"""What goes wrong: 2 for the command line, 1 for the data and the model; words, no tracebacks."""

import gzip
import os
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from flowers import FEATURES, SMALL, call, spawn, table, write

import kerndict
from kerndict.cli import inspect, train

ROWS = table()
GOOD = ["--label", "species"]


def fails(capsys, code, words, *arguments):
    assert call(*arguments) == code
    output, errors = capsys.readouterr()
    assert words in errors
    assert "Traceback" not in errors
    return output


def changed(path, line, cell, value):
    """Write the table with one cell changed; the header is line 1."""
    rows = [list(row) for row in ROWS]
    rows[line - 2][cell] = value
    return write(path, rows)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "required: COMMAND"),
        (["fit"], "invalid choice: 'fit'"),
        (["train", "d.csv"], "required: --out"),
        (["train", "d.csv", "--out", "m", "--n-atom", "3"], "unrecognized arguments"),
        (["train", "d.csv", "--out", "m", "--n-atoms", "many"], "'many' is not a number"),
        (["train", "d.csv", "--out", "m", "--n-atoms", "-3"], "n_atoms=-3 is too small"),
        (["train", "d.csv", "--out", "m", "--n-iter", "2.5"], "n_iter=2.5 is not an integer"),
        (["train", "d.csv", "--out", "m", "--sigma", "0"], "sigma=0 is out of range"),
        (["train", "d.csv", "--out", "m", "--kernel", "precomputed"], "invalid choice"),
        (["train", "d.csv", "--out", "m", "--random-state", "-1"], "not a whole number >= 0"),
        (["train", "d.csv", "--out", "m", "--n-jobs", "0"], "not a number of threads"),
        (["train", "d.csv", "--out", "m", "--n-jobs", "5000"], "not a number of threads"),
        (["train", "d.csv", "--out", "m", "--n-jobs", "1.5"], "n_jobs=1.5 is not an integer"),
        (["train", "d.csv", "--out", "m", "--linear", "--sigma", "2"], "--sigma is for the kernel"),
        (["train", "d.csv", "--out", "m", "--grid", "atoms=3"], "is not PARAMETER=VALUE,VALUE"),
        (["train", "d.csv", "--out", "m", "--grid", "n_atoms=3,x"], "'x' is not a number"),
        (["train", "d.csv", "--out", "m", "--grid", "n_atoms=3,-1"], "n_atoms=-1 is too small"),
        (["train", "d.csv", "--out", "m", "--grid", "kernel=rbf,x"], "'x' is not one of rbf"),
        (
            ["train", "d.csv", "--out", "m", "--grid", "n_atoms=3", "--n-atoms", "4"],
            "--grid n_atoms and --n-atoms are both given: leave out one",
        ),
        (
            ["train", "d.csv", "--out", "m", "--grid", "n_atoms=3", "--grid", "n-atoms=4"],
            "--grid n_atoms is given twice: write n_atoms=V1,V2",
        ),
        (
            ["train", "d.csv", "--out", "m", "--search", "--incoherence", "0", "--n-atoms", "3"],
            "nothing is left to --search",
        ),
        (["predict", "m"], "required: DATA"),
        (["predict", "m", "d.csv", "--reject", "2"], "2 is not a number from 0 to 1"),
        (["predict", "m", "d.csv", "--unknown", "x"], "--unknown needs --reject"),
        (["inspect"], "required: MODEL"),
    ],
)
def test_bad_usage(arguments, words, capsys):
    fails(capsys, 2, words, *arguments)


def test_a_table_needs_a_label(flowers, tmp_path, capsys):
    fails(capsys, 2, "--label is needed", "train", flowers.train, "--out", tmp_path / "m")


def test_the_word_for_unknown_is_no_class(flowers, capsys):
    arguments = [flowers.model, flowers.test, "--reject", "0.01", "--unknown", "setosa"]
    fails(capsys, 2, "'setosa' is a class of the model", "predict", *arguments)


@pytest.mark.parametrize(
    ("line", "cell", "value", "words"),
    [
        (17, 2, "red", "line 17: column 'petal_length' holds 'red', which is not a number."),
        (2, 0, "", "line 2: column 'sepal_length' is empty"),
        (151, 3, "nan", "line 151: column 'petal_width' holds 'nan', which is not a finite number"),
        (9, 3, "1e999", "holds '1e999', which is not a finite number"),
        (11, 1, "3_1", "line 11: column 'sepal_width' holds '3_1', which is not a number."),
        (30, 4, " ", "line 30: the label, column 'species', is empty."),
    ],
)
def test_bad_cells(line, cell, value, words, tmp_path, capsys):
    data = changed(tmp_path / "d.csv", line, cell, value)
    fails(capsys, 1, words, "train", data, *GOOD, "--out", tmp_path / "m", "--raw")
    if "empty" not in words and "'nan'" not in words:  # which may be gaps otherwise
        fails(capsys, 1, words, "train", data, *GOOD, "--out", tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_good_rows_before_a_bad_cell_are_written(flowers, tmp_path, capsys):
    rows = [list(row) for row in ROWS for _ in range(100)]
    rows[12000][1] = "red"  # in the second batch
    data = write(tmp_path / "d.csv", rows)
    output = fails(capsys, 1, "line 12002: column 'sepal_width'", "predict", flowers.model, data)
    assert output.count("\n") == 8193
    arguments = [flowers.model, data, "--out", tmp_path / "labels.csv"]
    fails(capsys, 1, "line 12002", "predict", *arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\n1,2\n", "begins with an empty line"),
        ("a,b,kind\n1,2,x\n1,2,3,y\n", "line 3: 4 cells where the header has 3"),
        ("a,b,kind\n1,2,x\n\n1,y\n", "line 4: 2 cells where the header has 3"),
        ("a,a,kind\n1,2,x\n", "two columns with the name 'a'"),
        ("5.1,3,x\n4.9,3,y\n", "has no header: its first line holds 5.1"),
        ("51,35,x\n49,30,y\n", "has no header: its first line holds 51"),
        ("0,0,0,x\n0,1,0,y\n", "has no header: its first line holds 0"),
        ("0,1,x\n1,1,y\n", "has no header: its first line holds 0"),
        ("true,nan,sort\n1,2,x\n", "has no column 'kind'"),
        ("400.5,400.5,kind\n1,2,x\n", "two columns with the name '400.5'"),
        ("a,b,kind\n", "has no rows"),
        ("a,b,sort\n1,2,x\n", "has no column 'kind': it has ['a', 'b', 'sort']"),
        ("kind\nx\ny\n", "no column left for the features"),
        ("a,b,kind\n1,2,x\n3,4,x\n", "y holds one class only (x)"),
        ("a,b,kind\n1,2,x\n\0,4,y\n", "is not text, nor any of the others"),
        ("a,b,kind\n1,2,x\n" + "1,2,x\n" * 200 + "3,4,x\0\n", "line 203: the label, column"),
        ('a,b,kind\n1,"2,x\n3,4,y\n', "from line 2 on: not csv: unexpected end of data"),
    ],
)
def test_bad_text(text, words, tmp_path, capsys):
    (tmp_path / "d.csv").write_text(text)
    arguments = [tmp_path / "d.csv", "--label", "kind", "--out", tmp_path / "m"]
    fails(capsys, 1, words, "train", *arguments)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b,kind\n1,2,x\n3,4,\xff\n", "not text in UTF-8"),
        (gzip.compress(b"a,b,kind\n" + b"1,2,x\n" * 1000)[:-20], "compressed file is damaged"),
        (gzip.compress(b"a,b,kind\n1,2,x\n")[:-8] + bytes(8), "compressed file is damaged"),
        (b"\x80\x04K\x01.", "is a pickle, which is never loaded"),
        ("a,b,kind\n".encode("utf-16"), "is text in UTF-16, not UTF-8"),
        (bytes(20), "mat of version 5 or 7.3 (save -v7)"),
        (b"PAR1 and nothing more", "the parquet file is damaged"),
        (b"PK\x03\x04 and nothing more", "a damaged .npz file"),
    ],
)
def test_bad_files(content, words, tmp_path, capsys):
    (tmp_path / "data").write_bytes(content)
    arguments = [tmp_path / "data", "--label", "kind", "--out", tmp_path / "m"]
    fails(capsys, 1, words, "train", *arguments)


def test_files_that_are_not_there(flowers, tmp_path, capsys):
    nowhere = tmp_path / "nowhere.csv"
    words = f"kerndict: {nowhere}: No such file or directory\n"
    fails(capsys, 1, words, "predict", flowers.model, nowhere)
    fails(capsys, 1, words, "predict", nowhere, flowers.test)
    fails(capsys, 1, words, "train", nowhere, *GOOD, "--out", tmp_path / "m")
    fails(capsys, 1, "Is a directory", "predict", flowers.model, tmp_path)
    fails(capsys, 1, words, "inspect", nowhere)


def test_what_is_no_model(flowers, tmp_path, capsys):
    fails(capsys, 1, "not a model of kerndict", "predict", flowers.train, flowers.test)
    data = bytearray(flowers.model.read_bytes())
    data[-1] ^= 1
    (tmp_path / "m").write_bytes(data)
    fails(capsys, 1, "the checksum is wrong", "inspect", tmp_path / "m")


def test_a_model_that_could_not_be_written_is_not_trained(flowers, tmp_path, capsys):
    for out in (tmp_path, tmp_path / "nowhere" / "m", os.devnull):
        fails(capsys, 1, "cannot be written", "train", flowers.train, *GOOD, "--out", out)
    arguments = [flowers.model, flowers.test, "--out"]
    for out in (tmp_path, tmp_path / "nowhere" / "labels.csv"):
        fails(capsys, 1, f"--out {out} cannot be written", "predict", *arguments, out)
    assert call("predict", *arguments, os.devnull) == 0


def test_the_input_is_not_replaced(flowers, tmp_path, capsys):
    data, model = tmp_path / "data.csv", tmp_path / "m"
    data.write_bytes(flowers.train.read_bytes())
    model.write_bytes(flowers.model.read_bytes())
    (tmp_path / "link").symlink_to(data)
    os.link(data, tmp_path / "hard")
    before = data.read_bytes(), model.read_bytes()
    for out in (data, tmp_path / "link", tmp_path / "hard", tmp_path / "." / "data.csv"):
        words = f"--out {out} would replace {data}, which is read: give another file."
        fails(capsys, 2, words, "train", data, *GOOD, "--out", out, "--force")
        fails(capsys, 2, words, "predict", model, data, "--out", out)
    words = f"--out {model} would replace {model}, which is read"
    fails(capsys, 2, words, "predict", model, data, "--out", model)
    with data.open() as file:
        done = spawn("train", "-", *GOOD, "--out", data, stdin=file)
    assert done.returncode == 2
    assert "would replace what comes from standard input" in done.stderr
    assert (data.read_bytes(), model.read_bytes()) == before


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_read_only_file_is_replaced_by_force_only(flowers, tmp_path, capsys):
    out = tmp_path / "out"
    for command in (
        ["train", flowers.train, *GOOD, *SMALL],
        ["predict", flowers.model, flowers.test],
    ):
        out.unlink(missing_ok=True)
        out.write_bytes(b"old")
        out.chmod(0o444)
        words = f"--out {out} is read-only: give --force to replace it, or another file."
        fails(capsys, 1, words, *command, "--out", out)
        assert out.read_bytes() == b"old"
        assert call(*command, "--out", out, "--force") == 0
        assert out.read_bytes() != b"old"
        assert out.stat().st_mode & 0o777 == 0o444


def test_a_column_that_the_model_needs_is_not_dropped(flowers, capsys):
    arguments = [flowers.model, flowers.test, "--drop", FEATURES[1]]
    fails(
        capsys, 1, "--drop sepal_width: the model was trained on that column", "predict", *arguments
    )


def test_missing_columns_are_named(flowers, tmp_path, capsys):
    rows = [row[:3] for row in ROWS]
    data = write(tmp_path / "d.csv", rows, [*FEATURES[:2], "species"])
    words = (
        "lacks 2 of the 4 columns that the model was trained on: ['petal_length', 'petal_width']"
    )
    fails(capsys, 1, words, "predict", flowers.model, data)
    fails(capsys, 1, "has no column 'id'", "predict", flowers.model, flowers.test, "--id", "id")


def test_labels_that_cannot_be_guessed(flowers, tmp_path, capsys):
    data = write(tmp_path / "d.csv", [row[:4] for row in ROWS], FEATURES)
    fails(capsys, 1, "no column beside the features", "evaluate", flowers.model, data)
    data = write(tmp_path / "d.csv", [[*row, "1"] for row in ROWS], [*FEATURES, "kind", "id"])
    fails(capsys, 1, "['kind', 'id'] beside the features", "evaluate", flowers.model, data)
    assert call("evaluate", flowers.model, data, "--drop", "id") == 0


def test_arrays_that_do_not_fit(flowers, tmp_path, capsys):
    np.savez(tmp_path / "d.npz", X=np.ones((3, 5)))
    path = tmp_path / "d.npz"
    fails(capsys, 1, "has 5 features, the model was trained on 4", "predict", flowers.model, path)
    fails(capsys, 1, "has no array 'y'", "evaluate", flowers.model, path)
    fails(capsys, 1, "has no array 'y'", "train", path, "--out", tmp_path / "m")
    fails(
        capsys,
        1,
        "has no array 'kind': it has 'X'",
        "evaluate",
        flowers.model,
        path,
        "--label",
        "kind",
    )
    fails(capsys, 2, "need a table with columns", "predict", flowers.model, path, "--drop", "a")
    fails(capsys, 2, "needs a table with columns", "train", path, "--out", "m", "--drop", "a")


def test_labels_of_arrays_that_cannot_be_read(flowers, tmp_path, capsys):
    path, out = tmp_path / "d.npz", ["--out", tmp_path / "m"]
    np.savez(path, X=np.eye(4), y=np.array(["a", "b", "a", None], object))
    words = "the labels 'y' are pickled, and never loaded: save them as text, y.astype(str)"
    fails(capsys, 1, words, "train", path, *out)
    fails(capsys, 1, words, "evaluate", flowers.model, path, "--label", "y")
    assert call("predict", flowers.model, path) == 0  # which needs no labels
    np.savez(path, X=np.eye(4), y=["a", "b", "a", " "])
    fails(capsys, 1, "row 4: the label is empty", "train", path, *out)
    np.savez(path, x_train=np.eye(4), y_train=range(4), x_test=np.eye(4), y_test=range(4))
    fails(
        capsys, 1, "has labels of its own: leave out --label z", "train", path, *out, "--label", "z"
    )


def test_bad_parquet(flowers, tmp_path, capsys):
    frame = pd.DataFrame(ROWS, columns=[*FEATURES, "species"])
    path, out = tmp_path / "d.parquet", tmp_path / "m"
    frame.loc[3, "petal_width"] = "red"
    frame.to_parquet(path)
    words = "row 4: column 'petal_width' holds 'red', which is not a number."
    fails(capsys, 1, words, "predict", flowers.model, path)
    fails(capsys, 1, words, "train", path, *GOOD, "--out", out, "--raw")
    fails(capsys, 1, "'red', which is not a number. Mend", "train", path, *GOOD, "--out", out)
    frame.loc[3, "petal_width"] = "1"
    frame = frame.astype(dict.fromkeys(FEATURES, float))
    frame.loc[119, "petal_width"] = None
    frame.to_parquet(path)
    fails(
        capsys,
        1,
        "row 120: column 'petal_width' is empty",
        "train",
        path,
        *GOOD,
        "--out",
        out,
        "--raw",
    )
    frame.loc[119, "petal_width"] = np.inf
    frame.to_parquet(path)
    words = "row 120: column 'petal_width' holds 'inf', which is not a finite number"
    fails(capsys, 1, words, "train", path, *GOOD, "--out", out)
    frame.loc[119, ["petal_width", "species"]] = [1.0, None]
    frame.to_parquet(path)
    fails(capsys, 1, "row 120: the label, column 'species'", "train", path, *GOOD, "--out", out)
    frame["species"] = np.where(frame.index == 7, np.nan, 1.0)
    frame.to_parquet(path)
    fails(capsys, 1, "row 8: the label, column 'species'", "train", path, *GOOD, "--out", out)


@pytest.mark.parametrize(("module", "extra"), [("pyarrow", "parquet"), ("h5py", "mat")])
def test_missing_extras_are_named(module, extra, flowers, tmp_path, monkeypatch, capsys):
    if module == "pyarrow":
        pd.DataFrame({"a": [1.0]}).to_parquet(tmp_path / "data")
    else:
        import h5py

        with h5py.File(tmp_path / "data", "w") as file:
            file["X"] = np.ones((2, 2))
    monkeypatch.setitem(sys.modules, module, None)
    words = f"install {module} to read it, pip install 'kerndict[{extra}]'"
    fails(capsys, 1, words, "predict", flowers.model, tmp_path / "data")


def test_labels_that_would_be_taken_for_one_another(flowers, tmp_path, capsys):
    path, out = tmp_path / "d.npz", ["--out", tmp_path / "m"]
    np.savez(path, X=np.eye(4), y=np.array([b"a\xff", b"a\xfe"] * 2))
    fails(capsys, 1, r"b'a\xfe' is not text in UTF-8: save it as text", "train", path, *out)
    for labels, words in (
        ([b"\xff", b"\xfe"], r"b'\xff' is not text in UTF-8"),
        (["a", "a\0"], "row 2: the label, column 'species', holds a NUL character"),
    ):
        frame = pd.DataFrame({"a": [1.0, 2.0], "species": labels})
        frame.to_parquet(tmp_path / "d.parquet")
        fails(capsys, 1, words, "train", tmp_path / "d.parquet", *GOOD, *out)


@pytest.mark.parametrize("notes", [b"[1]", b"3", b"{", b"\xff", b'{"index_columns": 3}'])
def test_notes_of_pandas_that_are_damaged(notes, flowers, tmp_path, capsys):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = arrow.table({name: [1.0] for name in FEATURES})
    path = tmp_path / "d.parquet"
    parquet.write_table(columns.replace_schema_metadata({b"pandas": notes}), path)
    fails(capsys, 1, "the notes of pandas in the parquet", "predict", flowers.model, path)


def test_typicality_needs_the_collaborative_rule(flowers, capsys):
    for command in ("predict", "evaluate"):
        arguments = [flowers.residual, flowers.test, "--reject", "0.01"]
        fails(capsys, 1, "decides by residuals and has no typicality", command, *arguments)


def test_a_search_needs_two_rows_of_each_class(tmp_path, capsys):
    data = write(tmp_path / "d.csv", [*ROWS, ["1", "2", "3", "4", "rare"]])
    arguments = [*GOOD, "--out", tmp_path / "m", *SMALL, "--search"]
    fails(capsys, 1, "and 'rare' has one", "train", data, *arguments)


def test_evaluate_needs_rows(flowers, tmp_path, capsys):
    data = write(tmp_path / "e.csv", [])
    fails(capsys, 1, "has no rows", "evaluate", flowers.model, data)


def test_warnings_are_one_line(flowers, tmp_path, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        arguments = [*GOOD, "--out", tmp_path / "m", "--n-atoms", "8", "--n-nonzero-coefs", "8"]
        options = ("--linear", "--n-iter", "1", "--decision", "residual")
        assert call("train", flowers.train, *arguments, *options) == 0
    errors = capsys.readouterr().err
    assert errors.startswith("kerndict: warning: n_nonzero_coefs=8 reaches the rank")
    assert errors.count("\n") == 1


def test_memory_that_is_not_there(flowers, tmp_path, monkeypatch, capsys):
    def fit(*_):
        raise MemoryError("Unable to allocate 7.45 GiB.")

    monkeypatch.setattr(kerndict.KernelDictionaryClassifier, "fit", fit)
    words = (
        "not enough memory. Unable to allocate 7.45 GiB. The kernel classifier holds a matrix of"
    )
    whole = ("--n-landmarks", "all")
    fails(capsys, 1, words, "train", flowers.train, *GOOD, "--out", tmp_path / "m", *whole)
    monkeypatch.setattr(kerndict.DictionaryClassifier, "fit", fit)
    for options, remedy in (
        (["--search"], "Leave out --search: the table is then read a batch at a time."),
        (["--decision", "residual"], "Leave out --decision residual: the table"),
        (["--n-landmarks", "50"], "Give fewer landmarks, --n-landmarks 25, or leave out columns"),
        (["--n-landmarks", "all"], "Leave out --n-landmarks all."),
    ):
        words = f"not enough memory. Unable to allocate 7.45 GiB. {remedy}"
        arguments = [*GOOD, "--out", tmp_path / "m", "--linear", "--scale", "rows", *options]
        fails(capsys, 1, words, "train", flowers.train, *arguments)
    np.savez(tmp_path / "d.npz", X=np.eye(4), y=[0, 1, 0, 1])
    words = "Save the rows as csv or parquet, which are read a batch at a time."
    fails(capsys, 1, words, "train", tmp_path / "d.npz", "--out", tmp_path / "m", "--linear")


def test_a_kernel_matrix_beyond_the_memory_is_not_begun(flowers, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(train, "_memory", lambda: 8 * 75**2 - 1)
    words = (
        "not enough memory. The kernel classifier holds a matrix of 75 x 75, 45.0 kB: leave out "
        "--n-landmarks all"
    )
    whole = ("--n-landmarks", "all")
    fails(capsys, 1, words, "train", flowers.train, *GOOD, "--out", tmp_path / "m", *whole)
    assert call("train", flowers.train, *GOOD, "--out", tmp_path / "m") == 0


def test_labels_that_are_no_class_of_the_model(flowers, tmp_path, capsys):
    data = write(tmp_path / "d.csv", [[*row[:4], "x" + row[4]] for row in ROWS])
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert call("evaluate", flowers.model, data) == 0
    assert "warning: no label is a class of the model: found 'xsetosa'" in capsys.readouterr().err


def test_what_nobody_thought_of(flowers, monkeypatch, capsys):
    def load(_):
        raise KeyError("oops")

    monkeypatch.setattr(inspect, "load_described", load)
    fails(capsys, 1, "internal error, KeyError: 'oops'; --debug shows where", "inspect", "m")
    with pytest.raises(KeyError):
        call("inspect", "m", "--debug")
    with pytest.raises(KeyError):
        call("--debug", "inspect", "m")
