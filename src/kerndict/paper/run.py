"""Run the plan: compute each row that is not there yet, and keep it at once."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from kerndict.paper.experiment import compute
from kerndict.paper.protocol import N_ATOMS, Row
from kerndict.paper.sources import fingerprint, load
from kerndict.paper.store import Store


def run(
    store: Store, rows: Sequence[Row], folder: Path | None, jobs: int
) -> Iterator[tuple[Row, dict[str, Any]]]:
    """Compute the rows that the store lacks; yield each once it is kept."""
    finished = store.results()
    missing = [row for row in rows if row not in finished]
    if jobs == 1:
        outcomes: Any = ((row, *compute(row, folder)) for row in missing)
    else:
        outcomes = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(
            delayed(_named)(row, folder) for row in missing
        )
    for row, result, arrays in outcomes:
        store.add(row, result, arrays)
        yield row, result


def _named(row: Row, folder: Path | None) -> tuple:
    return row, *compute(row, folder)


def check_data(store: Store, datasets: Sequence[str], folder: Path | None) -> None:
    """Load every dataset once; refuse a store that was filled from other data."""
    for dataset in datasets:
        found = fingerprint(load(dataset, folder))
        if store.fact(f"data {dataset}", found) != found:
            raise ValueError(
                f"{store.folder} holds results of other {dataset} features: give another --out."
            )


def measure_product(store: Store, dataset: str, folder: Path | None) -> None:
    """Time one product D̄D̄', which the published code forms for every atom, once per store."""
    name = f"product seconds {dataset}"
    if store.fact(name) is not None:
        return
    features = load(dataset, folder)
    n_classes = len(np.unique(features.target))
    D_bar = np.random.default_rng(0).standard_normal(
        (features.data.shape[1], (n_classes - 1) * N_ATOMS)
    )
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        D_bar @ D_bar.T
        seconds.append(time.perf_counter() - begin)
    store.fact(f"classes {dataset}", str(n_classes))
    store.fact(name, str(min(seconds)))
