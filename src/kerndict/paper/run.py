"""Run the plan: compute each row that is not there yet, and keep it at once."""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from kerndict.paper.experiment import compute
from kerndict.paper.protocol import FIGURES, N_ATOMS, Row
from kerndict.paper.sources import fingerprint, load_dataset
from kerndict.paper.store import Store


def missing_rows(store: Store, rows: Sequence[Row]) -> list[Row]:
    """Return the rows that the store lacks, or whose arrays are lost."""
    finished = store.results()
    return [
        row
        for row in rows
        if row not in finished
        or (row.method == FIGURES and row.round == 1 and store.arrays(row.dataset) is None)
    ]


def run(
    store: Store, rows: Sequence[Row], folder: Path | None, jobs: int
) -> Iterator[tuple[Row, dict[str, Any]]]:
    """Compute rows, several at a time if asked; yield each once it is kept."""
    if jobs == 1:
        outcomes: Any = ((row, *compute(row, folder)) for row in rows)
    else:
        parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        outcomes = parallel(delayed(_in_worker)(row, folder) for row in rows)
    try:
        for row, result, arrays in outcomes:
            result["details"]["jobs"] = jobs  # times of rows side by side are not those of one
            store.add(row, result, arrays)
            yield row, result
    except BrokenProcessPool as error:
        raise OSError(
            "a worker was ended from outside, perhaps for lack of memory: start again, it goes on "
            "where it was; fewer --jobs need less."
        ) from error


def _in_worker(row: Row, folder: Path | None) -> tuple:
    _end_with_parent()
    return row, *compute(row, folder)


@lru_cache(maxsize=1)
def _end_with_parent() -> None:
    """End this worker soon after its parent, even one that was killed."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def check_data(store: Store, datasets: Sequence[str], folder: Path | None) -> None:
    """Load every dataset once; refuse a store that was filled from other data."""
    for dataset in datasets:
        name, found = f"data {dataset}", fingerprint(load_dataset(dataset, folder))
        store.keep_fact(name, found)
        if store.fact(name) != found:
            raise ValueError(
                f"{store.folder} holds results of other {dataset} features: give another --out."
            )


def measure_product(store: Store, dataset: str, folder: Path | None) -> None:
    """Time one product D̄D̄', which the published code forms for every atom, once per store."""
    name = f"product seconds {dataset}"
    if store.fact(name) is not None:
        return
    features = load_dataset(dataset, folder)
    n_classes = len(np.unique(features.target))
    D_bar = np.random.default_rng(0).standard_normal(
        (features.data.shape[1], (n_classes - 1) * N_ATOMS)
    )
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        D_bar @ D_bar.T
        seconds.append(time.perf_counter() - begin)
    store.keep_fact(f"classes {dataset}", str(n_classes))
    store.keep_fact(name, str(min(seconds)))
