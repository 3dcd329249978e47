"""
What incoherence does
=====================

The penalty γ keeps the dictionaries of different classes apart: it presses on the *coherence*, the
squared correlations between atoms of different classes. Here it grows from left to right.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from kerndict import DictionaryClassifier
from kerndict.display import CoherenceDisplay

X, y = load_digits(return_X_y=True)
X = normalize(X)
train, test = np.arange(0, len(X), 2), np.arange(1, len(X), 2)
weights = [0, 0.03, 0.3, 3]
models = [
    DictionaryClassifier(
        n_atoms=6, n_nonzero_coefs=3, incoherence=weight, decision="residual", random_state=0
    ).fit(X[train], y[train])
    for weight in weights
]

# %%
# Above, the mean coherence between any two classes; below, the first atoms of the digits 3 and 8.
figure = plt.figure(figsize=(10, 5.6), layout="constrained")
above, below = figure.subfigures(2, 1, height_ratios=[1.5, 1])
axes = above.subplots(1, len(weights))
for ax, weight, model in zip(axes, weights, models, strict=True):
    display = CoherenceDisplay.from_estimator(model, ax=ax, im_kw={"vmin": 0, "vmax": 0.5})
    display.im_.colorbar.remove() if display.im_.colorbar else None
    accuracy = model.score(X[test], y[test])
    ax.set_title(f"γ = {weight}\naccuracy {100 * accuracy:.1f} %", fontsize=10)
    ax.set(xlabel="", ylabel="")
parts = below.subfigures(1, len(weights))
for part, model in zip(parts, models, strict=True):
    for row, label in enumerate((3, 8)):
        for column, atom in enumerate(model.dictionaries_[label].T[:4]):
            ax = part.add_subplot(2, 4, 1 + 4 * row + column)
            size = np.abs(atom).max()
            ax.imshow(atom.reshape(8, 8), cmap="RdBu_r", vmin=-size, vmax=size)
            ax.set(xticks=[], yticks=[])
plt.show()

# %%
# A little incoherence removes what classes have in common at little cost. Much of it makes atoms
# avoid what the other classes need, and they no longer look like what they are to represent. With
# the residual rule that costs accuracy; see :doc:`/paper`.
for weight, model in zip(weights, models, strict=True):
    print(
        f"γ = {weight:<5} reconstruction error {model.reconstruction_[-1]:7.2f}, "
        f"coherence {model.coherence_[-1]:8.2f}"
    )
