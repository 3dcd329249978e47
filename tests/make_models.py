"""Write the model files in tests/data/models and what they predict.

python tests/make_models.py FOLDER

The files in the repository were made by format version 1 and must load for ever: add files of
new kinds and versions, never replace the old ones.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

import kerndict
from kerndict import DictionaryClassifier, KernelDictionaryClassifier

FOLDER = Path(__file__).parent / "data" / "models"
METHODS = ("predict", "decision_function", "predict_proba")
OPTIONS = {"n_atoms": 3, "n_nonzero_coefs": 2, "n_iter": 2, "init": "samples", "random_state": 0}
RESIDUAL, COLLABORATIVE = ({**OPTIONS, "decision": d} for d in ("residual", "collaborative"))


def rows(n_classes=3, per_class=8, n_features=6, seed=0):
    """Return classes near planes, as rows, and their labels."""
    rng = np.random.default_rng(seed)
    planes = rng.standard_normal((n_classes, 2, n_features))
    X = np.vstack([rng.standard_normal((per_class, 2)) @ plane for plane in planes])
    return X + 0.2 * rng.standard_normal(X.shape), np.repeat(np.arange(n_classes), per_class)


def outputs(model, X):
    """Return what each method that a model has gives for X."""
    found = {name: getattr(model, name)(X) for name in METHODS if hasattr(model, name)}
    *scalers, classifier = [step for _, step in getattr(model, "steps", [(None, model)])]
    for scaler in scalers:
        X = scaler.transform(X)
    if hasattr(classifier, "typicality"):
        found["typicality"] = classifier.typicality(X)
    if (
        getattr(classifier, "X_fit_", X) is None
        and classifier.model_.space.training_diagonal is None
    ):
        return found  # k(y, y) of new rows is unknown
    return {**found, "class_residuals": classifier.class_residuals(X)}


def models():
    """Yield a name, a fitted model and rows to predict for every kind."""
    X, y = rows()
    words = np.array(["ash", "birch", "Zürich"])[y]
    new = rows(seed=1)[0]
    linear, kernel = DictionaryClassifier, KernelDictionaryClassifier
    yield "linear-residual", linear(**RESIDUAL).fit(X, y), new
    yield "linear-collaborative", linear(**COLLABORATIVE).fit(X, y), new
    yield "kernel-residual", kernel(**RESIDUAL, sigma=None).fit(X + 1e5, y), new + 1e5
    yield "kernel-collaborative", kernel(**COLLABORATIVE, sigma=2.0).fit(X, y), new
    poly = {"kernel": "poly", "degree": 3, "coef0": 0.5}
    yield "kernel-poly", kernel(**RESIDUAL, **poly).fit(X, y), new
    yield "kernel-linear", kernel(**COLLABORATIVE, kernel="linear").fit(X, y), new
    K, K_new = (polynomial_kernel(Z, X, degree=2) for Z in (X, new))
    yield "precomputed", kernel(**COLLABORATIVE, kernel="precomputed").fit(K, y), K_new
    narrow, narrow_new = X.astype(np.float32), new.astype(np.float32)
    yield "linear-float32", linear(**COLLABORATIVE).fit(narrow, y % 2 == 0), narrow_new
    yield "kernel-float32", kernel(**RESIDUAL, sigma=2.0).fit(narrow, y + 0.0), narrow_new
    yield "strings", linear(**RESIDUAL).fit(X, words), new
    yield "objects", linear(**RESIDUAL).fit(X, words.astype(object)), new
    steps = (MinMaxScaler((-1, 1), clip=True), StandardScaler(), Normalizer("l2"))
    pipeline = make_pipeline(*steps, kernel(**COLLABORATIVE, sigma=1.0))
    yield "pipeline", pipeline.fit(X, words), new


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, model, X in models():
        kerndict.save(model, folder / f"{name}.safetensors")
        np.savez_compressed(folder / f"{name}.npz", X=X, **_plain(outputs(model, X)))


def _plain(arrays):
    return {k: v.astype(str) if v.dtype == object else v for k, v in arrays.items()}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
