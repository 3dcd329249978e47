"""
Grid search and pipelines
=========================

The classifiers are ordinary scikit-learn estimators: they stand in pipelines, and every parameter
can be searched. Values that do not fit a class, such as more atoms than samples, never fail.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kerndict import KernelDictionaryClassifier

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

# %%
# Features of different units: they are scaled first, then reduced to principal components.
pipeline = make_pipeline(
    StandardScaler(), PCA(random_state=0), KernelDictionaryClassifier(random_state=0)
)
grid = {
    "pca__n_components": [3, 6, 10, 20],
    "kerneldictionaryclassifier__n_atoms": [5, 20, 60],
}
search = GridSearchCV(pipeline, grid, scoring="neg_log_loss", cv=3).fit(X_train, y_train)
print("best:", search.best_params_)
print(f"accuracy on the test part: {search.best_estimator_.score(X_test, y_test):.3f}")

# %%
# The log-loss of every combination, smaller is better.
losses = -search.cv_results_["mean_test_score"]
atoms = grid["kerneldictionaryclassifier__n_atoms"]
parts = grid["pca__n_components"]
table = np.empty((len(atoms), len(parts)))
for settings, loss in zip(search.cv_results_["params"], losses, strict=True):
    row = atoms.index(settings["kerneldictionaryclassifier__n_atoms"])
    table[row, parts.index(settings["pca__n_components"])] = loss
figure, ax = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
image = ax.imshow(table, cmap="viridis_r", aspect="auto")
for (row, column), loss in np.ndenumerate(table):
    color = "black" if loss < table.mean() else "white"
    ax.text(column, row, f"{loss:.3f}", ha="center", va="center", color=color)
ax.set_xticks(range(len(parts)), parts)
ax.set_yticks(range(len(atoms)), atoms)
ax.set(xlabel="principal components", ylabel="atoms per class")
figure.colorbar(image, label="log-loss")
plt.show()
