"""The fitted model as named arrays, and back.

Letters: C classes, m features, n atoms and N training samples (``_i``: of each class), H of
them held out, T passes.  What is stored stands with the fields of the values themselves.
Older files must load for ever: what is added there later is optional.
"""

from dataclasses import fields
from reprlib import repr as short
from typing import Any

from numpy.typing import NDArray

from kerndict._arrays import on_host, to_host
from kerndict._state import Field, pack, stored_fields, unpack
from kerndict.classifiers import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.exceptions import ModelFormatError
from kerndict.kernels import KERNELS, Kernel
from kerndict.model import Model
from kerndict.preparation import Preparation
from kerndict.rules import CollaborativeRule, LandmarkRule, ResidualRule
from kerndict.spaces import (
    ComputedKernel,
    KernelSpace,
    LandmarkSpace,
    LinearSpace,
    PrecomputedSpace,
    Space,
)

#: Arrays of older files that say nothing new.
_FORMER = {
    LinearSpace: (),
    KernelSpace: ("training_diagonal",),
    LandmarkSpace: (),
    PrecomputedSpace: ("kernel.sigma", "kernel.degree", "kernel.coef0", "kernel.shift"),
}


#: What has an array of this name has this rule.
_RULES: dict[str, type[CollaborativeRule] | type[LandmarkRule]] = {
    "rule.inverse": CollaborativeRule,
    "rule.shares": LandmarkRule,
}


def _fields(space: type[Space], rule: type, prepared: bool) -> list[Field]:
    """Return all that is stored; sizes come before what has them."""
    found = stored_fields(space, "space")
    if issubclass(space, ComputedKernel):
        found += stored_fields(Kernel, "space.kernel")
    if prepared:
        found += stored_fields(Preparation, f"{_prepares(space)}.preparation")
    found += stored_fields(Model)
    found.append(Field("atoms", "precision", space.atom_shape, space.atom_name))
    found += stored_fields(rule, "rule")
    return sorted(found, key=lambda field: field.sizes is None)


def _prepares(space: type[Space]) -> str:
    """Return what prepares the rows: the kernel, or a space without one."""
    return "space.kernel" if issubclass(space, ComputedKernel) else "space"


def classifier_state(model: Model) -> dict[str, NDArray]:
    """Return the arrays that prediction needs, labels and feature names aside."""
    if not on_host(model.grams[0]):
        model = model.converted(to_host)
    prepared = model.space.preparation is not None
    return pack(model, _fields(type(model.space), type(model.rule), prepared))


def restore_classifier(
    estimator: DictionaryClassifier | KernelDictionaryClassifier,
    arrays: dict[str, NDArray],
    classes: NDArray,
    kernel: str | None,
) -> None:
    """Make a classifier fitted from the arrays of :func:`classifier_state`.

    Parameters
    ----------
    estimator : an unfitted classifier
    arrays : its state, which are taken out of it
    classes : the labels
    kernel : the name of the fitted kernel; None for the linear classifier
    """
    kind = LandmarkSpace if "basis" in arrays else _space_of(estimator, kernel)
    kind_of_rule = next((_RULES[name] for name in _RULES if name in arrays), ResidualRule)
    for name in _FORMER[kind]:
        arrays.pop(name, None)
    letters: dict[str, Any] = {"C": len(classes)}
    prepared = kind is not PrecomputedSpace and "prepare.shares" in arrays
    found = unpack(arrays, _fields(kind, kind_of_rule, prepared), letters)
    if prepared:
        inside = f"{_prepares(kind)}.preparation"
        found[inside] = _preparation(_part(found, inside, Preparation))
    space = _space(kind, kernel, found)
    grams, sparsity = found["grams"], found["sparsity"]
    rule: ResidualRule | CollaborativeRule | LandmarkRule = ResidualRule(grams, sparsity)
    if kind_of_rule is LandmarkRule:
        if kind is not LandmarkSpace:
            raise ModelFormatError("the array 'rule.shares' does not go with the space.")
        rule = LandmarkRule(grams, **_part(found, "rule", LandmarkRule))
    elif kind_of_rule is CollaborativeRule:
        if space.energies_known != (found["rule.span"] is None):
            raise ModelFormatError("the array 'rule.span' does not go with the kernel.")
        rule = CollaborativeRule(grams, **_part(found, "rule", CollaborativeRule))
    names = {field.path for field in stored_fields(Model)}
    estimator.model_ = Model(
        classes=classes,
        space=space,
        atoms=found["atoms"],
        rule=rule,
        **{name: found[name] for name in names},
    )
    estimator.n_features_in_ = space.n_features


def _space_of(estimator: Any, kernel: str | None) -> type[Space]:
    if isinstance(estimator, DictionaryClassifier):
        return LinearSpace
    if kernel not in KERNELS:
        raise ModelFormatError(f"the kernel {short(kernel)} is not known.")
    return PrecomputedSpace if kernel == "precomputed" else KernelSpace


def _preparation(parts: dict[str, Any]) -> Preparation:
    """Return a preparation that can be undone."""
    flags = parts["square_root"], parts["unit"]
    if max(flags) > 1 or not (parts["shares"] < 1).all() or parts["strength"] < 0:
        raise ModelFormatError("how rows are prepared cannot be right.")
    return Preparation(**parts)


def _space(kind: type[Space], kernel: str | None, found: dict[str, Any]) -> Space:
    parts = _part(found, "space", kind)
    if issubclass(kind, ComputedKernel):
        name = "linear" if kernel is None else kernel
        if name not in KERNELS or name == "precomputed":
            raise ModelFormatError(f"the kernel {short(kernel)} is not known.")
        preparation = found.get("space.kernel.preparation")
        parts["kernel"] = Kernel(
            name, **_part(found, "space.kernel", Kernel), preparation=preparation
        )
    elif "space.preparation" in found:
        parts["preparation"] = found["space.preparation"]
    if kind is PrecomputedSpace and parts["n_features"] != len(parts["fit_indices"]):
        raise ModelFormatError("a precomputed kernel needs one feature per training row.")
    return kind(**parts)


def _part(found: dict[str, Any], inside: str, kind: type) -> dict[str, Any]:
    """Return the stored fields of one of the values within the model."""
    return {
        field.name: found[f"{inside}.{field.name}"]
        for field in fields(kind)
        if "stored" in field.metadata
    }
