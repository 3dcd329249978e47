"""One cell of benchmarks/accuracy.py: a method on a split of a set, measured."""

import signal
import time
import traceback
import warnings
from contextlib import contextmanager
from functools import lru_cache
from statistics import median

import numpy as np
from accuracy_methods import METHODS
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from kerndict import KernelDictionaryClassifier
from kerndict.datasets import load_features, split_half, split_mask, split_per_class
from kerndict.paper.environment import environment
from kerndict.paper.protocol import DATASETS

COST = "cost"  # the method that times the default against a plain fit
SAVED = ("default", "svc")  # their probabilities are kept
#: What is not tried, and why.
NOT_RUN = {
    ("caltech101", "dpl"): "one fit inverts 102 matrices of 3000 x 3000, which takes 7.3 GB and "
    "280 s, and the search makes 18"
}
BINS = 15
ALPHAS = (0.1, 0.05, 0.01)
REPEATS = 7  # of the fits whose cost is compared; the median counts


class OutOfTime(BaseException):
    """A cell went over its limit; not an Exception, which a grid search would swallow."""


@contextmanager
def time_limit(seconds):
    """Raise OutOfTime after so many seconds of processor time."""

    def stop(*_):
        raise OutOfTime

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@lru_cache(maxsize=1)
def load(path):
    features = load_features(path)
    features.data = normalize(features.data.astype(np.float64, copy=False))
    return features


def split(name, features, seed):
    """Return training and test rows."""
    base, _, count = name.partition("-")
    if base in DATASETS:
        train, test = DATASETS[base].split(features, seed)
    elif features.train is None:
        train, test = split_half(features.target, seed=seed)
    else:
        train, test = split_mask(features.train)
    if count:
        drawn, _ = split_per_class(features.target[train], int(count), seed=seed)
        train = train[drawn]
    return train, test


def clocks():
    return np.array([time.perf_counter(), time.process_time()])


def reliability(probabilities, y):
    """Return [samples, mean confidence, accuracy] of each bin of the top probability."""
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == y
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    rows = []
    for b in range(BINS):
        own = bins == b
        means = [float(confidence[own].mean()), float(right[own].mean())] if own.any() else [0, 0]
        rows.append([int(own.sum()), *means])
    return rows


def calibration_error(rows):
    """Return the expected calibration error of such bins."""
    total = sum(count for count, _, _ in rows)
    return sum(count * abs(sure - right) for count, sure, right in rows) / total


def measure(name, seed, method, X, y, X_test, y_test, probabilities_path):
    """Fit and try one method; labels are 0 to C - 1."""
    begin = clocks()
    model = METHODS[method](name, seed).fit(X, y)
    fitted = clocks()
    predicted = model.predict(X_test)
    done = clocks()
    cell = {
        "accuracy": accuracy_score(y_test, predicted),
        "accuracy_per_class": balanced_accuracy_score(y_test, predicted),
        "fit_seconds": (fitted - begin)[0],
        "fit_cpu_seconds": (fitted - begin)[1],
        "predict_seconds": (done - fitted)[0],
        "predict_cpu_seconds": (done - fitted)[1],
        "kept": model.kept_,
        "rows": model.rows_,
        "chosen": model.chosen_,
    }
    if hasattr(model, "predict_proba"):
        p = model.predict_proba(X_test)
        bins = reliability(p, y_test)
        cell |= {
            "accuracy_calibrated": accuracy_score(y_test, p.argmax(axis=1)),
            "accuracy_per_class_calibrated": balanced_accuracy_score(y_test, p.argmax(axis=1)),
            "log_loss": log_loss(y_test, p, labels=np.arange(p.shape[1])),
            "calibration_error": calibration_error(bins),
            "reliability": bins,
        }
        if hasattr(model, "predict_set"):
            cell["sets"] = {str(alpha): told(model, X_test, y_test, alpha) for alpha in ALPHAS}
        if method in SAVED:
            probabilities_path.parent.mkdir(parents=True, exist_ok=True)
            np.savez_compressed(probabilities_path, p=p.astype(np.float32), y=y_test)
    return cell


def told(model, X, y, alpha):
    """Return how often sets of classes hold the true one, and how many classes they hold."""
    sets = model.predict_set(X, alpha)
    return [float(sets[np.arange(len(y)), y].mean()), float(sets.sum(axis=1).mean())]


def measure_cost(seed, X, y):
    """Time the default against fits with the width it found that choose less.

    ``unprepared`` chooses the rule only, ``plain`` has nothing to choose.
    """
    unprepared = {"within_class_whitening": 0, "square_root": False}
    seconds = {"default": [], "unprepared": [], "plain": []}
    sigma = KernelDictionaryClassifier(random_state=seed, within_class_whitening=0).fit(X, y).sigma_
    for _ in range(REPEATS):
        for name, options in (
            ("default", {}),
            ("unprepared", unprepared),
            ("plain", {**unprepared, "sigma": sigma, "decision": "residual"}),
        ):
            begin = time.process_time()
            KernelDictionaryClassifier(random_state=seed, **options).fit(X, y)
            seconds[name].append(time.process_time() - begin)
    medians = {name: median(values) for name, values in seconds.items()}
    return {
        "fit_cpu_seconds": medians["default"],
        "unprepared_fit_cpu_seconds": medians["unprepared"],
        "plain_fit_cpu_seconds": medians["plain"],
        "preparation_ratio": medians["default"] / medians["unprepared"],
        "ratio": medians["default"] / medians["plain"],
    }


def compute(folder, key, limit, probabilities_path):
    """Run one cell; a failure is a result too."""
    name, seed, method = key
    features = load(folder / f"{name.partition('-')[0]}.npz")
    train, test = split(name, features, seed)
    X, y = features.data, features.target
    cell = {"set": name, "seed": seed, "method": method}
    cell |= {"n_train": len(train), "n_test": len(test), "revision": environment()["revision"]}
    if (name, method) in NOT_RUN:
        return cell | {"not_run": NOT_RUN[name, method]}
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
        warnings.simplefilter("always")
        try:
            with time_limit(limit):
                if method == COST:
                    cell |= measure_cost(seed, X[train], y[train])
                else:
                    parts = X[train], y[train], X[test], y[test]
                    cell |= measure(name, seed, method, *parts, probabilities_path)
        except OutOfTime:
            cell["not_run"] = f"took more than {limit:g} s of processor time"
            cell["limit"] = limit
        except Exception as error:
            traceback.print_exc()
            cell["not_run"] = f"{type(error).__name__}: {error}"
    cell["warnings"] = sorted({item.category.__name__ for item in caught})
    return cell
