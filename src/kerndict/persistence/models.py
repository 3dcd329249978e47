"""Models as a document and named arrays, and back.

The document names the classes; they are looked up in tables, and built by their constructors from
parameters that are plain values.
"""

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from reprlib import repr as short
from typing import Any

from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from kerndict._pipelines import chosen, taken_apart
from kerndict._validation import check_jobs
from kerndict.classifiers import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.exceptions import ModelFormatError
from kerndict.persistence.fitted import classifier_state, restore_classifier
from kerndict.persistence.labels import pack_labels, unpack_labels
from kerndict.persistence.learner import learner_state, restore_learner
from kerndict.persistence.parameters import json_value, python_value
from kerndict.persistence.pipelines import decode_step, encode_step, restore_names, split
from kerndict.spaces import ComputedKernel

CLASSIFIERS = {kind.__name__: kind for kind in (DictionaryClassifier, KernelDictionaryClassifier)}
_PACKAGES = ("kerndict", "numpy", "scipy", "scikit-learn", "safetensors")

Document = dict[str, Any]
State = dict[str, NDArray]


def encode(model: Any, feature_names: Sequence[str] | None = None) -> tuple[Document, State]:
    """Return a fitted model as a document and arrays.

    ``feature_names`` are those of the first step, where it was fitted without.
    """
    try:
        model = chosen(model)
        classifier = taken_apart(model).classifier
    except ValueError as error:
        if isinstance(error, NotFittedError):
            raise
        raise ModelFormatError(f"the model cannot be written: {error}") from None
    if type(classifier) not in CLASSIFIERS.values():
        raise ModelFormatError(
            f"{type(classifier).__name__} cannot be written: give a {', a '.join(CLASSIFIERS)}, or "
            "a Pipeline or a search that ends in one."
        )
    named = model.steps if type(model) is Pipeline else [(None, model)]
    entries: list[Document] = []
    arrays: State = {}
    for i, (name, step) in enumerate(named):
        entry, state = encode_step(step, _encode_classifier, None if i else feature_names)
        entries.append({"name": name, **entry})
        arrays |= {f"{i}.{key}": array for key, array in state.items()}
    label_dtype, labels = pack_labels(classifier.classes_)
    versions = {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}
    return {"label_dtype": label_dtype, "steps": entries, "versions": versions}, arrays | labels


def _encode_classifier(step: Any) -> tuple[Document, State] | None:
    """Return a fitted classifier as an entry and arrays, None for other steps."""
    if type(step) not in CLASSIFIERS.values():
        return None
    check_is_fitted(step)
    entry: Document = {"class": type(step).__name__}
    if isinstance(step, KernelDictionaryClassifier):
        entry["kernel"] = _kernel_name(step)
    state = classifier_state(step.model_)
    if "learner_" in vars(step):
        state |= learner_state(step.learner_)
    parameters = step.get_params(deep=False)
    entry["parameters"] = {name: json_value(name, value) for name, value in parameters.items()}
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


def decode(document: Document, arrays: Mapping[str, NDArray]) -> Any:
    """Return the model; whatever is missing, wrong or too much is an error."""
    versions = document.get("versions", {})
    if not isinstance(versions, dict) or not all(isinstance(v, str) for v in versions.values()):
        raise ModelFormatError(f"the versions {short(versions)} are not names and versions.")
    state = dict(arrays)
    entry: Document = {"class": "Pipeline", "steps": document.get("steps")}
    entries, states = split(entry["steps"], dict(state))
    if not entries:
        raise ModelFormatError("the steps are missing.")
    classes = unpack_labels(document.get("label_dtype"), state)

    def last(entry: Document, own: State) -> Any:
        return _classifier(entry, own, classes)

    if len(entries) == 1 and entries[0].get("name") is None:
        entry, state = entries[0], {**states[0], **_others(state)}
    model, _ = decode_step(entry, state, last)
    if state:
        raise ModelFormatError(f"there are arrays that no step needs: {short(sorted(state))}.")
    return model


def _others(state: State) -> State:
    """Return the arrays that belong to no step."""
    return {key: array for key, array in state.items() if not key.startswith("0.")}


def _classifier(entry: Document, state: State, classes: NDArray) -> Any:
    """Return a fitted classifier; take its arrays."""
    name, parameters = entry.get("class"), entry.get("parameters")
    if not isinstance(name, str) or name not in CLASSIFIERS:
        raise ModelFormatError(f"the class {short(name)} is not one of {', '.join(CLASSIFIERS)}.")
    step = CLASSIFIERS[name]()
    if not isinstance(parameters, dict) or not set(parameters) <= set(step.get_params(deep=False)):
        raise ModelFormatError(f"{name} does not have the parameters {short(parameters)}.")
    values = {key: python_value(key, value) for key, value in parameters.items()}
    try:
        check_jobs(values.get("n_jobs"))
    except (TypeError, ValueError) as error:
        raise ModelFormatError(str(error)) from error
    step.set_params(**values)
    restore_classifier(step, state, classes, entry.get("kernel"))
    restore_learner(step, state)
    restore_names(step, state)
    return step
