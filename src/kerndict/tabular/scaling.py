"""Whether rows or columns are scaled: what loses less out of fold."""

import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split

from kerndict.classifiers.progress import unwatched, watched, watcher
from kerndict.landmarks import SMALL_ROWS

#: Rows that are looked at, at most, and how often they are divided.
ROWS, FOLDS = 1000, 3


class Loss(NamedTuple):
    """How well a choice did out of fold: log-loss, or the share of errors without probabilities.

    A fit to so many ``rows`` took so many ``seconds``.
    """

    scale: str
    loss: float
    is_log: bool
    rows: int
    seconds: float


def choose_scale(
    make: Callable[[str], Any],
    scales: tuple[str, ...],
    X: NDArray,
    y: NDArray,
    n_jobs: int | None = None,
) -> list[Loss]:
    """Return how well each way of scaling does, the best first.

    Parameters
    ----------
    make : returns an unfitted model with that way of scaling
    scales : the ways; the first of equals is the best
    X, y : rows and labels, of which some are drawn
    n_jobs : fits at a time, in threads

    Returns
    -------
    losses : list of Loss
        Empty where classes are too small to tell.
    """
    X, y = _repeated(X, y)
    labels = np.unique(y)
    if len(X) > ROWS and 2 * len(labels) <= ROWS:
        X, _, y, _ = train_test_split(X, y, train_size=ROWS, stratify=y, random_state=0)
        X, y = _repeated(X, y)
    labels, sizes = np.unique(y, return_counts=True)
    if len(labels) < 2:
        return []
    folds = StratifiedKFold(min(FOLDS, int(sizes.min())), shuffle=True, random_state=0)
    parts = list(folds.split(X, y))
    jobs = [(scale, *part) for scale in scales for part in parts]
    heard = watcher()
    heard("comparing ways to scale", 0)
    with watched(unwatched), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit to all rows says it once
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
        tried = []
        for each in parallel(delayed(_tried)(make, X, y, *job) for job in jobs):
            tried.append(each)
            heard("comparing ways to scale", len(tried) / len(jobs))
    found = [
        Loss(
            scale,
            float(np.mean([one.loss for one in tried if one.scale == scale])),
            tried[0].is_log,
            len(parts[0][0]),
            float(np.mean([one.seconds for one in tried])),
        )
        for scale in scales
    ]
    return sorted(found, key=lambda each: each.loss)


def _repeated(X: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
    """Return the rows that are not alone in their class: those cannot be left out."""
    labels, sizes = np.unique(y, return_counts=True)
    kept = np.isin(y, labels[sizes > 1])
    return X[kept], y[kept]


def _tried(
    make: Callable[[str], Any], X: NDArray, y: NDArray, scale: str, train: NDArray, test: NDArray
) -> Loss:
    """Return how well a way of scaling does on one part."""
    begin = time.perf_counter()
    model, loss = make(scale), np.inf
    is_log = hasattr(model, "predict_proba")
    with suppress(ValueError):  # such as of numbers that are too large; the other way may do
        model.fit(X[train], y[train])
        if is_log:
            loss = log_loss(y[test], model.predict_proba(X[test]), labels=model.classes_)
        else:
            loss = 1 - model.score(X[test], y[test])
    return Loss(scale, float(loss), is_log, len(train), time.perf_counter() - begin)


def expected_seconds(tried: Loss, n_rows: int) -> float:
    """Return about how long a fit to so many rows will take.

    The time of a fit grows with the square of the rows at least; with landmarks, with the rows.
    """
    compared = min(n_rows, SMALL_ROWS)
    return tried.seconds * (compared / tried.rows) ** 2 * n_rows / compared
