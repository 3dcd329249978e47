"""Fit and predict for minutes in threads and processes; see that nothing grows, drifts or stays.

    python tests/soak.py --minutes 10

A round fits and predicts with every kind of classifier, in threads of this process and in two
others.  Results must stay those of the first fit; memory, after a time to warm up, what it is; the
warning filters, the number of BLAS threads and the environment those from before.
"""

import argparse
import gc
import multiprocessing
import os
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
from conftest import BOTH, RULES, make, toy
from threadpoolctl import threadpool_info

X, y = toy(n_classes=4, per_class=30, n_features=20, noise=0.6)
NEW = toy(n_classes=4, per_class=200, n_features=20, noise=0.6, seed=1)[0]
KINDS = [(kind, rule) for kind in BOTH for rule in RULES]
#: Bytes by which a process may grow once it is warm: free memory that the allocator keeps.
GROWTH = 32 * 2**20
PAGE = os.sysconf("SC_PAGE_SIZE")


def work(number):
    """Fit one kind of classifier; return its number, its scores, and the process."""
    kind, rule = KINDS[number % len(KINDS)]
    model = make(kind, rule, n_jobs=1 + number // len(KINDS) % 2).fit(X, y)
    model.predict(NEW)
    model.class_residuals(NEW)
    return number % len(KINDS), model.decision_function(NEW), os.getpid()


def state():
    """Return what a fit must leave as it is."""
    blas = [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]
    # A pattern may be there as a word, and compiled by whoever sets the same filters again.
    filters = [tuple(getattr(part, "pattern", part) for part in each) for each in warnings.filters]
    return {"filters": filters, "BLAS threads": blas, "environment": {**os.environ}}


def resident(process):
    """Return the bytes that a process has in memory."""
    gc.collect()
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE


def one_round(executors: list[Executor], expected) -> set[int]:
    """Let all executors work at once; compare their results; return their processes."""
    jobs = [each.submit(work, number) for number in range(2 * len(KINDS)) for each in executors]
    processes = set()
    for job in jobs:
        number, scores, process = job.result()
        np.testing.assert_allclose(scores, expected[number], rtol=1e-6, atol=1e-6)
        processes.add(process)
    return processes


def soak(seconds: float, say: Callable[[str], object] = lambda line: None) -> dict[int, list[int]]:
    """Run rounds for so long; return the memory of every process after each, in bytes.

    The first fifth of the time is left for warming up.
    """
    expected = {number: work(number)[1] for number in range(len(KINDS))}
    before, begin, memory, rounds = state(), time.monotonic(), {}, 0
    context = multiprocessing.get_context("spawn")
    with ThreadPoolExecutor(3) as threads, ProcessPoolExecutor(2, mp_context=context) as others:
        while (passed := time.monotonic() - begin) < seconds or not memory:
            for process in one_round([threads, others], expected):
                if passed > seconds / 5:
                    memory.setdefault(process, []).append(resident(process))
            rounds += 1
            if rounds % 50 == 1:
                say(f"{passed:5.0f} s, {rounds} rounds, MB: {in_megabytes(memory)}")
        theirs = [others.submit(state).result() for _ in range(4)]
    after = state()
    for name, value in before.items():
        assert after[name] == value, f"{name}: {after[name]} instead of {value}"
        if name == "BLAS threads":
            assert all(each[name] == value for each in theirs), f"{name} of others: {theirs}"
    for process, sizes in memory.items():
        growth = sizes[-1] - sizes[0]
        assert growth <= GROWTH, f"process {process} grew by {growth / 2**20:.0f} MB: {sizes[::50]}"
    return memory


def in_megabytes(memory):
    """Return the first and the last size of every process."""
    return ", ".join(f"{s[0] / 2**20:.0f} to {s[-1] / 2**20:.0f}" for s in memory.values())


def main() -> None:
    """Soak for as long as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    memory = soak(60 * parser.parse_args().minutes, print)
    print(f"nothing drifted; {len(memory)} processes, MB: {in_megabytes(memory)}")


if __name__ == "__main__":
    main()
