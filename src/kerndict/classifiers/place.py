"""Where arrays are: on the host, or on a device, of which namespace."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from kerndict._arrays import (
    Array,
    beside,
    device,
    is_array_api_obj,
    namespace,
    namespace_name,
    on_host,
    to_host,
)

#: What a fit can do where a device has no memory left.
FEWER = (
    "give fewer samples or n_landmarks, or let chunks be smaller by "
    "sklearn.set_config(working_memory=...), in MiB."
)
SWITCH_ON = "sklearn.set_config(array_api_dispatch=True)"


def described(array: Array) -> str:
    """Return the namespace and device of an array in words."""
    return "numpy" if on_host(array) else f"{namespace_name(array)} on {device(array)}"


def float_types(X: Any) -> list[Any]:
    """Return the precisions that rows may have, in the words of their namespace."""
    if not follows(X):
        return [np.float64, np.float32]
    xp = namespace(X)
    return [xp.float64, xp.float32]


def checked(
    estimator: Any, X: Any, y: Any, dtype: list[Any] | None, reset: bool = True
) -> tuple[NDArray, NDArray]:
    """Return rows where they are, in one of some precisions, and their labels on the host."""
    dtype = float_types(X) if dtype is None else dtype
    y = to_host(y) if is_array_api_obj(y) else y
    rows, target = validate_data(estimator, X, y, dtype=dtype, reset=reset)
    check_classification_targets(target)
    return rows, target


def follows(X: Any) -> bool:
    """Tell whether the computation goes where X is; otherwise it takes place on the host.

    Raises
    ------
    ValueError
        X is on a device that the host cannot look into, and dispatch is off.
    """
    if not is_array_api_obj(X) or on_host(X):
        return False
    if get_config()["array_api_dispatch"]:
        return True
    try:
        np.asarray(X)
    except Exception as error:
        raise ValueError(
            f"X is of {described(X)}, where nothing is computed unless it is asked for: call "
            f"{SWITCH_ON}, or give NumPy arrays."
        ) from error
    return False


def check_place(estimator: Any, X: Any, method: str, own: Array) -> None:
    """Check that rows are where an array of the model is, ``own``.

    Raises
    ------
    ValueError
        They are of another namespace or on another device.
    """
    there = X if follows(X) else np.empty(0)
    if on_host(own) and on_host(there):
        return
    if not on_host(own) and not on_host(there):
        same = namespace(own) is namespace(there) and device(own) == device(there)
        if same:
            return
    off = "" if get_config()["array_api_dispatch"] else f", or call {SWITCH_ON} if X is there"
    raise ValueError(
        f"Inputs passed to {type(estimator).__name__}.{method}() must use the same namespace and "
        f"the same device as those passed to fit(): the model is of {described(own)}, X of "
        f"{described(there)}. Move one of them, such as the model by model.to(X) or "
        f"model.to('cpu'){off}."
    )


def place_of(where: Any) -> Array:
    """Return an array of the place that is meant: by an array, or the name of a device.

    ``"cpu"`` is the host, in arrays of NumPy; all others are devices of torch.
    """
    if is_array_api_obj(where):
        return where
    if str(where) == "cpu":
        return np.empty(0)
    try:
        import torch
    except ImportError:
        raise ImportError(
            f"device={where!r} needs torch: install it, or give an array as device."
        ) from None
    try:
        return torch.empty(0, device=where)
    except (RuntimeError, AssertionError, TypeError) as error:
        said = str(error).splitlines()[0]
        raise ValueError(
            f"device={where!r} cannot be used ({said}): give 'cpu', a device of torch that this "
            "machine has, such as 'cuda', or an array."
        ) from error


def move(array: Array, there: Array) -> Array:
    """Return an array in the place of another, by way of the host between two libraries."""
    if on_host(there):
        return to_host(array)
    if not on_host(array) and namespace(array) is not namespace(there):
        array = to_host(array)
    return beside(array, there)
