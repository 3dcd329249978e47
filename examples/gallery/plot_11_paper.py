"""
The paper's algorithm and its control
=====================================

What does learning bring? The control is the same dictionary *before* any learning, ``n_iter=0``: it
holds training samples. Results of dictionary learning mean little without it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import normalize

from kerndict import KernelDictionaryClassifier
from kerndict.display import ObjectiveDisplay

X, y = load_digits(return_X_y=True)
X = normalize(X)
PAPER = {
    "n_atoms": 12,
    "n_nonzero_coefs": 4,
    "sigma": 1.0,
    "decision": "residual",
    "incoherence": 0.1,
    "incoherence_scale": "absolute",
    "init": "samples",
    "n_iter": 10,
}
variants = {
    "paper: printed power step": PAPER | {"atom_update": "power"},
    "the same, untrained": PAPER | {"n_iter": 0},
    "closed-form atoms": PAPER | {"atom_update": "exact"},
    "closed-form atoms, γ = 0": PAPER | {"atom_update": "exact", "incoherence": 0},
    "default of this package": {},
}

# %%
# Eight splits with 25 training samples per class; the bars span the lowest and the highest.
splitter = StratifiedShuffleSplit(8, train_size=250, test_size=800, random_state=0)
scores = {name: [] for name in variants}
for seed, (train, test) in enumerate(splitter.split(X, y)):
    for name, options in variants.items():
        model = KernelDictionaryClassifier(random_state=seed, **options).fit(X[train], y[train])
        scores[name].append(100 * model.score(X[test], y[test]))

figure, ax = plt.subplots(figsize=(7.5, 3), layout="constrained")
for place, values in enumerate(scores.values()):
    mean = np.mean(values)
    ax.plot([min(values), max(values)], [place, place], color="tab:blue", linewidth=4, alpha=0.35)
    ax.plot(mean, place, "o", color="tab:blue")
    ax.text(mean, place - 0.18, f"{mean:.1f}", ha="center", va="bottom")
ax.set_yticks(range(len(scores)), scores)
ax.invert_yaxis()
ax.margins(y=0.15)
ax.set_xlabel("accuracy, %")

# %%
# The objective of the printed step and of the closed form: the power step may raise it.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained", sharey=True)
for ax, name in zip(axes, ("paper: printed power step", "closed-form atoms"), strict=True):
    model = KernelDictionaryClassifier(random_state=0, **variants[name]).fit(X[:250], y[:250])
    ObjectiveDisplay.from_estimator(model, ax=ax)
    ax.set_title(name)
plt.show()
