"""The peers beside the paper's numbers, tuned inside the training part."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC, LinearSVC

from kerndict.kernels import median_distance


class TunedSVC(ClassifierMixin, BaseEstimator):
    """One-vs-rest RBF SVM; C and the width by cross-validation.

    Widths are relative to the median distance; kernel matrices are computed once per width.
    """

    def __init__(
        self,
        C: tuple[float, ...] = (1.0, 10.0, 100.0, 1000.0),
        widths: tuple[float, ...] = (0.5, 1.0, 2.0),
        cv: Any = 3,
        random_state: int | None = 0,
    ) -> None:
        self.C = C
        self.widths = widths
        self.cv = cv
        self.random_state = random_state

    def search(self, X: NDArray, y: NDArray) -> Self:
        """Choose ``C_`` and ``gamma_``, and fit nothing with them yet."""
        median = median_distance(X, np.random.RandomState(self.random_state))
        gammas = [1 / (2 * (width * median) ** 2) for width in self.widths]
        searches = []
        for gamma in gammas:
            search = GridSearchCV(
                OneVsRestClassifier(SVC(kernel="precomputed")),
                {"estimator__C": list(self.C)},
                cv=self.cv,
                refit=False,
            )
            searches.append(search.fit(rbf_kernel(X, gamma=gamma), y))
        best = int(np.argmax([search.best_score_ for search in searches]))
        self.gamma_ = gammas[best]
        self.C_ = searches[best].best_params_["estimator__C"]
        return self

    def fit(self, X: NDArray, y: NDArray) -> Self:
        """Search, then fit with what was found."""
        self.search(X, y)
        self.X_fit_ = X
        self.model_ = OneVsRestClassifier(SVC(kernel="precomputed", C=self.C_))
        self.model_.fit(rbf_kernel(X, gamma=self.gamma_), y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: NDArray) -> NDArray:
        """Return the class with the largest score."""
        return self.model_.predict(rbf_kernel(X, self.X_fit_, gamma=self.gamma_))

    def decision_function(self, X: NDArray) -> NDArray:
        """Return the score of each class against the rest."""
        return self.model_.decision_function(rbf_kernel(X, self.X_fit_, gamma=self.gamma_))


def peer(name: str) -> Any:
    """Return ``"svc"`` or ``"linear-svc"``, unfitted, on l2-normalised rows."""
    if name == "svc":
        return make_pipeline(Normalizer(), TunedSVC())
    search = GridSearchCV(LinearSVC(), {"C": [0.1, 1.0, 10.0, 100.0]}, cv=3)
    return make_pipeline(Normalizer(), search)
