"""Saved and loaded: the same model, bit for bit, and nothing that prediction does not need."""

import dataclasses
import json
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from conftest import TOLERANCE, close, toy
from fuzz_models import parse, same
from make_models import COLLABORATIVE, FOLDER, METHODS, RESIDUAL, kept_rows, models, outputs
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

import kerndict
from kerndict import DictionaryClassifier, KernelDictionaryClassifier
from kerndict._pipelines import taken_apart

X, y = toy(n_classes=4, per_class=20, n_features=33, noise=0.5)
kept = np.flatnonzero((y > 0) | (np.arange(len(y)) < 5))  # a small class first
X, y = X[kept], y[kept]
new = toy(n_classes=4, per_class=20, n_features=33, noise=0.5, seed=1)[0]
AUTOMATIC = {"n_atoms": None, "n_nonzero_coefs": None, "n_iter": 2, "random_state": 0}


def again(model, path):
    kerndict.save(model, path)
    return kerndict.load(path)


def assert_same(model, loaded, new=new):
    for rows in (new, new[:1], new[3:10], np.asfortranarray(new)):
        assert same(outputs(loaded, rows), outputs(model, rows))


def atoms(model):
    return model.dual_dictionaries_ if hasattr(model, "X_fit_") else model.dictionaries_


@pytest.mark.parametrize("decision", ["residual", "collaborative"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_iter", [0, 2])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kernel", [None, "rbf", "poly", "linear", "precomputed", "uneven"])
def test_predictions_are_equal_bit_for_bit(path, kernel, order, n_iter, dtype, decision):
    options = {**AUTOMATIC, "n_iter": n_iter, "decision": decision}
    rows, fresh = (np.asarray(Z, dtype, order=order) for Z in (X, new))
    if kernel is None:
        model = DictionaryClassifier(**options)
    elif kernel in ("precomputed", "uneven"):
        scales = (1 + np.arange(len(X)) % 3) if kernel == "uneven" else np.ones(len(X))
        fresh = (rbf_kernel(new, X) * scales).astype(dtype)
        rows = np.asarray(rbf_kernel(X) * np.outer(scales, scales), dtype, order=order)
        model = KernelDictionaryClassifier(kernel="precomputed", **options)
    else:
        model = KernelDictionaryClassifier(kernel=kernel, sigma=5.0, **options)
    model.fit(rows, y)
    loaded = again(model, path)
    assert_same(model, loaded, fresh)
    for one, other in zip(atoms(model), atoms(loaded), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
    if kernel == "uneven":
        diagonal = np.full(len(fresh), 2.0)
        expected = model.class_residuals(fresh, diagonal)
        np.testing.assert_array_equal(loaded.class_residuals(fresh, diagonal), expected)


@pytest.mark.parametrize(
    "names",
    [
        np.array([3, -1, 7, 100]),
        np.array([3, 1, 7, 100], np.uint8),
        np.array([3, 1, 7, 100], ">i4"),
        np.array([1.0, 2.0, 4.0, 3.0]),
        np.array([1.0, 2.0, 4.0, 3.0], np.float32),
        np.array([False, True, True, True]),
        np.array(["b", "", "ä" * 40, "日本"]),
        np.array(["b", "a", "c", "d"], "<U30"),
        np.array(["b", "", "ä" * 40, "a\0"], object),
    ],
    ids=repr,
)
@pytest.mark.parametrize("decision", ["residual", "collaborative"])
def test_labels_keep_their_type(path, names, decision):
    model = DictionaryClassifier(5, 2, n_iter=1, decision=decision, random_state=0)
    loaded = again(model.fit(X, names[y]), path)
    assert_same(model, loaded)
    assert loaded.classes_.dtype == model.classes_.dtype.newbyteorder("=")
    assert [type(label) for label in loaded.classes_] == [type(label) for label in model.classes_]


def test_only_the_training_codes_are_left_behind(path):
    for _, model, _ in models():
        loaded = again(model, path)
        model, loaded = taken_apart(model).classifier, taken_apart(loaded).classifier
        assert vars(model).keys() == vars(loaded).keys()
        linear = isinstance(model, DictionaryClassifier)
        for ours, theirs, left in (
            (model.model_, loaded.model_, {"codes"}),
            (model.model_.space, loaded.model_.space, {"fit_indices"} if linear else set()),
            (model.model_.rule, loaded.model_.rule, set()),
        ):
            assert type(ours) is type(theirs)
            for name in (field.name for field in dataclasses.fields(ours)):
                kind = type(None) if name in left else type(getattr(ours, name))
                assert type(getattr(theirs, name)) is kind, name


@pytest.mark.parametrize("classifier", [DictionaryClassifier, KernelDictionaryClassifier])
def test_a_loaded_model_explains_itself(path, classifier):
    model = classifier(5, 2, n_iter=1, ridge=0.1, random_state=0).fit(X, y)
    ours, theirs = model.explain(X[:3]), again(model, path).explain(X[:3])
    np.testing.assert_array_equal(ours.atoms, theirs.atoms)
    np.testing.assert_array_equal(ours.coefficients, theirs.coefficients)
    if classifier is DictionaryClassifier:  # which samples were behind an atom is not kept
        assert (theirs.training_samples == -1).all()
    else:
        np.testing.assert_array_equal(ours.training_samples, theirs.training_samples)


def test_a_loaded_model_is_a_citizen(path):
    model = KernelDictionaryClassifier(np.int64(5), 2, sigma=np.float32(5), n_iter=1, ridge=0.1)
    loaded = again(model.fit(X, y), path)
    assert loaded.get_params() == model.get_params()
    plain = repr(model).replace("np.int64(5)", "5").replace("np.float32(5.0)", "5.0")
    assert "".join(repr(loaded).split()) == "".join(plain.split())  # wrapped elsewhere
    assert loaded.sigma_ == model.sigma_
    assert loaded.n_iter_ == 1
    assert loaded.score(X, y) == model.score(X, y)
    assert_same(model, loaded.set_params(n_jobs=2))
    fresh = clone(loaded).set_params(random_state=0).fit(X, y)
    assert_same(fresh, clone(model).set_params(random_state=0).fit(X, y))
    assert_same(loaded, again(loaded, path))


def test_saving_twice_gives_the_same_bytes(path, tmp_path):
    model = make_pipeline(StandardScaler(), DictionaryClassifier(**RESIDUAL)).fit(X, y)
    kerndict.save(model, path)
    kerndict.save(kerndict.load(path), tmp_path / "second")
    assert path.read_bytes() == (tmp_path / "second").read_bytes()


SCALERS = [
    (),
    (Normalizer(),),
    (Normalizer("max", copy=False), Normalizer("l1")),
    (StandardScaler(), MinMaxScaler((-2, 0.5), clip=True), Normalizer()),
    (StandardScaler(with_mean=False), StandardScaler(with_std=False)),
    (StandardScaler(with_mean=False, with_std=False), MinMaxScaler()),
    (MinMaxScaler(), Normalizer(), StandardScaler()) * 30,
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("steps", SCALERS, ids=range(len(SCALERS)))
def test_pipelines(path, steps, dtype):
    steps = [clone(step) for step in steps]
    model = make_pipeline(*steps, KernelDictionaryClassifier(**COLLABORATIVE, sigma=3.0))
    model.fit(X.astype(dtype), y)
    loaded = again(model, path)
    assert [name for name, _ in loaded.steps] == [name for name, _ in model.steps]
    assert [repr(step) for step in loaded] == [repr(step) for step in model]
    for rows in (new.astype(dtype), new[:1].astype(dtype)):
        for name in METHODS:
            expected = getattr(model, name)(rows.copy())
            np.testing.assert_array_equal(getattr(loaded, name)(rows.copy()), expected, strict=True)


@pytest.mark.parametrize("output", [None, "pandas"])
def test_feature_names(path, output):
    columns = [f"feature {i}" for i in range(32)] + ["größe"]
    frame, fresh = (pd.DataFrame(Z, columns=columns) for Z in (X, new))
    labels = pd.Series(np.array(["ash", "birch", "cedar", "elm"])[y])
    model = make_pipeline(MinMaxScaler(), Normalizer(), DictionaryClassifier(**COLLABORATIVE))
    if output:
        model.set_output(transform=output)
    loaded = again(model.fit(frame, labels), path)
    assert hasattr(loaded[-1], "feature_names_in_") == bool(output)
    np.testing.assert_array_equal(loaded.feature_names_in_, model.feature_names_in_, strict=True)
    assert same(outputs(loaded, fresh), outputs(model, fresh))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(fresh[columns[::-1]])


def test_the_file_is_readable_by_others(path):
    from safetensors import safe_open

    kerndict.save(make_pipeline(Normalizer(), DictionaryClassifier(**RESIDUAL)).fit(X, y), path)
    with safe_open(path, framework="np") as file:
        document = json.loads(file.metadata()["kerndict"])
        np.testing.assert_array_equal(file.get_tensor("classes"), np.unique(y))
    assert document["format_version"] == 2
    assert document["label_dtype"] == "int64"
    assert [step["class"] for step in document["steps"]] == ["Normalizer", "DictionaryClassifier"]
    assert document["steps"][1]["parameters"]["n_atoms"] == 3
    assert set(document["versions"]) >= {"kerndict", "numpy", "scikit-learn", "python"}


def test_what_is_written_is_what_prediction_needs(path):
    model = KernelDictionaryClassifier(**COLLABORATIVE, sigma=5.0, within_class_whitening=0)
    kerndict.save(model.fit(X, y), path)
    needed = [
        *model.dual_dictionaries_,
        *model.model_.grams,
        model.X_fit_,
        model.model_.rule.inverse,
    ]
    rows = 8 * len(X)  # fit_indices_
    assert path.stat().st_size < sum(array.nbytes for array in needed) + rows + 4500  # the header


def test_models_with_many_classes_keep_their_headers_small(path):
    n_classes = 3000
    rows = np.random.default_rng(0).standard_normal((2 * n_classes, 4))
    model = DictionaryClassifier(1, 1, n_iter=0, decision="residual")
    loaded = again(model.fit(rows, np.arange(2 * n_classes) // 2), path)
    assert int.from_bytes(path.read_bytes()[:8], "little") < 4000
    np.testing.assert_array_equal(loaded.predict(rows[:50]), model.predict(rows[:50]))


def test_loading_takes_little_more_memory_than_the_file(path):
    rows = np.random.default_rng(0).standard_normal((1000, 500))
    model = KernelDictionaryClassifier(5, 2, n_iter=0, sigma=30.0, random_state=0)
    kerndict.save(model.fit(rows, np.arange(1000) % 4), path)
    kerndict.load(path)
    tracemalloc.start()
    try:
        kerndict.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2.5 * path.stat().st_size


# ------------------------------------------------------------------------------ files for ever

SAVED = sorted(FOLDER.glob("*.safetensors"))


def test_there_is_a_file_of_each_kind():
    assert {path.stem for path in SAVED} >= {name for name, _, _ in models()}


@pytest.mark.parametrize("saved", SAVED, ids=lambda path: path.stem)
def test_files_of_all_versions_load_for_ever(saved):
    model = kerndict.load(saved)
    with np.load(saved.with_suffix(".npz")) as recorded:
        recorded = {name: recorded[name] for name in recorded.files if name != "X"}
    found = outputs(model, kept_rows(saved))
    assert found.keys() == recorded.keys()
    np.testing.assert_array_equal(found.pop("predict"), recorded.pop("predict"))
    for name, array in recorded.items():
        assert found[name].dtype == array.dtype
        close(found[name], array, TOLERANCE[array.dtype.type])


def test_no_file_holds_more_than_the_format_says():
    for saved in SAVED:
        document, arrays = parse(saved.read_bytes())
        assert set(document) == {"format_version", "label_dtype", "sha256", "steps", "versions"}
        assert not [name for name in arrays if "codes" in name]
