"""The results of benchmarks/accuracy.py as tables."""

import json
from pathlib import Path
from statistics import mean, stdev

import numpy as np

TITLES = {
    "default": "default",
    "unprepared": "default, rows as they are",
    "svc": "RBF SVM",
    "svc-temperature": "RBF SVM, temperature",
    "linear-svc": "linear SVM",
    "kernel-ridge": "kernel ridge",
    "kernel-src": "kernel SRC",
    "dpl": "DPL",
    "paper": "paper",
    "paper-iter0": "paper, untrained",
}
#: "svc-temperature" decides as svc does, and "unprepared" is a part of the default.
RANKED = tuple(method for method in TITLES if method not in ("svc-temperature", "unprepared"))
PROBABLE = ("default", "svc", "svc-temperature", "linear-svc", "kernel-src", "dpl")
SETS = (
    "yaleb",
    "ar",
    "caltech101",
    "coil20",
    "usps-20",
    "usps-100",
    "usps",
    "isolet-20",
    "isolet-60",
    "isolet",
)


FEW = tuple(
    f"{name}-{count}"
    for name in ("yaleb", "ar", "caltech101", "coil20", "usps", "isolet")
    for count in (3, 5, 8)
)


class Results:
    """Cells by set and method."""

    def __init__(self, path):
        self.head = json.loads(Path(path).read_text())
        self.cells = {}
        for cell in self.head.pop("cells"):
            self.cells.setdefault((cell["set"], cell["method"]), []).append(cell)

    def values(self, name, method, field, seeds=3):
        """Return a field of every seed; of a calibrated peer, its better kind of decision."""
        cells = [c for c in self.cells.get((name, method), []) if field in c]
        cells = [c for c in cells if c["seed"] <= seeds]
        own = [c[field] for c in cells]
        if field.startswith("accuracy") and own and f"{field}_calibrated" in cells[0]:
            other = [c[f"{field}_calibrated"] for c in cells]
            return max(own, other, key=mean)
        return own

    def shared(self, name, methods, field):
        """Return a field of methods on the seeds that all have, an array per method."""
        seeds = [{c["seed"] for c in self.cells.get((name, m), []) if field in c} for m in methods]
        common = sorted(set.intersection(*seeds))
        found = []
        for method in methods:
            cells = {c["seed"]: c for c in self.cells.get((name, method), [])}
            kinds = [field, f"{field}_calibrated"] if field.startswith("accuracy") else [field]
            rows = [
                [cells[s][k] for s in common] for k in kinds if common and k in cells[common[0]]
            ]
            found.append(np.array(max(rows, key=mean)) if rows else np.empty(0))
        return common, found

    def mean(self, name, method, field):
        """Return the mean over seeds, or None."""
        values = self.values(name, method, field)
        return mean(values) if values else None

    def over_sets(self, method, field):
        """Return the mean over all sets, or None if one is missing."""
        means = [self.mean(name, method, field) for name in SETS]
        return None if None in means else mean(means)


def table(head, rows):
    """Return a table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def shown(values, scale, digits):
    """Return mean ± deviation."""
    if not values:
        return "–"
    text = f"{scale * mean(values):.{digits}f}"
    return f"{text} ± {scale * stdev(values):.{digits}f}" if len(values) > 1 else text


def field_table(results, methods, field, scale=1, digits=2, best=max, sets=SETS):
    """Return sets by methods, the best of each set in bold, and the means."""
    rows = []
    for name in sets:
        texts = [shown(results.values(name, m, field), scale, digits) for m in methods]
        rows.append([name, *emphasised(texts, best)])
    if len(sets) == 1:
        return table(["", *(TITLES[m] for m in methods)], rows)
    means = [results.over_sets(m, field) for m in methods]
    texts = ["–" if v is None else f"{scale * v:.{digits}f}" for v in means]
    rows.append(["**mean**", *emphasised(texts, best)])
    return table(["", *(TITLES[m] for m in methods)], rows)


def emphasised(texts, best):
    """Return the texts with the best number in bold, as it is printed."""
    numbers = [None if t == "–" else float(t.split(" ")[0]) for t in texts]
    known = [n for n in numbers if n is not None]
    if best is None or not known:
        return texts
    return [f"**{t}**" if n == best(known) else t for t, n in zip(texts, numbers, strict=True)]


def size_table(results):
    """Return what is kept: atoms, support vectors or samples, and the rows behind them."""
    methods = [m for m in RANKED if m != "paper-iter0"]
    rows = []
    for name in SETS:
        row = [name, str(results.cells[name, "default"][0]["n_train"])]
        for method in methods:
            kept = results.mean(name, method, "kept")
            row.append("–" if kept is None else f"{kept:.0f}")
        rows.append(row)
    return table(["", "training samples", *(TITLES[m] for m in methods)], rows)


def seconds(results, field):
    """Return processor seconds, sets by methods."""
    rows = []
    for name in SETS:
        means = [results.mean(name, m, field) for m in RANKED]
        rows.append([name, *("–" if v is None else f"{v:.3g}" for v in means)])
    return table(["", *(TITLES[m] for m in RANKED)], rows)
