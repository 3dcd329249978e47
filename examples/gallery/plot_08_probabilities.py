"""
Calibrated probabilities and prediction sets
============================================

Of all decisions that are given a probability of 80 %, four out of five should be right: then
probabilities are *calibrated*. Those of the default are fitted out of fold, and come calibrated.
From them one gets *prediction sets*: as many labels as it takes to hold the true one nine times out
of ten.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import normalize

from kerndict import KernelDictionaryClassifier

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
X = normalize(X + rng.normal(0, 7, X.shape))  # noise, so that there is something to be unsure of
X_train, X_rest, y_train, y_rest = train_test_split(
    X, y, train_size=500, random_state=0, stratify=y
)
model = KernelDictionaryClassifier(random_state=0).fit(X_train, y_train)
bayes = GaussianNB().fit(X_train, y_train)

# %%
# How often is a label right that has a given probability? Naive Bayes, which is known to be too
# sure of itself, stands beside.
figure, ax = plt.subplots(figsize=(5, 4.4), layout="constrained")
for name, one in (("KernelDictionaryClassifier()", model), ("naive Bayes", bayes)):
    shares = one.predict_proba(X_rest)
    right = y_rest[:, None] == one.classes_
    CalibrationDisplay.from_predictions(right.ravel(), shares.ravel(), n_bins=10, name=name, ax=ax)
ax.set(xlabel="probability", ylabel="share of labels that are right")

# %%
# Prediction sets, by split conformal prediction: on one half of the rest we see how improbable true
# labels can be, and on the other half we list every label that is not more improbable than that.
X_seen, X_test, y_seen, y_test = train_test_split(X_rest, y_rest, test_size=0.5, random_state=0)
level = 0.1
shares = model.predict_proba(X_seen)[np.arange(len(y_seen)), y_seen]
rank = int(np.ceil((len(shares) + 1) * (1 - level)))
limit = np.sort(1 - shares)[rank - 1]
sets = model.predict_proba(X_test) >= 1 - limit
held = sets[np.arange(len(y_test)), y_test].mean()
print(f"accuracy {model.score(X_test, y_test):.3f}")
print(f"sets hold the true label in {held:.1%} (asked for: at least about {1 - level:.0%})")
sizes, counts = np.unique(sets.sum(axis=1), return_counts=True)
print("labels per set:", {int(size): int(count) for size, count in zip(sizes, counts, strict=True)})

# %%
# Some of the samples with more than one label.
unsure = np.flatnonzero(sets.sum(axis=1) > 1)[:6]
if len(unsure):
    figure, axes = plt.subplots(1, len(unsure), figsize=(8, 1.9), squeeze=False)
    for ax, row in zip(axes[0], unsure, strict=True):
        ax.imshow(X_test[row].reshape(8, 8), cmap="gray_r")
        labels = " or ".join(map(str, np.flatnonzero(sets[row])))
        ax.set_title(f"{labels}\n(it is {y_test[row]})", fontsize=8)
        ax.set(xticks=[], yticks=[])
plt.show()
