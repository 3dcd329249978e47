"""Gaps and categories, where they are numbers: imputers and encoders as nodes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from kerndict.exceptions import ModelFormatError
from kerndict.export.graph import Graph


def impute(graph: Graph, step: SimpleImputer, X: str) -> str:
    """Fill gaps with what was learned of each column; mark them behind, if the step does."""
    missing = graph.cast(_equal(graph, X, step.missing_values), np.bool_)
    filled = _numbers(step, "statistics_", step.statistics_)
    empty = np.isnan(filled)
    found = graph.op("Where", missing, graph.reals(np.where(empty, 0, filled)), X)
    if empty.any() and not step.keep_empty_features:
        found = graph.columns(found, np.flatnonzero(~empty))
    if step.indicator_ is None:
        return found
    marks = graph.columns(graph.cast(missing), step.indicator_.features_)
    return graph.op("Concat", found, marks, axis=1)


def one_hot(graph: Graph, step: OneHotEncoder, X: str) -> str:
    """Write 1 in the column of a category; what is not known gives zeros."""
    _refuse_rare(step)
    parts = []
    dropped = [None] * len(step.categories_) if step.drop_idx_ is None else step.drop_idx_
    for column, (categories, out) in enumerate(zip(step.categories_, dropped, strict=True)):
        kept = np.arange(len(categories)) != (-1 if out is None else out)
        if kept.any():
            known = _numbers(step, "categories_", categories)[kept]
            parts.append(_matches(graph, graph.columns(X, [column]), known))
    return graph.op("Concat", *parts, axis=1)


def ordinal(graph: Graph, step: OrdinalEncoder, X: str) -> str:
    """Write the place of a category among those of its column."""
    _refuse_rare(step)
    unknown = step.unknown_value if step.handle_unknown == "use_encoded_value" else np.nan
    parts = []
    for column, categories in enumerate(step.categories_):
        known = _numbers(step, "categories_", categories)
        places = np.arange(len(known), dtype=float)
        places[np.isnan(known)] = step.encoded_missing_value
        matches = graph.cast(_matches(graph, graph.columns(X, [column]), known), np.bool_)
        there = graph.reduce("ReduceMax", graph.cast(matches), 1, keep=True)
        chosen = graph.op("Where", matches, graph.reals(places), graph.reals(0.0))
        place = graph.reduce("ReduceSum", chosen, 1, keep=True)
        is_there = graph.op("Greater", there, graph.reals(0.0))
        parts.append(graph.op("Where", is_there, place, graph.reals(unknown)))
    return graph.op("Concat", *parts, axis=1)


def _matches(graph: Graph, column: str, values: NDArray) -> str:
    """Return 1 where a column (N, 1) has each of the values, else 0: (N, values)."""
    parts = [_equal(graph, column, value) for value in values]
    return parts[0] if len(parts) == 1 else graph.op("Concat", *parts, axis=1)


def _equal(graph: Graph, X: str, value: Any) -> str:
    """Return 1 where numbers have a value, which may be NaN, else 0."""
    if not isinstance(value, int | float | np.number):
        raise ModelFormatError(
            f"missing_values={value!r} cannot be exported to ONNX, whose input holds numbers: use "
            "NaN or a number."
        )
    if np.isnan(value):
        return graph.cast(graph.op("IsNaN", X))
    return graph.cast(graph.op("Equal", X, graph.reals(value)))


def _numbers(step: Any, name: str, values: NDArray) -> NDArray:
    """Return what a step knows, which must be numbers."""
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ModelFormatError(
            f"{name} of {step!r} holds {values[0]!r}, which is no number: the input of an ONNX "
            "model of kerndict holds numbers only. Encode before the ONNX model."
        ) from None


def _refuse_rare(step: Any) -> None:
    if step.min_frequency is not None or step.max_categories is not None:
        raise ModelFormatError(
            f"{step!r} joins rare categories, which cannot be exported to ONNX: fit it without "
            "min_frequency and max_categories."
        )
