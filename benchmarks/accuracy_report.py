"""Write the tables and figures of docs/accuracy.md from a result of benchmarks/accuracy.py.

    python benchmarks/accuracy_report.py benchmarks/results/accuracy.json docs/accuracy.md

Only what stands between the two marks in the page is written anew.
"""

import sys
from operator import ge, lt
from pathlib import Path
from statistics import mean

import numpy as np
from accuracy_choices import choices, coverage, few, paired
from accuracy_figures import OTHER, OURS, PEER, draw_ranks, draw_reliability
from accuracy_tables import (
    PROBABLE,
    RANKED,
    SETS,
    TITLES,
    Results,
    field_table,
    seconds,
    size_table,
    table,
)
from scipy.stats import rankdata

BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"
RELIABLE = {
    "caltech101": "Caltech101",
    "isolet-20": "ISOLET, 20 per class",
    "usps-20": "USPS, 20 per class",
    "usps": "USPS",
}
#: Field -> factor, digits, words.
FIELDS = {
    "accuracy": (100, 2, "accuracy"),
    "log_loss": (1, 3, "log-loss"),
    "calibration_error": (100, 2, "calibration error"),
}
RANKS = """Mean ranks by accuracy, 1 is the best. Bars join methods that the Nemenyi test at 5 %
does not tell apart; a method that was not run on a set ranks last there.
"""
RELIABILITY = """Above: how often the most probable class is right, over how probable it was said to
be, all seeds of a set together, bins of at least 20 samples. Below: how the samples spread.
"""
ROWS = """Kernel atoms are combinations of training samples: prediction with the default and with
the paper's method computes the kernel with all training rows, and the count of atoms is that of
correlations, codes and Gram matrices. An RBF SVM needs its support vectors only, a linear SVM one
vector per class, DPL two matrices per class.
"""
CHOICES = """A number is the strength of the whitening within classes; *root* is the square root of
non-negative numbers. What was chosen was chosen inside the training part.
"""
COVERAGE = """Share of test samples whose set holds the true class, in %, and classes per set.
Each share has a standard error of `sqrt(alpha (1 - alpha) (1 / training + 1 / test samples))`.
Where more than `1 - alpha` of all samples are told right the sets are cautious: the model of the
fit is better than those of the folds. The test speakers of the isolet sets are new, and the test
part of usps is harder than its training part.
"""
FLOORS = (
    ("yaleb", "accuracy", 98.9),
    ("ar", "accuracy", 99.5),
    ("caltech101", "accuracy", 82.0),
    ("caltech101", "accuracy_per_class", 75.0),
    ("coil20", "accuracy", 99.6),
    ("usps-20", "accuracy", 89.7),
    ("usps", "accuracy", 95.7),
    ("isolet-20", "accuracy", 91.8),
    ("isolet-60", "accuracy", 95.2),
    ("isolet", "accuracy", 97.0),
)


def conditions(results):
    """Return each condition with what was measured."""
    rows = []
    for name, field, floor in FLOORS:
        what = f"{name}, {'mean over classes' if 'per_class' in field else 'accuracy'}"
        several = results.values(name, "default", field, seeds=3)
        if not several:
            continue
        more = results.values(name, "default", field, seeds=100)
        for values in (several, more) if len(more) > len(several) else (several,):
            value = 100 * mean(values)
            seeds = f"{len(values)} seed{'s' if len(values) > 1 else ''}"
            row = [f"{what}, {seeds}", f"at least {floor}", f"{value:.2f}"]
            rows.append([*row, met(value >= floor)])
    for field, peer, better in (
        ("accuracy", "svc", ge),
        ("log_loss", "svc", lt),
        ("log_loss", "svc-temperature", lt),
    ):
        scale, digits, title = FIELDS[field]
        ours, svm = (results.over_sets(m, field) for m in ("default", peer))
        if ours is None or svm is None:
            continue
        limit = f"{TITLES[peer]}: {scale * svm:.{digits}f}"
        value = f"{scale * ours:.{digits}f}"
        rows.append([f"mean {title} over all sets", limit, value, met(better(ours, svm))])
    for name in ("yaleb", "ar", "caltech101"):
        for cell in results.cells.get((name, "cost"), []):
            what = f"{name}, fit relative to one of rows as they are"
            ratio = cell["preparation_ratio"]
            rows.append([what, "at most 2.2", f"{ratio:.2f}", met(ratio <= 2.2)])
    return table(["condition", "limit", "default", ""], rows)


def met(holds):
    return "met" if holds else "**not met**"


def behind(results):
    """List the sets where another method does better, and which."""
    lines = []
    for field, sign in (("accuracy", 1), ("log_loss", -1), ("calibration_error", -1)):
        scale, digits, title = FIELDS[field]
        for name in SETS:
            ours = results.mean(name, "default", field)
            methods = RANKED if field == "accuracy" else PROBABLE
            others = {m: results.mean(name, m, field) for m in methods}
            if ours is None:
                continue
            better = [m for m, v in others.items() if v is not None and sign * (v - ours) > 0]
            better.sort(key=lambda m, others=others: -sign * others[m])
            listed = ", ".join(
                f"{TITLES[m]} {scale * others[m]:.{digits}f}{paired(results, name, m, field)}"
                for m in better
            )
            if better:
                lines.append(f"- {name}, {title} {scale * ours:.{digits}f}: {listed}")
    return "\n".join(lines) + "\n"


def costlier(results):
    """List the sets where the default costs or keeps more than the RBF SVM with its search."""
    lines = []
    for field, title in (
        ("fit_cpu_seconds", "processor seconds to fit"),
        ("predict_cpu_seconds", "processor seconds to predict"),
        ("kept", "atoms"),
    ):
        for name in SETS:
            ours, svm = (results.mean(name, method, field) for method in ("default", "svc"))
            if ours is not None and svm is not None and ours > 1.1 * svm:
                lines.append(f"- {name}, {title} {ours:.4g}: RBF SVM {svm:.4g}")
    return "\n".join(lines) + "\n"


def missing(results):
    """List the cells that were not run, with their reasons."""
    cells = [cell for several in results.cells.values() for cell in several if "not_run" in cell]
    lines = [
        f"- {cell['set']}, {TITLES[cell['method']]}, seed {cell['seed']}: {cell['not_run']}"
        for cell in cells
    ]
    return "Not run:\n\n" + "\n".join(lines) + "\n" if lines else ""


def rank_figure(results, folder):
    """Draw the mean ranks; what is missing on a set comes last there."""
    scores = np.array(
        [
            [-1 if (v := results.mean(name, m, "accuracy")) is None else v for m in RANKED]
            for name in SETS
        ]
    )
    ranks = rankdata(-np.round(scores, 6), axis=1).mean(axis=0)
    draw_ranks(folder / "accuracy-ranks.png", [TITLES[m] for m in RANKED], ranks, len(SETS))


def reliability_figure(results, folder):
    """Draw the default and the calibrated SVM, all seeds of a set together."""
    panels = []
    for name, title in RELIABLE.items():
        curves = []
        for method, label, colour in (
            ("default", "default", OURS),
            ("svc", "SVM, sigmoid", PEER),
            ("svc-temperature", "SVM, temperature", OTHER),
        ):
            bins = np.array(results.values(name, method, "reliability"))
            if not len(bins):
                continue
            counts = bins[:, :, 0].sum(axis=0)
            weighted = (bins[:, :, :1] * bins[:, :, 1:]).sum(axis=0)
            pooled = np.column_stack([counts, weighted / np.maximum(counts, 1)[:, None]])
            measures = (results.mean(name, method, f) for f in ("calibration_error", "log_loss"))
            curves.append((label, colour, pooled, *measures))
        panels.append((title, curves))
    draw_reliability(folder / "accuracy-reliability.png", panels)


def report(results):
    """Return the measured part of the page."""
    versions = ", ".join(f"{k} {v}" for k, v in results.head["versions"].items())
    parts = [
        "### Conditions\n",
        conditions(results),
        "### Accuracy, %\n",
        field_table(results, RANKED, "accuracy", 100),
        "Mean over classes, where they differ in size:\n",
        field_table(results, RANKED, "accuracy_per_class", 100, sets=["caltech101"]),
        "![Mean ranks over the sets](images/accuracy-ranks.png)\n",
        RANKS,
        "### Where the default is behind\n",
        behind(results),
        "In cost and size, beside the RBF SVM and its search (differences above 10 %):\n",
        costlier(results),
        "### What the preparation did\n",
        choices(results),
        CHOICES,
        "### Few samples per class\n",
        few(results),
        "### Sets of classes\n",
        coverage(results),
        COVERAGE,
        "### Log-loss\n",
        field_table(results, PROBABLE, "log_loss", 1, 3, min),
        "### Expected calibration error, %\n",
        field_table(results, PROBABLE, "calibration_error", 100, 2, min),
        "![Reliability](images/accuracy-reliability.png)\n",
        RELIABILITY,
        "### Atoms, support vectors or samples kept\n",
        size_table(results),
        ROWS,
        "### Processor seconds to fit, tuning included\n",
        seconds(results, "fit_cpu_seconds"),
        "### Processor seconds to predict the test part\n",
        seconds(results, "predict_cpu_seconds"),
        missing(results),
        f"Measured with {versions}; {results.head['machine']}, one BLAS thread.\n",
    ]
    return "\n".join(parts)


def main(source, page):
    results, page = Results(source), Path(page)
    images = page.parent / "images"
    images.mkdir(exist_ok=True)
    rank_figure(results, images)
    reliability_figure(results, images)
    before, rest = page.read_text().split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(before + BEGIN + "\n" + report(results) + "\n" + END + after)


if __name__ == "__main__":
    main(*sys.argv[1:])
