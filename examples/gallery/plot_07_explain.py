"""
Explaining a decision
=====================

Why was this 8 taken for a 3? The model can tell: by what each class leaves unexplained, by the
atoms that it used, and by the training samples behind them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from kerndict import KernelDictionaryClassifier
from kerndict.display import ExplanationDisplay, ResidualDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
classifier = KernelDictionaryClassifier(n_atoms=10, n_nonzero_coefs=4, random_state=0)
model = make_pipeline(Normalizer(), classifier).fit(X_train, y_train)
wrong = np.flatnonzero(model.predict(X_test) != y_test)
row = wrong[0]
print(f"row {row}: it is {y_test[row]}, the model says {model.predict(X_test[[row]])[0]}")

# %%
# The picture: the sample, the scores of all classes, and the atoms of the winner and the runner-up.
ExplanationDisplay.from_estimator(model, X_test[row], image_shape=(8, 8))

# %%
# The same in numbers. The training samples that weigh most behind the code of the winner:
found = classifier.explain(model[:-1].transform(X_test[[row]]), n_samples=6)
places, weights = found.training_samples[0, 0], found.training_weights[0, 0]
figure, axes = plt.subplots(1, len(places), figsize=(8, 1.8), layout="constrained")
for ax, place, weight in zip(axes, places, weights, strict=True):
    ax.imshow(X_train[place].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"a {y_train[place]}, {weight:+.2f}", fontsize=9)
    ax.set(xticks=[], yticks=[])

# %%
# All test samples at once: what each class leaves of them. A dark diagonal is a good model; wrong
# decisions are marked.
ResidualDisplay.from_estimator(model, X_test, y_test)
plt.show()
