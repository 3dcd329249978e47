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
import time
from pathlib import Path

import numpy as np

TABLES = (1000, 3000, 10_000, 30_000)
MANY = (100_000, 300_000, 1_000_000)
FEATURES = 20
BASELINES = ("svm", "gradient-boosting")
CONTROLS = ("head", "closed")
NYSTROEM = (500, 1000, 2000)


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
    for name, given in (("mnist", options.mnist), ("fashion", options.fashion)):
        if given:
            for method in ("default", *CONTROLS):
                yield name, method
            for count in NYSTROEM:
                yield name, f"nystroem-{count}"
                yield name, f"landmarks-{count}"
    if options.mnist:
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
    if name == "mnist":
        parts = [idx(options.mnist / f"{part}-ubyte") for part in MNIST]
        X, y, Xt, yt = parts
        X, Xt = X.reshape(len(X), -1), Xt.reshape(len(Xt), -1)
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
    rows = rng.permutation(len(X))[:2500]  # of the search, as in accuracy.py
    grid = {
        "gamma": [1 / (2 * (width * median) ** 2) for width in (0.5, 1.0, 2.0, 4.0)],
        "C": [1, 10, 100],
    }
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    best = GridSearchCV(SVC(), grid, cv=folds).fit(X[rows], y[rows]).best_params_
    return CalibratedClassifierCV(SVC(**best), ensemble=False, cv=folds)


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
        sigma = choose_width(X, y, rng)
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

    if name.startswith("rows-"):
        return many_rows(int(name.partition("-")[2]))
    warm = np.random.RandomState(0).rand(40, 5)
    KernelDictionaryClassifier(n_landmarks=10, random_state=0).fit(warm, np.arange(40) % 2)
    X, y, Xt, yt = load(name, options)
    before = peak()
    begin = time.process_time()
    model = make(method, X, y).fit(X, y)
    fitted = time.process_time()
    found = {"fit_cpu_seconds": fitted - begin, "fit_mb": peak() - before}
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


def many_rows(n):
    """Fit on a memory map of so many rows, and predict all of them."""

    from kerndict import KernelDictionaryClassifier

    warm = np.random.RandomState(0).rand(40, 5)
    model = KernelDictionaryClassifier(n_landmarks=10, random_state=0).fit(warm, np.arange(40) % 2)
    model.predict(warm)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "X.npy")
        code = (
            "import numpy as np; from sklearn.datasets import make_classification as m;"
            f"X, y = m({n} + 5000, {FEATURES}, n_informative=10, random_state=0);"
            f"X /= X.std(axis=0); np.save({str(path)!r}, X); np.save({str(path) + '.y.npy'!r}, y)"
        )
        subprocess.run([sys.executable, "-c", code], check=True)
        y = np.load(f"{path}.y.npy")
        X = np.load(path, mmap_mode="r")
        before = anonymous_peak_reset()
        begin = time.process_time()
        model = KernelDictionaryClassifier(random_state=0).fit(X[:n], y[:n])
        fitted = time.process_time()
        fit_mb = anonymous_peak() - before
        labels = model.predict(X[:n])
        predicted = time.process_time()
        test = model.predict_proba(X[n:])
        return {
            "fit_cpu_seconds": fitted - begin,
            "fit_mb": fit_mb,
            "microseconds_per_row": 1e6 * (fitted - begin) / n,
            "predict_cpu_seconds": predicted - fitted,
            "training_accuracy": float((labels == y[:n]).mean()),
            "accuracy": float((test.argmax(axis=1) == y[n:]).mean()),
            "log_loss": float(-np.log(test[np.arange(5000), y[n:]]).mean()),
            "landmarks": int(model.n_landmarks_),
        }


def peak():
    """Return the peak memory of the process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


SAMPLES = []


def anonymous():
    """Return the memory of the process that is not a file, in MB: pages of a map are not its."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["RssAnon"].split()[0]) / 1024


def anonymous_peak_reset():
    """Begin to watch the memory that is not a file; return what it is now."""
    import threading

    SAMPLES[:] = [anonymous()]

    def watch():
        while SAMPLES:
            SAMPLES.append(anonymous())
            time.sleep(0.02)

    threading.Thread(target=watch, daemon=True).start()
    return SAMPLES[0]


def anonymous_peak():
    """End watching; return the largest seen."""
    largest = max(SAMPLES)
    SAMPLES.clear()
    return largest


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
