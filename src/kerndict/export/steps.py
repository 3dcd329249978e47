"""Steps before the classifier, as nodes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

from kerndict.exceptions import ModelFormatError
from kerndict.export.graph import Graph


def add_step(graph: Graph, step: Any, X: str) -> str:
    """Add a fitted step; return the rows behind it."""
    if type(step) not in _KINDS:
        known = ", ".join(kind.__name__ for kind in _KINDS)
        raise ModelFormatError(
            f"the step {step!r} cannot be exported to ONNX: only {known} can stand before the "
            "classifier. Do what it does before the ONNX model, and export the steps behind it."
        )
    return _KINDS[type(step)](graph, step, X)


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


def _min_max(graph: Graph, step: MinMaxScaler, X: str) -> str:
    X = graph.op("Add", graph.op("Mul", X, graph.reals(step.scale_)), graph.reals(step.min_))
    if not step.clip:
        return X
    low, high = map(graph.reals, step.feature_range)
    return graph.op("Min", graph.op("Max", X, low), high)


_KINDS: dict[type, Callable[[Graph, Any, str], str]] = {
    Normalizer: _normalizer,
    StandardScaler: _standard,
    MinMaxScaler: _min_max,
}
