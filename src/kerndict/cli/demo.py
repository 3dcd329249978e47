"""``kerndict demo``: both classifiers beside their controls, on digits."""

import argparse
import time
from collections.abc import Iterator
from typing import Any

from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer

from kerndict.classifiers import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.cli.common import SUMMARIES

_ROW = "{:<28} {:>10} {:>9} {:>9} {:>7} {:>9}"
#: Both classifiers as they come, with small dictionaries, untrained, and with the paper's rule.
_VARIANTS: dict[str, dict[str, Any]] = {
    "": {},
    ", 10 atoms": {"n_atoms": 10},
    ", untrained": {"n_atoms": 10, "n_iter": 0},
    ", residual": {"n_atoms": 10, "decision": "residual"},
}


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    command = commands.add_parser("demo", help=SUMMARIES["demo"])
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    for line in _lines():
        print(line, flush=True)
    return 0


def _models() -> dict[str, Pipeline]:
    """Return the classifiers to compare."""
    return {
        classifier.__name__.replace("Classifier", variant): make_pipeline(
            Normalizer(), classifier(**options, random_state=0)
        )
        for classifier in (DictionaryClassifier, KernelDictionaryClassifier)
        for variant, options in _VARIANTS.items()
    }


def _lines() -> Iterator[str]:
    """Yield the lines of the demonstration as its rows get ready."""
    from sklearn.datasets import load_digits  # more than the other commands load

    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=0
    )
    yield f"digits: {len(X_train)} training and {len(X_test)} test images, 10 classes"
    yield "compiling (a few seconds, the first time only) ..."
    for model in _models().values():  # compiled code is cached on disk from here on
        model.fit(X_train[:100], y_train[:100]).predict(X_test[:1])
    yield ""
    yield _ROW.format("", "accuracy", "fit s", "predict s", "atoms", "nonzeros")
    for title, model in _models().items():
        begin = time.perf_counter()
        model.fit(X_train, y_train)
        fitted = time.perf_counter()
        accuracy = model.score(X_test, y_test)
        done = time.perf_counter()
        codes = model[-1].codes_
        atoms = sum(X.shape[1] for X in codes)
        nonzeros = sum((X != 0).sum() for X in codes) / len(X_train)
        yield _ROW.format(
            title,
            f"{100 * accuracy:.2f} %",
            f"{fitted - begin:.3f}",
            f"{done - fitted:.3f}",
            atoms,
            f"{nonzeros:.2f}",
        )
    yield ""
    yield "untrained: 10 atoms per class, picked and not learned; residual: the paper's rule"
    yield "atoms: over all classes; nonzeros: per code of a training sample"
