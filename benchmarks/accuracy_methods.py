"""The methods of benchmarks/accuracy.py: ours, the paper's, and peers.

Peers are tuned inside the training part.

Each is an estimator with ``fit``, ``predict`` and, where there are any, ``predict_proba``; and
``kept_``, ``rows_`` and ``chosen_`` once fitted: atoms or support vectors, training rows that
prediction needs, and hyper-parameters.
"""

from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import LabelBinarizer
from sklearn.svm import SVC, LinearSVC

from kerndict import paper_settings
from kerndict.kernels import median_distance
from kerndict.paper.peers import TunedSVC
from kerndict.paper.protocol import DATASETS

WIDTHS = (0.5, 1.0, 2.0, 4.0)  # of an RBF kernel, in median distances
SIGMAS = (0.5, 1.0, 2.0, 4.0, 8.0)  # of the paper's method, where the paper has none
MAX_ROWS = 2500  # in a search
PAPER = "ikdl-rbf-uaksvd"


def folds(seed):
    """Return three shuffled folds: rows of one class often come in an order."""
    return StratifiedKFold(3, shuffle=True, random_state=seed)


def search_rows(y, seed):
    """Return the rows that a search takes: all, or a stratified draw."""
    rows = np.arange(len(y))
    if len(y) > MAX_ROWS:
        rows, _ = train_test_split(rows, train_size=MAX_ROWS, stratify=y, random_state=seed)
    return rows


def gammas(X, seed):
    median = median_distance(X, np.random.RandomState(seed))
    return [1 / (2 * (width * median) ** 2) for width in WIDTHS]


class Method(ClassifierMixin, BaseEstimator):
    """A model with what it kept; those with probabilities pass them on."""

    def __init__(self, name="", seed=0):
        self.name = name
        self.seed = seed

    def grid_search(self, model, grid, X, y):
        """Return the best parameters of a grid."""
        rows = search_rows(y, self.seed)
        search = GridSearchCV(model, grid, cv=folds(self.seed), refit=False, error_score="raise")
        return search.fit(X[rows], y[rows]).best_params_

    def predict(self, X):
        return self.model_.predict(X)


class Default(Method):
    """KernelDictionaryClassifier as it comes."""

    options: ClassVar[dict] = {}

    def fit(self, X, y):
        self.model_ = paper_settings("digits", "default")
        last = self.model_[-1].set_params(random_state=self.seed, **self.options)
        self.model_.fit(X, y)
        self.kept_, self.rows_ = int(last.n_atoms_.sum()), len(X)
        self.chosen_ = {
            "sigma": last.sigma_,
            "within_class_whitening": last.within_class_whitening_,
            "square_root": last.square_root_,
            "ridge": last.ridge_,
            "weights": [round(float(w), 4) for w in last.rule_weights_],
        }
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)

    def predict_set(self, X, alpha):
        return self.model_[-1].predict_set(self.model_[:-1].transform(X), alpha)


class Unprepared(Default):
    """The same with rows as they are."""

    options: ClassVar[dict] = {"within_class_whitening": 0, "square_root": False}


class Paper(Method):
    """The published settings; where there are none, sigma by cross-validation."""

    variant = ""

    def fit(self, X, y):
        known = self.name in DATASETS
        self.model_ = paper_settings(self.name if known else "digits", PAPER + self.variant)
        last = self.model_[-1].set_params(random_state=self.seed)
        if not known:
            last.set_params(**self.grid_search(last, {"sigma": list(SIGMAS)}, X, y))
        self.model_.fit(X, y)
        self.kept_, self.rows_ = int(last.n_atoms_.sum()), len(X)
        self.chosen_ = {"sigma": float(last.sigma_)}
        return self


class PaperUntrained(Paper):
    """Its control: no iterations."""

    variant = "-iter0"


class Calibrated(Method):
    """Decisions of a margin classifier as they are, and calibrated probabilities."""

    method = "sigmoid"

    def calibrate(self, model, X, y):
        calibrated = CalibratedClassifierCV(
            model, method=self.method, ensemble=False, cv=folds(self.seed)
        )
        self.calibrated_ = calibrated.fit(X, y)
        self.model_ = calibrated.calibrated_classifiers_[0].estimator
        return self.model_

    def predict_proba(self, X):
        return self.calibrated_.predict_proba(X)


class RBFSVM(Calibrated):
    """One-vs-rest SVC; kernel matrices computed once."""

    def fit(self, X, y):
        rows = search_rows(y, self.seed)
        tuned = TunedSVC(widths=WIDTHS, cv=folds(self.seed), random_state=self.seed)
        tuned.search(X[rows], y[rows])
        self.gamma_, self.X_fit_ = tuned.gamma_, X
        machine = OneVsRestClassifier(SVC(kernel="precomputed", C=tuned.C_))
        machine = self.calibrate(machine, rbf_kernel(X, gamma=self.gamma_), y)
        support = np.unique(np.concatenate([one.support_ for one in machine.estimators_]))
        self.kept_ = self.rows_ = len(support)
        self.chosen_ = {"C": tuned.C_, "gamma": tuned.gamma_}
        return self

    def predict(self, X):
        return super().predict(rbf_kernel(X, self.X_fit_, gamma=self.gamma_))

    def predict_proba(self, X):
        return super().predict_proba(rbf_kernel(X, self.X_fit_, gamma=self.gamma_))


class TemperedSVM(RBFSVM):
    """The same machine, one temperature for the scores of all classes."""

    method = "temperature"


class LinearSVM(Calibrated):
    """One-vs-rest linear SVM: one vector per class is all it keeps."""

    def fit(self, X, y):
        self.chosen_ = self.grid_search(LinearSVC(), {"C": [0.1, 1.0, 10.0, 100.0]}, X, y)
        self.calibrate(LinearSVC(**self.chosen_), X, y)
        self.kept_, self.rows_ = len(self.model_.classes_), 0
        return self


class LabelRidge(Method):
    """Kernel ridge regression on label vectors of -1 and 1."""

    def fit(self, X, y):
        grid = {"gamma": gammas(X, self.seed), "alpha": [1e-4, 1e-3, 1e-2, 1e-1, 1.0]}
        self.chosen_ = self.grid_search(SignedRidge(), grid, X, y)
        self.model_ = SignedRidge(**self.chosen_).fit(X, y)
        self.kept_ = self.rows_ = len(X)
        return self


class SignedRidge(ClassifierMixin, KernelRidge):
    """KernelRidge as a classifier."""

    def __init__(self, gamma=1.0, alpha=1.0):
        super().__init__(alpha=alpha, kernel="rbf", gamma=gamma)

    def fit(self, X, y):
        self.labels_ = LabelBinarizer(neg_label=-1)
        super().fit(X, self.labels_.fit_transform(y))
        self.classes_ = self.labels_.classes_
        return self

    def predict(self, X):
        scores = super().predict(X)
        return self.labels_.inverse_transform(scores)


class DPL(Method):
    """Projective dictionary pair learning, from dictlearn."""

    def fit(self, X, y):
        from dictlearn.classification import DPLClassifier

        smallest = int(np.bincount(y).min())
        grid = {
            "n_components": sorted({min(10, smallest), min(30, smallest)}),
            "theta": [3e-4, 3e-3, 3e-2],
        }
        start = DPLClassifier(10, random_state=self.seed)
        self.chosen_ = self.grid_search(start, grid, X, y)
        self.model_ = DPLClassifier(**self.chosen_, random_state=self.seed).fit(X, y)
        self.kept_ = self.chosen_["n_components"] * len(self.model_.classes_)
        self.rows_ = 0
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


class KernelSRC(Method):
    """Sparse representation over all training samples, from dictlearn."""

    def __init__(self, name="", seed=0, sparsities=(10, 30, 100)):
        super().__init__(name, seed)
        self.sparsities = sparsities

    def fit(self, X, y):
        from dictlearn.classification import KernelSRCClassifier

        grid = {"gamma": gammas(X, self.seed), "n_nonzero_coefs": list(self.sparsities)}
        self.chosen_ = self.grid_search(KernelSRCClassifier(), grid, X, y)
        self.model_ = KernelSRCClassifier(**self.chosen_).fit(X, y)
        self.kept_ = self.rows_ = len(X)
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


METHODS = {
    "default": Default,
    "unprepared": Unprepared,
    "svc": RBFSVM,
    "svc-temperature": TemperedSVM,
    "linear-svc": LinearSVM,
    "kernel-ridge": LabelRidge,
    "paper": Paper,
    "paper-iter0": PaperUntrained,
    "dpl": DPL,
    "kernel-src": KernelSRC,
}
#: Methods without chance: a second seed on the same split would tell nothing.
CERTAIN = ("svc", "svc-temperature", "linear-svc", "kernel-ridge", "kernel-src")
