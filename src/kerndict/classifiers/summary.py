"""A fitted classifier in a few facts, for the terminal and for notebooks."""

from dataclasses import fields, is_dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kerndict._pipelines import chain

if TYPE_CHECKING:
    from kerndict.classifiers.prediction import DictionaryPredictor


def objective(model: "DictionaryPredictor") -> NDArray:
    """Return Eq. (3) or (7) after each pass: reconstruction + γ·coherence."""
    return model.reconstruction_ + model.incoherence_ * model.coherence_


def summary(model: Any) -> dict[str, Any]:
    """Return what there is to know about a fitted classifier at a glance.

    Parameters
    ----------
    model : classifier of this package, or a pipeline or search that ends in one
        Fitted.

    Returns
    -------
    facts : dict
        ``steps`` before the classifier (the names of their classes), ``classifier``,
        ``kernel`` (None for the linear one), ``decision``, ``classes``,
        ``features``, ``atoms`` (of all classes), ``atoms_per_class`` (smallest and largest),
        ``nonzeros`` (per code, smallest and largest limit of the classes), ``iterations``,
        ``bytes`` (of all arrays the model holds in memory), and after the last iteration
        ``reconstruction``, ``coherence`` and ``objective``, None without iterations.

    Examples
    --------
    >>> import kerndict
    >>> from sklearn.datasets import load_iris
    >>> model = kerndict.DictionaryClassifier(5, 2, random_state=0)
    >>> facts = kerndict.summary(model.fit(*load_iris(return_X_y=True)))
    >>> facts["classes"], facts["atoms"], facts["nonzeros"]
    (3, 15, (2, 2))
    """
    steps, model = chain(model)
    kernel = model.get_params(deep=False).get("kernel")
    last: dict[str, float | None] = {"reconstruction": None, "coherence": None, "objective": None}
    if model.n_iter_:
        terms = (model.reconstruction_, model.coherence_, objective(model))
        last = {name: float(term[-1]) for name, term in zip(last, terms, strict=True)}
    return {
        "steps": tuple(type(step).__name__ for step in steps),
        "classifier": type(model).__name__,
        "kernel": getattr(kernel, "__name__", repr(kernel)) if callable(kernel) else kernel,
        "decision": model.decision,
        "classes": len(model.classes_),
        "features": int(model.n_features_in_),
        "atoms": int(model.n_atoms_.sum()),
        "atoms_per_class": (int(model.n_atoms_.min()), int(model.n_atoms_.max())),
        "nonzeros": (int(model.model_.sparsity.min()), int(model.model_.sparsity.max())),
        "iterations": int(model.n_iter_),
        "bytes": array_bytes(model),
        **last,
    }


def array_bytes(model: "DictionaryPredictor") -> int:
    """Return the bytes of all arrays of a model, each counted once."""
    found: dict[int, int] = {}
    _collect(list(vars(model).values()), found)
    return sum(found.values())


def _collect(value: Any, found: dict[int, int]) -> None:
    if isinstance(value, np.ndarray):
        found[id(value)] = value.nbytes
    elif isinstance(value, list | tuple):
        for item in value:
            _collect(item, found)
    elif is_dataclass(value):
        _collect([getattr(value, field.name) for field in fields(value)], found)


def human_bytes(count: float) -> str:
    """Return a number of bytes for people.

    >>> human_bytes(999), human_bytes(2_340_000)
    ('999 B', '2.3 MB')
    """
    power = min(3, (len(str(int(count))) - 1) // 3)
    return f"{count / 1000**power:.{min(power, 1)}f} {('B', 'kB', 'MB', 'GB')[power]}"


def caption(model: "DictionaryPredictor") -> str:
    """Return a fitted model in one line."""
    facts = summary(model)
    parts = [
        f"{facts['classes']} classes",
        f"{facts['atoms']} atoms",
        human_bytes(facts["bytes"]),
    ]
    if facts["objective"] is not None:
        parts.append(f"objective {facts['objective']:.4g}")
    return " · ".join(parts)


def visual_block(model: "DictionaryPredictor") -> SimpleNamespace:
    """Return how scikit-learn's HTML representation draws a model, fitted or not.

    It asks estimators for it by ``_sk_visual_block_``, alone and within pipelines; what
    it reads of the answer are these attributes.
    """
    return SimpleNamespace(
        kind="single",
        estimators=model,
        names=type(model).__name__,
        name_details=str(model),
        name_caption=caption(model) if "model_" in vars(model) else None,
        doc_link_label=None,
        dash_wrapped=True,
    )
