"""Run the plan: compute each row that is not there yet, and keep it at once."""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
from joblib.externals.loky import get_reusable_executor

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
    outcomes: Any = ((row, *compute(row, folder)) for row in rows)
    if jobs > 1:
        outcomes = _side_by_side(rows, folder, jobs)
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


def _side_by_side(rows: Sequence[Row], folder: Path | None, jobs: int) -> Iterator[tuple]:
    """Compute rows in processes, which share the cores; yield each as it is finished."""
    threads = str(max(1, (os.cpu_count() or 1) // jobs))
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    executor = get_reusable_executor(
        max_workers=jobs,
        initializer=_end_with_parent,
        initargs=(os.getpid(),),
        env={name: os.environ.get(name, threads) for name in names},
    )
    try:
        work = {executor.submit(compute, row, folder): row for row in rows}
        for done in as_completed(work):
            yield work[done], *done.result()
    finally:
        executor.shutdown(kill_workers=True)


def _end_with_parent(parent: int) -> None:
    """End this worker soon after its parent, even one that was killed before the worker began."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
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
