"""
Strangers: samples of classes that were never seen
==================================================

The model learns the digits 0 to 4. What does it do with a 7? It must choose one of its classes, but
``typicality`` tells that the sample is like none of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize

from kerndict import KernelDictionaryClassifier
from kerndict.display import TypicalityDisplay

X, y = load_digits(return_X_y=True)
X = normalize(X)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
seen = y_train < 5
model = KernelDictionaryClassifier(random_state=0).fit(X_train[seen], y_train[seen])

# %%
# Typicality is a p-value: among samples of known classes, about 5 % fall below 0.05.
typicality = model.typicality(X_test)
known = y_test < 5
print(f"known classes rejected at 0.05: {(typicality[known] < 0.05).mean():.1%}")
print(f"strangers rejected at 0.05:     {(typicality[~known] < 0.05).mean():.1%}")
print(f"area under the ROC curve:       {roc_auc_score(known, typicality):.3f}")

# %%
# How many samples each threshold rejects.
TypicalityDisplay.from_estimator(model, X_test, y_test)

# %%
# The probability alone would not tell: it compares the known classes with each other, and one of
# several bad explanations can be clearly the best. These strangers are given to a class with more
# than 95 %, and are yet told by their typicality.
sure = model.predict_proba(X_test).max(axis=1)
fooled = np.flatnonzero(~known & (sure > 0.95) & (typicality < 0.01))[:7]
figure, axes = plt.subplots(1, len(fooled), figsize=(9, 2), layout="constrained")
for ax, row in zip(axes, fooled, strict=True):
    ax.imshow(X_test[row].reshape(8, 8), cmap="gray_r")
    label = model.predict(X_test[[row]])[0]
    ax.set_title(f"{label}? {sure[row]:.0%}\ntypicality {typicality[row]:.3f}", fontsize=8)
    ax.set(xticks=[], yticks=[])
plt.show()
