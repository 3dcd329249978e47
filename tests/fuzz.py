"""Damage files of one kind in every way, and read them.

    python tests/fuzz.py KIND [--count 10000] [--seed 0]

KIND is csv, jsonl, npz, mat, parquet, feather, store or models.  Every file must give a result or a
clear error:
what exactly is in the modules of the kinds.  Memory has a limit, time too.  The file that is being
read is kept, so that it is at hand after a crash.
"""

import argparse
import faulthandler
import random
import resource
import signal
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections import Counter
from functools import partial
from pathlib import Path

from fuzz_models import Models
from fuzz_store import Stores
from fuzz_tables import WAYS, Tables

KINDS = {kind: partial(Tables, kind) for kind in WAYS} | {"store": Stores, "models": Models}
#: Seconds for a file, and bytes that the process may take beyond what it has at the beginning.
SECONDS, MEMORY = 20, 2**29


def fuzz(target, count, seed):
    """Yield what became of each of so many files, with the name of the way and the seconds."""
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        way, data, needed = target.damaged(rng)
        start = time.perf_counter()
        try:
            outcome = target.judge(data, needed)
        except BaseException:
            Path("fuzz-failure").write_bytes(data)
            print(f"file {number} ({way}) is kept as fuzz-failure; needed: {needed!r:.300}")
            raise
        yield way, outcome, time.perf_counter() - start


def main():
    """Fuzz one kind of files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    faulthandler.enable()
    warnings.simplefilter("ignore")  # a damaged model may overflow
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    target = KINDS[options.kind](folder)
    print(f"{options.kind}: the file that is being read is in {folder}", flush=True)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, hard))
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tracemalloc.start()
    counts, slowest, begin = Counter(), 0.0, time.perf_counter()
    signal.alarm(SECONDS)
    for way, outcome, seconds in fuzz(target, options.count, options.seed):
        signal.alarm(SECONDS)
        counts[way, outcome] += 1
        slowest = max(slowest, seconds)
    signal.alarm(0)
    for (way, outcome), count in sorted(counts.items()):
        print(f"{way:20} {outcome:25} {count:6}")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident
    seconds = time.perf_counter() - begin
    print(f"{options.kind}: {options.count} files in {seconds:.0f} s, the slowest {slowest:.2f} s;")
    print(f"resident memory grew by {grown / 1024:.0f} MiB; no crash, no hang, no other error")


if __name__ == "__main__":
    sys.exit(main())
