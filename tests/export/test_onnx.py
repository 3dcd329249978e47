"""Exported models in onnxruntime beside our own predictions."""

import json

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from conftest import toy
from flowers import call
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler, normalize
from sklearn.svm import SVC

import kerndict
from kerndict import DictionaryClassifier, KernelDictionaryClassifier, ModelFormatError
from kerndict.export import to_onnx

onnxruntime.set_default_logger_severity(3)

X, y = toy(n_classes=4, per_class=24, n_features=14, noise=0.5)
kept = np.flatnonzero((y > 0) | (np.arange(len(y)) < 5))  # a small class first
X, y = X[kept], y[kept]
new = toy(n_classes=4, per_class=24, n_features=14, noise=0.5, seed=1)[0]
new = np.vstack([new, np.zeros((1, 14)), 1e3 * new[:1], 1e-3 * new[:1], X[:9]])
SMALL = {"n_iter": 2, "random_state": 0}
RULES = ["residual", "collaborative"]


def outputs(model, rows, dtype="float64"):
    """Return what onnxruntime makes of rows, by name."""
    exported = to_onnx(model, dtype)
    onnx.checker.check_model(exported, full_check=True)
    session = onnxruntime.InferenceSession(exported.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": np.asarray(rows, dtype)}), strict=True))


def ours(model, rows):
    """Return the classifier, and rows as its model takes them."""
    if not hasattr(model, "steps"):
        return model, model.check_rows(rows)
    return model[-1], model[-1].check_rows(model[:-1].transform(rows))


def assert_agrees(model, rows, tolerance=1e-6):
    """Compare all outputs in double precision; those of labels where scores tell them apart."""
    found = outputs(model, rows)
    classifier, checked = ours(model, rows)
    scores = classifier.model_.scores(checked)
    largest = np.abs(scores).max(axis=1, keepdims=True)
    assert (np.abs(found["scores"] - scores) <= tolerance * largest).all()
    best, second = np.sort(scores, axis=1)[:, :-3:-1].T
    clear = best - second > tolerance * largest[:, 0]
    assert clear.mean() > 0.5
    assert (found["label"] == model.predict(rows))[clear].all()
    assert set(found) == {"label", "scores"} | (
        {"probabilities", "typicality"} if classifier.model_.rule.has_probabilities else set()
    )
    if "probabilities" in found:
        shares = model.predict_proba(rows)
        np.testing.assert_allclose(found["probabilities"], shares, rtol=0, atol=tolerance)
        expected = classifier.typicality(checked)
        # Scores of ours and theirs may lie on the two sides of one held-out sample.
        step = 1.01 / (1 + len(classifier.model_.rule.held_out))
        assert (np.abs(found["typicality"] - expected) <= step).all()
        assert (found["typicality"] == expected).mean() > 0.9


@pytest.mark.parametrize("decision", RULES)
@pytest.mark.parametrize("kernel", [None, "rbf", "poly", "linear"])
@pytest.mark.parametrize("atoms", [(None, None), (4, 2), (1, 1)])
def test_exact_models(kernel, decision, atoms):
    n_atoms, n_nonzero_coefs = atoms
    options = {**SMALL, "decision": decision, "n_atoms": n_atoms}
    options["n_nonzero_coefs"] = n_nonzero_coefs
    if kernel is None:
        model = DictionaryClassifier(**options)
    else:
        model = KernelDictionaryClassifier(kernel=kernel, sigma=5.0, coef0=0.5, **options)
    assert_agrees(model.fit(X, y), new)


@pytest.mark.parametrize("kernel", [None, "rbf", "poly"])
@pytest.mark.parametrize("options", [{}, {"n_landmarks": 30}])
@pytest.mark.parametrize("unit", [False, True])
def test_rows_are_prepared(kernel, options, unit):
    settings = {**SMALL, "within_class_whitening": 1.0, "square_root": True, **options}
    if kernel is None:
        model = DictionaryClassifier(**settings)
    else:
        model = KernelDictionaryClassifier(kernel=kernel, **settings)
    rows, others = (normalize(Z) for Z in (X, new)) if unit else (X, new)
    assert_agrees(model.fit(rows, y), np.vstack([others, np.zeros_like(others[:1])]))


@pytest.mark.parametrize("kernel", [None, "rbf", "poly", "linear"])
@pytest.mark.parametrize("decision", RULES)
def test_models_with_landmarks(kernel, decision):
    options = {**SMALL, "n_landmarks": 40, "decision": decision, "n_atoms": 5}
    if kernel is None:
        model = DictionaryClassifier(**options | {"n_landmarks": 10})
    else:
        model = KernelDictionaryClassifier(kernel=kernel, **options)
    assert_agrees(model.fit(X, y), new)


@pytest.mark.parametrize("decision", RULES)
@pytest.mark.parametrize("uneven", [False, True])
def test_precomputed_kernels(decision, uneven):
    scales = (1 + np.arange(len(X)) % 3) if uneven else np.ones(len(X))
    model = KernelDictionaryClassifier(kernel="precomputed", decision=decision, **SMALL)
    model.fit(rbf_kernel(X) * np.outer(scales, scales), y)
    assert_agrees(model, rbf_kernel(new, X) * scales)


@pytest.mark.parametrize("kernel", [None, "rbf", "poly"])
@pytest.mark.parametrize("n_landmarks", ["all", 12])
def test_rows_that_are_prepared(kernel, n_landmarks):
    options = {**SMALL, "within_class_whitening": 2.0, "square_root": True, "n_atoms": 4}
    options["n_landmarks"] = n_landmarks
    kind = DictionaryClassifier if kernel is None else KernelDictionaryClassifier
    model = kind(**options) if kernel is None else kind(kernel=kernel, **options)
    for rows in (X, X / np.linalg.norm(X, axis=1, keepdims=True)):
        model.fit(rows, y)
        assert model.model_.space.preparation is not None
        assert_agrees(model, new)


def test_classes_of_very_different_sizes():
    sizes = np.array([3, 40, 5, 17, 64, 3])
    rows, labels = toy(n_classes=6, per_class=64, n_features=60, noise=0.4)
    rows = np.vstack([rows[labels == c][:size] for c, size in enumerate(sizes)])
    labels = np.repeat(np.arange(6), sizes)
    for decision in RULES:
        for kind in (DictionaryClassifier, KernelDictionaryClassifier):
            model = kind(decision=decision, n_atoms=0.5, n_nonzero_coefs=2, **SMALL).fit(
                rows, labels
            )
            assert_agrees(model, rows[::2] + 0.1)
            nodes = len(to_onnx(model).graph.node)
            assert nodes < 400, f"{nodes} nodes"


def test_atoms_that_depend_on_each_other():
    rows = np.repeat(X, 2, axis=0)
    model = KernelDictionaryClassifier(
        decision="residual", n_atoms=12, n_nonzero_coefs=6, init="samples", n_iter=0, random_state=0
    )
    assert_agrees(model.fit(rows, np.repeat(y, 2)), new)


def test_the_graph_does_not_grow_with_the_classes():
    def nodes(n_classes):
        rows, labels = toy(n_classes=n_classes, per_class=8)
        model = DictionaryClassifier(decision="residual", n_atoms=4, n_nonzero_coefs=2, **SMALL)
        return len(to_onnx(model.fit(rows, labels)).graph.node)

    assert nodes(20) == nodes(3)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["ä", "bee", "c", "d"]),
        np.array(["ä", "bee", "c", "d"], object),
        np.array([-3, 5, 7, 2**40]),
        np.array([1, 2, 3, 200], np.uint8),
        np.array([0.0, 1.0, 2.0, 9.0]),
    ],
    ids=lambda labels: labels.dtype.name,
)
def test_labels_keep_their_kind(labels):
    model = DictionaryClassifier(n_atoms=4, **SMALL).fit(X, labels[y])
    found = outputs(model, new)["label"]
    assert found.tolist() == model.predict(new).tolist()
    kinds = {"U": "O", "u": "i"}
    assert found.dtype.kind == kinds.get(labels.dtype.kind, labels.dtype.kind)


def test_two_classes_of_booleans():
    model = KernelDictionaryClassifier(**SMALL).fit(X, y > 1)
    found = outputs(model, new)
    assert found["label"].dtype == bool
    assert (found["label"] == model.predict(new)).all()
    expected = model.decision_function(new)
    np.testing.assert_allclose(found["scores"] @ [-1, 1], expected, atol=1e-6)


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_pipelines_of_scalers(norm):
    model = make_pipeline(
        StandardScaler(with_std=norm != "l1"),
        MinMaxScaler((-2, 3), clip=norm == "max"),
        Normalizer(norm),
        KernelDictionaryClassifier(n_atoms=4, **SMALL),
    ).fit(X, y)
    assert_agrees(model, new)


def test_a_model_in_single_precision():
    rows = X.astype(np.float32)
    model = KernelDictionaryClassifier(n_atoms=4, **SMALL).fit(rows, y)
    assert_agrees(model, new.astype(np.float32), tolerance=2e-3)
    shifted = KernelDictionaryClassifier(n_atoms=4, **SMALL).fit(X + 1e6, y)
    assert shifted.model_.space.kernel.shift is not None
    assert_agrees(shifted, new[:80] + 1e6)


@pytest.mark.parametrize("decision", RULES)
def test_float32_agrees_on_digits(decision):
    digits, labels = load_digits(return_X_y=True)
    options = {"decision": decision, "n_atoms": 15, "n_nonzero_coefs": 5, "random_state": 0}
    model = make_pipeline(Normalizer(), KernelDictionaryClassifier(**options))
    model.fit(digits[::3], labels[::3])
    found = outputs(model, digits, "float32")
    assert all(value.dtype == np.float32 for name, value in found.items() if name != "label")
    assert (found["label"] == model.predict(digits)).mean() >= 0.995


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("yaleb", {}),
        ("coil20", {"decision": "residual", "n_atoms": 20, "n_nonzero_coefs": 6}),
        ("usps", {"n_landmarks": 300}),
    ],
)
def test_feature_files(name, options, data_folder):
    data = np.load(data_folder / f"{name}.npz")
    rows, labels = data["X"].astype(np.float64), data["y"]
    train = data["train"] if "train" in data else np.arange(len(labels)) % 2 == 0
    few = np.flatnonzero(train)[:2000] if name == "usps" else np.flatnonzero(train)
    model = make_pipeline(Normalizer(), KernelDictionaryClassifier(random_state=0, **options))
    model.fit(rows[few], labels[few])
    test = rows[~train][:1500]
    assert_agrees(model, test)
    assert (outputs(model, test, "float32")["label"] == model.predict(test)).mean() >= 0.995


def test_what_is_not_supported_is_named():
    def code(A, B):
        return A @ B.T

    model = KernelDictionaryClassifier(kernel=code, n_atoms=4, **SMALL).fit(X, y)
    with pytest.raises(ModelFormatError, match=r"kernel=<function.*cannot be exported"):
        to_onnx(model)
    model = make_pipeline(PCA(3), SVC()).fit(X, y)
    with pytest.raises(TypeError, match="holds no kerndict classifier"):
        to_onnx(model)
    classifier = DictionaryClassifier(n_atoms=2, **SMALL)
    scaler = type("OtherScaler", (StandardScaler,), {})()
    model = make_pipeline(scaler, classifier).fit(X, y)
    with pytest.raises(ModelFormatError, match=r"the step OtherScaler\(\) cannot be exported"):
        to_onnx(model)
    with pytest.raises(ValueError, match="dtype='float16' is not known"):
        to_onnx(classifier.fit(X, y), "float16")


def test_the_same_model_gives_the_same_bytes(path):
    model = KernelDictionaryClassifier(n_atoms=4, **SMALL).fit(X, y)
    first = to_onnx(model).SerializeToString(deterministic=True)
    kerndict.save(model, path)
    assert to_onnx(kerndict.load(path)).SerializeToString(deterministic=True) == first


def test_the_command(flowers, tmp_path, capsys):
    out = tmp_path / "flowers.onnx"
    assert call("export", flowers.model, "--out", out) == 0
    printed = capsys.readouterr().out
    assert str(out) in printed
    assert "label, scores, probabilities, typicality" in printed
    exported = onnx.load(out)
    described = {entry.key: json.loads(entry.value) for entry in exported.metadata_props}
    model = kerndict.load(flowers.model)
    assert described["classes"] == model.classes_.tolist()
    assert described["feature_names"] == model.feature_names_in_.tolist()
    rows = np.loadtxt(flowers.test, delimiter=",", skiprows=1, usecols=range(4))
    session = onnxruntime.InferenceSession(out)
    (label,) = session.run(["label"], {"X": rows})
    table = pd.DataFrame(rows, columns=model.feature_names_in_)
    assert label.tolist() == model.predict(table).tolist()
    assert call("export", flowers.model, "--out", out, "--float32") == 0
    assert onnx.load(out).graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    assert call("export", flowers.model, "--out", flowers.model) == 2
