"""The scalers that may stand before a classifier in a pipeline."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

from kerndict._state import Field, pack, unpack
from kerndict.exceptions import ModelFormatError


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _norm(value: Any) -> bool:
    return value in ("l1", "l2", "max")


def _range(value: Any) -> bool:
    numbers = isinstance(value, tuple) and all(
        type(end) in (int, float) and math.isfinite(end) for end in value
    )
    return numbers and len(value) == 2 and value[0] < value[1]


@dataclass(frozen=True)
class Scaler:
    """A kind of step: its class, its parameters with their checks, what `transform` needs."""

    kind: type
    parameters: dict[str, Callable[[Any], bool]]
    fields: tuple[Field, ...]


_FEATURES = Field("n_features_in_", "count", sizes="m")
SCALERS = {
    "Normalizer": Scaler(
        Normalizer,
        {"norm": _norm, "copy": _flag},
        (Field("n_features_in_", "count", optional=True, sizes="m"),),
    ),
    "StandardScaler": Scaler(
        StandardScaler,
        {"copy": _flag, "with_mean": _flag, "with_std": _flag},
        (
            _FEATURES,
            Field("mean_", "scaler", "m", optional=True),
            Field("scale_", "divisor", "m", optional=True),
        ),
    ),
    "MinMaxScaler": Scaler(
        MinMaxScaler,
        {"feature_range": _range, "copy": _flag, "clip": _flag},
        (_FEATURES, Field("min_", "scaler", "m"), Field("scale_", "divisor", "m")),
    ),
}


def scaler_state(step: Any) -> dict[str, NDArray]:
    """Return the arrays that `transform` needs, feature names aside."""
    fields = SCALERS[type(step).__name__].fields
    return pack(step, [field for field in fields if hasattr(step, field.path)])


def restore_scaler(step: Any, arrays: dict[str, NDArray]) -> None:
    """Check the parameters of an unfitted scaler and make it fitted."""
    scaler = SCALERS[type(step).__name__]
    for name, is_right in scaler.parameters.items():
        if not is_right(getattr(step, name)):
            raise ModelFormatError(f"{name}={getattr(step, name)!r} is not a value of {step!r}.")
    values = unpack(arrays, scaler.fields, {})
    if isinstance(step, Normalizer) and values["n_features_in_"] is None:
        return  # it knows its rows without having seen any
    for path, value in values.items():
        setattr(step, path, value)
    if isinstance(step, StandardScaler):
        for used, path in ((step.with_mean, "mean_"), (step.with_std, "scale_")):
            if used and values[path] is None:
                raise ModelFormatError(f"the array {path.strip('_')!r} of {step!r} is missing.")
