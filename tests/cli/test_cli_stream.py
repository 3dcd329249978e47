"""Training on tables that are read a batch at a time."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

import kerndict
from kerndict.cli import intake, main
from kerndict.tables import batch

N = 3000


@pytest.fixture(scope="module", params=["csv", "parquet"])
def table(request, tmp_path_factory):
    X, y = make_classification(N + 500, 8, n_informative=6, random_state=0)
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(8)])
    frame["kind"] = np.array(["ash", "birch"])[y]
    folder = tmp_path_factory.mktemp("stream")
    paths = [folder / f"{name}.{request.param}" for name in ("train", "test")]
    for path, part in zip(paths, (frame[:N], frame[N:]), strict=True):
        if request.param == "csv":
            part.to_csv(path, index=False)
        else:
            part.to_parquet(path, row_group_size=250)
    return paths


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(intake, "WHOLE", 20_000)
    monkeypatch.setattr(intake, "WHOLE_ROWS", 500)
    monkeypatch.setattr(batch, "MAX_ROWS", 250)


def call(*words):
    return main([str(word) for word in words])


def test_a_streamed_model_is_as_good_as_one_of_all_rows(
    table, tmp_path, monkeypatch, small_batches, capsys
):
    whole, streamed = tmp_path / "whole", tmp_path / "streamed"
    arguments = ("train", table[0], "--label", "kind", "--n-landmarks", 200)
    monkeypatch.setattr(intake, "WHOLE", 2**28)
    assert call(*arguments, "--out", whole) == 0
    monkeypatch.setattr(intake, "WHOLE", 20_000)
    assert call(*arguments, "--out", streamed) == 0
    said = capsys.readouterr().out
    assert said.count(f"{N} rows of 8 features in 2 classes of") == 2
    test = pd.read_csv(table[1]) if table[1].suffix == ".csv" else pd.read_parquet(table[1])
    X, y = test.drop(columns="kind"), test["kind"]
    scores = [kerndict.load(path).score(X, y) for path in (whole, streamed)]
    assert min(scores) > 0.9
    assert abs(scores[0] - scores[1]) < 0.02


def test_landmarks_are_named_by_their_rows(table, tmp_path, small_batches):
    out = tmp_path / "m"
    assert call("train", table[0], "--label", "kind", "--out", out, "--raw") == 0
    model = kerndict.load(out)
    frame = pd.read_csv(table[0]) if table[0].suffix == ".csv" else pd.read_parquet(table[0])
    rows = frame.drop(columns="kind").to_numpy()
    np.testing.assert_allclose(model.X_fit_, rows[model.fit_indices_], rtol=1e-12)


def test_a_bad_row_late_in_the_table_writes_nothing(table, tmp_path, small_batches, capsys):
    if table[0].suffix != ".csv":
        pytest.skip("text only")
    bad = tmp_path / "bad.csv"
    bad.write_text(table[0].read_text() + "1,2,3,x,5,6,7,8,ash\n")
    assert call("train", bad, "--label", "kind", "--out", tmp_path / "m") != 0
    assert "'x'" in capsys.readouterr().err
    assert not (tmp_path / "m").exists()


def test_classes_are_balanced_by_all_rows(table, tmp_path, small_batches):
    words = (
        "train",
        table[0],
        "--label",
        "kind",
        "--n-landmarks",
        50,
        "--class-weight",
        "balanced",
    )
    assert call(*words, "--out", tmp_path / "model") == 0
    assert kerndict.load(tmp_path / "model")[-1].class_weight == "balanced"
