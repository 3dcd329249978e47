"""The paper's kernel settings on the Extended Yale B features, beside their controls.

python benchmarks/yaleb.py FILE
"""

import sys

import numpy as np
from sklearn.preprocessing import normalize

from kerndict import paper_settings

ROWS = {
    "power, uaksvd, 10 iterations": {"atom_update": "power", "coef_update": "uaksvd"},
    "power, aksvd, 10 iterations": {"atom_update": "power", "coef_update": "aksvd"},
    "0 iterations": {"n_iter": 0},
    "exact, aksvd, 10 iterations": {"atom_update": "exact", "coef_update": "aksvd"},
}


def main(path):
    data = np.load(path)
    X, y, train = normalize(data["X"]), data["y"], data["train"]
    for title, options in ROWS.items():
        scores = []
        for seed in range(5):
            model = paper_settings("yaleb", "ikdl-rbf-uaksvd")[-1]
            model.set_params(random_state=seed, **options)
            scores.append(100 * model.fit(X[train], y[train]).score(X[~train], y[~train]))
        print(f"{title:<30} {np.mean(scores):.2f} ± {np.std(scores):.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
