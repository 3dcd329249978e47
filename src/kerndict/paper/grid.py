"""The paper's grid search, inside the training part."""

import json
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import normalize

from kerndict.classifiers import DictionaryClassifier
from kerndict.exceptions import SpanWarning
from kerndict.kernels import Kernel
from kerndict.paper.environment import environment
from kerndict.paper.experiment import plain
from kerndict.paper.protocol import DATASETS, grid_candidates, grid_kernels, paper_settings
from kerndict.paper.sources import load_dataset
from kerndict.paper.store import Store


@dataclass(frozen=True)
class Search:
    """One search: a dataset, a method, and its kernel parameters as JSON."""

    dataset: str
    method: str
    kernel: str

    def __str__(self) -> str:
        return f"{self.dataset} {self.method} {self.kernel}"


def missing_searches(store: Store, datasets: Sequence[str], methods: Sequence[str]) -> list[Search]:
    """Return the searches that the store lacks."""
    finished = {Search(row["dataset"], row["method"], row["kernel"]) for row in store.grid()}
    searches = (
        Search(dataset, method, json.dumps(kernel))
        for dataset in datasets
        for method in methods
        for kernel in grid_kernels(method)
    )
    return [search for search in searches if search not in finished]


def run_search(store: Store, search: Search, folder: Path | None, jobs: int) -> dict[str, Any]:
    """Search the paper's grid by cross-validation in the training part of round 1; keep it."""
    features = load_dataset(search.dataset, folder)
    train, _ = DATASETS[search.dataset].split(features, 1)
    kernel = json.loads(search.kernel)
    begin = time.perf_counter()
    model, X = _prepared(search, kernel, features.data[train])
    found = GridSearchCV(model, grid_candidates(), cv=3, n_jobs=jobs, refit=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpanWarning)
        found.fit(X, features.target[train])
    result = {
        **vars(search),
        "score": float(found.best_score_),
        "parameters": {**plain(found.best_params_), **kernel},
        "seconds": time.perf_counter() - begin,
        "details": environment(),
    }
    store.add_grid(result)
    return result


def _prepared(search: Search, kernel: dict[str, Any], X: NDArray) -> tuple[Any, NDArray]:
    """Return the estimator and what it is fitted to: the features, or a kernel matrix."""
    model = paper_settings(search.dataset, search.method)
    if isinstance(model, DictionaryClassifier):
        return model.set_params(random_state=0), X
    model = model[-1].set_params(random_state=0, **kernel)
    X = normalize(X)
    settled = Kernel(model.kernel, model.sigma or 1.0, int(model.degree), float(model.coef0))
    return model.set_params(kernel="precomputed"), settled.matrix(X, X)
