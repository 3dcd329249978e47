"""Write the model files in tests/data/models and what they predict.

python tests/make_models.py FOLDER

The files in the repository must load for ever: those of format version 1, and those of version 2
(``steps``, ``table``). Add files of new kinds and versions, never replace the old ones.
"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import kerndict
from kerndict import DictionaryClassifier, KernelDictionaryClassifier
from kerndict._pipelines import taken_apart

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
    before = taken_apart(model)
    classifier = before.classifier
    X = before.transform(X)
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
    told = {"within_class_whitening": 1.0, "square_root": True}
    yield "prepared-kernel", kernel(**COLLABORATIVE, **told, sigma=1.0).fit(X, y), new
    yield "prepared-linear", linear(**COLLABORATIVE, **told).fit(narrow, y), narrow_new
    steps = (RobustScaler(), QuantileTransformer(n_quantiles=9), PCA(4), SelectKBest(k=3))
    yield "steps", make_pipeline(*steps, make_pipeline(linear(**RESIDUAL))).fit(X, words), new
    yield "table", table(linear(**COLLABORATIVE)).fit(cells(X, words), y), cells(new, words[::-1])


def cells(X, words):
    """Return rows with gaps and a column of text, as a table has them."""
    found = X[:, :4].astype(object)
    found[::5, 1] = np.nan
    found[:, 3] = np.where(np.arange(len(words)) % 7 == 3, "rare", words)
    return found


def table(classifier):
    """Return a pipeline for such rows."""
    numbers = make_pipeline(SimpleImputer(add_indicator=True), PowerTransformer())
    rare = {"min_frequency": 5, "handle_unknown": "infrequent_if_exist"}
    texts = OneHotEncoder(**rare, sparse_output=False)
    columns = ColumnTransformer([("numbers", numbers, [0, 1, 2]), ("texts", texts, [3])])
    return make_pipeline(columns, classifier)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, model, X in models():
        kerndict.save(model, folder / f"{name}.safetensors")
        kept = X if X.dtype != object else np.array(json.dumps(X.tolist()))
        np.savez_compressed(folder / f"{name}.npz", X=kept, **_plain(outputs(model, X)))


def kept_rows(path):
    """Return the rows that a model file was tried with."""
    with np.load(path.with_suffix(".npz")) as recorded:
        X = recorded["X"]
    return X if X.ndim else np.array(json.loads(str(X)), object)


def _plain(arrays):
    return {k: v.astype(str) if v.dtype == object else v for k, v in arrays.items()}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
