"""
Digits: from data to a result
=============================

Split, fit, score, look at what went wrong.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from kerndict import KernelDictionaryClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

# %%
# ``Normalizer`` scales every row to length 1: samples are then compared by their direction.
# Nothing else has to be chosen.
model = make_pipeline(Normalizer(), KernelDictionaryClassifier(random_state=0))
model.fit(X_train, y_train)
print(f"accuracy on {len(X_test)} test images: {model.score(X_test, y_test):.4f}")

# %%
# The digits that were mistaken, with the two most probable classes of each.
found = model.predict(X_test)
wrong = np.flatnonzero(found != y_test)[:8]
figure, axes = plt.subplots(1, len(wrong), figsize=(9, 1.9), layout="constrained")
for ax, row in zip(axes, wrong, strict=True):
    shares = model.predict_proba(X_test[[row]])[0]
    first, second = np.argsort(shares)[:-3:-1]
    ax.imshow(X_test[row].reshape(8, 8), cmap="gray_r")
    says = f"{first}: {shares[first]:.0%}, {second}: {shares[second]:.0%}"
    ax.set_title(f"it is {y_test[row]}\n{says}", fontsize=8)
    ax.set(xticks=[], yticks=[])

# %%
# Where the mistakes are.
# sphinx_gallery_thumbnail_number = 2
ConfusionMatrixDisplay.from_predictions(y_test, found, cmap="Blues", colorbar=False)
plt.show()
