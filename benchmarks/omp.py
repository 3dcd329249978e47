"""`sparse_code` beside other implementations of OMP, end to end, on one thread in float64.

python benchmarks/omp.py [--out FILE] [--repeats 7]

Every coder gets signals and a dictionary in the layout it likes best, and makes the products it
needs itself.  scikit-learn gets fewer signals; times are per signal, in microseconds.  `residual`
is the share of the signals' energy left: that of spams-bin is a little lower, because it takes
the atom that lowers the error most instead of the one with the largest correlation.
"""

import argparse
import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import dictlearn
import numpy as np
import spams
from sklearn.linear_model import orthogonal_mp_gram
from timing import RESULTS, interleaved, threads, write

from kerndict import sparse_code
from kerndict.pursuit import omp_codes, omp_energies

#: atoms, nonzeros, features, signals
CASES = [(40, 20, 504, 20000), (256, 10, 64, 20000), (1024, 32, 1024, 4000)]
#: signals for scikit-learn
FEW = 400


def coders(D, X, s):
    """Return per coder a function that makes codes, and the number of its signals."""
    atoms, rows = np.asfortranarray(D), np.ascontiguousarray(D.T)
    signals, few = np.asfortranarray(X.T), X[:FEW]
    options = {"algorithm": "batch_omp", "n_nonzero_coefs": s}
    return {
        "kerndict": (lambda: sparse_code(X, D, s), len(X)),
        "spams-bin": (lambda: spams.omp(signals, atoms, L=s, numThreads=1).T, len(X)),
        "scikit-learn": (
            lambda: orthogonal_mp_gram(D.T @ D, D.T @ few.T, n_nonzero_coefs=s).T,
            len(few),
        ),
        "dictlearn": (lambda: dictlearn.sparse_encode(X, rows, **options), len(X)),
    }


def parts(D, X, s):
    """Return the parts of our own time."""
    B, G = X @ D, D.T @ D
    return {
        "product": lambda: D.T @ X.T,
        "codes, from correlations": lambda: omp_codes(B, G, s),
        "residuals only, from correlations": lambda: omp_energies(B, G, s),
    }


def measure(n, s, m, N, repeats):
    rng = np.random.default_rng(0)
    D = rng.standard_normal((m, n))
    D /= np.linalg.norm(D, axis=0)
    X = rng.standard_normal((N, m))
    peers = coders(D, X, s)
    with threads(1):
        rest = {name: X[:FEW] - code()[:FEW] @ D.T for name, (code, _) in peers.items()}
        times = interleaved({name: code for name, (code, _) in peers.items()}, repeats)
        own = interleaved(parts(D, X, s), repeats)
    residuals = {name: float(np.sum(R**2) / np.sum(X[:FEW] ** 2)) for name, R in rest.items()}
    counts = {**{name: count for name, (_, count) in peers.items()}, **dict.fromkeys(own, N)}
    for name, time in {**times, **own}.items():
        for clock in ("wall", "cpu"):
            time[clock] *= 1e6 / counts[name]
        time["signals"] = counts[name]
    case = f"{n} atoms, {s} nonzeros, {m} features"
    return {"case": case, "times": times, "parts": own, "residual": residuals}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=RESULTS / "omp.json")
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    results = []
    for case in CASES:
        results.append(measure(*case, arguments.repeats))
        ours = results[-1]["times"]["kerndict"]["cpu"]
        print(results[-1]["case"])
        for name, time in {**results[-1]["times"], **results[-1]["parts"]}.items():
            print(f"  {name:<34} {time['cpu']:9.2f} µs per signal, {time['cpu'] / ours:6.2f} ×")
        print("  residual", {name: round(r, 4) for name, r in results[-1]["residual"].items()})
    write(arguments.out, "OMP", results, ["spams-bin", "dictlearn", "llvmlite"])


if __name__ == "__main__":
    main()
