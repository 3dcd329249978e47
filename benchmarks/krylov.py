"""How far the Krylov atoms of the linear classifier are from the whole solution of (12).

One and ten iterations from the same start on l2-normalised Extended Yale B rows, with the block
Krylov space at most one or two blocks deep against the eigendecomposition of the whole penalty:
relative gap of the objective.

    python benchmarks/krylov.py FILE
"""

import sys

import numpy as np
from sklearn.preprocessing import normalize

from kerndict import DictionaryClassifier
from kerndict.core import incoherence, linear


def objective(X, y, gamma, small, depth, n_iter):
    linear.SMALL, incoherence.MAX_DEPTH = small, depth
    model = DictionaryClassifier(
        40,
        20,
        incoherence=gamma,
        incoherence_scale="absolute",
        init="samples",
        decision="residual",
        n_iter=n_iter,
        random_state=0,
    ).fit(X, y)
    return model.reconstruction_[-1] + gamma * model.coherence_[-1]


def main(path):
    data = np.load(path)
    some = data["train"] & (data["y"] < 12)
    X, y = normalize(data["X"][some]), data["y"][some]
    for gamma in (0.001, 0.01, 0.1, 1.0, 10.0):
        gaps = []
        for depth, n_iter in ((1, 1), (2, 1), (2, 10)):
            whole, krylov = (objective(X, y, gamma, small, depth, n_iter) for small in (10**6, 0))
            gaps.append(f"depth {depth} after {n_iter} {(krylov - whole) / whole:.1e}")
        print(f"gamma {gamma:g}: {', '.join(gaps)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
