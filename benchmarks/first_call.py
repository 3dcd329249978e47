"""What a new process waits for: imports, loading compiled code, and once per machine compilation.

python benchmarks/first_call.py [--out FILE] [--repeats 7]

Whole processes, in wall seconds.  `peers` is `import sklearn.base, numba`, which everything else
here includes; the work itself takes a few hundredths of a second.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from statistics import median

from timing import RESULTS, write

IMPORT = "from kerndict import DictionaryClassifier, KernelDictionaryClassifier"
FIT = f"""{IMPORT}
import numpy as np
X, y = np.random.default_rng(0).standard_normal((60, 10)), np.arange(60) % 3
KernelDictionaryClassifier().fit(X, y)"""
ALL = f"""{FIT}.predict(X)
for kind in (DictionaryClassifier, KernelDictionaryClassifier):
    for options in ({{}}, {{"decision": "residual", "incoherence": 0.1, "atom_update": "power"}}):
        for dtype in (np.float64, np.float32):
            kind(**options).fit(X.astype(dtype), y).predict(X.astype(dtype))"""
STATEMENTS = {
    "peers": "import sklearn.base, numba",
    "import": IMPORT,
    "import and a first fit": FIT,
    "import and everything once": ALL,
}


def seconds(statement, cache=None):
    """Return how long a process takes, with compiled code in a folder of its own if given."""
    environment = dict(os.environ) if cache is None else {**os.environ, "NUMBA_CACHE_DIR": cache}
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True, env=environment)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=RESULTS / "first_call.json")
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    for statement in STATEMENTS.values():  # warm the caches
        seconds(statement)
    times = {name: [] for name in STATEMENTS}
    for _ in range(arguments.repeats):
        for name, statement in STATEMENTS.items():
            times[name].append(seconds(statement))
    result = {name: round(median(values), 3) for name, values in times.items()}
    for name in ("import and a first fit", "import and everything once"):
        with tempfile.TemporaryDirectory() as empty:
            result[f"{name}, nothing compiled yet"] = round(seconds(STATEMENTS[name], empty), 3)
    for name, value in result.items():
        print(f"{name:<50} {value:7.2f} s, {value - result['peers']:+7.2f} s")
    write(arguments.out, "First call", result)


if __name__ == "__main__":
    main()
