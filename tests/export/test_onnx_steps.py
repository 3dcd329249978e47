"""Steps before a classifier in onnxruntime beside scikit-learn."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from kerndict import DictionaryClassifier, ModelFormatError
from kerndict.export import to_onnx

rng = np.random.default_rng(0)
y = np.repeat(["left", "right", "up"], 30)
NUMBERS = rng.standard_normal((90, 5)) + 2 * (y == "left")[:, None] * np.arange(5)
CELLS = np.column_stack([rng.integers(3, size=90), rng.integers(10, 14, size=90), NUMBERS])
GAPS = np.where(rng.random(CELLS.shape) < 0.1, np.nan, CELLS)
GAPS[:, 3] = np.nan  # nothing is known of this column


def classifier():
    return DictionaryClassifier(n_atoms=4, n_iter=1, random_state=0)


def assert_agrees(model, rows):
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    label, shares = session.run(["label", "probabilities"], {"X": np.asarray(rows, float)})
    np.testing.assert_allclose(shares, model.predict_proba(rows), rtol=0, atol=1e-7)
    assert (label == model.predict(rows)).all()


@pytest.mark.parametrize(
    "step",
    [
        PCA(3, random_state=0),
        PCA(3, whiten=True, random_state=0),
        TruncatedSVD(3, random_state=0),
        MaxAbsScaler(),
        RobustScaler(),
        RobustScaler(with_centering=False),
        RobustScaler(with_scaling=False),
        SelectKBest(k=2),
        VarianceThreshold(1.5),
        FunctionTransformer(),
        "passthrough",
        make_pipeline(StandardScaler(), PCA(2, random_state=0)),
    ],
    ids=str,
)
def test_steps_on_numbers(step):
    assert_agrees(make_pipeline(step, classifier()).fit(NUMBERS[::2], y[::2]), NUMBERS)


@pytest.mark.parametrize(
    "imputer",
    [
        SimpleImputer(),
        SimpleImputer(strategy="median", add_indicator=True),
        SimpleImputer(strategy="most_frequent", keep_empty_features=True),
        SimpleImputer(strategy="constant", fill_value=7),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")
def test_gaps(imputer):
    assert_agrees(make_pipeline(imputer, classifier()).fit(GAPS, y), GAPS)


@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")
def test_gaps_that_are_a_number():
    rows = np.where(np.isnan(GAPS), -1, CELLS)
    model = make_pipeline(SimpleImputer(missing_values=-1, add_indicator=True), classifier())
    assert_agrees(model.fit(rows, y), rows)


@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(sparse_output=False, handle_unknown="ignore"),
        OneHotEncoder(sparse_output=False, drop="first"),
        OneHotEncoder(sparse_output=False, drop="if_binary"),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        OrdinalEncoder(encoded_missing_value=-2),
    ],
    ids=str,
)
def test_categories_that_are_numbers(encoder):
    cells = CELLS[:, :2].copy()
    if encoder.get_params().get("encoded_missing_value") == -2:
        cells[::7, 0] = np.nan
    columns = ColumnTransformer(
        [("kinds", encoder, [0, 1]), ("rest", StandardScaler(), slice(2, 6))], remainder="drop"
    )
    rows = np.column_stack([cells, NUMBERS])
    model = make_pipeline(columns, Normalizer(), classifier()).fit(rows, y)
    assert_agrees(model, rows)
    strange = rows[:9].copy()
    strange[:, 0] = 99
    if encoder.handle_unknown != "error":
        assert_agrees(model, strange)


def test_columns_by_name_and_what_is_left():
    frame = pd.DataFrame(CELLS, columns=list("abcdefg"))
    columns = ColumnTransformer(
        [
            ("kinds", OneHotEncoder(sparse_output=False), ["b", "a"]),
            ("none", StandardScaler(), []),
            ("out", "drop", ["c"]),
            ("one", make_pipeline(StandardScaler(), PCA(1)), ["e", "d"]),
        ],
        remainder="passthrough",
    )
    assert_agrees(make_pipeline(columns, classifier()).fit(frame, y), frame)


def test_the_choice_of_a_search():
    pipeline = make_pipeline(StandardScaler(), classifier())
    search = GridSearchCV(pipeline, {"dictionaryclassifier__n_atoms": [2, 5]}, cv=2)
    assert_agrees(search.fit(NUMBERS, y), NUMBERS)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (KBinsDiscretizer(2, encode="ordinal"), "the step KBinsDiscretizer"),
        (FunctionTransformer(np.abs), "func=<ufunc 'absolute'>"),
        (
            ColumnTransformer([("a", StandardScaler(), [0])], transformer_weights={"a": 2}),
            "transformer_weights=",
        ),
        (OneHotEncoder(sparse_output=False, max_categories=2), "joins rare categories"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:The current default behavior, quantile_method")
def test_what_cannot_be_exported_is_named(step, words):
    model = make_pipeline(step, classifier()).fit(np.round(NUMBERS), y)
    with pytest.raises(ModelFormatError, match=words):
        to_onnx(model)


def test_texts_cannot_be_exported():
    frame = pd.DataFrame({"kind": np.where(y == "up", "big", "small"), "size": NUMBERS[:, 0]})
    encoder = OneHotEncoder(sparse_output=False)
    columns = ColumnTransformer([("kinds", encoder, ["kind"])], remainder="passthrough")
    model = make_pipeline(columns, classifier()).fit(frame, y)
    with pytest.raises(ModelFormatError, match="'big', which is no number"):
        to_onnx(model)
