"""train, predict, evaluate and inspect beside what the library says itself."""

import inspect
import json

import numpy as np
import pandas as pd
import pytest
from flowers import FEATURES, SMALL, call, evaluated, records, table, write
from sklearn.metrics import accuracy_score, balanced_accuracy_score, confusion_matrix, log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

import kerndict
from kerndict import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.classifiers.summary import summary
from kerndict.cli.parameters import DEFAULTS, PARAMETERS

ROWS = table()
X = np.array([row[:4] for row in ROWS], float)
y = np.array([row[4] for row in ROWS])
SETTINGS = {"n_atoms": 8, "n_iter": 1, "sigma": 0.3, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    return make_pipeline(Normalizer(), KernelDictionaryClassifier(**SETTINGS)).fit(X[::2], y[::2])


def test_the_trained_model_is_that_of_the_library(flowers, model):
    loaded = kerndict.load(flowers.model)
    assert [type(step).__name__ for _, step in loaded.steps] == [
        "Normalizer",
        "KernelDictionaryClassifier",
    ]
    assert loaded.feature_names_in_.tolist() == FEATURES
    frame = pd.DataFrame(X[1::2], columns=FEATURES)
    expected = model.predict_proba(X[1::2])
    np.testing.assert_allclose(loaded.predict_proba(frame), expected, rtol=1e-6)


def test_train_says_what_it_did(flowers, tmp_path, capsys):
    out = tmp_path / "model"
    options = ["--raw", "--linear", "--n-atoms", "5", "--n-iter", "0"]
    assert call("train", flowers.train, "--label", "-1", "--out", out, *options) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["data"] == "75 rows of 4 features in 3 classes of 25 rows"
    assert lines["model"] == "DictionaryClassifier: 15 atoms, 5 per class"
    assert lines["written"].startswith(str(out))
    loaded = kerndict.load(out)
    assert type(loaded) is DictionaryClassifier
    assert loaded.n_iter == 0
    assert loaded.feature_names_in_.tolist() == FEATURES


def test_every_parameter_has_an_option():
    for kind in (DictionaryClassifier, KernelDictionaryClassifier):
        assert set(inspect.signature(kind).parameters) <= set(PARAMETERS)
    assert list(PARAMETERS) == list(DEFAULTS)
    for name, parameter in PARAMETERS.items():
        if parameter.choices:
            assert DEFAULTS[name] in parameter.choices
        elif DEFAULTS[name] is not None:
            assert parameter.read(str(DEFAULTS[name])) == DEFAULTS[name]


def test_options_reach_the_classifier(flowers, tmp_path):
    given = {
        "n_atoms": 0.25,
        "n_nonzero_coefs": 3,
        "incoherence": 0.5,
        "incoherence_scale": "absolute",
        "atom_update": "power",
        "coef_update": "uaksvd",
        "decision": "collaborative",
        "n_iter": 2,
        "init": "samples",
        "random_state": 3,
        "n_jobs": 2,
        "ridge": 0.1,
        "n_landmarks": "all",
        "class_weight": "balanced",
        "within_class_whitening": 0.5,
        "square_root": None,
        "kernel": "poly",
        "sigma": None,
        "degree": 3,
        "coef0": 0.5,
    }
    words = [
        word
        for name, value in given.items()
        for word in (f"--{name.replace('_', '-')}", "auto" if value is None else str(value))
    ]
    assert call("train", flowers.train, "--label", 4, "--out", tmp_path / "m", *words) == 0
    assert kerndict.load(tmp_path / "m")[-1].get_params() == {**given, "verbose": 0}


def test_predict_writes_label_probability_and_runner_up(flowers, model, capsys):
    assert call("predict", flowers.model, flowers.test) == 0
    found = records(capsys.readouterr().out)
    p = model.predict_proba(X[1::2])
    order = np.argsort(-p, axis=1, kind="stable")
    assert list(found[0]) == ["label", "probability", "runner_up", "runner_up_probability"]
    assert [row["label"] for row in found] == model.predict(X[1::2]).tolist()
    assert [row["runner_up"] for row in found] == model.classes_[order[:, 1]].tolist()
    for name, values in (("probability", 0), ("runner_up_probability", 1)):
        expected = np.take_along_axis(p, order, axis=1)[:, values]
        np.testing.assert_allclose([float(row[name]) for row in found], expected, rtol=1e-5)


def test_predict_with_residuals(flowers, capsys):
    assert call("predict", flowers.residual, flowers.test) == 0
    found = records(capsys.readouterr().out)
    loaded = kerndict.load(flowers.residual)
    frame = pd.DataFrame(X[1::2], columns=FEATURES)
    rows = Normalizer().transform(X[1::2])
    loaded[0].__dict__.pop("feature_names_in_")
    residuals = np.sort(loaded[-1].class_residuals(rows), axis=1)
    assert [row["label"] for row in found] == loaded.predict(frame.to_numpy()).tolist()
    assert all(row["label"] != row["runner_up"] for row in found)
    for name, column in (("residual", 0), ("runner_up_residual", 1)):
        values = [float(row[name]) for row in found]
        np.testing.assert_allclose(values, residuals[:, column], rtol=1e-5, atol=1e-12)


def test_columns_are_found_by_name_and_ids_are_copied(flowers, tmp_path, capsys):
    assert call("predict", flowers.model, flowers.test) == 0
    expected = capsys.readouterr().out.splitlines()
    rows = [[f"plant, {i}", *row[3::-1], "x"] for i, row in enumerate(ROWS[1::2])]
    shuffled = write(tmp_path / "s.csv", rows, ["id", *FEATURES[::-1], "note"], ";")
    out = tmp_path / "labels.csv"
    arguments = ["--id", "id", "--id", "-1", "--out", out]
    assert call("predict", flowers.model, shuffled, *arguments) == 0
    assert capsys.readouterr().out == ""
    lines = out.read_text().splitlines()
    assert lines[0] == f"id,note,{expected[0]}"
    assert lines[1:] == [f'"plant, {i}",x,{line}' for i, line in enumerate(expected[1:])]


def test_rejected_rows_are_unknown(flowers, model, capsys):
    typicality = model[-1].typicality(Normalizer().transform(X[1::2]))
    level = float(np.quantile(typicality, 0.3))
    arguments = [flowers.model, flowers.test, "--reject", level, "--unknown", "weed"]
    assert call("predict", *arguments) == 0
    found = records(capsys.readouterr().out)
    rejected = typicality < level
    assert 10 < rejected.sum() < 40
    for row, p, out, label in zip(found, typicality, rejected, model.predict(X[1::2]), strict=True):
        assert float(row["typicality"]) == pytest.approx(p, rel=1e-5)
        assert (row["label"] == "weed") == (row["probability"] == "") == out
        assert (row["runner_up"] if out else row["label"]) == label


def test_sets_of_classes_are_written_on_request(flowers, model, capsys):
    assert call("predict", flowers.model, flowers.test, "--sets", "0.2") == 0
    found = records(capsys.readouterr().out)
    sets = model[-1].predict_set(model[:-1].transform(X[1::2]), 0.2)
    for row, own in zip(found, sets, strict=True):
        assert row["set"] == "|".join(model.classes_[own].tolist())
    for arguments, words in (
        ([flowers.model, flowers.test, "--sets", "1"], "--sets 1 is out of range"),
        ([flowers.residual, flowers.test, "--sets", "0.2"], "has no sets of classes"),
    ):
        assert call("predict", *arguments) != 0
        assert words in capsys.readouterr().err


def test_evaluate_measures_what_scikit_learn_measures(flowers, model, capsys):
    result = evaluated(capsys, flowers.model, flowers.test)
    truth, p, labels = y[1::2], model.predict_proba(X[1::2]), model.predict(X[1::2])
    assert result["rows"] == 75
    assert result["accuracy"] == pytest.approx(accuracy_score(truth, labels))
    assert result["accuracy_per_class"] == pytest.approx(balanced_accuracy_score(truth, labels))
    assert result["log_loss"] == pytest.approx(log_loss(truth, p))
    edges = np.linspace(0, 1, 16)
    bins = np.clip(np.searchsorted(edges, p.max(axis=1), "right") - 1, 0, 14)
    gaps = [
        (bins == b).mean() * abs((labels == truth)[bins == b].mean() - p.max(1)[bins == b].mean())
        for b in np.unique(bins)
    ]
    assert result["ece"] == pytest.approx(sum(gaps))
    confusion = confusion_matrix(truth, labels)
    assert [one["accuracy"] for one in result["classes"]] == pytest.approx(
        (np.diagonal(confusion) / confusion.sum(axis=1)).tolist()
    )
    names = model.classes_.tolist()
    wrong = {
        (one["label"], one["taken_for"]): (one["rows"], one["share"])
        for one in result["confusions"]
    }
    assert wrong == {
        (names[i], names[j]): (confusion[i, j], pytest.approx(confusion[i, j] / 25))
        for i, j in np.argwhere(confusion)
        if i != j
    }
    assert wrong
    counts = [one["rows"] for one in result["confusions"]]
    assert counts == sorted(counts, reverse=True)
    assert result["reject"] is None
    assert result["unseen"] == {"rows": 0, "classes": [], "rejected": None}


def test_evaluate_with_rejection_and_classes_never_seen(flowers, tmp_path, model, capsys):
    strange = [["1", "9", "1", "9", kind] for kind in ("fern", "moss", "fern")]
    data = write(tmp_path / "more.csv", ROWS[1::2] + strange)
    result = evaluated(capsys, flowers.model, data, "--label", "species", "--reject", "0.05")
    rows = np.vstack([X[1::2], [[1, 9, 1, 9]] * 3])
    kept = model[-1].typicality(Normalizer().transform(rows)) >= 0.05
    right = model.predict(rows) == [*y[1::2], "fern", "moss", "fern"]
    assert not kept[-3:].any()
    assert result["rows"] == 75
    assert result["unseen"] == {"rows": 3, "classes": ["fern", "moss"], "rejected": 3}
    assert result["reject"] == {
        "level": 0.05,
        "rows": kept.sum(),
        "coverage": pytest.approx(kept.mean()),
        "accuracy": pytest.approx(right[kept].mean()),
    }
    assert call("evaluate", flowers.model, data, "--reject", "0.05") == 0
    output = capsys.readouterr().out
    assert "unseen rejected    3 of 3, 100.00 %" in output
    assert "coverage" in output
    assert "versicolor" in output


def test_evaluate_without_probabilities(flowers, capsys):
    result = evaluated(capsys, flowers.residual, flowers.test)
    assert result["log_loss"] is None
    assert result["ece"] is None
    assert result["accuracy"] > 0.6


def test_numbers_are_compared_as_numbers(tmp_path, capsys):
    model = KernelDictionaryClassifier(**SETTINGS).fit(X[::2], np.repeat([1.0, 2.0, 10.0], 25))
    kerndict.save(model, tmp_path / "m")
    labels = np.repeat(["1", "2.0", "1e1"], 50)
    rows = [[*row[:4], label] for row, label in zip(ROWS, labels, strict=True)]
    data = write(tmp_path / "d.csv", rows)
    result = evaluated(capsys, tmp_path / "m", data, "--label", "species")
    assert [one["label"] for one in result["classes"]] == ["1", "2", "10"]
    assert result["unseen"]["rows"] == 0


def test_inspect_shows_the_summary(flowers, capsys):
    assert call("inspect", flowers.model, "--json") == 0
    content = json.loads(capsys.readouterr().out)
    loaded = kerndict.load(flowers.model)
    expected = json.loads(json.dumps(summary(loaded[-1])))
    expected.pop("steps")  # of the pipeline there are some
    assert {name: content[name] for name in expected} == expected
    assert content["labels"] == ["setosa", "versicolor", "virginica"]
    assert content["feature_names"] == FEATURES
    assert content["steps"] == [
        {"name": type(step).__name__, "within": None, "parameters": step.get_params()}
        for _, step in loaded.steps
    ]
    assert content["versions"]["kerndict"] == kerndict.__version__
    assert content["file_bytes"] == flowers.model.stat().st_size
    assert call("inspect", flowers.model) == 0
    output = capsys.readouterr().out
    for words in (
        "24, 8 per class",
        "3: setosa, versicolor",
        "n_atoms=8",
        f"numpy {np.__version__}",
    ):
        assert words in output
    assert call("inspect", flowers.residual) == 0
    assert "DictionaryClassifier" in capsys.readouterr().out


def test_inspect_shows_all_steps(tmp_path, capsys):
    steps = Normalizer("l1"), Normalizer("max"), DictionaryClassifier(3, decision="residual")
    kerndict.save(make_pipeline(*steps).fit(X, y), tmp_path / "m")
    assert call("inspect", tmp_path / "m") == 0
    output = capsys.readouterr().out
    assert "norm=l1" in output
    assert "norm=max" in output


def test_search_prints_a_table_and_keeps_the_best(flowers, tmp_path, capsys):
    arguments = ["--label", "species", "--out", tmp_path / "m", *SMALL[4:]]
    assert call("train", flowers.train, *arguments, "--grid", "n-atoms=1,8,auto") == 0
    output, progress = capsys.readouterr()
    lines = progress.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "[1/3] n_atoms=1",
        "[2/3] n_atoms=8",
        "[3/3] n_atoms=auto",
    ]
    assert "left" in lines[0]
    lines = output.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("search:")) + 2
    table = [line.split() for line in lines[begin : begin + 3]]
    (chosen,) = (row[1] for row in table if row[0] == "*")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    losses = {}
    for name, value in (("1", 1), ("8", 8), ("auto", None)):
        one = make_pipeline(
            Normalizer(), KernelDictionaryClassifier(**{**SETTINGS, "n_atoms": value})
        )
        scores = cross_val_score(one, X[::2], y[::2], cv=folds, scoring="neg_log_loss")
        losses[name] = -scores.mean()
        (row,) = (row for row in table if row[0 if row[0] != "*" else 1] == name)
        assert f"{losses[name]:.4f}" in row
    assert chosen == min(losses, key=losses.get)
    kept = kerndict.load(tmp_path / "m")[-1].n_atoms
    assert ("auto" if kept is None else str(kept)) == chosen


def test_the_search_of_its_own_leaves_alone_what_is_given(flowers, tmp_path, capsys):
    arguments = ["--label", "species", "--out", tmp_path / "m", *SMALL, "--search"]
    assert call("train", flowers.train, *arguments) == 0
    output, progress = capsys.readouterr()
    assert len(progress.splitlines()) == 3
    assert "n_atoms" not in output.split("search:")[1]
    assert kerndict.load(tmp_path / "m")[-1].n_atoms == 8


def test_rows_without_labels_can_be_predicted(flowers, tmp_path, capsys):
    np.savez(tmp_path / "d.npz", X=X[1::2])
    assert call("predict", flowers.model, tmp_path / "d.npz") == 0
    found = capsys.readouterr().out
    assert call("predict", flowers.model, flowers.test) == 0
    assert found == capsys.readouterr().out


def test_columns_that_are_no_features_are_dropped(tmp_path, capsys):
    rows = [[str(i), *row] for i, row in enumerate(ROWS)]
    data = write(tmp_path / "d.csv", rows, ["", *FEATURES, "species"])
    arguments = ["--label", "species", "--out", tmp_path / "m", *SMALL]
    assert call("train", data, *arguments[:4], "--raw") == 1
    assert "column 0 has no name: name it, or --drop 0" in capsys.readouterr().err
    assert call("train", data, *arguments) == 0
    assert "column 0                                 without a name  left out" in (
        capsys.readouterr().out
    )
    assert kerndict.load(tmp_path / "m").feature_names_in_.tolist() == FEATURES
    assert call("train", data, *arguments, "--drop", "0,sepal_length") == 0
    assert "without a name" not in capsys.readouterr().out
    assert kerndict.load(tmp_path / "m").feature_names_in_.tolist() == FEATURES[1:]


def test_a_model_without_names_goes_by_order(flowers, tmp_path, model, capsys):
    kerndict.save(model, tmp_path / "m")  # fitted to an array
    assert call("predict", tmp_path / "m", flowers.test) == 1
    assert "has 5 feature columns, the model was trained on 4" in capsys.readouterr().err
    assert call("predict", tmp_path / "m", flowers.test, "--drop", "species") == 0
    found = capsys.readouterr().out
    assert call("predict", flowers.model, flowers.test) == 0
    assert found == capsys.readouterr().out
    assert call("evaluate", tmp_path / "m", flowers.test) == 1
    assert "--label" in capsys.readouterr().err
    assert call("evaluate", tmp_path / "m", flowers.test, "--label", "species") == 0


def test_no_rows_give_a_header(flowers, tmp_path, capsys):
    empty = write(tmp_path / "e.csv", [])
    assert call("predict", flowers.model, empty) == 0
    assert capsys.readouterr().out == "label,probability,runner_up,runner_up_probability\n"


@pytest.mark.parametrize("command", ["train", "predict", "evaluate", "inspect", "reproduce"])
def test_help_has_examples(command, capsys):
    assert call(command, "--help") == 0
    output = capsys.readouterr().out
    assert f"examples:\n  kerndict {command}" in output
    assert "--debug" in output
