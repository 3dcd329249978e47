"""Write the tables of docs/scale.md from the results of benchmarks/scale.py.

python benchmarks/scale_report.py
"""

import json
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "scale.json"
PAGE = ROOT / "docs" / "scale.md"
START, END = "<!-- measured: start -->", "<!-- measured: end -->"
TITLES = {
    "default": "`KernelDictionaryClassifier()`",
    "closed": "control: label scores and class atoms, no correction",
    "head": "control: label scores alone",
    "svm": "RBF SVM, 12 points searched on 2500 rows, calibrated by temperature",
    "svc": "`SVC(C=10, gamma=5)`, one fit",
    "gradient-boosting": "`HistGradientBoostingClassifier`",
}
SOURCES = {"rows": "a memory map", "parquet": "parquet, by `kerndict train`"}
SHAPES = {
    "two": "two",
    "hundred": "a hundred",
    "thousand": "a thousand",
    "uneven": "one of nearly all rows, nine of five rows",
    "residual": 'two, `decision="residual", n_atoms=40`',
}
GROUPS = {
    "Tables of 20 features, two classes": "table-",
    "Digits and spoken letters": ("usps", "isolet"),
    "MNIST, 60,000 training rows": ("mnist",),
    "Fashion-MNIST, 60,000 training rows": ("fashion",),
}


def title(cell):
    method = cell["method"]
    kind, _, count = method.partition("-")
    if kind == "nystroem":
        return f"`Nystroem({count})` + `LogisticRegression(C=100)`"
    if kind == "landmarks":
        return f"`KernelDictionaryClassifier(n_landmarks={count})`"
    found = TITLES[method]
    return f"{found}: {cell['landmarks']} landmarks" if "landmarks" in cell else found


def number(value, digits):
    return "" if value is None else f"{value:.{digits}f}"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def compared(cells):
    header = ("set", "method", "accuracy %", "log-loss", "fit, CPU s", "predict, CPU s", "fit, MB")
    rows = []
    for cell in cells:
        rows.append(
            (
                cell["set"],
                title(cell),
                number(100 * cell["accuracy"], 2),
                number(cell.get("log_loss"), 4),
                number(cell["fit_cpu_seconds"], 1),
                number(cell["predict_cpu_seconds"], 1),
                number(cell["fit_mb"], 0),
            )
        )
    return table(header, rows)


def exponents(cells, name):
    """Return rows of a table of seconds, with the exponent from one size to the next."""
    rows, before = [], None
    for cell in sorted(cells, key=size):
        exponent = ""
        if before:
            more = np.log(cell["fit_cpu_seconds"] / before["fit_cpu_seconds"])
            exponent = f"{more / np.log(size(cell) / size(before)):.2f}"
        seconds = number(cell["fit_cpu_seconds"], 1)
        memory = number(cell["fit_mb"], 0)
        rows.append((name, f"{size(cell):,}", str(cell["landmarks"]), seconds, exponent, memory))
        before = cell
    return rows


def size(cell):
    return int(cell["set"].partition("-")[2])


def by_shape(cells):
    header = ("classes", "rows", "landmarks", "fit, CPU s", "exponent", "fit, MB")
    rows = []
    for shape, name in SHAPES.items():
        rows += exponents([cell for cell in cells if cell["method"] == shape], name)
    return table(header, rows)


def many(cells):
    header = ("from", "rows", "landmarks", "accuracy %", "log-loss", "fit, CPU s", "µs per row")
    header += ("fit, MB", "predict, CPU s", "predict, MB")
    rows = [
        (
            SOURCES[cell["set"].partition("-")[0]],
            f"{size(cell):,}",
            str(cell["landmarks"]),
            number(100 * cell["accuracy"], 2),
            number(cell["log_loss"], 4),
            number(cell["fit_cpu_seconds"], 1),
            number(cell["microseconds_per_row"], 1),
            number(cell["fit_mb"], 0),
            number(cell["predict_cpu_seconds"], 1),
            number(cell["predict_mb"], 0),
        )
        for cell in cells
    ]
    return table(header, rows)


def main():
    results = json.loads(RESULTS.read_text())
    cells = results["cells"]
    parts = []
    for name, sets in GROUPS.items():
        chosen = [
            cell
            for cell in cells
            if (cell["set"].startswith(sets) if isinstance(sets, str) else cell["set"] in sets)
        ]
        if chosen:
            parts.append(f"### {name}\n\n{compared(chosen)}")
    longest = [cell for cell in cells if cell["set"].startswith(("rows-", "parquet-"))]
    if longest:
        parts.append(f"### Rows that are not held in memory, 20 features\n\n{many(longest)}")
    grown = [cell for cell in cells if cell["set"].startswith("growth-")]
    if grown:
        parts.append(f"### How the cost grows, by the classes\n\n{by_shape(grown)}")
    images = [cell for cell in cells if cell["set"].startswith("mnist-")]
    if images:
        whole = [c for c in cells if (c["set"], c["method"]) == ("mnist", "default")]
        rows = exponents([*images, *({**cell, "set": "mnist-60000"} for cell in whole)], "ten")
        header = ("classes", "rows", "landmarks", "fit, CPU s", "exponent", "fit, MB")
        parts.append(f"### How the cost grows on images of MNIST\n\n{table(header, rows)}")
    page = PAGE.read_text()
    before, _, rest = page.partition(START)
    after = rest.partition(END)[2]
    text = "\n".join(parts)
    PAGE.write_text(f"{before}{START}\n\n{text}\n{END}{after}")


if __name__ == "__main__":
    main()
