"""`kerndict train` and `predict` with a scheduler, on folders of parquet files."""

import numpy as np
import pandas as pd
import pytest
from conftest import close
from flowers import call
from on_workers import rows_of
from pyarrow import parquet
from sklearn.preprocessing import normalize

import kerndict
from kerndict import KernelDictionaryClassifier

X, y = rows_of(1500, 0)
X += 1
NAMES = list("abcdef")
TABLE = pd.DataFrame(X, columns=NAMES).assign(kind=y, plant=np.arange(1500))
OPTIONS = ["--label", "kind", "--drop", "plant", "--n-landmarks", "60", "--sigma", "0.7"]


@pytest.fixture
def folder(tmp_path):
    """Return a folder of parquet files, one of them without rows."""
    made = tmp_path / "data"
    made.mkdir()
    for number, (start, end) in enumerate([(0, 400), (400, 400), (400, 900), (900, 1500)]):
        TABLE[start:end].to_parquet(made / f"part-{number}.parquet", index=False)
    return made


@pytest.fixture
def address(dask_client):
    return dask_client.scheduler.address


def test_a_folder_is_learned_as_its_rows_are_in_one_process(folder, address, path, capsys):
    options = [*OPTIONS, "--random-state", "0"]
    assert call("train", folder, "--scheduler", address, *options, "--out", path) == 0
    assert "1500 rows of 6 features in 3 classes" in capsys.readouterr().out
    found = kerndict.load(path)
    expected = KernelDictionaryClassifier(n_landmarks=60, sigma=0.7, random_state=0)
    expected.fit(normalize(X), y)
    close(found.decision_function(TABLE[NAMES]), expected.decision_function(normalize(X)), 1e-8)
    assert found.classes_.tolist() == [0, 1, 2]
    assert found.feature_names_in_.tolist() == NAMES


def test_a_folder_is_labelled_as_its_files_are(folder, address, path, tmp_path, capsys):
    assert call("train", folder, "--scheduler", address, *OPTIONS, "--out", path) == 0
    out, options = tmp_path / "labels", ["--id", "plant", "--reject", "0.05", "--drop", "kind"]
    assert call("predict", path, folder, "--scheduler", address, "--out", out, *options) == 0
    assert "1500 rows labelled" in capsys.readouterr().out
    assert sorted(each.name for each in out.iterdir()) == [f"part-{k}.parquet" for k in (0, 2, 3)]
    found = parquet.read_table(out).to_pandas()
    assert found["plant"].tolist() == [str(k) for k in range(1500)]
    rows = tmp_path / "rows.parquet"
    TABLE.to_parquet(rows, index=False)
    assert call("predict", path, rows, "--out", tmp_path / "rows.csv", *options) == 0
    expected = pd.read_csv(tmp_path / "rows.csv")
    assert found.columns.tolist() == expected.columns.tolist()
    assert found["label"].tolist() == expected["label"].astype(str).tolist()
    for name in ("probability", "runner_up_probability", "typicality"):
        np.testing.assert_allclose(found[name].astype(float), expected[name], rtol=1e-5)


def test_what_is_wrong_is_told(folder, address, path, tmp_path, capsys):
    def told(*arguments):
        code = call(*arguments)
        return code, capsys.readouterr().err

    def train(data, *options):
        return told("train", data, "--scheduler", address, *OPTIONS, *options, "--out", path)

    code, words = train(folder / "part-0.parquet")
    assert code == 2
    assert "--scheduler needs one folder of parquet files" in words
    code, words = train(folder, "--search")
    assert code == 2
    assert "leave out --scheduler" in words
    code, words = train(tmp_path)
    assert code == 1
    assert "holds no file *.parquet" in words
    TABLE[:50].assign(c=np.nan).to_parquet(folder / "part-4.parquet", index=False)
    code, words = train(folder)
    assert code == 1
    assert "part-4.parquet, row 1: column 'c' is empty" in words
    TABLE[:50].drop(columns="c").to_parquet(folder / "part-4.parquet", index=False)
    code, words = train(folder)
    assert code == 1
    assert "part-4.parquet has other columns than the first file" in words
    assert not path.exists()
    (folder / "part-4.parquet").unlink()
    assert train(folder)[0] == 0
    code, words = told("predict", path, folder, "--scheduler", address)
    assert code == 2
    assert "--scheduler needs --out FOLDER" in words
    code, words = told("predict", path, folder, "--scheduler", address, "--out", folder)
    assert code == 1
    assert "give a folder that is new or empty" in words


def test_a_scheduler_that_is_not_there_is_told(folder, path, capsys):
    from dask import config

    with config.set({"distributed.comm.timeouts.connect": "300ms"}):
        code = call("train", folder, "--scheduler", "tcp://127.0.0.1:9", *OPTIONS, "--out", path)
    assert code == 1
    assert "no Dask scheduler answers there" in capsys.readouterr().err
