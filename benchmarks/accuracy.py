"""Accuracy, probabilities, size and cost of the default beside the paper's method and peers.

    python benchmarks/accuracy.py FOLDER --out FILE [--sets ...] [--methods ...] [--limit SECONDS]

FOLDER holds yaleb, ar, caltech101, coil20, usps and isolet as .npz files that
``kerndict.datasets.load_features`` reads.  Every cell (set, seed, method) is kept in FILE's
.jsonl the moment it is done, and a second call goes on where the first was; FILE itself is
written at the end.  Needs ``pip install 'kerndict[bench]'``.
"""

import argparse
import json
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from accuracy_cells import COST, compute
from accuracy_methods import CERTAIN, METHODS

from kerndict.paper.environment import environment
from kerndict.paper.experiment import warm_up

#: Set -> seeds.  ``name-20`` draws 20 training samples per class from the training part.
SETS = {
    "coil20": 3,
    "usps-20": 3,
    "isolet-20": 3,
    "yaleb": 3,
    "usps-100": 3,
    "isolet-60": 3,
    "ar": 3,
    "caltech101": 3,
    "isolet": 1,
    "usps": 1,
}
#: Few samples per class, where the default stands beside the RBF SVM alone.
FEW = tuple(
    f"{name}-{count}"
    for count in (3, 5, 8)
    for name in ("coil20", "usps", "isolet", "yaleb", "ar", "caltech101")
)
FEW_METHODS, FEW_SEEDS = ("default", "unprepared", "svc"), 3
#: Other numbers of seeds: more where three leave a condition open, one where it takes minutes.
OTHER_SEEDS = {
    **{(name, m): 10 for name, n in SETS.items() if n > 1 for m in ("default", "unprepared")},
    **{(name, "dpl"): 1 for name in SETS if not name.startswith("usps")},
}
COST_SETS = ("yaleb", "ar", "caltech101")


def plan(sets, methods, most=10):
    """List the cells, cheap sets first; of no cell more than ``most`` seeds."""
    for method in methods:
        for name in sets:
            if method == COST:
                if name in COST_SETS:
                    yield name, 1, COST
                continue
            if name in FEW:
                if method in FEW_METHODS:
                    yield from ((name, s, method) for s in range(1, min(most, FEW_SEEDS) + 1))
                continue
            once = name == "yaleb" and method in CERTAIN
            seeds = 1 if once else OTHER_SEEDS.get((name, method), SETS[name])
            for seed in range(1, min(most, seeds) + 1):
                yield name, seed, method


def read_cells(path):
    """Return what is done, by key; a line cut off by a kill is done again."""
    cells = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            cell = json.loads(line)
        except json.JSONDecodeError:
            continue
        cells[cell["set"], cell["seed"], cell["method"]] = cell
    return cells


def write_result(out, cells):
    """Write all cells with versions and machine."""
    head = environment()
    versions = dict(head["versions"])
    with suppress(PackageNotFoundError):
        versions["dictlearn"] = version("dictlearn")
    order = [*METHODS, COST]
    rank = {key: k for k, key in enumerate(plan([*SETS, *FEW], order))}
    kept = sorted(
        (cell for key, cell in cells.items() if key in rank),
        key=lambda cell: rank[cell["set"], cell["seed"], cell["method"]],
    )
    lines = ",\n".join(json.dumps(rounded(cell)) for cell in kept)
    top = json.dumps({"versions": versions, "machine": head["machine"], "blas_threads": 1})
    out.write_text(f'{top[:-1]}, "cells": [\n{lines}\n]}}\n')


def rounded(value):
    """Return a value with floats to six digits, all the way down."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def shown(cell):
    """Return what the progress line says of a cell."""
    names = ("accuracy", "log_loss", "ratio", "fit_cpu_seconds", "kept")
    return ", ".join(f"{k} {cell[k]:.4g}" for k in names if k in cell) or cell["not_run"]


def prepare(methods):
    """Compile what is timed later."""
    warm_up()
    if "kernel-src" in methods:
        X, y = np.eye(12), np.arange(12) // 6
        METHODS["kernel-src"](sparsities=(2,)).fit(X, y).predict(X)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument("--sets", nargs="+", choices=[*SETS, *FEW], default=[*SETS, *FEW])
    parser.add_argument("--methods", nargs="+", choices=[*METHODS, COST], default=[*METHODS, COST])
    parser.add_argument("--limit", type=float, default=360, help="processor seconds per cell")
    parser.add_argument("--seeds", type=int, default=10, help="at most so many of each cell")
    options = parser.parse_args()
    out, lines = options.out, options.out.with_suffix(".jsonl")
    probabilities = out.with_name(f"{out.stem}-probabilities")
    out.parent.mkdir(parents=True, exist_ok=True)
    keys = list(plan(options.sets, options.methods, options.seeds))
    prepare(options.methods)
    for number, key in enumerate(keys, 1):
        done = read_cells(lines).get(key)
        if done and ("not_run" not in done or done.get("limit", 0) >= options.limit):
            continue  # what failed, or was cut short with less time, gets a second try
        name = "-".join(map(str, key))
        cell = compute(options.folder, key, options.limit, probabilities / f"{name}.npz")
        with lines.open("a") as file:
            file.write(json.dumps(cell) + "\n")
        print(f"{number}/{len(keys)} {name}: {shown(cell)}", flush=True)
    write_result(out, read_cells(lines))


if __name__ == "__main__":
    main()
