"""How a kind of step is declared: what a file keeps of it, and how it becomes fitted again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from operator import attrgetter
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerndict._state import Field, pack, unpack
from kerndict.exceptions import ModelFormatError
from kerndict.persistence.layout import pack_layout, unpack_layout
from kerndict.persistence.parameters import Parameter
from kerndict.persistence.values import Values, pack_values, unpack_values

_LAYOUT = ".layout"


@dataclass(frozen=True)
class Step:
    """A kind of step: its class, its parameters, and the fitted attributes that `transform` needs.

    Parameters
    ----------
    where : str
        The class, as ``"module.Class"``; it is imported when a model has such a step.
    parameters : dict of str to Parameter
        Those of the constructor, and what each may be.  One that is not named here can only be
        saved at its default.
    fields : tuple of Field or Values
        The fitted attributes: arrays of numbers with their shapes in letters, or arrays of texts
        and other values.  ``m`` is the number of features that go in.
    parts : tuple of str
        Attributes that are None or fitted steps, themselves declared.
    gives : str or callable
        The letter of the number of features that come out, or a function of the fitted step.
    needs : dict of str to str
        Which attribute cannot be missing when a parameter is true.
    settle : callable, optional
        Sets what follows from the attributes and raises ModelFormatError where they do not go
        together; it is called with the step and the meaning of the letters.
    untold : tuple of str
        Parameters that are left out of files: they change no prediction, or follow from the rest.
    """

    where: str
    parameters: Mapping[str, Parameter]
    fields: tuple[Field | Values, ...] = ()
    parts: tuple[str, ...] = ()
    gives: str | Callable[[Any], int] = "m"
    needs: Mapping[str, str] = field(default_factory=dict)
    settle: Callable[[Any, dict[str, Any]], None] | None = None
    untold: tuple[str, ...] = ()

    @property
    def kind(self) -> type:
        """The class."""
        module, _, name = self.where.rpartition(".")
        return getattr(import_module(module), name)

    @property
    def name(self) -> str:
        """The name of the class in files."""
        return self.where.rpartition(".")[2]


def pack_parameters(declared: Step, step: Any) -> dict[str, Any]:
    """Return the parameters of a step as JSON."""
    defaults = signature(declared.kind).parameters
    found = {}
    for name, value in step.get_params(deep=False).items():
        parameter = declared.parameters.get(name)
        if parameter is not None:
            found[name] = parameter.write(name, value)
        elif name in declared.untold:
            continue
        elif value is not defaults[name].default and value != defaults[name].default:
            raise ModelFormatError(
                f"{name}={short(value)} of {declared.name} cannot be written: only its default can."
            )
    return found


def unfitted(declared: Step, parameters: Any, **required: Any) -> Any:
    """Return a step as its constructor makes it from the parameters of a file."""
    step, name = declared.kind(**required), declared.name
    if not isinstance(parameters, dict) or not set(parameters) <= set(declared.parameters):
        raise ModelFormatError(f"{name} does not have the parameters {short(parameters)}.")
    known, values = step.get_params(deep=False), {}
    for key, value in parameters.items():
        parameter = declared.parameters[key]
        value = parameter.read(key, value)
        if not parameter.right(value):
            raise ModelFormatError(f"{key}={short(value)} is not a value of {name}.")
        if key in known:
            values[key] = value
        elif value != parameter.without:
            raise ModelFormatError(
                f"the installed scikit-learn has no parameter {key!r} of {name}, which is "
                f"{short(value)} here: install a newer scikit-learn."
            )
    return step.set_params(**values)


def pack_fields(declared: Step, step: Any) -> dict[str, NDArray]:
    """Return the arrays of a fitted step; attributes that it does not have are left out."""
    arrays: dict[str, NDArray] = {}
    for each in declared.fields:
        if each.optional and _get(step, each.path) is None:
            continue
        if isinstance(each, Values):
            arrays |= pack_values(each, _get(step, each.path))
            continue
        arrays |= pack(step, [each])
        lying = pack_layout(np.asarray(_get(step, each.path)))
        if lying is not None:
            arrays[each.name], arrays[each.name + _LAYOUT] = lying
    return arrays


def _get(step: Any, path: str) -> Any:
    try:
        return attrgetter(path)(step)
    except AttributeError:
        return None


def restore_fields(
    declared: Step, step: Any, arrays: dict[str, NDArray], parts: Mapping[str, Any]
) -> int | None:
    """Make a step fitted; return how many features it gives, None if it takes any number."""
    letters: dict[str, Any] = {}
    for each in declared.fields:
        if isinstance(each, Values):
            setattr(step, each.path, unpack_values(each, arrays))
            continue
        layout = arrays.pop(each.name + _LAYOUT, None)
        if layout is not None and each.name in arrays:
            arrays[each.name] = unpack_layout(arrays[each.name], layout)
        dtype = getattr(arrays.get(each.name), "dtype", None)
        value = unpack(arrays, [each], letters)[each.path]
        if isinstance(value, float) and dtype is not None:
            value = dtype.type(value)
        if value is not None or each.path != "n_features_in_":
            setattr(step, each.path, value)
    for name in declared.parts:
        setattr(step, name, parts.get(name))
    for flag, name in declared.needs.items():
        if getattr(step, flag) and getattr(step, name) is None:
            raise ModelFormatError(f"the array {name.strip('_')!r} of {step!r} is missing.")
    if declared.settle is not None:
        declared.settle(step, letters)
    if callable(declared.gives):
        return declared.gives(step)
    return letters.get(declared.gives)
