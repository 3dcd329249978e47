"""onnxruntime beside our own predict: time per row and size of the file.

python benchmarks/onnx_runtime.py FOLDER     # of feature files; writes results/onnx.json

The table of docs/onnx.md comes from it.  One thread for both; medians of interleaved
rounds, processor time.
"""

import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from timing import RESULTS, interleaved, threads, write

import kerndict
from kerndict.export import to_onnx

PAGE = Path(__file__).parents[1] / "docs" / "onnx.md"
RESIDUAL = {"decision": "residual", "n_atoms": 20, "n_nonzero_coefs": 6}
CASES = [("digits", {}), ("yaleb", {}), ("yaleb", RESIDUAL), ("ar", {}), ("ar", RESIDUAL)]
CASES += [("usps", {"n_landmarks": 1000})]
ROWS = 1000


def features(name, folder):
    """Return rows, labels, and a mask of the training rows."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X, y, np.arange(len(X)) % 2 == 0
    data = np.load(folder / f"{name}.npz")
    X, y = data["X"].astype(np.float64), data["y"]
    train = data["train"] if "train" in data else np.arange(len(y)) % 2 == 0
    return X, y, train


def session(exported):
    """Return a session with one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(exported, options)


def measure(name, options, folder):
    """Return times, sizes and agreement of one model."""
    X, y, train = features(name, folder)
    classifier = kerndict.KernelDictionaryClassifier(random_state=0, **options)
    model = make_pipeline(Normalizer(), classifier).fit(X[train], y[train])
    rows = X[~train][:ROWS]
    exported = {kind: to_onnx(model, kind).SerializeToString() for kind in ("float64", "float32")}
    double, single = (session(exported[kind]) for kind in exported)
    low = rows.astype(np.float32)
    times = interleaved(
        {
            "predict": lambda: model.predict(rows),
            "float64": lambda: double.run(["label"], {"X": rows}),
            "float32": lambda: single.run(["label"], {"X": low}),
        }
    )
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "model"
        kerndict.save(model, path)
        size = path.stat().st_size
    labels = model.predict(rows)
    return {
        "set": name,
        "rule": classifier.decision,
        "atoms": int(classifier.model_.n_atoms.sum()),
        "rows": len(rows),
        "microseconds": {kind: 1e6 * t["cpu"] / len(rows) for kind, t in times.items()},
        "bytes": {"kerndict": size, **{kind: len(data) for kind, data in exported.items()}},
        "agreement": {
            "float64": float((double.run(["label"], {"X": rows})[0] == labels).mean()),
            "float32": float((single.run(["label"], {"X": low})[0] == labels).mean()),
        },
    }


def table(results):
    """Return the results in Markdown."""
    lines = [
        "| µs per row; MB | rule | `predict` | onnxruntime | float32 | `save` | ONNX | float32 "
        "| labels that agree in float32 |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for one in results:
        times = [f"{one['microseconds'][kind]:.0f}" for kind in ("predict", "float64", "float32")]
        sizes = [f"{one['bytes'][k] / 1e6:.1f}" for k in ("kerndict", "float64", "float32")]
        share = f"{100 * one['agreement']['float32']:.2f} %"
        cells = [one["set"], one["rule"], *times, *sizes, share]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main(folder):
    """Measure all cases; write the results."""
    with threads(1):
        results = []
        for name, options in CASES:
            results.append(measure(name, options, folder))
            print(results[-1], flush=True)
    write(RESULTS / "onnx.json", "onnxruntime beside predict", results, ["onnxruntime", "onnx"])
    text = PAGE.read_text(encoding="utf-8")
    marks = r"(<!-- measured: start -->\n).*?(<!-- measured: end -->)"
    new = re.sub(marks, lambda m: f"{m[1]}\n{table(results)}\n\n{m[2]}", text, flags=re.DOTALL)
    PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
