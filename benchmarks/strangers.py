"""Telling strangers from the known: typicality beside peers, trained on half of the classes.

    python benchmarks/strangers.py FOLDER --out FILE [--page FILE] [--sets ...]

FOLDER holds yaleb, ar, caltech101, coil20, usps and isolet as files that
``kerndict.datasets.load_features`` reads.  Every cell (set, half, method) is kept in FILE the
moment it is done, and a second call goes on where the first was.  With ``--page``, the tables
and the figure of docs/strangers.md are written anew; see strangers_report.py.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from accuracy import rounded
from accuracy_cells import load, split
from scipy.stats import kstest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.svm import OneClassSVM
from strangers_report import write_page
from threadpoolctl import threadpool_limits

from kerndict import KernelDictionaryClassifier
from kerndict.kernels import median_distance
from kerndict.paper.environment import environment
from kerndict.paper.peers import peer
from kerndict.rules import CollaborativeRule
from kerndict.rules.features import own_feature, rule_features

#: ``name-60`` draws 60 training samples per class from the training part.
SETS = ("yaleb", "ar", "caltech101", "coil20", "isolet-60", "usps-100", "isolet", "usps")
FULL = ("isolet", "usps")  # our method only
HALVES = (1, 2, 3)
SHARES = (0.01, 0.05, 0.1)
SHARES_OF_LEAD = (0.5, 1, 2)  # of the log-probability beside the score
GRID = np.geomspace(1e-3, 1, 61)


# ------------------------------------------------------------------------------------ methods


def default(X, y, X_test, known, seed):
    """Return the areas of typicality and of what it is made of, and how even it is."""
    model = KernelDictionaryClassifier(random_state=seed).fit(X, y)
    p, fitted = model.typicality(X_test), model.model_
    log_p = model.predict_log_proba(X_test).max(axis=1)
    score = fitted.scores(X_test).max(axis=1)
    scores = {"typicality": p, "probability": log_p}
    scores |= {f"score + {w:g} log p": score + w * log_p for w in SHARES_OF_LEAD}
    if isinstance(fitted.rule, CollaborativeRule):
        features = parts_of(fitted, X_test)
        winners = model.decision_function(X_test).argmax(axis=1)[:, None]
        left, spent, alone = (np.take_along_axis(f, winners, axis=1)[:, 0] for f in features)
        scores |= {
            "product": left + spent + alone,
            "ratio": left + spent,
            "left": left,
            "alone": alone,
        }
    return {
        "auc": {name: roc_auc_score(known, value) for name, value in scores.items()},
        "known_below": {str(share): np.mean(p[known] < share) for share in SHARES},
        "unknown_below": {str(share): np.mean(p[~known] < share) for share in SHARES},
        "ks": kstest(p[known], "uniform").statistic,
        "thresholds": GRID.tolist(),
        "known_curve": np.mean(p[known, None] < GRID, axis=0).tolist(),
        "unknown_curve": np.mean(p[~known, None] < GRID, axis=0).tolist(),
        "chosen": {
            "sigma": model.sigma_,
            "ridge": model.ridge_,
            "weights": model.rule_weights_.tolist(),
            "within_class_whitening": model.within_class_whitening_,
            "square_root": model.square_root_,
        },
    }


def parts_of(fitted, X):
    """Return the three features of every row and class."""
    rule, energies = fitted.rule, fitted.space.energies(X)
    B = np.hstack(list(fitted.space.correlations(X, fitted.atoms)))
    left, spent = rule_features(B @ rule.inverse, B, rule.grams, energies)
    return left, spent, own_feature(B, rule.own_inverses, energies)


def residual(X, y, X_test, known, seed):
    """Return the area of the smallest residual, the paper's rule."""
    model = KernelDictionaryClassifier(decision="residual", random_state=seed).fit(X, y)
    return {"auc": roc_auc_score(known, -model.class_residuals(X_test).min(axis=1))}


def one_class(X, y, X_test, known, seed):
    """Return the area of a one-class SVM that is not told the labels."""
    gamma = 1 / (2 * median_distance(X, np.random.RandomState(seed)) ** 2)
    model = OneClassSVM(gamma=gamma, nu=0.1).fit(X)
    return {"auc": roc_auc_score(known, model.decision_function(X_test))}


def largest_score(name):
    """Return the method that trusts the largest score of a peer."""

    def method(X, y, X_test, known, seed):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # liblinear, after 1000 passes
            model = peer(name).fit(X, y)
        return {"auc": roc_auc_score(known, model.decision_function(X_test).max(axis=1))}

    return method


METHODS = {
    "default": default,
    "residual": residual,
    "one-class": one_class,
    "svc": largest_score("svc"),
    "linear-svc": largest_score("linear-svc"),
}


# ---------------------------------------------------------------------------------- the cells


def compute(folder, name, half, method):
    """Return one cell: a method trained on half of the classes, asked about all."""
    features = load(folder / f"{name.partition('-')[0]}.npz")
    X, y = features.data, features.target
    n_classes = len(features.target_names)
    seen = np.random.default_rng(half).permutation(n_classes)[: n_classes // 2]
    train, test = split(name, features, half)
    train = train[np.isin(y[train], seen)]
    known = np.isin(y[test], seen)
    begin = time.process_time()
    with threadpool_limits(1, "blas"):
        found = METHODS[method](X[train], y[train], X[test], known, half)
    return {
        "set": name,
        "half": half,
        "method": method,
        "n_train": len(train),
        "n_known": int(known.sum()),
        "n_unknown": int((~known).sum()),
        **found,
        "cpu_seconds": time.process_time() - begin,
    }


def write_result(out, cells):
    """Write all cells with versions and machine, one per line."""
    lines = ",\n".join(json.dumps(rounded(cell)) for cell in cells)
    top = json.dumps({**environment(), "blas_threads": 1})
    out.write_text(f'{top[:-1]}, "cells": [\n{lines}\n]}}\n')


def plan(sets):
    """Yield the cells, cheap ones first."""
    for method in METHODS:
        for name in sets:
            if name not in FULL:
                yield from ((name, half, method) for half in HALVES)
    for name in sets:
        if name in FULL:
            yield from ((name, half, "default") for half in HALVES)


def shown(cell):
    """Return the progress line of a cell."""
    auc = cell["auc"]["typicality"] if cell["method"] == "default" else cell["auc"]
    name = f"{cell['set']} {cell['half']} {cell['method']}"
    return f"{name}: {auc:.3f} in {cell['cpu_seconds']:.1f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument("--page", type=Path, metavar="FILE", help="docs/strangers.md")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    cells = json.loads(options.out.read_text())["cells"] if options.out.exists() else []
    done = {(cell["set"], cell["half"], cell["method"]) for cell in cells}
    for key in plan(options.sets):
        if key not in done:
            cells.append(compute(options.folder, *key))
            write_result(options.out, cells)
            print(shown(cells[-1]), flush=True)
    if options.page:
        write_page(options.out, options.page)


if __name__ == "__main__":
    main()
