"""What the default costs, by samples, classes and features.

python benchmarks/expect.py     # minutes; writes results/expect.json and docs/expect.md

Data are made up: classes near subspaces of five dimensions.  One thread, processor seconds, so that
other work on the machine counts little.
"""

import os
import re
import tempfile
import time
from pathlib import Path

import numpy as np
from timing import RESULTS, threads, write

import kerndict

PAGE = Path(__file__).parents[1] / "docs" / "expect.md"
#: Samples, classes, features.
SIZES = [
    (200, 20, 50),
    (1000, 20, 50),
    (4000, 20, 50),
    (20_000, 20, 50),
    (100_000, 20, 50),
    (4000, 2, 50),
    (4000, 100, 50),
    (1000, 20, 10),
    (1000, 20, 1000),
]


def data(n_samples, n_classes, n_features, rng):
    """Return rows of length 1, and their labels."""
    labels = rng.permutation(np.arange(n_samples) % n_classes)
    bases = rng.standard_normal((n_classes, min(5, n_features), n_features))
    X = np.einsum("ij,ijk->ik", rng.standard_normal((n_samples, bases.shape[1])), bases[labels])
    X += 0.5 * rng.standard_normal(X.shape)
    return X / np.linalg.norm(X, axis=1, keepdims=True), labels


def measure(n_samples, n_classes, n_features):
    """Return processor seconds of a fit, of a prediction per row, and the size of the file."""
    X, y = data(n_samples + 2000, n_classes, n_features, np.random.default_rng(0))
    begin = time.process_time()
    model = kerndict.KernelDictionaryClassifier(random_state=0).fit(X[:n_samples], y[:n_samples])
    fitted = time.process_time()
    model.predict(X[n_samples:])
    done = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        kerndict.save(model, path)
        size = path.stat().st_size
    return {
        "samples": n_samples,
        "classes": n_classes,
        "features": n_features,
        "landmarks": getattr(model, "n_landmarks_", None),
        "fit_seconds": fitted - begin,
        "predict_microseconds_per_row": 1e6 * (done - fitted) / 2000,
        "file_bytes": size,
    }


def table(results):
    """Return the results in Markdown."""
    lines = ["| samples | classes | features | fit | predict, per row | file |", "|---:" * 6 + "|"]
    for one in results:
        fit, row = one["fit_seconds"], one["predict_microseconds_per_row"]
        lines.append(
            f"| {one['samples']:,} | {one['classes']} | {one['features']} | {fit:.2g} s "
            f"| {row:.0f} µs | {one['file_bytes'] / 1e6:.1f} MB |"
        )
    return "\n".join(lines)


def main():
    """Measure all sizes; write the results."""
    with threads(1):
        measure(200, 4, 20)  # compiles
        measure(4000, 4, 20)
        results = []
        for size in SIZES:
            results.append(measure(*size))
            print(results[-1], flush=True)
    write(RESULTS / "expect.json", "Cost of the default by size", results)
    text = PAGE.read_text(encoding="utf-8")
    marks = r"(<!-- measured: start -->\n).*?(<!-- measured: end -->)"
    new = re.sub(marks, lambda m: f"{m[1]}\n{table(results)}\n\n{m[2]}", text, flags=re.DOTALL)
    PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    main()
