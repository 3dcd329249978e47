"""Models as a document and named arrays, and back.

The document names the classes; they are looked up in two tables, and built by their constructors
from parameters that are plain values.
"""

import importlib.util
import math
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from kerndict._validation import check_jobs
from kerndict.classifiers import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.exceptions import ModelFormatError
from kerndict.persistence.fitted import classifier_state, restore_classifier
from kerndict.persistence.labels import pack_labels, pack_text, unpack_labels, unpack_text
from kerndict.persistence.learner import learner_state, restore_learner
from kerndict.persistence.steps import SCALERS, restore_scaler, scaler_state
from kerndict.spaces import ComputedKernel

CLASSIFIERS = {kind.__name__: kind for kind in (DictionaryClassifier, KernelDictionaryClassifier)}
_SCALERS = {name: scaler.kind for name, scaler in SCALERS.items()}
_PACKAGES = ("kerndict", "numpy", "scipy", "scikit-learn", "safetensors")
_OUTPUTS = (None, "default", "pandas", "polars")

Document = dict[str, Any]


def encode(
    model: DictionaryClassifier | KernelDictionaryClassifier | Pipeline,
    feature_names: Sequence[str] | None = None,
) -> tuple[Document, dict[str, NDArray]]:
    """Return a fitted model as a document and arrays.

    ``feature_names`` are those of the first step, where it was fitted without.
    """
    named = (type(model) is Pipeline and model.steps) or [(None, model)]
    *scalers, (_, classifier) = named
    for _, step in scalers:
        if type(step) not in _SCALERS.values():
            raise ModelFormatError(
                f"the step {step!r} cannot be written: only {', '.join(SCALERS)} can stand before "
                "the classifier."
            )
    if type(classifier) not in CLASSIFIERS.values():
        raise ModelFormatError(
            f"{type(classifier).__name__} cannot be written: give a {', a '.join(CLASSIFIERS)} or "
            "a Pipeline that ends in one."
        )
    for _, step in named:
        check_is_fitted(step)
    label_dtype, arrays = pack_labels(classifier.classes_)
    steps = []
    for i, (name, step) in enumerate(named):
        entry, state = _encode_step(step)
        names = getattr(step, "feature_names_in_", None if i else feature_names)
        if names is not None:
            state |= pack_text("feature_names", list(names))
        steps.append({"name": name, **entry})
        arrays |= {f"{i}.{key}": array for key, array in state.items()}
    versions = {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}
    return {"label_dtype": label_dtype, "steps": steps, "versions": versions}, arrays


def _encode_step(step: Any) -> tuple[Document, dict[str, NDArray]]:
    kind = type(step).__name__
    entry: Document = {"class": kind}
    if kind in SCALERS:
        entry["output"] = getattr(step, "_sklearn_output_config", {}).get("transform")
        names, state = list(SCALERS[kind].parameters), scaler_state(step)
    else:
        if isinstance(step, KernelDictionaryClassifier):
            entry["kernel"] = _kernel_name(step)
        names, state = list(step.get_params(deep=False)), classifier_state(step.model_)
        if "learner_" in vars(step):
            state |= learner_state(step.learner_)
    entry["parameters"] = {name: _json_value(name, getattr(step, name)) for name in names}
    return entry, state


def _kernel_name(model: KernelDictionaryClassifier) -> str:
    space = model.model_.space
    if not isinstance(space, ComputedKernel):
        return "precomputed"
    name = space.kernel.name
    if callable(name):
        raise ModelFormatError(
            f"kernel={name!r} is code, which a file cannot hold: use kernel='precomputed' and "
            "compute the kernel yourself."
        )
    return name


def _json_value(name: str, value: Any) -> Any:
    """Return a parameter as JSON holds it."""
    if isinstance(value, np.generic):
        value = value.item()
    value = list(value) if isinstance(value, tuple) else value
    if not _is_plain(value):
        raise ModelFormatError(
            f"{name}={short(value)} cannot be written: change it by set_params first, to None or "
            "its default if only training depends on it."
        )
    return value


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):  # of a tuple
        return all(not isinstance(item, list) and _is_plain(item) for item in value)
    finite = isinstance(value, float) and math.isfinite(value)
    return value is None or isinstance(value, (bool, int, str)) or finite


def decode(document: Document, arrays: Mapping[str, NDArray]) -> Any:
    """Return the model; whatever is missing, wrong or too much is an error."""
    entries = document.get("steps")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ModelFormatError("the steps are missing.")
    versions = document.get("versions", {})
    if not isinstance(versions, dict) or not all(isinstance(v, str) for v in versions.values()):
        raise ModelFormatError(f"the versions {short(versions)} are not names and versions.")
    states, rest = _by_step(arrays, len(entries))
    classes = unpack_labels(document.get("label_dtype"), rest)
    steps: list[tuple[Any, Any]] = []
    for entry, state in zip(entries, states, strict=True):
        last = len(steps) == len(entries) - 1
        step = _unfitted(entry, CLASSIFIERS if last else _SCALERS)
        if last:
            restore_classifier(step, state, classes, entry.get("kernel"))
            restore_learner(step, state)
        else:
            restore_scaler(step, state)
            _restore_output(step, entry.get("output"))
        _restore_names(step, state)
        rest |= state
        steps.append((entry.get("name"), step))
    if rest:
        raise ModelFormatError(f"there are arrays that no step needs: {short(sorted(rest))}.")
    return _assembled(steps)


def _by_step(
    arrays: Mapping[str, NDArray], count: int
) -> tuple[list[dict[str, NDArray]], dict[str, NDArray]]:
    """Return the arrays of each step, named ``0.scale`` and so on, and the rest of them."""
    states: list[dict[str, NDArray]] = [{} for _ in range(count)]
    places = {str(i): state for i, state in enumerate(states)}
    rest: dict[str, NDArray] = {}
    for key, array in arrays.items():
        place, _, name = key.partition(".")
        if place in places:
            places[place][name] = array
        else:
            rest[key] = array
    return states, rest


def _unfitted(entry: Document, kinds: Mapping[str, type]) -> Any:
    """Return a step as its constructor makes it, of one of the kinds that may stand there."""
    name, parameters = entry.get("class"), entry.get("parameters")
    if not isinstance(name, str) or name not in kinds:
        raise ModelFormatError(f"the class {short(name)} is not one of {', '.join(kinds)}.")
    step = kinds[name]()
    known = step.get_params(deep=False)
    if not isinstance(parameters, dict) or not set(parameters) <= set(known):
        raise ModelFormatError(f"{name} does not have the parameters {short(parameters)}.")
    for key, value in parameters.items():
        if not _is_plain(value):
            raise ModelFormatError(f"{key}={short(value)} is not a plain value.")
    try:
        check_jobs(parameters.get("n_jobs"))
    except (TypeError, ValueError) as error:
        raise ModelFormatError(str(error)) from error
    return step.set_params(
        **{key: tuple(v) if isinstance(v, list) else v for key, v in parameters.items()}
    )


def _restore_output(step: Any, output: Any) -> None:
    if output not in _OUTPUTS:
        raise ModelFormatError(f"output={short(output)} is not one of {_OUTPUTS}.")
    if output in ("pandas", "polars") and importlib.util.find_spec(output) is None:
        raise ModelFormatError(
            f"its scalers give tables of {output}: install {output}, or save the model after "
            "set_output(transform='default')."
        )
    if output is not None:
        step.set_output(transform=output)


def _restore_names(step: Any, state: dict[str, NDArray]) -> None:
    if "feature_names" not in state:
        return
    names = unpack_text("feature_names", state)
    if len(names) != getattr(step, "n_features_in_", None):
        raise ModelFormatError(f"there are {len(names)} feature names, one per feature is needed.")
    step.feature_names_in_ = np.array(names, object)


def _assembled(steps: list[tuple[Any, Any]]) -> Any:
    """Return the classifier alone, or the pipeline."""
    counts = {step.n_features_in_ for _, step in steps if hasattr(step, "n_features_in_")}
    if len(counts) != 1:
        raise ModelFormatError(f"the steps differ in their features: {short(sorted(counts))}.")
    names = [name for name, _ in steps]
    if names == [None]:
        return steps[0][1]
    pipeline = Pipeline(steps)
    taken = pipeline.get_params(deep=False)
    if len(set(map(str, names))) < len(names) or not all(
        isinstance(name, str) and "__" not in name and name not in taken for name in names
    ):
        raise ModelFormatError(f"the names of the steps are wrong: {short(names)}.")
    return pipeline
