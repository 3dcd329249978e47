"""Five-fold accuracy on small tables: `kerndict train` as it comes, beside scikit-learn.

    python benchmarks/tables.py

Each training part is written as csv and given to `kerndict train` without any option but the
label; `kerndict predict` labels the test part.  The folds are the same for all methods.  The
numbers go into docs/command-line.md, between the marks of tables.
"""

import argparse
import contextlib
import io
import json
import tempfile
import time
from pathlib import Path

import numpy as np
import sklearn
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kerndict
from kerndict.cli import main

SETS = {
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "iris": load_iris,
    "digits": load_digits,
}
PEERS = {
    "HistGradientBoostingClassifier": lambda: HistGradientBoostingClassifier(random_state=0),
    "StandardScaler, SVC": lambda: make_pipeline(StandardScaler(), SVC()),
}
OURS = "kerndict train"
RESULTS = Path(__file__).parent / "results" / "tables.json"
DOCUMENT = Path(__file__).parents[1] / "docs" / "command-line.md"


def by_command_line(frame, train, test, folder):
    """Return the accuracy of the commands, and how they scaled."""
    paths = [folder / f"{name}.csv" for name in ("train", "test")]
    for path, rows in zip(paths, (train, test), strict=True):
        frame.iloc[rows].to_csv(path, index=False)
    model, said = folder / "model.safetensors", io.StringIO()
    with contextlib.redirect_stdout(said):
        assert main(["train", str(paths[0]), "--label", "target", "--out", str(model)]) == 0
    (scaling,) = (line for line in said.getvalue().splitlines() if line.startswith("scaling"))
    labels = folder / "labels.csv"
    assert main(["predict", str(model), str(paths[1]), "--out", str(labels)]) == 0
    found = [int(line.split(",")[0]) for line in labels.read_text().splitlines()[1:]]
    return float(np.mean(found == frame["target"].to_numpy()[test])), scaling.split()[1].rstrip(":")


def measure(load, folder):
    """Return the accuracy of every method on every fold of one set."""
    frame = load(as_frame=True).frame
    X, y = frame.drop(columns="target").to_numpy(), frame["target"].to_numpy()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    found = {name: [] for name in (OURS, *PEERS)}
    scaled, seconds = [], 0.0
    for train, test in folds.split(X, y):
        begin = time.perf_counter()
        accuracy, scale = by_command_line(frame, train, test, folder)
        seconds += time.perf_counter() - begin
        found[OURS].append(accuracy)
        scaled.append(scale)
        for name, make in PEERS.items():
            found[name].append(float(make().fit(X[train], y[train]).score(X[test], y[test])))
    return {"accuracies": found, "scaled": scaled, "seconds_of_ours": seconds}


def table(results):
    """Return the results as Markdown."""
    names = (OURS, *PEERS)
    lines = [f"| five folds | {' | '.join(names)} | scaled |", f"|---|{'---|' * (len(names) + 1)}"]
    for title, found in results["sets"].items():
        cells = [
            f"{100 * np.mean(found['accuracies'][name]):.2f} ± "
            f"{100 * np.std(found['accuracies'][name]):.2f}"
            for name in names
        ]
        ways = " and ".join(sorted(set(found["scaled"])))
        lines.append(f"| {title} | {' | '.join(cells)} | {ways} |")
    return "\n".join(lines)


def run():
    """Measure, and write the table into the document."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    versions = {"kerndict": kerndict.__version__, "scikit-learn": sklearn.__version__}
    results = {"versions": versions, "sets": {}}
    for title, load in SETS.items():
        with tempfile.TemporaryDirectory() as folder:
            results["sets"][title] = measure(load, Path(folder))
        print(title, {k: np.mean(v) for k, v in results["sets"][title]["accuracies"].items()})
    options.out.write_text(json.dumps(results, indent=2) + "\n")
    text = DOCUMENT.read_text(encoding="utf-8")
    begin, end = "<!-- tables: start -->", "<!-- tables: end -->"
    before, _, rest = text.partition(begin)
    after = rest.partition(end)[2]
    DOCUMENT.write_text(f"{before}{begin}\n{table(results)}\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    run()
