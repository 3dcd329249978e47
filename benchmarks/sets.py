"""Sets of classes beside MAPIE's: how often they hold the true class, how large, at what cost.

    python benchmarks/sets.py FOLDER --out FILE [--sets ...] [--alpha 0.1]

FOLDER is that of benchmarks/accuracy.py.  MAPIE wraps the default classifier: by a split, a fifth
of the training part kept to calibrate with, and by cross-conformal prediction on five folds.  Needs
``pip install 'kerndict[bench]'``.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from accuracy import rounded
from accuracy_cells import load, split
from mapie.classification import CrossConformalClassifier, SplitConformalClassifier
from sklearn.model_selection import StratifiedKFold, train_test_split
from threadpoolctl import threadpool_limits

from kerndict import KernelDictionaryClassifier
from kerndict.paper.environment import environment

SETS = ("usps-20", "isolet-20", "coil20", "yaleb", "usps-100", "isolet-60")


def ours(X, y, X_test, alpha):
    return KernelDictionaryClassifier(random_state=0).fit(X, y).predict_set(X_test, alpha)


def split_conformal(X, y, X_test, alpha):
    first, rest, y_first, y_rest = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    model = KernelDictionaryClassifier(random_state=0).fit(first, y_first)
    wrapped = SplitConformalClassifier(model, confidence_level=1 - alpha, prefit=True)
    return wrapped.conformalize(rest, y_rest).predict_set(X_test)[1][:, :, 0]


def cross_conformal(X, y, X_test, alpha):
    wrapped = CrossConformalClassifier(
        KernelDictionaryClassifier(random_state=0),
        confidence_level=1 - alpha,
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
    )
    return wrapped.fit_conformalize(X, y).predict_set(X_test)[1][:, :, 0]


METHODS = {"predict_set": ours, "MAPIE, split": split_conformal, "MAPIE, cross": cross_conformal}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--alpha", type=float, default=0.1)
    options = parser.parse_args()
    cells = []
    for name in options.sets:
        features = load(options.folder / f"{name.partition('-')[0]}.npz")
        train, test = split(name, features, 1)
        X, y = features.data, features.target
        for method, sets_of in METHODS.items():
            begin = time.process_time()
            with threadpool_limits(1, "blas"):
                sets = sets_of(X[train], y[train], X[test], options.alpha)
            held = sets[np.arange(len(test)), y[test]].mean()
            cell = {"set": name, "method": method, "alpha": options.alpha}
            cell |= {"n_train": len(train), "n_test": len(test), "held": float(held)}
            cell |= {"classes": float(sets.sum(axis=1).mean())}
            cells.append(cell | {"cpu_seconds": time.process_time() - begin})
            print(json.dumps(rounded(cells[-1])), flush=True)
            result = {**environment(), "cells": rounded(cells)}
            options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
