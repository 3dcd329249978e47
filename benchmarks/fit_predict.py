"""Fit and predict beside their unavoidable product and beside peers, at the paper's shapes.

python benchmarks/fit_predict.py [--out FILE] [--repeats 5] [--shapes caltech101 ...]

Random classes of the shapes of the paper's data sets: no files are needed.  Everything is a
ratio to the product Y X' of the test and training samples, taken in the same run; the linear
fits to their own floating-point operations at the rate of a product of two (m, m) matrices.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from timing import RESULTS, interleaved, threads, write

from kerndict import DictionaryClassifier, KernelDictionaryClassifier, SpanWarning
from kerndict.paper.environment import environment

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import oracles

#: classes, training samples per class, test samples, features
SHAPES = {
    "yaleb": (38, 32, 1198, 504),
    "ar": (100, 20, 600, 540),
    "caltech101": (102, 30, 6084, 3000),
}
SIGMA = 1.3
#: Rows that the slowest of the peers predicts; its times are scaled up to all of them.
FEW = 200
PAPER = {"n_atoms": 40, "n_nonzero_coefs": 20, "decision": "residual", "random_state": 0}


def data(shape, seed=0):
    """Return training rows, their labels, and test rows, all of unit norm."""
    n_classes, per_class, n_test, m = shape
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((n_classes, m)) / 2
    y = np.repeat(np.arange(n_classes), per_class)
    X, Y = (
        centres[labels] + rng.standard_normal((len(labels), m))
        for labels in (y, rng.integers(0, n_classes, n_test))
    )
    return *(Z / np.linalg.norm(Z, axis=1, keepdims=True) for Z in (X, Y)), y


def kernel(**options):
    return KernelDictionaryClassifier(**{"sigma": SIGMA, **options})


def ours(X, Y, y, repeats, progress):
    """Time fits and predictions of the kernel classifier, on one thread and on two."""
    residual = kernel(**PAPER).fit(X, y)
    rule = kernel(n_atoms=15, n_nonzero_coefs=7, ridge=0.1, random_state=0).fit(X, y)
    X32, Y32 = X.astype(np.float32), Y.astype(np.float32)
    narrow = kernel(**PAPER).fit(X32, y)
    one = {
        "product": lambda: Y @ X.T,
        "fit": lambda: kernel(**PAPER, incoherence=0.1, n_iter=10).fit(X, y),
        "fit, no penalty": lambda: kernel(**PAPER, n_iter=10).fit(X, y),
        "fit, plain": lambda: kernel(decision="residual", random_state=0).fit(X, y),
        "fit, default": lambda: KernelDictionaryClassifier(random_state=0).fit(X, y),
        "predict, residual": lambda: residual.predict(Y),
        "predict, collaborative": lambda: rule.predict(Y),
        "product, float32": lambda: Y32 @ X32.T,
        "predict, residual, float32": lambda: narrow.predict(Y32),
    }
    with threads(1):
        results = {"one thread": interleaved(one, repeats, progress)}
    residual.set_params(n_jobs=2)
    rule.set_params(n_jobs=2)
    two = {name: one[name] for name in ("product", "predict, residual", "predict, collaborative")}
    with threads(2):
        results["two threads"] = interleaved(two, repeats, progress)
    return results


def peers(X, Y, y, repeats, progress):
    """Time the peers: a line-by-line port of the paper, SVC, and dictlearn's kernel SRC and DPL."""
    from dictlearn.classification import DPLClassifier, KernelSRCClassifier
    from sklearn.svm import SVC

    gamma = 1 / (2 * SIGMA**2)
    some = Y[:FEW]
    svc = SVC(C=10, gamma=gamma).fit(X, y)
    src = KernelSRCClassifier(gamma=gamma, n_nonzero_coefs=20).fit(X, y)
    dpl = DPLClassifier(15, random_state=0).fit(X, y)
    functions = {
        "product": lambda: Y @ X.T,
        "SVC fit": lambda: SVC(C=10, gamma=gamma).fit(X, y),
        "SVC predict": lambda: svc.predict(Y),
        "dictlearn DPL fit": lambda: DPLClassifier(15, random_state=0).fit(X, y),
        "dictlearn DPL predict": lambda: dpl.predict(Y),
        "dictlearn kernel SRC predict": lambda: src.predict(some),
        "paper's algorithm in NumPy, fit, one pass": lambda: port_fit(X, y),
    }
    with threads(1):
        results = interleaved(functions, repeats, progress)
    for clock in ("wall", "cpu"):
        results["dictlearn kernel SRC predict"][clock] *= len(Y) / FEW
    return results


def port_fit(X, y):
    """Run one pass of Algorithm 2 as printed."""
    squares = np.sum(X**2, axis=1)
    K = np.exp(-(squares[:, None] + squares - 2 * X @ X.T) / (2 * SIGMA**2))
    rng = np.random.default_rng(0)
    sizes = np.bincount(y)
    starts = [rng.standard_normal((size, 40)) for size in sizes]
    ends = np.cumsum(sizes)
    for i, A in enumerate(starts):
        own = slice(ends[i] - sizes[i], ends[i])
        A /= np.sqrt(np.sum(A * (K[own, own] @ A), axis=0))
    places = [np.arange(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    blocks = [[K[np.ix_(a, b)] for b in places] for a in places]
    oracles.ikdl(blocks, starts, 20, 0.1, 1, False, True, np.random.RandomState(0))


def linear(X, y, n_iter, repeats, progress):
    """Time linear fits per pass, beside their operations at the rate of a product."""
    n_classes, m = int(y.max()) + 1, X.shape[1]
    square = np.random.default_rng(0).standard_normal((m, m))

    def fit(update, passes):
        options = {**PAPER, "incoherence": 0.1, "atom_update": update, "n_iter": passes}
        DictionaryClassifier(**options).fit(X, y)

    functions = {"product": lambda: square @ square}
    for update in ("power", "exact"):
        functions[f"{update}, 1 pass"] = lambda update=update: fit(update, 1)
        functions[f"{update}, {1 + n_iter} passes"] = lambda update=update: fit(update, 1 + n_iter)
    with threads(1):
        times = interleaved(functions, repeats, progress)
    rate = 2 * m**3 / times["product"]["cpu"]
    # P D of a class: one product of S (m, m) with D (m, n), and D D' of the old and new atoms.
    flops = n_classes * 2 * m * m * 40 * 2
    for update in ("power", "exact"):
        more, one = (times[f"{update}, {k}"]["cpu"] for k in (f"{1 + n_iter} passes", "1 pass"))
        times[f"{update}, per pass"] = {"cpu": (more - one) / n_iter}
        times[f"{update}, ratio to its operations"] = (more - one) / n_iter / (flops / rate)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=RESULTS / "fit_predict.json")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--skip-peers", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", SpanWarning)
    out = Path(arguments.out)
    results = json.loads(out.read_text())["results"] if out.exists() else {}
    for name in arguments.shapes:  # those of other shapes stay
        X, Y, y = data(SHAPES[name])
        begin = time.perf_counter()

        def progress(what, name=name, begin=begin):
            print(f"{time.perf_counter() - begin:7.1f} s  {name}: {what}", flush=True)

        found = {"shape": SHAPES[name], "revision": environment()["revision"]}
        results[name] = {**found, **ours(X, Y, y, arguments.repeats, progress)}
        results[name]["linear"] = linear(X, y, 1, arguments.repeats, progress)
        if not arguments.skip_peers:
            results[name]["peers"] = peers(X, Y, y, arguments.repeats, progress)
        write(out, "Fit and predict", results, ["dictlearn"])


if __name__ == "__main__":
    main()
