"""The steps between the columns of a table and the classifier, out of scikit-learn's parts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    StandardScaler,
)

from kerndict.tables import Cells
from kerndict.tabular.dates import DateEncoder
from kerndict.tabular.roles import MOST_VALUES, Column, Role

#: Words are counted in so many places, and described by so many numbers.
HASHES, TOPICS = 2**12, 30
#: A value of a category that fewer rows have is put together with the other rare ones.
RARE = 2
SCALES = ("columns", "rows")


def front_end(columns: Sequence[Column], scale: str, n_rows: int) -> list[Any]:
    """Return the unfitted steps before the classifier.

    Parameters
    ----------
    columns : those that are features, in their order
    scale : ``"columns"``: numbers have mean 0 and deviation 1; ``"rows"``: rows have unit length
    n_rows : rows to learn from
    """
    if is_plain(columns) and (scale == "rows" or all(c.role is Role.NUMBER for c in columns)):
        return [Normalizer()] if scale == "rows" else [StandardScaler()]
    parts: list[tuple[str, Any, Any]] = []
    numbers = _places(columns, Role.NUMBER)
    skewed = _places(columns, Role.SKEWED)
    if scale == "rows":
        numbers, skewed = sorted([*numbers, *skewed]), []
    scaler = [] if scale == "rows" else [("scale", StandardScaler())]
    if numbers:
        parts.append(("numbers", Pipeline([("fill", _filler()), *scaler]), numbers))
    if skewed:
        ranks = QuantileTransformer(
            n_quantiles=min(1000, n_rows), output_distribution="normal", random_state=0
        )
        parts.append(("skewed", Pipeline([("fill", _filler()), ("ranks", ranks)]), skewed))
    if categories := _places(columns, Role.CATEGORY):
        values = OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            min_frequency=RARE,
            max_categories=MOST_VALUES,
            sparse_output=False,
        )
        gap = SimpleImputer(strategy="constant", fill_value="")
        parts.append(("categories", Pipeline([("fill", gap), ("values", values)]), categories))
    if dates := _places(columns, Role.DATE):
        steps = [("dates", DateEncoder()), ("fill", _filler()), ("scale", StandardScaler())]
        parts.append(("dates", Pipeline(steps), dates))
    for place in _places(columns, Role.WORDS):
        hashed = HashingVectorizer(n_features=HASHES, alternate_sign=False, norm=None)
        topics = TruncatedSVD(TOPICS, random_state=0)
        steps = [("words", hashed), ("weights", TfidfTransformer()), ("topics", topics)]
        parts.append((f"text {place}", Pipeline(steps), place))
    joined = ColumnTransformer(parts, sparse_threshold=0)
    return [joined, Normalizer()] if scale == "rows" else [joined]


def is_plain(columns: Sequence[Column]) -> bool:
    """Tell whether all columns are numbers without gaps."""
    return all(column.role.is_number and not column.gaps for column in columns)


def _places(columns: Sequence[Column], role: Role) -> list[int]:
    return [i for i, column in enumerate(columns) if column.role is role]


def _filler() -> SimpleImputer:
    """Return what fills gaps with the median, and marks them."""
    return SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)


def read_as(step: Any, n_features: int, names: Sequence[str] | None) -> list[Cells]:
    """Return what the columns are read as that a fitted first step takes."""
    if not isinstance(step, ColumnTransformer):
        return [Cells.TEXT if takes_text(step) else Cells.NUMBER] * n_features
    found = [Cells.NUMBER] * n_features
    for _, transformer, places in parts_of(step, names):
        if takes_text(transformer):
            for place in places:
                found[place] = Cells.TEXT
    return found


def parts_of(
    step: ColumnTransformer, names: Sequence[str] | None
) -> list[tuple[str, Any, list[int]]]:
    """Return the parts of a fitted ColumnTransformer with the places of the columns they take."""
    every = np.arange(step.n_features_in_)
    return [
        (name, part, every[_indices(columns, names)].reshape(-1).tolist())
        for name, part, columns in step.transformers_
    ]


def name_columns(step: Any, names: Sequence[str] | None) -> None:
    """Tell a fitted step, and those within it that see columns, how these are called; None forgets.

    scikit-learn warns where only one of training and prediction has names.
    """
    if isinstance(step, ColumnTransformer):
        known = getattr(step, "feature_names_in_", None) if names is None else names
        for _, part, places in parts_of(step, known):
            name_columns(part, None if names is None else [names[i] for i in places])
    elif isinstance(step, Pipeline):
        name_columns(step.steps[0][1], names)
        return
    if isinstance(step, str):  # "drop" or "passthrough"
        return
    if names is None:
        vars(step).pop("feature_names_in_", None)
    elif hasattr(step, "n_features_in_"):
        step.feature_names_in_ = np.array(names, object)


def _indices(columns: Any, names: Sequence[str] | None) -> Any:
    """Return columns by their places: names are looked up."""
    if isinstance(columns, str):
        return [_named(names).index(columns)]
    if isinstance(columns, (list, tuple, np.ndarray)) and len(columns):
        if isinstance(columns[0], str):
            return [_named(names).index(column) for column in columns]
        return np.asarray(columns)
    return np.empty(0, int) if isinstance(columns, (list, tuple, np.ndarray)) else columns


def _named(names: Sequence[str] | None) -> list[str]:
    return [] if names is None else list(names)


def takes_text(transformer: Any) -> bool:
    """Tell whether a fitted transformer takes text, by what is first in it that knows."""
    if isinstance(transformer, Pipeline):
        return any(takes_text(step) for _, step in transformer.steps)
    if isinstance(transformer, (OneHotEncoder, OrdinalEncoder)):
        return any(values.dtype.kind in "OU" for values in transformer.categories_)
    return isinstance(transformer, (DateEncoder, HashingVectorizer))


def fills_gaps(step: Any) -> bool:
    """Tell whether a fitted first step does something about gaps."""
    if isinstance(step, ColumnTransformer):
        return any(fills_gaps(transformer) for _, transformer, _ in step.transformers_)
    if isinstance(step, Pipeline):
        return any(fills_gaps(each) for _, each in step.steps)
    return isinstance(step, SimpleImputer)
