"""The parameters of both classifiers as options: types and help here, defaults from them."""

import argparse
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kerndict.classifiers import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.classifiers.parameters import (
    ATOM_UPDATES,
    COEF_UPDATES,
    DECISIONS,
    INCOHERENCE_SCALES,
    INITS,
)
from kerndict.cli.common import UsageError, whole_number

Classifier = DictionaryClassifier | KernelDictionaryClassifier


def number(text: str) -> int | float:
    """Return a number, whole if it is written so."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise argparse.ArgumentTypeError(f"{text!r} is not a number")


def number_or_auto(text: str) -> int | float | None:
    """Return a number, or None for ``auto``."""
    return None if text == "auto" else number(text)


def landmarks(text: str) -> int | float | str | None:
    """Return a number, None for ``auto``, or ``all`` itself."""
    return text if text == "all" else number_or_auto(text)


def balance(text: str) -> str | None:
    """Return ``balanced`` itself, or None for ``auto``."""
    if text not in ("balanced", "auto"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither balanced nor auto")
    return None if text == "auto" else text


def yes_or_auto(text: str) -> bool | None:
    """Return a boolean, or None for ``auto``."""
    words = {"true": True, "false": False, "auto": None}
    if text not in words:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(words)}")
    return words[text]


def number_or_word(text: str) -> int | float | str:
    """Return a number, or ``auto`` itself."""
    return text if text == "auto" else number(text)


@dataclass(frozen=True)
class Parameter:
    """How an option is read: by a function, or as one of some words."""

    help: str
    parse: Callable[[str], Any] = str
    choices: tuple[str, ...] | None = None

    def read(self, text: str) -> Any:
        """Return the value of a text."""
        if self.choices is not None and text not in self.choices:
            raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(self.choices)}")
        return self.parse(text)


PARAMETERS = {
    "n_atoms": Parameter(
        "atoms per class: a count, or a share of the class such as 0.5", number_or_auto
    ),
    "n_nonzero_coefs": Parameter("atoms per code, at most", number_or_auto),
    "incoherence": Parameter("weight of the penalty on atoms like those of other classes", number),
    "incoherence_scale": Parameter(
        "relative (1 weighs as much as an atom's own samples do), or the paper's γ",
        choices=INCOHERENCE_SCALES,
    ),
    "atom_update": Parameter("closed form, or the paper's step", choices=ATOM_UPDATES),
    "coef_update": Parameter("least squares, or Eq. (19)", choices=COEF_UPDATES),
    "decision": Parameter(
        "the rule: with probabilities, or the paper's residuals", choices=DECISIONS
    ),
    "n_iter": Parameter("passes over all classes", number),
    "init": Parameter("the first atoms", choices=INITS),
    "random_state": Parameter("seed of all chance", whole_number(0)),
    "n_jobs": Parameter(
        "threads in prediction and in comparing ways to scale; with --search, folds at a time",
        number,
    ),
    "verbose": Parameter("print every iteration and fold", int),
    "ridge": Parameter("ridge of the collaborative rule", number_or_word),
    "n_landmarks": Parameter(
        "training rows that all others are described by: a number, or all", landmarks
    ),
    "class_weight": Parameter("balanced lets all classes count the same, auto all rows", balance),
    "within_class_whitening": Parameter(
        "how much directions are made small in which samples of a class differ: 0 for not at all",
        number_or_auto,
    ),
    "square_root": Parameter("true takes the square root of each number", yes_or_auto),
    "kernel": Parameter("kernel", choices=("rbf", "poly", "linear")),
    "sigma": Parameter("width of the rbf kernel", number_or_auto),
    "degree": Parameter("degree of the poly kernel", number),
    "coef0": Parameter("constant of the poly kernel", number),
}
#: Those of the classifier; but the same command twice gives the same model.
DEFAULTS = {
    name: parameter.default
    for name, parameter in inspect.signature(KernelDictionaryClassifier).parameters.items()
} | {"random_state": 0, "n_jobs": 1}


def add_parameters(command: argparse.ArgumentParser) -> None:
    """Add an option per parameter; what is not given is not in the namespace."""
    group = command.add_argument_group("parameters of the classifier")
    for name, parameter in PARAMETERS.items():
        option = f"--{name.replace('_', '-')}"
        if name == "verbose":
            group.add_argument(
                option, action="count", default=argparse.SUPPRESS, help=parameter.help
            )
            continue
        group.add_argument(
            option,
            type=parameter.parse,
            choices=parameter.choices,
            metavar=None if parameter.choices else option[2:].rpartition("-")[2].upper(),
            default=argparse.SUPPRESS,
            help=f"{parameter.help}; default: {spell(DEFAULTS[name])}",
        )


def spell(value: Any, none: str = "auto") -> str:
    """Return a value as it is written on the command line."""
    return none if value is None else str(value)


def given_parameters(options: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters given on the command line."""
    return {name: value for name, value in vars(options).items() if name in PARAMETERS}


def make_classifier(linear: bool, parameters: dict[str, Any]) -> Classifier:
    """Return an unfitted classifier; values that it refuses are usage errors."""
    kind = DictionaryClassifier if linear else KernelDictionaryClassifier
    unknown = set(parameters) - set(inspect.signature(kind).parameters)
    if unknown:
        name = min(unknown).replace("_", "-")
        raise UsageError(f"--{name} is for the kernel classifier: leave out --linear.")
    classifier = kind(**{"random_state": DEFAULTS["random_state"], **parameters})
    try:
        classifier.check_parameters()
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from error
    return classifier


def parse_grid(text: str) -> tuple[str, list[Any]]:
    """Return the name and the values of ``n_atoms=10,20``."""
    name, found, values = text.partition("=")
    name = name.strip().replace("-", "_")
    if not found or name not in PARAMETERS or not values:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not PARAMETER=VALUE,VALUE with one of {', '.join(PARAMETERS)}"
        )
    return name, [PARAMETERS[name].read(value.strip()) for value in values.split(",")]
