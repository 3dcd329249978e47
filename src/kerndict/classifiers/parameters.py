"""The parameters of the classifiers: their choices, and what is checked before a fit."""

from collections.abc import Sequence
from typing import Protocol

from numpy.typing import ArrayLike

from kerndict._validation import check_atoms, check_choice, check_count, check_jobs, check_real
from kerndict.learning import STARTS

INCOHERENCE_SCALES = ("relative", "absolute")
ATOM_UPDATES = ("exact", "power")
COEF_UPDATES = ("aksvd", "uaksvd")
DECISIONS = ("collaborative", "residual")
INITS = tuple(STARTS)


class CommonParameters(Protocol):
    """What both classifiers take."""

    n_atoms: int | float | None
    n_nonzero_coefs: int | None
    incoherence: float
    incoherence_scale: str
    atom_update: str
    coef_update: str
    decision: str
    n_iter: int
    init: str | Sequence[ArrayLike]
    n_jobs: int | None
    ridge: float | str
    n_landmarks: int | str | None
    class_weight: dict | str | None
    within_class_whitening: float | None
    square_root: bool | None


def check_common(given: CommonParameters) -> None:
    """Check the parameters that both classifiers take."""
    check_atoms(given.n_atoms)
    if given.n_nonzero_coefs is not None:
        check_count("n_nonzero_coefs", given.n_nonzero_coefs, 1)
    if not isinstance(given.ridge, str):
        check_real("ridge", given.ridge, 0, strict=True)
    elif given.ridge != "auto":
        raise ValueError(f"ridge={given.ridge!r} is not known: use 'auto' or a number > 0.")
    check_count("n_iter", given.n_iter, 0)
    check_jobs(given.n_jobs)
    check_real("incoherence", given.incoherence, 0)
    check_choice("incoherence_scale", given.incoherence_scale, INCOHERENCE_SCALES)
    check_choice("atom_update", given.atom_update, ATOM_UPDATES)
    check_choice("coef_update", given.coef_update, COEF_UPDATES)
    check_choice("decision", given.decision, DECISIONS)
    if given.n_landmarks is not None and not isinstance(given.n_landmarks, str):
        check_count("n_landmarks", given.n_landmarks, 2)
    elif given.n_landmarks not in (None, "all"):
        raise ValueError(
            f"n_landmarks={given.n_landmarks!r} is not known: use 'all', a whole number >= 2 or "
            "None."
        )
    if given.within_class_whitening is not None:
        check_real("within_class_whitening", given.within_class_whitening, 0)
    if given.square_root not in (None, True, False):
        raise ValueError(
            f"square_root={given.square_root!r} is not known: use True, False or None."
        )
    weight = given.class_weight
    if not (weight is None or isinstance(weight, dict) or weight == "balanced"):
        raise ValueError(
            f"class_weight={weight!r} is not known: use 'balanced', None, or a dict that gives "
            "each class its weight."
        )
    if isinstance(given.init, str):
        check_choice("init", given.init, INITS, " or a sequence of arrays, one per class")


class LearnsBySums(Protocol):
    """What settles whether rows can be added up."""

    decision: str
    n_landmarks: int | str | None


def has_sums(estimator: LearnsBySums) -> bool:
    """Tell whether batches can be added up; the error says why not."""
    if estimator.decision != "collaborative":
        raise AttributeError(
            f"decision={estimator.decision!r} cannot learn from batches: use "
            "decision='collaborative'."
        )
    if estimator.n_landmarks == "all":
        raise AttributeError("n_landmarks='all' cannot learn from batches: give a number or None.")
    if getattr(estimator, "kernel", None) == "precomputed":
        raise AttributeError("kernel='precomputed' cannot learn from batches: give another kernel.")
    return True
