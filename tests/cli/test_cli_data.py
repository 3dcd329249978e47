"""Data of all kinds: the same rows and labels whatever the file, and what tables are like."""

import numpy as np
import pandas as pd
import pytest
from flowers import FEATURES, SMALL, call, evaluated, records, table, write
from scipy.io import savemat

import kerndict

ROWS = table()
X = np.array([row[:4] for row in ROWS], float)
y = np.array([row[4] for row in ROWS])


@pytest.mark.parametrize("kind", ["parquet", "npz", "mat", "csv.gz", "tsv"])
def test_all_formats_give_the_same_model(kind, flowers, tmp_path, capsys):
    frame = pd.DataFrame(X, columns=FEATURES).assign(species=y)
    label, paths = "species", {part: tmp_path / f"{part}.{kind}" for part in ("train", "test")}
    for part, path in paths.items():
        rows = frame[::2] if part == "train" else frame[1::2]
        codes = rows["species"].astype("category").cat.codes.to_numpy()
        if kind == "parquet":
            rows.to_parquet(path, row_group_size=10)
        elif kind == "npz":
            label = "kinds"
            np.savez(path, X=rows[FEATURES], kinds=rows["species"].to_numpy(str))
        elif kind == "mat":
            label = "gnd"
            savemat(path, {"fea": rows[FEATURES].to_numpy(), "gnd": codes + 1.0})
        else:
            rows.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    model = tmp_path / "model"
    given = [] if kind == "mat" else ["--label", label]
    assert call("train", paths["train"], *given, "--out", model, *SMALL) == 0
    capsys.readouterr()
    result = evaluated(capsys, model, paths["test"], *given)
    assert result["log_loss"] == evaluated(capsys, flowers.model, flowers.test)["log_loss"]
    if kind == "mat":
        assert [one["label"] for one in result["classes"]] == ["1", "2", "3"]
        assert kerndict.load(model).classes_.tolist() == [1, 2, 3]
    assert call("predict", model, paths["test"]) == 0
    assert len(records(capsys.readouterr().out)) == 75


def test_a_fixed_split_is_kept(tmp_path, capsys):
    train = np.arange(len(X)) % 2 == 0
    np.savez(tmp_path / "d.npz", X=X, y=y, train=train)
    assert call("train", tmp_path / "d.npz", "--out", tmp_path / "m", *SMALL) == 0
    assert "75 rows" in capsys.readouterr().out
    assert evaluated(capsys, tmp_path / "m", tmp_path / "d.npz")["rows"] == 75
    assert call("predict", tmp_path / "m", tmp_path / "d.npz") == 0
    assert len(records(capsys.readouterr().out)) == len(X)


def test_the_index_of_a_data_frame_is_no_feature(flowers, tmp_path, capsys):
    frame = pd.DataFrame(X, columns=FEATURES).assign(species=y).sample(frac=1, random_state=0)
    assert not frame.index.is_monotonic_increasing
    frame.to_parquet(tmp_path / "a")  # writes the index as a last column
    frame.rename_axis("plant").to_parquet(tmp_path / "b")
    for name in "ab":
        arguments = ["--label", "-1", "--out", tmp_path / "m", *SMALL]
        assert call("train", tmp_path / name, *arguments) == 0
        assert kerndict.load(tmp_path / "m").feature_names_in_.tolist() == FEATURES
        assert evaluated(capsys, tmp_path / "m", tmp_path / name)["rows"] == 150
    assert call("predict", flowers.model, tmp_path / "b", "--id", "plant") == 0
    found = records(capsys.readouterr().out)
    assert [int(row["plant"]) for row in found] == frame.index.tolist()


@pytest.mark.parametrize(
    "header",
    [
        ["400.5", "401", "401.5", "402"],
        ["400", "401", "402", "403"],
        ["0", "2", "3", "5"],
        ["3", "1", "0", "2"],
        ["0_0", "0_1", "1_0", "1_1"],
    ],
)
def test_names_may_look_like_numbers(header, flowers, tmp_path, capsys):
    train = write(tmp_path / "train.csv", ROWS[::2], [*header, "kind"])
    test = write(tmp_path / "test.csv", ROWS[1::2], [*header, "kind"])
    assert call("train", train, "--label", "kind", "--out", tmp_path / "m", *SMALL) == 0
    assert kerndict.load(tmp_path / "m").feature_names_in_.tolist() == header
    found = evaluated(capsys, tmp_path / "m", test)
    assert found == evaluated(capsys, flowers.model, flowers.test)
    bare = write(tmp_path / "bare.csv", [row[:4] for row in ROWS[1::2]], header)
    assert call("predict", tmp_path / "m", bare) == 0
    given = capsys.readouterr().out
    assert call("predict", flowers.model, flowers.test) == 0
    assert given == capsys.readouterr().out


def test_a_label_may_be_a_number_that_is_no_index(tmp_path):
    data = write(tmp_path / "d.csv", ROWS, ["400", "401", "402", "403", "404"])
    assert call("train", data, "--label", "404", "--out", tmp_path / "m", *SMALL) == 0
    assert kerndict.load(tmp_path / "m").feature_names_in_.tolist() == ["400", "401", "402", "403"]


def test_columns_that_nobody_asks_for_may_be_anything(flowers, tmp_path, capsys):
    header = [*FEATURES, "species", "", "", "note", "note"]
    data = write(tmp_path / "d.csv", [[*row, "", "", "a", "b"] for row in ROWS[::2]], header)
    drop = [word for place in (5, 6, 7, 8) for word in ("--drop", place)]
    assert call("train", data, "--label", "species", "--out", tmp_path / "m", *drop, *SMALL) == 0
    assert (tmp_path / "m").read_bytes() == flowers.model.read_bytes()
    assert call("predict", flowers.model, data) == 0


def test_delimiters_within_quotes_do_not_count(tmp_path):
    header = ["a, b, c", "d", "e", "f", "kind"]
    data = write(tmp_path / "d.csv", ROWS, header, delimiter=";")
    text = data.read_text().replace("a, b, c", '"a, b, c, d, e, f"', 1)
    data.write_text(text)
    assert call("train", data, "--label", "kind", "--out", tmp_path / "m", *SMALL) == 0


def test_a_quote_that_is_not_closed_loses_no_row(flowers, tmp_path, capsys):
    rows = [[*row[:4], "x"] for row in ROWS[:4]]
    rows[1][4] = '"x'
    data = write(tmp_path / "d.csv", rows, [*FEATURES, "note"])
    data.write_text(data.read_text().replace('"""x"', '"x'))
    assert call("predict", flowers.model, data) == 1
    printed = capsys.readouterr()
    assert "d.csv, from line 3 on: not csv: unexpected end of data" in printed.err


def test_a_precomputed_kernel_that_does_not_tell_residuals(tmp_path, capsys):
    K, codes = X @ X.T, np.unique(y, return_inverse=True)[1]
    options = {"kernel": "precomputed", "decision": "residual", "random_state": 0}
    model = kerndict.KernelDictionaryClassifier(5, 2, **options).fit(K, codes)
    kerndict.save(model, tmp_path / "m")
    np.savez(tmp_path / "d.npz", X=K, y=codes)
    assert call("predict", tmp_path / "m", tmp_path / "d.npz") == 0
    found = records(capsys.readouterr().out)
    assert [int(row["label"]) for row in found] == model.predict(K).tolist()
    assert {row["residual"] for row in found} == {""}
    assert evaluated(capsys, tmp_path / "m", tmp_path / "d.npz")["rows"] == 150


def test_true_and_false_are_numbers(tmp_path, capsys):
    rows = [[*row[:3], str(float(row[3]) > 1), row[4]] for row in ROWS]
    data = write(tmp_path / "d.csv", rows)
    assert call("train", data, "--label", "species", "--out", tmp_path / "a", *SMALL) == 0
    frame = pd.read_csv(data)
    assert frame["petal_width"].dtype == bool
    frame.to_parquet(tmp_path / "d.parquet")
    data = tmp_path / "d.parquet"
    assert call("train", data, "--label", "species", "--out", tmp_path / "b", *SMALL) == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_labels_are_the_same_in_all_files(tmp_path):
    labels = np.unique(y, return_inverse=True)[1].astype(float)
    frame = pd.DataFrame(X, columns=FEATURES).assign(kind=labels)
    frame.to_csv(tmp_path / "d.csv", index=False)
    frame.to_parquet(tmp_path / "d.parquet")
    np.savez(tmp_path / "d.npz", X=X, kind=labels)
    for kind in ("csv", "parquet", "npz"):
        data, out = tmp_path / f"d.{kind}", tmp_path / "m"
        assert call("train", data, "--label", "kind", "--out", out, *SMALL) == 0
        np.testing.assert_array_equal(kerndict.load(out).classes_, [0, 1, 2], strict=True)


def test_any_array_of_a_mat_file_may_hold_the_labels(tmp_path, capsys):
    others = np.arange(len(y)) % 2
    content = {"fea": X, "gnd": others, "kind": y, "pose": others}  # kind is padded to one width
    savemat(tmp_path / "d.mat", content)
    data, out = tmp_path / "d.mat", tmp_path / "m"
    assert call("train", data, "--label", "kind", "--out", out, *SMALL) == 0
    assert kerndict.load(out).classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert evaluated(capsys, out, data, "--label", "kind")["accuracy"] > 0.9
    savemat(data, {"fea": X})
    assert call("predict", out, data) == 0


def test_copied_columns_are_told_from_ours(flowers, tmp_path, capsys):
    data = write(tmp_path / "d.csv", ROWS, [*FEATURES, "label"])
    assert call("predict", flowers.model, data, "--id", "label") == 0
    found = records(capsys.readouterr().out)
    assert list(found[0])[:2] == ["input_label", "label"]
    assert [row["input_label"] for row in found] == y.tolist()


def test_large_integers_are_told_apart(tmp_path, capsys):
    labels = [2**53 + i for i in np.unique(y, return_inverse=True)[1].tolist()]
    data = write(tmp_path / "d.csv", [[*row[:4], n] for row, n in zip(ROWS, labels, strict=True)])
    assert call("train", data, "--label", "species", "--out", tmp_path / "m", *SMALL) == 0
    result = evaluated(capsys, tmp_path / "m", data)
    assert [one["rows"] for one in result["classes"]] == [50, 50, 50]
    assert result["accuracy"] > 0.9
