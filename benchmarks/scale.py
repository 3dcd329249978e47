"""What a fit costs as rows grow, beside peers: time, memory, accuracy, probabilities.

    python benchmarks/scale.py FOLDER --out FILE [--mnist FOLDER] [--fashion FILE] [--only NAME ...]

FOLDER holds usps and isolet as .npz files; ``--mnist`` the four idx files of MNIST; ``--fashion``
an .npz file with X, y, Xt and yt.  Every cell runs in a process of its own with one BLAS thread,
and is kept in FILE's .jsonl the moment it is done; a second call goes on where the first was.
Times are of the processor; memory is the peak of the process above what its imports and its data
take.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

TABLES = (1000, 3000, 10_000, 30_000)
MANY = (100_000, 300_000, 1_000_000)
GROWTH = (10_000, 30_000, 100_000, 300_000)
#: Of the growth: what the classes are like, and what is fitted.
SHAPES = ("two", "hundred", "thousand", "uneven", "residual")
IMAGES = (5000, 10_000, 20_000, 40_000)
FEATURES = 20
BASELINES = ("svm", "gradient-boosting")
CONTROLS = ("head", "closed")
NYSTROEM = (500, 1000, 2000)
#: Fits that take fewer seconds are timed so often, and the median counts.
SHORT, REPEATS = 5.0, 5


def plan(options):
    """List the cells: set, method."""
    for n in TABLES:
        for method in ("default", *CONTROLS, *BASELINES):
            yield f"table-{n}", method
    for name in ("usps", "isolet"):
        for method in ("default", *CONTROLS, "svm"):
            yield name, method
    for n in MANY:
        yield f"rows-{n}", "default"
    for n in MANY:
        yield f"parquet-{n}", "default"
    for shape in SHAPES:
        for n in GROWTH:
            yield f"growth-{n}", shape
    for name, given in (("mnist", options.mnist), ("fashion", options.fashion)):
        if given:
            for method in ("default", *CONTROLS):
                yield name, method
            for count in NYSTROEM:
                yield name, f"nystroem-{count}"
                yield name, f"landmarks-{count}"
    if options.mnist:
        for n in IMAGES:
            yield f"mnist-{n}", "default"
        yield "mnist", "svc"


def load(name, options):
    """Return training and test rows with labels."""
    from sklearn.datasets import make_classification
    from sklearn.preprocessing import StandardScaler, normalize

    kind, _, count = name.partition("-")
    if kind == "table":
        X, y = make_classification(int(count) + 5000, FEATURES, n_informative=10, random_state=0)
        X, Xt, y, yt = X[:-5000], X[-5000:], y[:-5000], y[-5000:]
        scaler = StandardScaler().fit(X)
        return scaler.transform(X), y, scaler.transform(Xt), yt
    if kind == "mnist":
        parts = [idx(options.mnist / f"{part}-ubyte") for part in MNIST]
        X, y, Xt, yt = parts
        X, Xt = X.reshape(len(X), -1), Xt.reshape(len(Xt), -1)
        if count:
            some = np.random.RandomState(0).permutation(len(X))[: int(count)]
            X, y = X[some], y[some]
    elif name == "fashion":
        data = np.load(options.fashion)
        X, y, Xt, yt = (data[key] for key in ("X", "y", "Xt", "yt"))
    else:
        data = np.load(options.folder / f"{name}.npz")
        train = data["train"]
        X, y = data["X"].astype(np.float64), data["y"]
        X, y, Xt, yt = X[train], y[train], X[~train], y[~train]
    dtype = np.float64 if X.dtype == np.float64 else np.float32
    return normalize(X.astype(dtype)), y.astype(int), normalize(Xt.astype(dtype)), yt.astype(int)


MNIST = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")


def idx(path):
    """Return the array of an idx file."""
    data = path.read_bytes()
    sizes = np.frombuffer(data, ">i4", data[3], 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(sizes)


def make(method, X, y):
    """Return an estimator with predict_proba."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC

    from kerndict import KernelDictionaryClassifier
    from kerndict.kernels import median_distance

    rng = np.random.RandomState(0)
    if method == "default":
        return KernelDictionaryClassifier(random_state=0)
    if method in CONTROLS:
        return Control(method)
    kind, _, count = method.partition("-")
    if kind == "landmarks":
        return KernelDictionaryClassifier(n_landmarks=int(count), random_state=0)
    if kind == "gradient":
        return HistGradientBoostingClassifier(random_state=0)
    median = median_distance(X, rng)
    if kind == "nystroem":
        gamma = 1 / (2 * (0.75 * median) ** 2)
        return make_pipeline(
            Nystroem(gamma=gamma, n_components=int(count), random_state=0),
            LogisticRegression(C=100, max_iter=1000),
        )
    if method == "svc":
        return SVC(C=10, gamma=5)
    if y.max() > 1:
        from accuracy_methods import TemperedSVM

        return TemperedSVM()
    rows = rng.permutation(len(X))[:2500]  # of the search, as there
    grid = {
        "gamma": [1 / (2 * (width * median) ** 2) for width in (0.5, 1.0, 2.0, 4.0)],
        "C": [1, 10, 100],
    }
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    best = GridSearchCV(SVC(), grid, cv=folds).fit(X[rows], y[rows]).best_params_
    return CalibratedClassifierCV(SVC(**best), method="temperature", ensemble=False, cv=folds)


class Control:
    """The label head alone, or with the class atoms: parts of a model with landmarks."""

    def __init__(self, kind):
        self.kind = kind

    def fit(self, X, y):
        from kerndict.kernels import Kernel, distance_shift
        from kerndict.landmarks import Landmarks, Learner, choose_width, draw, landmark_count
        from kerndict.landmarks.closed_form import ClassAtoms, label_scores
        from kerndict.landmarks.settle import LABEL_RIDGES, choose_ridges, label_head
        from kerndict.landmarks.size import coordinate_count
        from kerndict.landmarks.sums import Principal
        from kerndict.rules.weights import fit_weights

        rng = np.random.RandomState(0)
        sigma = np.prod(choose_width(X, y, rng))
        places = draw(y, landmark_count(*X.shape), rng)
        kernel = Kernel("rbf", sigma, shift=distance_shift(X, sigma))
        self.landmarks = Landmarks.from_rows(kernel, X[places], places)
        learner = Learner(self.landmarks, int(y.max()) + 1, 0)
        for start in range(0, len(X), 4096):
            part = slice(start, start + 4096)
            learner.add(X[part], y[part], np.ones(len(X[part])))
        self.principal = Principal.from_sums(self.landmarks, learner.sums)
        rows = learner.rows(self.principal)
        told = rows.part(np.random.RandomState(0).permutation(len(rows))[:10_000])
        p = coordinate_count(learner.n_classes, len(rows), len(self.principal.spread))
        if self.kind == "closed":
            self.atoms = ClassAtoms.from_rows(rows, learner.n_classes, p, None)
            closed = choose_ridges(told, self.principal, self.atoms)
            self.ridge, self.weights, self.offsets = (
                closed.atom_ridge,
                closed.weights,
                closed.offsets,
            )
            self.head = label_head(self.principal, closed.label_ridge)
        else:
            scores = label_scores(told, self.principal, LABEL_RIDGES)
            fits = [fit_weights([f], told.labels) for f in scores]
            best = int(np.argmin([fit[2] for fit in fits]))
            self.weights, self.offsets, _ = fits[best]
            self.head = label_head(self.principal, LABEL_RIDGES[best] * self.principal.unit)
        return self

    def predict_proba(self, X):
        from scipy.special import softmax

        from kerndict.landmarks.closed_form import Rows
        from kerndict.rules.weights import weigh

        Z = self.landmarks.correlations(X) @ self.principal.basis
        features = [Z @ self.head]
        if self.kind == "closed":
            none = np.zeros(len(X))
            rows = Rows(Z, np.ones(len(X)), np.full(len(X), -1), none, none)
            features += self.atoms.left(rows, [self.ridge])
        return softmax(weigh(features, self.weights, self.offsets), axis=1)


def cell(name, method, options):
    """Measure one cell; print it as JSON."""
    import kerndict  # noqa: F401
    from kerndict import KernelDictionaryClassifier

    kind, _, count = name.partition("-")
    warm = np.random.RandomState(0).rand(40, 5)
    for rule in ("collaborative", "residual"):
        model = KernelDictionaryClassifier(2, n_landmarks=10, decision=rule, random_state=0)
        model.fit(warm, np.arange(40) % 2).predict(warm)
    if kind in ("rows", "parquet"):
        return many_rows(kind, int(count))
    if kind == "growth":
        return growth(int(count), method)
    X, y, Xt, yt = load(name, options)
    before, seconds = peak(), []
    while not seconds or (len(seconds) < REPEATS and seconds[0] < SHORT):
        begin = time.process_time()
        model = make(method, X, y).fit(X, y)
        fitted = time.process_time()
        seconds.append(fitted - begin)
        if len(seconds) == 1:
            fit_mb = peak() - before
    found = {"fit_cpu_seconds": float(np.median(seconds)), "fit_mb": fit_mb}
    if method == "svc":
        labels = model.predict(Xt)
        found["predict_cpu_seconds"] = time.process_time() - fitted
        return found | {"accuracy": float((labels == yt).mean())}
    P = model.predict_proba(Xt)
    found["predict_cpu_seconds"] = time.process_time() - fitted
    found["accuracy"] = float((P.argmax(axis=1) == yt).mean())
    found["log_loss"] = float(-np.log(np.maximum(P[np.arange(len(yt)), yt], 1e-15)).mean())
    if hasattr(model, "n_landmarks_"):
        found["landmarks"] = int(model.n_landmarks_)
    return found


WRITE = """
import numpy as np
from sklearn.datasets import make_classification
X, y = make_classification({n} + 5000, {features}, n_informative=10, random_state=0)
X /= X.std(axis=0)
np.save("{folder}/X.npy", X)
np.save("{folder}/y.npy", y)
if {parquet}:
    import pandas as pd
    frame = pd.DataFrame(X[:{n}], columns=[f"f{{k}}" for k in range({features})]).assign(y=y[:{n}])
    frame.to_parquet("{folder}/table.parquet", row_group_size=50_000)
"""


def many_rows(kind, n):
    """Fit on a memory map of so many rows, or train on them in parquet; predict all of them."""
    import kerndict
    from kerndict import KernelDictionaryClassifier
    from kerndict.cli import main as kerndict_command

    with tempfile.TemporaryDirectory() as folder:
        write = WRITE.format(n=n, features=FEATURES, folder=folder, parquet=kind == "parquet")
        subprocess.run([sys.executable, "-c", write], check=True)
        y = np.load(f"{folder}/y.npy")
        X = np.load(f"{folder}/X.npy", mmap_mode="r")
        if kind == "parquet":
            import pyarrow.parquet  # noqa: F401
        before = anonymous_peak_reset()
        begin = time.process_time()
        if kind == "rows":
            model = KernelDictionaryClassifier(random_state=0).fit(X[:n], y[:n])
        else:
            table, out = f"{folder}/table.parquet", f"{folder}/model"
            words = ("train", table, "--label", "y", "--raw", "--out", out)
            if kerndict_command([*words, "--random-state", "0"]):
                raise SystemExit(1)
        fitted = time.process_time()
        fit_mb = anonymous_peak() - before
        if kind == "parquet":
            model = kerndict.load(out)
        before = anonymous_peak_reset()
        begin_predict = time.process_time()
        labels = model.predict(X[:n])
        predicted = time.process_time()
        predict_mb = anonymous_peak() - before
        test = model.predict_proba(X[n:])
        return {
            "fit_cpu_seconds": fitted - begin,
            "fit_mb": fit_mb,
            "microseconds_per_row": 1e6 * (fitted - begin) / n,
            "predict_cpu_seconds": predicted - begin_predict,
            "predict_mb": predict_mb,
            "training_accuracy": float((labels == y[:n]).mean()),
            "accuracy": float((test.argmax(axis=1) == y[n:]).mean()),
            "log_loss": float(-np.log(test[np.arange(5000), y[n:]]).mean()),
            "landmarks": int(model.n_landmarks_),
        }


def growth(n, shape):
    """Fit to so many rows of classes of some shape: one blob of 20 features each."""
    from kerndict import KernelDictionaryClassifier

    n_classes = {"two": 2, "residual": 2, "hundred": 100, "uneven": 10, "thousand": 1000}[shape]
    rng = np.random.RandomState(0)
    if shape == "uneven":
        y = np.repeat(np.arange(10), [n - 45] + [5] * 9)
    else:
        y = np.arange(n) % n_classes
    centres = 2 * rng.randn(n_classes, FEATURES)
    X = rng.standard_normal((n, FEATURES)) + centres[y]
    settings = {"n_atoms": 40, "decision": "residual"} if shape == "residual" else {}
    before = anonymous_peak_reset()
    begin = time.process_time()
    model = KernelDictionaryClassifier(**settings, random_state=0).fit(X, y)
    seconds = time.process_time() - begin
    return {
        "fit_cpu_seconds": seconds,
        "fit_mb": anonymous_peak() - before,
        "microseconds_per_row": 1e6 * seconds / n,
        "landmarks": int(model.n_landmarks_),
    }


def peak():
    """Return the peak memory of the process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


SAMPLES = []
ENDED = threading.Event()


def anonymous():
    """Return the memory of the process that is not a file, in MB: pages of a map are not its."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["RssAnon"].split()[0]) / 1024


def anonymous_peak_reset():
    """Begin to watch the memory that is not a file; return what it is now."""
    ENDED.clear()
    SAMPLES[:] = [anonymous()]

    def watch():
        while not ENDED.wait(0.02):
            SAMPLES.append(anonymous())

    threading.Thread(target=watch, daemon=True).start()
    return SAMPLES[0]


def anonymous_peak():
    """End watching; return the largest seen."""
    ENDED.set()
    return max(SAMPLES)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument("--mnist", type=Path)
    parser.add_argument("--fashion", type=Path)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--cell", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cell:
        print(json.dumps(cell(*options.cell, options)))
        return
    from kerndict.paper.environment import environment

    lines = options.out.with_suffix(".jsonl")
    done = [json.loads(line) for line in lines.read_text().splitlines()] if lines.exists() else []
    keys = {(each["set"], each["method"]) for each in done}
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    for name, method in plan(options):
        if (name, method) in keys or (options.only and name not in options.only):
            continue
        command = [sys.executable, __file__, *sys.argv[1:], "--cell", name, method]
        run = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if run.returncode:
            print(f"{name} {method}: {run.stderr[-500:]}", flush=True)
            continue
        found = {"set": name, "method": method, **json.loads(run.stdout.splitlines()[-1])}
        done.append(found)
        with lines.open("a") as file:
            file.write(json.dumps(found) + "\n")
        print(
            ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{v}" for k, v in found.items()),
            flush=True,
        )
    order = {key: k for k, key in enumerate(plan(options))}
    done.sort(key=lambda each: order.get((each["set"], each["method"]), len(order)))
    cells = ",\n".join(json.dumps(each) for each in done)
    head = json.dumps(environment() | {"blas_threads": 1})
    options.out.write_text(f'{head[:-1]}, "cells": [\n{cells}\n]}}\n')


if __name__ == "__main__":
    main()
