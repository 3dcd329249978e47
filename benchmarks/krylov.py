"""How far the Krylov atoms of the linear classifier are from the whole solution of (12).

One iteration from the same start on l2-normalised Extended Yale B rows, with the block Krylov
space at most one or two blocks deep against the eigendecomposition of the whole penalty:
relative gap of the objective.

    python benchmarks/krylov.py FILE
"""

import sys

import numpy as np
from sklearn.preprocessing import normalize

from kerndict import DictionaryClassifier
from kerndict.core import incoherence


def objective(X, y, gamma, small, depth):
    incoherence.SMALL, incoherence.MAX_DEPTH = small, depth
    model = DictionaryClassifier(
        40,
        20,
        incoherence=gamma,
        incoherence_scale="absolute",
        init="samples",
        decision="residual",
        n_iter=1,
        random_state=0,
    ).fit(X, y)
    return model.reconstruction_[-1] + gamma * model.coherence_[-1]


def main(path):
    data = np.load(path)
    some = data["train"] & (data["y"] < 12)
    X, y = normalize(data["X"][some]), data["y"][some]
    for gamma in (0.001, 0.01, 0.1, 1.0, 10.0):
        whole = objective(X, y, gamma, 10**6, 2)
        gaps = [(objective(X, y, gamma, 0, depth) - whole) / whole for depth in (1, 2)]
        print(f"gamma {gamma:g}: depth 1 {gaps[0]:.1e}, depth 2 {gaps[1]:.1e}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
