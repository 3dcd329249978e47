"""
Few samples per class
=====================

Two to forty images of each digit, and the rest to test on. All methods get rows of length 1; the
support vector machine is tuned by cross-validation wherever there are samples enough for that.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize
from sklearn.svm import SVC

from kerndict import KernelDictionaryClassifier

X, y = load_digits(return_X_y=True)
X = normalize(X)
counts = [2, 3, 5, 10, 20, 40]
grid = {"C": [1, 10, 100], "gamma": [0.5, 2, 8]}


def methods(count):
    """Return the classifiers for so many samples per class."""
    machine = SVC(C=10, gamma=2)
    return {
        "KernelDictionaryClassifier()": KernelDictionaryClassifier(random_state=0),
        "SVM, tuned": machine if count < 3 else GridSearchCV(machine, grid, cv=3),
        "logistic regression": LogisticRegression(C=100, max_iter=1000),
        "nearest neighbour": KNeighborsClassifier(1),
    }


# %%
# Means over five draws of the training samples.
scores = {name: [] for name in methods(2)}
for count in counts:
    found = {name: [] for name in scores}
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(X))
        train = np.concatenate([order[y[order] == c][:count] for c in range(10)])
        test = np.setdiff1d(order, train)
        for name, model in methods(count).items():
            found[name].append(model.fit(X[train], y[train]).score(X[test], y[test]))
    for name, values in found.items():
        scores[name].append(100 * np.mean(values))

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, values in scores.items():
    width = 3 if "Kernel" in name else 1.5
    ax.plot(counts, values, "o-", label=name, linewidth=width)
ax.set_xscale("log")
ax.set_xticks(counts, counts)
ax.minorticks_off()
ax.set(xlabel="training samples per class", ylabel="accuracy, %")
ax.legend()
plt.show()

# %%
# In numbers:
print(f"{'':<30}" + "".join(f"{count:>7}" for count in counts))
for name, values in scores.items():
    print(f"{name:<30}" + "".join(f"{value:>7.1f}" for value in values))
