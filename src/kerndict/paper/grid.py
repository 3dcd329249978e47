"""The paper's grid search, inside the training part."""

import json
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import normalize

from kerndict.classifiers import DictionaryClassifier
from kerndict.exceptions import SpanWarning
from kerndict.kernels import Kernel
from kerndict.paper.experiment import plain
from kerndict.paper.protocol import DATASETS, grid_candidates, grid_kernels, paper_settings
from kerndict.paper.sources import load
from kerndict.paper.store import Store


def run_grid(
    store: Store,
    datasets: Sequence[str],
    methods: Sequence[str],
    folder: Path | None,
    jobs: int,
) -> Iterator[dict[str, Any]]:
    """Search the paper's grid inside the training part of round 1; yield each search once kept.

    One search per dataset, method and kernel parameters, on a precomputed kernel.
    """
    finished = {(row["dataset"], row["method"], row["kernel"]) for row in store.grid()}
    for dataset in datasets:
        for method in methods:
            for kernel in grid_kernels(method):
                if (dataset, method, json.dumps(kernel)) in finished:
                    continue
                features = load(dataset, folder)
                train, _ = DATASETS[dataset].split(features, 1)
                begin = time.perf_counter()
                score, chosen = _search(
                    dataset, method, kernel, features.data[train], features.target[train],
                    grid_candidates(), jobs,
                )  # fmt: skip
                result = {
                    "dataset": dataset,
                    "method": method,
                    "kernel": json.dumps(kernel),
                    "score": score,
                    "parameters": {**chosen, **kernel},
                    "seconds": time.perf_counter() - begin,
                }
                store.add_grid(result)
                yield result


def _search(
    dataset: str,
    method: str,
    kernel: dict[str, Any],
    X: NDArray,
    y: NDArray,
    candidates: list,
    jobs: int,
) -> tuple[float, dict[str, Any]]:
    model = paper_settings(dataset, method)
    if isinstance(model, DictionaryClassifier):
        search_on = X
    else:
        model = model[-1].set_params(**kernel)
        X = normalize(X)
        settled = Kernel(model.kernel, model.sigma or 1.0, int(model.degree), float(model.coef0))
        search_on = settled.matrix(X, X)
        model.set_params(kernel="precomputed")
    model.set_params(random_state=0)
    search = GridSearchCV(model, candidates, cv=3, n_jobs=jobs, refit=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpanWarning)
        search.fit(search_on, y)
    return float(search.best_score_), plain(search.best_params_)
