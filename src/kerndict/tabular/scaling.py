"""Whether rows or columns are scaled: what loses less out of fold."""

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split

from kerndict.classifiers.progress import tell, unwatched, watched
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
    make: Callable[[str], Any], scales: tuple[str, ...], X: NDArray, y: NDArray
) -> list[Loss]:
    """Return how well each way of scaling does, the best first.

    Parameters
    ----------
    make : returns an unfitted model with that way of scaling
    scales : the ways; the first of equals is the best
    X, y : rows and labels, of which some are drawn

    Returns
    -------
    losses : list of Loss
        Empty where classes are too small to tell.
    """
    labels, sizes = np.unique(y, return_counts=True)
    kept = np.isin(y, labels[sizes > 1])  # a row alone in its class cannot be left out
    if len(np.unique(y[kept])) < 2:
        return []
    X, y = X[kept], y[kept]
    if len(X) > ROWS and 2 * len(labels) <= ROWS:
        X, _, y, _ = train_test_split(X, y, train_size=ROWS, stratify=y, random_state=0)
        labels, sizes = np.unique(y, return_counts=True)
        kept = np.isin(y, labels[sizes > 1])
        X, y = X[kept], y[kept]
    folds = min(FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    if folds < 2 or len(np.unique(y)) < 2:
        return []
    parts = list(StratifiedKFold(folds, shuffle=True, random_state=0).split(X, y))
    found = []
    for i, scale in enumerate(scales):
        tell("comparing ways to scale", i / len(scales))
        with watched(unwatched):
            found.append(_loss(make, scale, X, y, parts))
    return sorted(found, key=lambda each: each.loss)


def _loss(
    make: Callable[[str], Any],
    scale: str,
    X: NDArray,
    y: NDArray,
    parts: list[tuple[NDArray, NDArray]],
) -> Loss:
    losses, is_log = [], True
    begin = time.perf_counter()
    for train, test in parts:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit to all rows says it once
            model = make(scale).fit(X[train], y[train])
        if hasattr(model, "predict_proba"):
            losses.append(log_loss(y[test], model.predict_proba(X[test]), labels=model.classes_))
        else:
            is_log = False
            losses.append(1 - model.score(X[test], y[test]))
    seconds = (time.perf_counter() - begin) / len(parts)
    return Loss(scale, float(np.mean(losses)), is_log, len(parts[0][0]), seconds)


def expected_seconds(tried: Loss, n_rows: int) -> float:
    """Return about how long a fit to so many rows will take.

    The time of a fit grows with the square of the rows at least; with landmarks, with the rows.
    """
    compared = min(n_rows, SMALL_ROWS)
    return tried.seconds * (compared / tried.rows) ** 2 * n_rows / compared
