"""How every speed benchmark measures: warm-up, interleaved repeats, medians, threads pinned."""

import json
import statistics
import time
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from threadpoolctl import threadpool_limits

from kerndict.paper.environment import environment

RESULTS = Path(__file__).parent / "results"
PATIENCE = 30
#: Seconds after which the threads of a BLAS have stopped spinning for more work.
PAUSE = 0.2


@contextmanager
def threads(count):
    """Hold BLAS and OpenMP to so many threads; compiled loops here have one each."""
    with threadpool_limits(count):
        yield


def interleaved(functions, repeats=5, progress=None):
    """Run every function once to warm up, then all in turn, so that noise falls on all alike.

    What takes more than `PATIENCE` seconds is not repeated: its warm-up counts.

    Parameters
    ----------
    functions : dict of callables without arguments
    repeats : int, rounds

    Returns
    -------
    times : dict of dicts, the medians of ``wall`` and ``cpu`` seconds, and all ``rounds``
    """
    first = {}
    for name, function in functions.items():
        if progress:
            progress(name)
        first[name] = _timed(function)
    rounds = {name: [pair] if pair[0] > PATIENCE else [] for name, pair in first.items()}
    for _ in range(repeats):
        for name, function in functions.items():
            if first[name][0] <= PATIENCE:
                rounds[name].append(_timed(function))
    return {
        name: {
            "wall": statistics.median(wall for wall, _ in values),
            "cpu": statistics.median(cpu for _, cpu in values),
            "rounds": [[round(wall, 6), round(cpu, 6)] for wall, cpu in values],
        }
        for name, values in rounds.items()
    }


def _timed(function):
    time.sleep(PAUSE)
    wall, cpu = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - wall, time.process_time() - cpu


def write(path, title, results, packages=()):
    """Write results with versions and machine."""
    found = environment()
    for package in packages:
        try:
            found["versions"][package] = version(package)
        except PackageNotFoundError:
            found["versions"][package] = "not installed"
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"title": title, **found, "results": results}, indent=1) + "\n")
