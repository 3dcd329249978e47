"""Steps before the classifier, as nodes: scalers, projections, choices of columns, pipelines."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from kerndict.exceptions import ModelFormatError
from kerndict.export.cells import impute, one_hot, ordinal
from kerndict.export.graph import Graph


def add_step(graph: Graph, step: Any, X: str) -> str:
    """Add a fitted step; return the rows behind it."""
    if step is None or isinstance(step, str):  # "passthrough"
        return X
    if type(step) not in _KINDS:
        known = ", ".join(sorted(kind.__name__ for kind in _KINDS))
        raise ModelFormatError(
            f"the step {step!r} cannot be exported to ONNX: only {known} can stand before the "
            "classifier. Do what it does before the ONNX model, and export the steps behind it."
        )
    return _KINDS[type(step)](graph, step, X)


def _pipeline(graph: Graph, step: Pipeline, X: str) -> str:
    for _, each in step.steps:
        X = add_step(graph, each, X)
    return X


def _columns(graph: Graph, step: ColumnTransformer, X: str) -> str:
    if step.transformer_weights:
        raise ModelFormatError(
            f"transformer_weights={step.transformer_weights!r} cannot be exported to ONNX: scale "
            "the columns by a step of their own."
        )
    parts = []
    for name, each, _ in step.transformers_:
        places = step._transformer_to_input_indices[name]
        if len(places) and not (isinstance(each, str) and each == "drop"):
            parts.append(add_step(graph, each, graph.columns(X, places)))
    return parts[0] if len(parts) == 1 else graph.op("Concat", *parts, axis=1)


def _function(graph: Graph, step: FunctionTransformer, X: str) -> str:
    if step.func is not None:
        raise ModelFormatError(
            f"func={step.func!r} of FunctionTransformer is code, which cannot be exported: apply "
            "it before the ONNX model."
        )
    return X


def _normalizer(graph: Graph, step: Normalizer, X: str) -> str:
    if step.norm == "l2":  # ReduceL2 of older versions of onnxruntime rounds to float32
        norms = graph.op("Sqrt", graph.reduce("ReduceSumSquare", X, 1, keep=True))
    else:
        kind = "ReduceSum" if step.norm == "l1" else "ReduceMax"
        norms = graph.reduce(kind, graph.op("Abs", X), 1, keep=True)
    there = graph.op("Greater", norms, graph.reals(10 * np.finfo(graph.dtype).eps))
    return graph.op("Div", X, graph.op("Where", there, norms, graph.reals(1.0)))


def _standard(graph: Graph, step: StandardScaler, X: str) -> str:
    if step.with_mean:
        X = graph.op("Sub", X, graph.reals(step.mean_))
    return graph.op("Div", X, graph.reals(step.scale_)) if step.with_std else X


def _robust(graph: Graph, step: RobustScaler, X: str) -> str:
    if step.with_centering:
        X = graph.op("Sub", X, graph.reals(step.center_))
    return graph.op("Div", X, graph.reals(step.scale_)) if step.with_scaling else X


def _min_max(graph: Graph, step: MinMaxScaler, X: str) -> str:
    X = graph.op("Add", graph.op("Mul", X, graph.reals(step.scale_)), graph.reals(step.min_))
    return _clipped(graph, X, *step.feature_range) if step.clip else X


def _max_abs(graph: Graph, step: MaxAbsScaler, X: str) -> str:
    X = graph.op("Div", X, graph.reals(step.scale_))
    return _clipped(graph, X, -1.0, 1.0) if getattr(step, "clip", False) else X


def _clipped(graph: Graph, X: str, low: float, high: float) -> str:
    return graph.op("Min", graph.op("Max", X, graph.reals(low)), graph.reals(high))


def _principal(graph: Graph, step: PCA, X: str) -> str:
    X = graph.op("Sub", X, graph.reals(step.mean_))
    X = graph.op("MatMul", X, graph.reals(step.components_.T))
    if not step.whiten:
        return X
    deviations = np.sqrt(step.explained_variance_)
    least = np.finfo(deviations.dtype).eps
    return graph.op("Div", X, graph.reals(np.maximum(deviations, least)))


def _truncated(graph: Graph, step: TruncatedSVD, X: str) -> str:
    return graph.op("MatMul", X, graph.reals(step.components_.T))


def _selected(graph: Graph, step: Any, X: str) -> str:
    return graph.columns(X, step.get_support(indices=True))


_KINDS: dict[type, Callable[[Graph, Any, str], str]] = {
    ColumnTransformer: _columns,
    FunctionTransformer: _function,
    MaxAbsScaler: _max_abs,
    MinMaxScaler: _min_max,
    Normalizer: _normalizer,
    OneHotEncoder: one_hot,
    OrdinalEncoder: ordinal,
    PCA: _principal,
    Pipeline: _pipeline,
    RobustScaler: _robust,
    SelectKBest: _selected,
    SimpleImputer: impute,
    StandardScaler: _standard,
    TruncatedSVD: _truncated,
    VarianceThreshold: _selected,
}
