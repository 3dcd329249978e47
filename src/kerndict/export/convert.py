"""A fitted model as one graph: steps, space, rule, labels."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

import kerndict
from kerndict._pipelines import chain
from kerndict._validation import check_choice
from kerndict.classifiers import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.exceptions import ModelFormatError
from kerndict.export.graph import Graph
from kerndict.export.rules import scores, typicality
from kerndict.export.spaces import signals
from kerndict.export.steps import add_step
from kerndict.rules import ResidualRule

_DTYPES = ("float64", "float32")


def convert(model: Any, dtype: str) -> Any:
    """Return the model of :func:`kerndict.export.to_onnx`."""
    check_choice("dtype", dtype, _DTYPES)
    before, classifier = chain(model)
    if type(classifier) not in (DictionaryClassifier, KernelDictionaryClassifier):
        raise ModelFormatError(
            f"{type(classifier).__name__} cannot be exported: give a DictionaryClassifier, a "
            "KernelDictionaryClassifier or a Pipeline that ends in one."
        )
    for step in (*before, classifier):
        if not isinstance(step, str | FunctionTransformer | None):
            check_is_fitted(step)
    fitted = classifier.to("cpu").model_
    wanted = np.dtype(dtype)
    graph = Graph(wanted, max(float(np.finfo(kind).eps) for kind in (wanted, fitted.dtype)))
    rows = "X"
    for step in before:
        rows = add_step(graph, step, rows)
    found, energies = scores(graph, fitted.rule, signals(graph, fitted, rows))
    labels, kind = _labels(fitted.classes)
    winners = graph.op("ArgMax", found, axis=1, keepdims=0)
    n_classes = len(labels)
    outputs: dict[str, tuple[str, Any, tuple]] = {
        "label": (graph.op("Gather", graph.constant(labels), winners, axis=0), kind, ()),
        "scores": (found, wanted, (n_classes,)),
    }
    if not isinstance(fitted.rule, ResidualRule):
        shares = graph.op("Softmax", found, axis=1)
        outputs["probabilities"] = shares, wanted, (n_classes,)
        p_values = typicality(graph, found, energies, fitted.rule.held_out)
        outputs["typicality"] = p_values, wanted, ()
    known = (step for step in (model, *before, classifier) if hasattr(step, "n_features_in_"))
    exported = graph.model(next(known).n_features_in_, outputs)
    exported.producer_name, exported.producer_version = "kerndict", kerndict.__version__
    _describe(exported, model, labels)
    return exported


def _labels(classes: NDArray) -> tuple[NDArray, Any]:
    """Return the labels in a type that ONNX knows, and that type."""
    if classes.dtype.kind == "O" and not all(isinstance(label, str) for label in classes):
        raise ModelFormatError(
            f"labels of the type {type(classes[0]).__name__} cannot be exported: fit to integers, "
            "booleans, floats or strings."
        )
    if classes.dtype.kind in "OU":
        return classes, np.dtype(object)
    if classes.dtype.kind in "iu":
        return classes.astype(np.int64), np.dtype(np.int64)
    return classes, classes.dtype


def _describe(exported: Any, model: Any, labels: NDArray) -> None:
    """Write into a model what people ask of it: the names of its features and labels."""
    described = {"classes": labels.tolist()}
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        described["feature_names"] = list(names)
    for key, value in described.items():
        entry = exported.metadata_props.add()
        entry.key, entry.value = key, json.dumps(value)
