"""How time grows with each size: samples per class, classes, features, atoms, sparsity, rows.

python benchmarks/scaling.py [--out FILE] [--repeats 5]

One size grows at a time, the others stay; the exponent is the slope of log time over log size on
the larger half, where overheads have faded.
"""

import argparse
import warnings

import numpy as np
from fit_predict import data
from timing import RESULTS, interleaved, threads, write

from kerndict import DictionaryClassifier, KernelDictionaryClassifier, SpanWarning

BASE = {"samples": 30, "classes": 20, "features": 300, "atoms": 15, "sparsity": 7, "rows": 2000}
SIZES = {
    "samples": (15, 30, 60, 120, 240),
    "classes": (10, 20, 40, 80, 160),
    "features": (100, 300, 900, 2700),
    "atoms": (15, 30, 60, 120),
    "sparsity": (3, 6, 12, 24),
    "rows": (1000, 2000, 4000, 8000, 16000),
}


def functions(size):
    """Return what is timed at one size."""
    shape = (size["classes"], size["samples"], size["rows"], size["features"])
    X, Y, y = data(shape)
    common = {"n_atoms": size["atoms"], "n_nonzero_coefs": size["sparsity"], "random_state": 0}
    plain = {**common, "decision": "residual", "incoherence": 0.1}
    kernel = KernelDictionaryClassifier(sigma=1.3, **plain).fit(X, y)
    rule = KernelDictionaryClassifier(sigma=1.3, ridge=0.1, **common).fit(X, y)
    return {
        "kernel fit": lambda: KernelDictionaryClassifier(sigma=1.3, **plain).fit(X, y),
        "linear fit": lambda: DictionaryClassifier(**plain).fit(X, y),
        "predict, residual": lambda: kernel.predict(Y),
        "predict, collaborative": lambda: rule.predict(Y),
    }


def slope(sizes, seconds):
    """Return the exponent on the larger half of the sizes."""
    half = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[half:]), np.log(seconds[half:]), 1)[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=RESULTS / "scaling.json")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", SpanWarning)
    results = {"base": BASE}
    for name, sizes in SIZES.items():
        base = dict(BASE)
        if name in ("atoms", "sparsity"):
            base |= {"samples": 120, "atoms": 60}
        series = {}
        with threads(1):
            for value in sizes:
                print(name, value, flush=True)
                for what, times in interleaved(
                    functions({**base, name: value}), arguments.repeats
                ).items():
                    series.setdefault(what, []).append(times["cpu"])
        results[name] = {
            "sizes": sizes,
            "seconds": series,
            "exponents": {what: slope(sizes, seconds) for what, seconds in series.items()},
        }
        write(arguments.out, "Scaling", results)


if __name__ == "__main__":
    main()
