"""Every kind of step that a file can hold comes back as it was, in all versions of scikit-learn."""

from inspect import signature

import numpy as np
import pandas as pd
import pytest
from fuzz_models import parse, seal
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectKBest, VarianceThreshold, chi2
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import kerndict
from kerndict import DictionaryClassifier, KernelDictionaryClassifier, ModelFormatError
from kerndict.persistence.steps import STEPS

N = 60
RNG = np.random.default_rng(0)
LABELS = np.arange(N) % 3
#: Classes along directions of their own; all positive for what asks for that.
NUMBERS = np.abs(RNG.standard_normal((3, 6))[LABELS] + 0.1 * RNG.standard_normal((N, 6)))
GAPS = np.where(RNG.random((N, 6)) < 0.1, np.nan, NUMBERS)
CITIES = np.array(["Paris", "Łódź", "São Paulo", "Ür", "rare"], object)
WORDS = np.column_stack(
    [CITIES[np.r_[LABELS[:-1], 4]], CITIES[RNG.integers(0, 4, N)], CITIES[[0, 1] * (N // 2)]]
)
TABLE = pd.DataFrame(
    {
        "length": NUMBERS[:, 0],
        "city": pd.Series(WORDS[:, 0], dtype=object),
        "width": GAPS[:, 1],
        "count": np.arange(N) % 7,
        "yes": np.arange(N) % 2 == 0,
        "left over": NUMBERS[:, 2],
    }
)
MIXED = np.empty((N, 2), object)
MIXED[:, 0] = [("a", None, "b", "a")[i % 4] for i in range(N)]
MIXED[:, 1] = [("x", float("nan"), "y")[i % 3] for i in range(N)]


def classifier():
    return DictionaryClassifier(2, 1, n_iter=1, init="samples", random_state=0)


#: A step and what it takes; `None` after it: a further step is needed before the classifier.
STEPS_AND_ROWS = [
    (PCA(3), NUMBERS),
    (PCA(2, whiten=True, svd_solver="randomized", random_state=3), NUMBERS),
    (PCA(0.9, svd_solver="full"), NUMBERS.astype(np.float32)),
    (TruncatedSVD(3, random_state=0), NUMBERS),
    (RobustScaler(), NUMBERS),
    (RobustScaler(with_centering=False, quantile_range=(10.0, 90.0)), NUMBERS),
    (MaxAbsScaler(), NUMBERS),
    (MinMaxScaler((0, 2)), NUMBERS),
    (StandardScaler(), NUMBERS.astype(np.float32)),
    (Normalizer("l1"), NUMBERS),
    (PowerTransformer(), NUMBERS),
    (PowerTransformer("box-cox", standardize=False), NUMBERS),
    (QuantileTransformer(n_quantiles=20), NUMBERS),
    (QuantileTransformer(n_quantiles=20, output_distribution="normal"), NUMBERS),
    (SelectKBest(k=3), NUMBERS),
    (SelectKBest(chi2, k="all"), NUMBERS),
    (VarianceThreshold(0.1), NUMBERS),
    (FunctionTransformer(), NUMBERS),
    (make_pipeline(TfidfTransformer(), TruncatedSVD(3)), np.round(3 * NUMBERS)),
    (make_pipeline(TfidfTransformer(use_idf=False), TruncatedSVD(3)), np.round(3 * NUMBERS)),
    (OneHotEncoder(sparse_output=False), WORDS),
    (OneHotEncoder(sparse_output=False, drop="if_binary", dtype=np.float32), WORDS),
    (OneHotEncoder(sparse_output=False), WORDS.astype(str)),
    (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), MIXED),
    (OneHotEncoder(sparse_output=False), np.arange(N)[:, None] % 5),
    (OneHotEncoder(categories=[list(CITIES)] * 3, sparse_output=False), WORDS),
    (
        OneHotEncoder(
            sparse_output=False,
            min_frequency=8,
            drop="first",
            handle_unknown="infrequent_if_exist",
        ),
        WORDS,
    ),
    (OneHotEncoder(sparse_output=False, max_categories=3), WORDS),
    (OrdinalEncoder(), WORDS),
    (OrdinalEncoder(encoded_missing_value=-1), MIXED[:, 1:]),
    (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), WORDS),
    (OrdinalEncoder(min_frequency=8, dtype=np.float32), WORDS),
    (SimpleImputer(), GAPS),
    (SimpleImputer(strategy="median", add_indicator=True), GAPS),
    (SimpleImputer(strategy="constant", fill_value=-1.5), GAPS),
    (SimpleImputer(strategy="most_frequent"), GAPS.astype(np.float32)),
    (
        make_pipeline(
            SimpleImputer(missing_values=None, strategy="most_frequent"), OrdinalEncoder()
        ),
        MIXED[:, :1],
    ),
    (
        make_pipeline(
            SimpleImputer(missing_values="rare", strategy="constant", fill_value="none"),
            OneHotEncoder(sparse_output=False),
        ),
        WORDS,
    ),
    (make_pipeline(MissingIndicator(), FunctionTransformer()), GAPS),
    (
        ColumnTransformer(
            [
                ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["length", "width"]),
                ("texts", OneHotEncoder(), make_column_selector(dtype_include=object)),
                ("dropped", "drop", ["yes"]),
                ("none", PCA(2), []),
                ("kept", "passthrough", ["count"]),
            ],
            remainder=RobustScaler(),
            transformer_weights={"texts": 2.0},
        ),
        TABLE,
    ),
    (
        make_column_transformer(
            (OneHotEncoder(sparse_output=False), [1]), (SimpleImputer(), [2]), remainder="drop"
        ),
        TABLE.to_numpy(object),
    ),
    (
        ColumnTransformer(
            [("a", StandardScaler(), slice(0, 2)), ("b", PCA(1), [False, False, True, True])],
            remainder="passthrough",
            verbose_feature_names_out=False,
        ),
        NUMBERS[:, :4],
    ),
    (ColumnTransformer([("none", StandardScaler(), [])], remainder="passthrough"), NUMBERS),
    (ColumnTransformer([("a", "passthrough", [3, 1])], remainder="drop"), NUMBERS),
    (
        ColumnTransformer(
            [("a", StandardScaler(), ["length", "left over"])], remainder="passthrough"
        ).set_output(transform="pandas"),
        TABLE[["length", "count", "left over", "yes"]],
    ),
    (make_pipeline("passthrough", make_pipeline(PCA(3)), "passthrough", MaxAbsScaler()), NUMBERS),
]


def words_for(step):
    return " ".join(str(step).split())[:60]


CASES = pytest.mark.parametrize(
    ("step", "rows"), STEPS_AND_ROWS, ids=[words_for(step) for step, _ in STEPS_AND_ROWS]
)


def inner(step):
    """Yield a step and all fitted steps within it."""
    yield step
    parts = [part for _, part in getattr(step, "steps", [])]
    parts += [
        part
        for name, part, _ in getattr(step, "transformers_", [])
        if step._transformer_to_input_indices[name]
    ]
    parts += [getattr(step, name, None) for name in ("indicator_", "_scaler")]
    for part in parts:
        if part is not None and not isinstance(part, str):
            yield from inner(part)


def same(found, expected):
    """Tell whether two outputs are the same to the last bit."""
    if isinstance(expected, pd.DataFrame):
        return found.equals(expected)
    return found.dtype == expected.dtype and np.array_equal(
        found, expected, equal_nan=expected.dtype.kind == "f"
    )


@CASES
def test_a_step_before_the_classifier_comes_back(path, step, rows):
    model = make_pipeline(step, classifier()).fit(rows, LABELS)
    kerndict.save(model, path)
    loaded = kerndict.load(path)
    for some in [rows, *(rows[i : i + 1] for i in range(5))]:  # products of one row differ in order
        assert same(loaded[0].transform(some), model[0].transform(some))
        assert same(loaded.predict_proba(some), model.predict_proba(some))
    try:
        names = model[0].get_feature_names_out()
    except (AttributeError, ValueError):
        pass
    else:
        assert loaded[0].get_feature_names_out().tolist() == names.tolist()
    kerndict.save(loaded, path)
    kept = path.read_bytes()
    kerndict.save(kerndict.load(path), path)
    assert path.read_bytes() == kept


#: Fitted attributes that no prediction needs.
LEFT = {
    "StandardScaler": {"var_", "n_samples_seen_"},
    "MinMaxScaler": {"data_min_", "data_max_", "data_range_", "n_samples_seen_"},
    "MaxAbsScaler": {"n_samples_seen_"},
    "PCA": {"_fit_svd_solver"},
    "ColumnTransformer": {"_transformers_feature_names_out"},  # of the last table it gave
}
#: Parameters that say how often something is told, and the like.
IGNORED = {"FunctionTransformer": {"kw_args", "inv_kw_args"}}


@CASES
def test_nothing_that_scikit_learn_fits_is_forgotten(path, step, rows):
    """A version of scikit-learn with further fitted attributes or parameters fails here."""
    model = make_pipeline(step, classifier()).fit(rows, LABELS)
    kerndict.save(model, path)
    loaded = kerndict.load(path)
    for ours, theirs in zip(inner(loaded[0]), inner(model[0]), strict=True):
        kind = type(theirs).__name__
        missing = vars(theirs).keys() - vars(ours).keys() - LEFT.get(kind, set())
        assert missing - {"_sklearn_output_config"} == set(), kind
        assert vars(ours).keys() - vars(theirs).keys() <= {"_fill_dtype", "_scaler"}, kind
        if kind == "ColumnTransformer":
            for name in ("output_indices_", "sparse_output_", "_transformer_to_input_indices"):
                assert getattr(ours, name) == getattr(theirs, name), name
        if kind in STEPS:
            told = {*STEPS[kind].parameters, *STEPS[kind].untold, *IGNORED.get(kind, ())}
            assert set(signature(type(theirs)).parameters) <= told, kind


def test_a_loaded_pipeline_is_learned_again_as_the_first_time(path):
    step, rows = next(case for case in STEPS_AND_ROWS if isinstance(case[0], ColumnTransformer))
    model = make_pipeline(step, classifier()).fit(rows, LABELS)
    kerndict.save(model, path)
    expected = model.predict_proba(rows)
    assert same(kerndict.load(path).fit(rows, LABELS).predict_proba(rows), expected)
    again = kerndict.load(path)
    again.set_params(columntransformer__numbers__standardscaler__with_mean=False)
    assert not same(again.fit(rows, LABELS).predict_proba(rows), expected)


@pytest.mark.parametrize("search", [GridSearchCV, RandomizedSearchCV])
def test_a_search_is_saved_by_what_it_chose(path, search):
    pipeline = Pipeline([("pca", PCA(2)), ("last", classifier())])
    options = {"n_iter": 2} if search is RandomizedSearchCV else {}
    model = search(pipeline, {"pca__n_components": [3, 4]}, cv=2, **options)
    with pytest.raises(NotFittedError, match="SearchCV is not fitted"):
        kerndict.save(model, path)
    model.fit(NUMBERS, LABELS)
    kerndict.save(model, path)
    loaded = kerndict.load(path)
    assert isinstance(loaded, Pipeline)
    assert same(loaded.predict_proba(NUMBERS), model.predict_proba(NUMBERS))


def test_a_search_within_a_pipeline(path):
    search = GridSearchCV(make_pipeline(PCA(2), classifier()), {"pca__n_components": [3]}, cv=2)
    model = make_pipeline(RobustScaler(), search).fit(NUMBERS, LABELS)
    kerndict.save(model, path)
    assert same(kerndict.load(path).predict_proba(NUMBERS), model.predict_proba(NUMBERS))


def test_a_pipeline_that_ends_in_a_pipeline_of_a_kernel_classifier(path):
    last = KernelDictionaryClassifier(3, 1, n_iter=1, sigma=2.0, init="samples", random_state=0)
    model = make_pipeline(MaxAbsScaler(), make_pipeline(PCA(4), last)).fit(NUMBERS, LABELS)
    kerndict.save(model, path)
    assert same(kerndict.load(path).predict_proba(NUMBERS), model.predict_proba(NUMBERS))


def test_names_of_features_that_were_not_fitted_go_to_the_first_step(path):
    from kerndict.persistence import save_named

    model = make_pipeline(make_pipeline(RobustScaler()), classifier()).fit(NUMBERS, LABELS)
    save_named(model, path, list("abcdef"))
    assert kerndict.load(path)[0][0].feature_names_in_.tolist() == list("abcdef")


@pytest.mark.parametrize("values", [[pd.Timestamp("2020-01-01")], [pd.NA], [b"bytes"], [1 + 2j]])
def test_categories_that_cannot_be_written(path, values):
    rows = np.empty((N, 1), object)
    rows[:, 0] = values * N
    if values[0] is pd.NA:
        step = SimpleImputer(missing_values=pd.NA, strategy="constant", fill_value="x")
        step = make_pipeline(step, OneHotEncoder(sparse_output=False))
    else:
        step = OneHotEncoder(sparse_output=False)
    rows = np.column_stack([rows, WORDS[:, 0]]) if values[0] is not pd.NA else WORDS
    model = make_pipeline(step, classifier()).fit(rows.astype(object), LABELS)
    with pytest.raises(ModelFormatError, match=r"cannot (hold|be written)"):
        kerndict.save(model, path)
    assert not path.exists()


def test_a_parameter_that_an_older_scikit_learn_does_not_have(path, monkeypatch):
    model = make_pipeline(MaxAbsScaler(), classifier()).fit(NUMBERS, LABELS)
    kerndict.save(model, path)
    document, arrays = parse(path.read_bytes())
    document["steps"][0]["parameters"] = {"copy": True, "clip": False}
    path.write_bytes(seal(document, arrays))
    names = {"copy": True}
    monkeypatch.setattr(MaxAbsScaler, "get_params", lambda self, deep=True: names)
    assert same(kerndict.load(path).predict(NUMBERS), model.predict(NUMBERS))
    document["steps"][0]["parameters"]["clip"] = True
    path.write_bytes(seal(document, arrays))
    with pytest.raises(ModelFormatError, match=r"no parameter 'clip' of MaxAbsScaler.*newer"):
        kerndict.load(path)


def test_headers_stay_small_with_many_columns_and_categories(path):
    rows = np.arange(N)[:, None] * np.arange(1, 2001) % 7
    step = ColumnTransformer([("a", OneHotEncoder(sparse_output=False), list(range(2000)))])
    kerndict.save(make_pipeline(step, PCA(3), classifier()).fit(rows, LABELS), path)
    assert int.from_bytes(path.read_bytes()[:8], "little") < 8000
    assert kerndict.load(path)[0].output_indices_["a"] == slice(0, 14000 - 7 * 285 + 285)
