"""A `ColumnTransformer`: the steps within it, and which columns each of them takes.

Columns are kept by their places, in one array; a step says whether it takes them by name or by
place, and whether as one flat column.  A callable that chose columns is replaced by its choice.
"""

from collections import UserList
from collections.abc import Sequence
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import FunctionTransformer

from kerndict._state import Field, unpack
from kerndict.exceptions import ModelFormatError
from kerndict.persistence.labels import unpack_text
from kerndict.persistence.parameters import FLAG, NUMBER, Parameter

NAME = "ColumnTransformer"


def _are_weights(value: Any) -> bool:
    if not isinstance(value, dict):
        return value is None
    return all(isinstance(name, str) and NUMBER.right(item) for name, item in value.items())


#: Of its own; which steps there are is told by its parts.
PARAMETERS = {
    "sparse_threshold": NUMBER,
    "verbose": FLAG,
    "verbose_feature_names_out": FLAG,
    "transformer_weights": Parameter(
        _are_weights, lambda name, value: value, lambda name, value: value
    ),
}
_FIELDS = [
    Field("n_features_in_", "count", sizes="m"),
    Field("columns", "index", "c"),
    Field("columns.ends", "index", "p"),
    Field("sparse_output_", "flag"),
]
_BY = ("place", "name", "one place", "one name", "slice")


def parts_of(step: ColumnTransformer) -> list[tuple[dict[str, Any], Any]]:
    """Return for each step within its entry in the document, and the step."""
    asked = {name: transformer for name, transformer, _ in step.transformers}
    asked["remainder"] = step.remainder
    found = []
    for name, fitted, columns in step.transformers_:
        if isinstance(columns, UserList):  # which warns when it is looked into
            columns = columns.data
        entry: dict[str, Any] = {"name": name, "by": _way(columns)}
        if isinstance(asked[name], str) and asked[name] == "passthrough":
            entry["asked"] = "passthrough"
        found.append((entry, fitted))
    return found


def _way(columns: Any) -> str:
    """Return how a step names its columns.

    What chose columns by yes and no takes them by place, which gives the same.
    """
    if isinstance(columns, slice):
        return "slice" if columns.step is None or columns.step > 0 else "place"
    one = "one " if isinstance(columns, str | int | np.integer) else ""
    many = [columns] if one else columns
    return one + ("name" if len(many) and isinstance(many[0], str) else "place")


def pack_columns(step: ColumnTransformer) -> dict[str, NDArray]:
    """Return the arrays of its own, feature names aside."""
    places = [step._transformer_to_input_indices[name] for name, _, _ in step.transformers_]
    return {
        "n_features_in": np.array(step.n_features_in_, np.int64),
        "columns": np.array([place for part in places for place in part], np.int64),
        "columns.ends": np.cumsum([len(part) for part in places], dtype=np.int64),
        "sparse_output": np.array(step.sparse_output_, bool),
    }


def takes_none(step: ColumnTransformer, name: str) -> bool:
    """Tell whether a step within takes no column, and is therefore not fitted."""
    return not len(step._transformer_to_input_indices[name])


def restore_columns(
    step: ColumnTransformer,
    entries: Sequence[dict[str, Any]],
    parts: Sequence[Any],
    widths: Sequence[int | None],
    arrays: dict[str, NDArray],
) -> int:
    """Make a ColumnTransformer fitted; return how many features it gives."""
    found = unpack(arrays, _FIELDS, {})
    n_features, flat = found["n_features_in_"], found["columns"]
    ends = found["columns.ends"]
    starts = np.append(0, ends)[:-1]
    if len(ends) != len(parts) or (starts > ends).any() or ends[-1:].sum() != len(flat):
        raise ModelFormatError("the columns are not those of the steps.")
    if (flat >= n_features).any():
        raise ModelFormatError("there are columns beyond those that were fitted.")
    names = unpack_text("feature_names", dict(arrays)) if "feature_names" in arrays else None
    fitted, asked, places, outputs, width = [], [], {}, {}, 0
    for entry, part, gives, start, end in zip(entries, parts, widths, starts, ends, strict=True):
        name, own = entry.get("name"), flat[start:end].tolist()
        if not isinstance(name, str) or name in places or "__" in name:
            raise ModelFormatError(f"the name of the step {short(name)} is wrong.")
        given = _width(name, part, own, gives)
        columns = _columns(entry.get("by"), own, names)
        wanted = "passthrough" if entry.get("asked") == "passthrough" else part
        if wanted is not part and own and not isinstance(part, FunctionTransformer):
            raise ModelFormatError(f"the step {short(name)} does not pass columns through.")
        fitted.append((name, part, columns))
        asked.append((name, wanted, columns))
        places[name] = own
        outputs[name] = slice(width, width + given) if given else slice(0, 0)
        width += given
    rest = asked.pop() if asked and asked[-1][0] == "remainder" else ("remainder", "drop", [])
    step.n_features_in_, step.sparse_output_ = n_features, found["sparse_output_"]
    step.transformers, step.transformers_ = asked, fitted
    step.remainder, step._remainder = rest[1], rest
    step._columns = [columns for _, _, columns in asked]
    step._transformer_to_input_indices = {"remainder": [], **places}
    step.output_indices_ = {"remainder": slice(0, 0), **outputs}
    return width


def _width(name: str, part: Any, own: list[int], gives: int | None) -> int:
    """Return how many features a step within gives."""
    if isinstance(part, str) or not own:
        return 0
    if getattr(part, "n_features_in_", len(own)) != len(own):
        raise ModelFormatError(f"the step {short(name)} does not take {len(own)} columns.")
    return len(own) if gives is None else gives


def _columns(by: Any, places: list[int], names: Sequence[str] | None) -> Any:
    """Return the columns of a step as its ColumnTransformer was given them."""
    if by not in _BY or (by.endswith("name") and names is None):
        raise ModelFormatError(f"columns cannot be found by {short(by)}.")
    if by == "slice":
        step = places[1] - places[0] if len(places) > 1 else 1
        if places and (step < 1 or places != list(range(places[0], places[-1] + 1, step))):
            raise ModelFormatError("the columns of a step are not a slice.")
        return slice(places[0], places[-1] + 1, step) if places else slice(0, 0)
    columns: list[Any] = places
    if by.endswith("name"):
        if places and max(places) >= len(names or ()):
            raise ModelFormatError("there are more columns than feature names.")
        columns = [(names or ())[place] for place in places]
    if not by.startswith("one "):
        return columns
    if len(columns) != 1:
        raise ModelFormatError(f"a step takes one column, not {len(columns)}.")
    return columns[0]
