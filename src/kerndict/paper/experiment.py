"""One row: fit, predict, measure."""

import time
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import normalize

from kerndict.classifiers import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.coherence import squared_correlations
from kerndict.exceptions import SpanWarning
from kerndict.paper.environment import environment
from kerndict.paper.peers import TunedSVC, peer
from kerndict.paper.protocol import DATASETS, FIGURES, PEERS, Row, paper_settings
from kerndict.paper.sources import load_dataset
from kerndict.spaces import KernelSpace


@lru_cache(maxsize=1)
def warm_up() -> None:
    """Compile, or load from the cache, everything that is timed later."""
    X, y = np.random.default_rng(0).standard_normal((12, 30)), np.repeat([0, 1], 6)
    for classifier in (DictionaryClassifier, KernelDictionaryClassifier):
        for update in ("power", "exact"):
            model = classifier(4, 2, incoherence=0.1, atom_update=update, n_iter=1)
            model.fit(X, y).predict(X)


def compute(row: Row, folder: Path | None) -> tuple[dict[str, Any], dict[str, NDArray] | None]:
    """Run one experiment; return its result and the arrays behind the figures, if any."""
    warm_up()
    features = load_dataset(row.dataset, folder)
    train, test = DATASETS[row.dataset].split(features, row.round)
    X, y = features.data, features.target
    if row.method in PEERS:
        model = peer(row.method)
    else:
        model = paper_settings(row.dataset, row.method)
        last = model[-1] if isinstance(model, Pipeline) else model
        last.set_params(random_state=row.round)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begin = time.perf_counter()
        model.fit(X[train], y[train])
        fitted = time.perf_counter()
        predicted = model.predict(X[test])
        done = time.perf_counter()
    last = model[-1] if isinstance(model, Pipeline) else model
    ours = isinstance(last, (DictionaryClassifier, KernelDictionaryClassifier))
    kernel_fit, kernel_predict = _kernel_seconds(last, X[test])
    result: dict[str, Any] = {
        "accuracy": float(accuracy_score(y[test], predicted)),
        "accuracy_per_class": float(balanced_accuracy_score(y[test], predicted)),
        "fit_seconds": fitted - begin,
        "predict_seconds": done - fitted,
        "kernel_fit_seconds": kernel_fit,
        "kernel_predict_seconds": kernel_predict,
        "details": {
            "settings": plain(last.get_params(deep=False)),
            "chosen": plain(_chosen(last)),
            "spans": any(issubclass(item.category, SpanWarning) for item in caught),
            "reconstruction": last.reconstruction_.tolist() if ours else [],
            "coherence": last.coherence_.tolist() if ours else [],
            **environment(),
        },
    }
    if isinstance(last, KernelDictionaryClassifier):
        maps = squared_correlations(last.model_)  # Figures 4 to 6
        result["details"]["alignment"] = alignment(maps)
        if row.method == FIGURES and row.round == 1:
            residuals = last.class_residuals(normalize(X[test]))
            order = np.argsort(y[test], kind="stable")
            return result, {
                "residuals": residuals[order].astype(np.float32),
                "labels": y[test][order],
                "predicted": predicted[order],
                "discrimination": maps,
                "reconstruction": last.reconstruction_,
                "coherence": last.coherence_,
            }
    return result, None


def _kernel_seconds(last: BaseEstimator, X_test: NDArray) -> tuple[float, float]:
    """Time the kernel matrices of fit and predict by computing them once more."""
    if not isinstance(last, KernelDictionaryClassifier):
        return 0.0, 0.0
    space = last.model_.space
    assert isinstance(space, KernelSpace)
    kernel = space.kernel
    begin = time.perf_counter()
    kernel.matrix(space.rows, space.rows)
    middle = time.perf_counter()
    kernel.matrix(normalize(X_test), space.rows)
    return middle - begin, time.perf_counter() - middle


def alignment(terms: NDArray) -> float:
    """Return how far from orthogonal two dictionaries are on average: 0 is, 1 is the same.

    ``|D_l'D_i|_F^2`` relative to the geometric mean of the two dictionaries' own terms.
    """
    own = np.sqrt(np.outer(np.diagonal(terms), np.diagonal(terms)))
    apart = ~np.eye(len(terms), dtype=bool)
    return float(np.mean(terms[apart] / own[apart]))


def _chosen(last: BaseEstimator) -> dict[str, Any]:
    if isinstance(last, GridSearchCV):
        return dict(last.best_params_)
    return {"C_": last.C_, "gamma_": last.gamma_} if isinstance(last, TunedSVC) else {}


def plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return values that JSON can hold; the rest by their names."""
    kept = (str, int, float, bool, type(None))
    return {key: value if isinstance(value, kept) else repr(value) for key, value in values.items()}
