"""What prediction needs of a fitted classifier: the one list of it.

Letters: C classes, m features, n atoms and N training samples (``_i``: of each class), H of
them held out, T passes.
The codes of the training samples are left out; the objective is a few numbers, and stays.
Older files must load for ever: what is added here later is optional.
"""

from collections.abc import Mapping
from reprlib import repr as short
from typing import Any

from numpy.typing import NDArray

from kerndict._state import Field, pack, unpack
from kerndict.classifiers.kernel import KernelDictionaryClassifier
from kerndict.classifiers.linear import DictionaryClassifier
from kerndict.core.collaborative import CollaborativeRule
from kerndict.exceptions import ModelFormatError
from kerndict.kernels import KERNELS, Kernel

COMMON = (
    Field("n_features_in_", "count", sizes="m"),
    Field("n_atoms_", "count", "C", sizes="n"),
    Field("_class_sizes", "count", "C", sizes="N"),
    Field("_sparsity", "count", "C"),
    Field("_grams", "precision", "n_i n_i"),
    Field("incoherence_", "real"),
    Field("reconstruction_", "real", "T"),
    Field("coherence_", "real", "T"),
)
LINEAR = (Field("dictionaries_", "precision", "m n_i"),)
KERNEL = (
    Field("dual_dictionaries_", "precision", "N_i n_i"),
    Field("fit_indices_", "order", "N"),
    Field("X_fit_", "precision", "N m", optional=True),
    Field("_training_diagonal", "real", optional=True),
    Field("_kernel.sigma", "positive"),
    Field("_kernel.degree", "count"),
    Field("_kernel.coef0", "real"),
    Field("_kernel.shift", "precision", "m", optional=True),
)
RULE = (
    Field("ridge_", "positive"),
    Field("rule_weights_", "real", "3"),
    Field("rule_offsets_", "real", "C"),
    Field("_rule.inverse", "precision", "n n"),
    Field("_rule.own", "precision", "n_i n_i"),
    Field("_rule.known", "real", "H"),
    Field("_rule.span", "precision", "n n", optional=True),
)
FIELDS = {DictionaryClassifier: COMMON + LINEAR, KernelDictionaryClassifier: COMMON + KERNEL}


def classifier_state(model: Any) -> dict[str, NDArray]:
    """Return the arrays that prediction needs, `classes_` and feature names aside."""
    return pack(model, FIELDS[type(model)] + (RULE if model._rule is not None else ()))


def restore_classifier(
    model: Any, arrays: dict[str, NDArray], classes: NDArray, kernel: str | None
) -> None:
    """Make a classifier fitted from the arrays of :func:`classifier_state`.

    Parameters
    ----------
    model : an unfitted classifier
    arrays : its state, which are taken out of it
    classes : `classes_`
    kernel : the name of the fitted kernel; None for the linear classifier
    """
    fields = FIELDS[type(model)] + (RULE if RULE[0].name in arrays else ())
    letters: dict[str, Any] = {"C": len(classes)}
    values = unpack(arrays, fields, letters)
    for path, value in values.items():
        if "." not in path:
            setattr(model, path, value)
    model.classes_ = classes
    model._dtype = letters["precision"]
    model.n_iter_ = letters["T"]
    model._gram = None
    if isinstance(model, KernelDictionaryClassifier):
        _restore_kernel(model, values, kernel)
    model._rule = _rule(model, values)


def _restore_kernel(model: Any, values: Mapping[str, Any], name: str | None) -> None:
    if name not in KERNELS:
        raise ModelFormatError(f"the kernel {short(name)} is not known.")
    if (model.X_fit_ is None) != (name == "precomputed"):
        raise ModelFormatError(f"the training rows do not go with the kernel {name!r}.")
    if name == "precomputed" and model.n_features_in_ != len(model.fit_indices_):
        raise ModelFormatError("a precomputed kernel needs one feature per training row.")
    model._kernel = Kernel(
        name,
        values["_kernel.sigma"],
        values["_kernel.degree"],
        values["_kernel.coef0"],
        values["_kernel.shift"],
    )
    if name == "rbf":
        model.sigma_ = model._kernel.sigma
    model._centre()


def _rule(model: Any, values: Mapping[str, Any]) -> CollaborativeRule | None:
    if "_rule.inverse" not in values:
        return None
    unknown = isinstance(model, KernelDictionaryClassifier) and (
        model.X_fit_ is None and model._training_diagonal is None
    )
    if unknown != (values["_rule.span"] is not None):
        raise ModelFormatError("the array 'rule.span' does not go with the kernel.")
    return CollaborativeRule(
        values["_rule.inverse"],
        model._grams,
        values["_rule.own"],
        model.rule_weights_,
        model.rule_offsets_,
        values["_rule.known"],
        values["_rule.span"],
    )
