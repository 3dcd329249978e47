"""What follows from the stored attributes of some steps, and whether these go together."""

from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerndict.exceptions import ModelFormatError
from kerndict.tabular.dates import FORMATS


def one_hot(step: Any, letters: dict[str, Any]) -> None:
    """Make a one-hot encoder fitted: categories, groups of rare ones, those that are dropped."""
    _categories(step, letters, {})  # a gap is a category like any other
    step._set_drop_idx()
    step._n_features_outs = step._compute_n_features_outs()


def ordinal(step: Any, letters: dict[str, Any]) -> None:
    """Make an ordinal encoder fitted: categories, groups of rare ones, the places of gaps."""
    gaps = {
        i: len(categories) - 1
        for i, categories in enumerate(step.categories_)
        if categories is not None and len(categories) and _is_gap(categories[-1])
    }
    _categories(step, letters, gaps)
    unknown = step.unknown_value
    if step.handle_unknown == "use_encoded_value" and type(unknown) not in (int, float):
        raise ModelFormatError(f"unknown_value={short(unknown)} is not a number.")
    values = [unknown, *([step.encoded_missing_value] if gaps else [])]
    if np.dtype(step.dtype).kind != "f" and any(map(_is_gap, values)):
        raise ModelFormatError(f"{step!r} cannot give NaN.")
    if gaps and type(step.encoded_missing_value) not in (int, float):
        raise ModelFormatError(f"{step!r} needs a number for gaps.")
    step._missing_indices = gaps


def _is_gap(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _categories(step: Any, letters: dict[str, Any], gaps: dict[int, int]) -> None:
    """Check the categories and group the rare ones; ``gaps`` are not among these."""
    if len(step.categories_) != letters["m"]:
        raise ModelFormatError(f"{step!r} needs one array of categories per feature.")
    for categories in step.categories_:
        _check_categories(categories)
    if step.categories == "given":
        step.categories = list(step.categories_)
    elif step.categories != "auto":
        raise ModelFormatError(f"categories={short(step.categories)} is not 'auto'.")
    step._infrequent_enabled = step.max_categories is not None or step.min_frequency is not None
    rare = step._infrequent_indices
    if rare is None:
        del step._infrequent_indices
    if (rare is None) == step._infrequent_enabled or len(rare or ()) not in (0, letters["m"]):
        raise ModelFormatError(f"the array 'infrequent_indices' does not go with {step!r}.")
    if rare is not None:
        step._default_to_infrequent_mappings = [
            None if indices is None else _grouping(indices, len(categories) - (i in gaps))
            for i, (indices, categories) in enumerate(zip(rare, step.categories_, strict=True))
        ]


def _check_categories(categories: NDArray | None) -> None:
    """Check that there are categories, each of them once, and numbers in order."""
    if categories is None or not len(categories):
        raise ModelFormatError("a feature has no categories.")
    known = categories[:-1] if _is_gap(categories[-1]) else categories
    if categories.dtype == object:
        items = known.tolist()
        right = len(set(items)) == len(items) and not any(map(_is_gap, items))
    else:
        right = bool((known == known).all() and (known[:-1] < known[1:]).all())
    if not right:
        raise ModelFormatError("categories are there twice, or not in order.")


def _grouping(indices: NDArray, count: int) -> NDArray:
    """Return the number of each category where the rare ones are the last one together."""
    right = indices.dtype == np.int64 and 1 <= len(indices) <= count
    if not right or indices[0] < 0 or indices[-1] >= count or (np.diff(indices) <= 0).any():
        raise ModelFormatError("the rare categories are not those of the categories.")
    numbers = np.empty(count, np.int64)
    numbers[indices] = count - len(indices)
    numbers[np.setdiff1d(np.arange(count), indices)] = np.arange(count - len(indices))
    return numbers


def imputer(step: Any, letters: dict[str, Any]) -> None:
    """Make an imputer fitted."""
    if step.statistics_.shape != (letters["m"],):
        raise ModelFormatError(f"{step!r} needs one value per feature to fill in.")
    if step._fill_dtype is None:  # of files that scikit-learn 1.6 wrote
        step._fill_dtype = step.statistics_.dtype
    statistics = step.statistics_.tolist()
    filled = statistics if step.keep_empty_features else [s for s in statistics if s == s]
    try:
        np.array(filled, object).astype(step._fill_dtype)
    except (TypeError, ValueError, OverflowError):
        raise ModelFormatError(f"{step!r} cannot fill in {short(filled)}.") from None
    if step.indicator_ is not None:
        within = getattr(step.indicator_, "_n_features", None)
        if within != letters["m"] or not step.indicator_._precomputed:
            raise ModelFormatError(f"the indicator of {step!r} has other features.")


def imputed_width(step: Any) -> int:
    """Return how many features an imputer gives: those without any value are left out."""
    statistics = step.statistics_.tolist()
    count = sum(step.keep_empty_features or item == item for item in statistics)
    return count + (len(step.indicator_.features_) if step.add_indicator else 0)


def indicator(step: Any, letters: dict[str, Any]) -> None:
    """Check the features that an indicator marks."""
    n_features, marked = step._n_features, step.features_
    right = not len(marked) or (marked[-1] < n_features and (np.diff(marked) > 0).all())
    if not right or letters.get("m", n_features) != n_features:
        raise ModelFormatError(f"the features that {step!r} marks are not among its features.")


def tfidf(step: Any, letters: dict[str, Any]) -> None:
    """Leave out weights that are not used."""
    if step.idf_ is None:
        del step.idf_


def dates(step: Any, letters: dict[str, Any]) -> None:
    """Check that there is a known way of writing dates for each feature."""
    formats, times = step.formats_, step.has_time_
    right = formats.shape == times.shape == (letters["m"],) and times.dtype == bool
    if not right or not set(formats.tolist()) <= set(FORMATS):
        raise ModelFormatError(f"the formats of {step!r} are not known.")
