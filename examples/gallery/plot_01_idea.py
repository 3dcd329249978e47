"""
The idea in one picture
=======================

Each class has a small dictionary of *atoms*. A sample is rebuilt from a few atoms of one class at a
time. The class that rebuilds it best, with the smallest *residual*, wins.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from kerndict import DictionaryClassifier, sparse_code

X, y = load_digits(return_X_y=True)
X = normalize(X)
model = DictionaryClassifier(
    n_atoms=15, n_nonzero_coefs=4, decision="residual", random_state=0
).fit(X[:1000], y[:1000])

# %%
# ``sparse_code`` rebuilds the sample from at most four atoms of a dictionary. ``class_residuals``
# tells how much of it is left: the squared length of the difference.
sample = X[1009]
rebuilt = [(sparse_code([sample], D, 4) @ D.T)[0] for D in model.dictionaries_]
residuals = model.class_residuals([sample])[0]
winner = int(model.predict([sample])[0])

# %%
# The picture shows the sample, what each of the ten classes makes of it, and what that leaves.
figure, axes = plt.subplots(2, 11, figsize=(11, 2.9), height_ratios=[1, 1.1], layout="constrained")
shown = [sample, *rebuilt]
titles = ["sample", *(f"from {label}s" for label in model.classes_)]
for ax, image, title in zip(axes[0], shown, titles, strict=True):
    ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=sample.max())
    ax.set_title(title, fontsize=9)
    ax.set(xticks=[], yticks=[])
for side in axes[0, winner + 1].spines.values():
    side.set(color="tab:orange", linewidth=3)
grid = axes[1, 0].get_gridspec()
for ax in axes[1]:
    ax.remove()
bars = figure.add_subplot(grid[1, 1:])
colors = ["tab:orange" if c == winner else "tab:blue" for c in range(10)]
bars.bar(range(10), residuals, color=colors)
bars.set(xlim=(-0.5, 9.5), xticks=range(10), ylabel="residual")
bars.set_xlabel("class; the smallest residual wins")
plt.show()

# %%
# The default goes one step further: it codes the sample over the atoms of *all* classes at once,
# and turns what each class contributes into probabilities. See :doc:`/guide`.
print(f"the label is {y[1009]}, the model says {winner}")
print("residuals:", np.round(residuals, 2))
