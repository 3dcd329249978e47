"""Write the tables of docs/scale.md from the results of benchmarks/scale.py.

python benchmarks/scale_report.py
"""

import json
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "scale.json"
PAGE = ROOT / "docs" / "scale.md"
START, END = "<!-- measured: start -->", "<!-- measured: end -->"
TITLES = {
    "default": "`KernelDictionaryClassifier()`",
    "closed": "control: label scores and class atoms, no correction",
    "head": "control: label scores alone",
    "svm": "RBF SVM, 12 points searched on 2500 rows, calibrated",
    "svc": "`SVC(C=10, gamma=5)`, one fit",
    "gradient-boosting": "`HistGradientBoostingClassifier`",
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


def growth(cells):
    header = ("rows", "landmarks", "accuracy %", "log-loss", "fit, CPU s", "µs per row", "fit, MB")
    rows = [
        (
            f"{int(cell['set'].partition('-')[2]):,}",
            str(cell["landmarks"]),
            number(100 * cell["accuracy"], 2),
            number(cell["log_loss"], 4),
            number(cell["fit_cpu_seconds"], 1),
            number(cell["microseconds_per_row"], 1),
            number(cell["fit_mb"], 0),
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
    many = [cell for cell in cells if cell["set"].startswith("rows-")]
    if many:
        parts.append(f"### Rows of a memory map, 20 features\n\n{growth(many)}")
    page = PAGE.read_text()
    before, _, rest = page.partition(START)
    after = rest.partition(END)[2]
    text = "\n".join(parts)
    PAGE.write_text(f"{before}{START}\n\n{text}\n{END}{after}")


if __name__ == "__main__":
    main()
