"""How long fits and predictions take on a CUDA device, and the same on its host.

    SCIPY_ARRAY_API=1 python benchmarks/gpu.py --out FILE [--only PART ...] [--profile PART]

Rows are drawn at random in the shapes of Caltech-101 features (3060 and 6084 rows of 3000 numbers,
102 classes) and of MNIST (60,000 and 10,000 rows of 784, 10 classes), and lie on the device unless
a part says otherwise.  Times are medians after a warm-up, the device synchronised.
"""

import argparse
import cProfile
import pstats
import statistics
import time
import warnings

import numpy as np
import sklearn
import torch
from timing import write

from kerndict import KernelDictionaryClassifier

DEVICE = "cuda"


def rows(n_classes, per_class, n_features, rank, seed, dtype):
    """Return classes around subspaces of their own, rows of unit length, and their labels."""
    made = torch.Generator(DEVICE).manual_seed(seed)
    shared = torch.Generator(DEVICE).manual_seed(0)

    def normal(generator, *shape):
        return torch.randn(*shape, generator=generator, device=DEVICE, dtype=torch.float32)

    X, y = [], []
    for c in range(n_classes):
        centre, basis = normal(shared, 1, n_features), normal(shared, rank, n_features)
        codes = normal(made, per_class, rank)
        noise = normal(made, per_class, n_features)
        X.append(centre + 0.5 * codes @ basis / rank**0.5 + 0.5 * noise)
        y.append(np.full(per_class, c))
    X, y = torch.cat(X), np.concatenate(y)
    order = np.random.default_rng(seed).permutation(len(y))
    X = torch.nn.functional.normalize(X[torch.as_tensor(order, device=DEVICE)])
    return X.to(dtype), y[order]


def caltech(dtype=torch.float32):
    return rows(102, 30, 3000, 40, 1, dtype), rows(102, 60, 3000, 40, 2, dtype)[0][:6084]


def mnist(dtype=torch.float64):
    return rows(10, 6000, 784, 60, 1, dtype), rows(10, 1000, 784, 60, 2, dtype)[0]


def timed(function, repeats=7):
    """Return the median seconds after a warm-up, and the peak of memory above what there was."""
    function()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        torch.cuda.synchronize()
        found.append(time.perf_counter() - begin)
    peak = torch.cuda.max_memory_allocated() - before
    return {
        "seconds": statistics.median(found),
        "least": min(found),
        "most": max(found),
        "peak_bytes": peak,
    }


def predict_collaborative():
    (X, y), T = caltech()
    model = KernelDictionaryClassifier(random_state=0, sigma=1.0).fit(X, y)
    return timed(lambda: model.predict(T), 20)


def predict_collaborative_40():
    (X, y), T = caltech()
    model = KernelDictionaryClassifier(40, 20, random_state=0, sigma=1.0, n_iter=0, ridge=0.1)
    model.fit(X, y)
    return timed(lambda: model.predict(T), 20)


def predict_residual():
    (X, y), T = caltech()
    model = KernelDictionaryClassifier(
        40, 20, random_state=0, sigma=1.0, n_iter=0, decision="residual"
    ).fit(X, y)
    return timed(lambda: model.predict(T), 20)


def kernel_product():
    (X, _), T = caltech()
    return timed(lambda: T @ X.T, 20)


def fit_penalty():
    (X, y), _ = caltech()
    model = KernelDictionaryClassifier(
        40, 20, random_state=0, sigma=1.0, incoherence=1.0, n_iter=10, decision="residual"
    )
    return timed(lambda: model.fit(X, y), 2)


def fit_plain():
    (X, y), _ = caltech()
    model = KernelDictionaryClassifier(
        40, 20, random_state=0, sigma=1.0, n_iter=10, decision="residual"
    )
    return timed(lambda: model.fit(X, y), 3)


def fit_default():
    (X, y), _ = caltech()
    model = KernelDictionaryClassifier(random_state=0)
    return timed(lambda: model.fit(X, y), 3)


def fit_mnist_4000():
    (X, y), T = mnist()
    model = KernelDictionaryClassifier(random_state=0, n_landmarks=4000)
    found = timed(lambda: model.fit(X, y), 3)
    return found | {"predict_10000": timed(lambda: model.predict(T), 5)["seconds"]}


def fit_mnist_8000():
    (X, y), T = mnist()
    model = KernelDictionaryClassifier(random_state=0, n_landmarks=8000)
    found = timed(lambda: model.fit(X, y), 2)
    return found | {"predict_10000": timed(lambda: model.predict(T), 5)["seconds"]}


def million():
    """A million rows from host memory in chunks, beside the time of their products alone."""
    n, chunk = 1_000_000, 20_000
    X, y = rows(10, 10_000, 784, 60, 1, torch.float32)
    host = X.cpu().pin_memory()
    landmarks = X[:4000]

    def batches():
        for start in range(0, n, chunk):
            part = slice(start % len(host), start % len(host) + chunk)
            yield host[part].to(DEVICE, non_blocking=True), y[part]

    def fit():
        model = KernelDictionaryClassifier(random_state=0, n_landmarks=4000, sigma=1.0)
        return model.fit_batches(batches(), X[:20_000], y[:20_000], n_samples=n)

    def products():
        total = torch.zeros(4000, 4000, device=DEVICE, dtype=torch.float64)
        for batch, _ in batches():
            K = torch.exp(batch @ landmarks.T).double()
            total += K.T @ K
        return total

    return timed(fit, 1) | {"products": timed(products, 1)["seconds"]}


def host_mnist_4000():
    """The same fit by NumPy on all cores of the host."""
    (X, y), T = mnist()
    X, T = X.cpu().numpy(), T.cpu().numpy()
    model = KernelDictionaryClassifier(random_state=0, n_landmarks=4000, n_jobs=-1)
    begin = time.perf_counter()
    model.fit(X, y)
    fitted = time.perf_counter()
    model.predict(T)
    return {"seconds": fitted - begin, "predict_10000": time.perf_counter() - fitted}


def host_caltech():
    """The default fit, predictions, and the fit with a penalty by NumPy on the host."""
    (X, y), T = caltech()
    X, T = X.cpu().numpy(), T.cpu().numpy()
    found = {}
    for name, options in (
        ("default", {}),
        ("penalty", {"incoherence": 1.0, "n_iter": 10, "sigma": 1.0, "decision": "residual"}),
    ):
        counts = (40, 20) if name == "penalty" else ()
        model = KernelDictionaryClassifier(*counts, random_state=0, n_jobs=-1, **options)
        begin = time.perf_counter()
        model.fit(X, y)
        fitted = time.perf_counter()
        model.predict(T)
        found[name] = fitted - begin
        found[f"{name}_predict"] = time.perf_counter() - fitted
    return found


def torch_ridge():
    """Kernel ridge regression on 8000 landmarks in plain torch: the least that such a fit takes."""
    (X, y), _ = mnist()
    Y = torch.nn.functional.one_hot(torch.as_tensor(y, device=DEVICE)).double()

    def fit():
        L = X[:8000]
        squares = (L * L).sum(1) / 2
        K = torch.exp(X @ L.T - squares - ((X * X).sum(1) / 2)[:, None])
        return torch.linalg.solve(K.T @ K + K[:8000] * 1e-3, K.T @ Y)

    return timed(fit, 3)


PARTS = {
    function.__name__: function
    for function in (
        kernel_product,
        predict_collaborative,
        predict_collaborative_40,
        predict_residual,
        fit_plain,
        fit_penalty,
        fit_default,
        fit_mnist_4000,
        fit_mnist_8000,
        million,
        torch_ridge,
        host_caltech,
        host_mnist_4000,
    )
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", nargs="*", default=list(PARTS))
    parser.add_argument("--profile", nargs="*", default=[])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = {}
    with sklearn.config_context(array_api_dispatch=True):
        for name in options.only:
            try:
                results[name] = PARTS[name]()
            except Exception as error:
                results[name] = {"error": f"{type(error).__name__}: {error}"[:300]}
            torch.cuda.empty_cache()
            print(name, results[name], flush=True)
            write(
                options.out,
                "On a CUDA device",
                {"device": torch.cuda.get_device_name(), "parts": results},
                packages=("torch", "triton", "cupy-cuda13x"),
            )
        for name in options.profile:
            watch = cProfile.Profile()
            watch.runcall(PARTS[name])
            pstats.Stats(watch).sort_stats("cumulative").print_stats("kerndict|linalg", 45)


if __name__ == "__main__":
    main()
