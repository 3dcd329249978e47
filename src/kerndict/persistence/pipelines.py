"""Steps within steps as entries of the document with named arrays, and back.

An entry has the class of its step, its parameters and the entries of the steps within it; the
arrays of these are named by their places, ``0.1.scale``.
"""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from kerndict._pipelines import chosen
from kerndict.exceptions import ModelFormatError
from kerndict.persistence import columns
from kerndict.persistence.declared import (
    Step,
    pack_fields,
    pack_parameters,
    restore_fields,
    unfitted,
)
from kerndict.persistence.labels import pack_text, unpack_text
from kerndict.persistence.steps import STEPS

Entry = dict[str, Any]
State = dict[str, NDArray]
_COLUMNS = Step(
    "sklearn.compose.ColumnTransformer",
    columns.PARAMETERS,
    untold=("transformers", "remainder", "n_jobs"),
)
_WORDS = ("passthrough", "drop")
_OUTPUTS = (None, "default", "pandas", "polars")


def declared(step: Any) -> Step | None:
    """Return how a kind of step is declared, None for what cannot be saved."""
    found = STEPS.get(type(step).__name__)
    return found if found is not None and type(step) is found.kind else None


#: Returns a classifier as an entry and arrays, None for other steps.
First = Callable[[Any], tuple[Entry, State] | None]


def encode_step(
    step: Any, classifier: First | None = None, names: Sequence[str] | None = None
) -> tuple[Entry, State]:
    """Return a fitted step as an entry and its arrays.

    ``names`` are those of the features of a step that was fitted without.
    """
    step = chosen(step)
    if step is None or (isinstance(step, str) and step in _WORDS):
        return {"class": step or "passthrough"}, {}
    if type(step) is Pipeline:
        found = [
            ({"name": name}, *encode_step(part, classifier, None if i else names))
            for i, (name, part) in enumerate(step.steps)
        ]
        return _within({"class": "Pipeline"}, {}, found)
    if classifier is not None and (made := classifier(step)) is not None:
        return _named(step, *made, names)
    check_known(step)
    check_is_fitted(step)
    if type(step) is ColumnTransformer:
        found = [
            (more, *(_encode_unfitted(part) if columns.takes_none(step, more["name"]) else
             encode_step(part)))
            for more, part in columns.parts_of(step)
        ]  # fmt: skip
        entry, state = _within(_entry(_COLUMNS, step), columns.pack_columns(step), found)
    else:
        how = STEPS[type(step).__name__]
        parts = {name: getattr(step, name, None) for name in how.parts}
        found = [
            ({"name": name}, *encode_step(part)) for name, part in parts.items() if part is not None
        ]
        entry, state = _within(_entry(how, step), pack_fields(how, step), found)
    return _named(step, entry, state, names)


def _named(
    step: Any, entry: Entry, state: State, names: Sequence[str] | None
) -> tuple[Entry, State]:
    """Add the names of the features, where there are any."""
    names = getattr(step, "feature_names_in_", names)
    if names is not None:
        state |= pack_text("feature_names", list(names))
    return entry, state


def check_known(step: Any) -> None:
    """Raise an error that tells what to do for a step that is not in the list."""
    if type(step) in (Pipeline, ColumnTransformer) or declared(step) is not None:
        return
    kinds = sorted([*STEPS, columns.NAME, "Pipeline"])
    raise ModelFormatError(
        f"the step {short(step)} cannot be written: a file holds {', '.join(kinds)}. Write a model "
        "with other steps by skops.io.dump(model, path), of the package skops, and read it by "
        "skops.io.load."
    )


def _encode_unfitted(step: Any) -> tuple[Entry, State]:
    """Return the entry of a step that took no column: it has no arrays."""
    if isinstance(step, str):
        return encode_step(step)
    check_known(step)
    how = declared(step)
    return ({"class": "drop"} if how is None else _entry(how, step)), {}


def _entry(how: Step, step: Any) -> Entry:
    output = getattr(step, "_sklearn_output_config", {}).get("transform")
    return {"class": how.name, "output": output, "parameters": pack_parameters(how, step)}


def _within(
    entry: Entry, state: State, found: Sequence[tuple[Entry, Entry, State]]
) -> tuple[Entry, State]:
    """Add entries of steps within and their arrays to those of a step."""
    for i, (_, _, arrays) in enumerate(found):
        state |= {f"{i}.{key}": array for key, array in arrays.items()}
    if found or entry["class"] == "Pipeline":
        entry["steps"] = [{**more, **inner} for more, inner, _ in found]
    return entry, state


#: Makes the last step of a pipeline from its entry and takes its arrays.
Last = Callable[[Entry, State], Any]


def decode_step(entry: Entry, state: State, last: Last | None = None) -> tuple[Any, int | None]:
    """Return a step and how many features it gives; take its arrays out of ``state``.

    ``last`` makes the classifier that the step is or that ends it; without, it is a transformer.
    """
    name = entry.get("class")
    if name == "Pipeline":
        return _pipeline(entry, state, last)
    if last is not None:
        return last(entry, state), None
    if isinstance(name, str) and name in _WORDS:
        return name, None
    how = STEPS.get(name) if isinstance(name, str) else None
    if name == columns.NAME:
        how = _COLUMNS
    if how is None:
        kinds = sorted([*STEPS, columns.NAME, "Pipeline"])
        raise ModelFormatError(f"the class {short(name)} is not one of {', '.join(kinds)}.")
    required: dict[str, Any] = {"transformers": []} if how is _COLUMNS else {}
    step = unfitted(how, entry.get("parameters"), **required)
    if "steps" in entry or how is _COLUMNS:
        entries, states = split(entry.get("steps"), state)
    else:
        entries, states = [], []
    if how is _COLUMNS:
        found = [
            decode_step(*each) if each[1] or each[0].get("class") in _WORDS else _unused(*each)
            for each in zip(entries, states, strict=True)
        ]
        parts, widths = [part for part, _ in found], [width for _, width in found]
        width: int | None = columns.restore_columns(step, entries, parts, widths, state)
    else:
        within = {
            str(each.get("name")): decode_step(each, own)[0]
            for each, own in zip(entries, states, strict=True)
        }
        if len(within) != len(entries) or not set(within) <= set(how.parts):
            raise ModelFormatError(f"{name} does not have the steps {short(list(within))}.")
        width = restore_fields(how, step, state, within)
    _restore_output(step, entry.get("output"))
    restore_names(step, state)
    for own in states:
        state |= own  # what is left is too much
    return step, width


def _unused(entry: Entry, state: State) -> tuple[Any, None]:
    how = STEPS.get(str(entry.get("class")))
    if how is None:
        raise ModelFormatError(f"the class {short(entry.get('class'))} has no arrays.")
    return unfitted(how, entry.get("parameters")), None


def split(entries: Any, state: State) -> tuple[list[Entry], list[State]]:
    """Take the arrays of the steps within, named ``0.scale`` and so on, out of a state."""
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ModelFormatError("the steps are missing.")
    states: list[State] = [{} for _ in entries]
    places = {str(i): own for i, own in enumerate(states)}
    for key in list(state):
        place, _, name = key.partition(".")
        if place in places:
            places[place][name] = state.pop(key)
    return entries, states


def _pipeline(entry: Entry, state: State, last: Last | None) -> tuple[Pipeline, int | None]:
    entries, states = split(entry.get("steps"), state)
    steps: list[tuple[Any, Any]] = []
    width: int | None = None
    for i, (each, own) in enumerate(zip(entries, states, strict=True)):
        is_last = i == len(entries) - 1
        step, gives = decode_step(each, own, last if is_last else None)
        taken = getattr(step, "n_features_in_", None)
        if taken is not None and width not in (None, taken):
            raise ModelFormatError(
                f"the steps differ in their features: there are {width}, and the step "
                f"{short(each.get('name'))} takes {taken}."
            )
        width = width if gives is None else gives
        if step == "drop":
            raise ModelFormatError("a pipeline cannot drop everything.")
        steps.append((each.get("name"), step))
        state |= {f"{i}.{key}": array for key, array in own.items()}
    pipeline = Pipeline(steps)
    names = [name for name, _ in steps]
    taken = pipeline.get_params(deep=False)
    if (
        not steps
        or len(set(map(str, names))) < len(names)
        or not all(isinstance(n, str) and "__" not in n and n not in taken for n in names)
    ):
        raise ModelFormatError(f"the names of the steps are wrong: {short(names)}.")
    return pipeline, width


def _restore_output(step: Any, output: Any) -> None:
    if output not in _OUTPUTS:
        raise ModelFormatError(f"output={short(output)} is not one of {_OUTPUTS}.")
    if output in ("pandas", "polars") and importlib.util.find_spec(output) is None:
        raise ModelFormatError(
            f"its steps give tables of {output}: install {output}, or save the model after "
            "set_output(transform='default')."
        )
    if output is not None:
        # set_output of a ColumnTransformer would also change the steps within.
        step._sklearn_output_config = {"transform": output}


def restore_names(step: Any, state: Mapping[str, NDArray]) -> None:
    """Give a step the names of its features, if there are any."""
    if "feature_names" not in state:
        return
    names = unpack_text("feature_names", state)  # type: ignore[arg-type]
    if len(names) != getattr(step, "n_features_in_", None):
        raise ModelFormatError(f"there are {len(names)} feature names, one per feature is needed.")
    step.feature_names_in_ = np.array(names, object)
