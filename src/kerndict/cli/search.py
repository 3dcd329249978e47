"""Tuning by cross-validation, with progress on standard error."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.model_selection import ParameterGrid, StratifiedKFold, cross_validate

from kerndict._words import clock
from kerndict.cli.common import grid
from kerndict.cli.parameters import spell

#: What is tried unless --grid says otherwise.
GRID: dict[str, list[Any]] = {"incoherence": [0.0, 0.01, 0.03], "n_atoms": [None, 0.75]}
N_FOLDS = 5


def search(
    make: Callable[[dict[str, Any]], Any],
    candidates: Mapping[str, list[Any]],
    X: NDArray,
    y: NDArray,
    n_jobs: int | None,
) -> dict[str, Any]:
    """Print how well every candidate does; return the best one.

    It has the smallest log-loss, or under a rule without probabilities the largest accuracy; of
    equals the first.

    Parameters
    ----------
    make : returns the unfitted model with some parameters
    candidates : the values of each parameter, in all combinations
    X, y : rows and labels
    n_jobs : folds at a time
    """
    settings = list(ParameterGrid(dict(candidates)))
    folds = StratifiedKFold(_n_folds(y), shuffle=True, random_state=0)
    workers = None if n_jobs is None else min(n_jobs, folds.n_splits)  # more would be idle
    if workers not in (None, 1):
        _start_workers(workers)
    results: list[dict[str, NDArray]] = []
    begin = time.perf_counter()
    for setting in settings:
        model = make(setting)
        scoring = {"accuracy": "accuracy"}
        if hasattr(model, "predict_proba"):
            scoring["log-loss"] = "neg_log_loss"
        with _quiet_threads():
            found = cross_validate(
                model, X, y, cv=folds, scoring=scoring, n_jobs=workers, error_score="raise"
            )
        found["test_log-loss"] = -found.get("test_log-loss", np.nan * _accuracies(found))
        results.append(found)
        _progress(setting, found, len(results), len(settings), time.perf_counter() - begin)
    best = _best(results)
    by = "accuracy" if _loss(results[best]) is None else "log-loss"
    print(f"search: {len(settings)} settings, {folds.n_splits} folds; * is chosen by {by}")
    print(_table(list(candidates), settings, results, best))
    return settings[best]


def _start_workers(n_jobs: int) -> None:
    """Start worker processes that end quietly at Ctrl-C.

    They ignore SIGINT, as this process does while it starts them, and are ended by it.  What is
    then left of their temporary files is removed by joblib's tracker, without a warning.
    """
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    warned = os.environ.get("PYTHONWARNINGS", "")
    os.environ["PYTHONWARNINGS"] = f"{warned},ignore:resource_tracker:UserWarning"
    try:
        Parallel(n_jobs)(delayed(_started)() for _ in range(effective_n_jobs(n_jobs)))
    finally:
        os.environ["PYTHONWARNINGS"] = warned
        signal.signal(signal.SIGINT, handler)


def _started() -> None:
    """Be the first task of a worker.

    To find this function it loads what the fits need: loaded later, that much more memory would
    be taken for a leak, and the worker be replaced with a warning.
    """


@contextmanager
def _quiet_threads() -> Iterator[None]:
    """Let the threads of a pool of workers die without a traceback, as they do at Ctrl-C.

    After it they are left alone: they may outlive the block, and the process is about to end.
    """
    hook, threading.excepthook = threading.excepthook, lambda _: None
    try:
        yield
    finally:
        if not isinstance(sys.exception(), KeyboardInterrupt):
            threading.excepthook = hook


def _accuracies(found: Mapping[str, NDArray]) -> NDArray:
    """Return the accuracy of every fold."""
    return found["test_accuracy"]


def _n_folds(y: NDArray) -> int:
    labels, sizes = np.unique(y, return_counts=True)
    if sizes.min() < 2:
        raise ValueError(
            f"--search needs two rows of every class, and {str(labels[sizes.argmin()])!r} has one."
        )
    return int(min(N_FOLDS, sizes.min()))


def _loss(found: Mapping[str, NDArray]) -> float | None:
    loss = float(found["test_log-loss"].mean())
    return None if np.isnan(loss) else loss


def _best(results: list[dict[str, NDArray]]) -> int:
    """Return the place of the best; rules with probabilities go before rules without."""

    def order(i: int) -> tuple[bool, float]:
        loss = _loss(results[i])
        return loss is None, -_accuracies(results[i]).mean() if loss is None else loss

    return min(range(len(results)), key=order)


def _progress(
    setting: Mapping[str, Any], found: Mapping[str, NDArray], done: int, total: int, seconds: float
) -> None:
    words = ", ".join(f"{name}={spell(value)}" for name, value in setting.items())
    left = f"about {clock(seconds / done * (total - done))} left" if done < total else "done"
    accuracy = f"accuracy {100 * _accuracies(found).mean():.2f} %"
    print(f"[{done}/{total}] {words}: {accuracy}; {left}", file=sys.stderr, flush=True)


def _table(
    names: list[str], settings: list[dict[str, Any]], results: list[dict[str, NDArray]], best: int
) -> str:
    rows = []
    for i, (setting, found) in enumerate(zip(settings, results, strict=True)):
        accuracy, loss = 100 * _accuracies(found), found["test_log-loss"]
        rows.append(
            [
                "*" if i == best else "",
                *(spell(setting[name]) for name in names),
                f"{accuracy.mean():.2f} ± {accuracy.std():.2f} %",
                "" if _loss(found) is None else f"{loss.mean():.4f} ± {loss.std():.4f}",
                f"{found['fit_time'].mean():.2f}",
            ]
        )
    return grid(["", *names, "accuracy", "log-loss", "fit s"], rows)
