"""Parity with the authors' published code."""

from pathlib import Path

import numpy as np
import pytest
from conftest import close

from kerndict import DictionaryClassifier, KernelDictionaryClassifier, batch_omp

FOLDER = Path(__file__).parent.parent / "golden"
PARITY = 1e-8
TRAINING = sorted(FOLDER.glob("i*dl_*.npz"))
OMP = sorted(FOLDER.glob("omp_*.npz"))


def fitted(g, n_iter):
    options = {
        "n_atoms": int(g["n_atoms"]),
        "n_nonzero_coefs": int(g["n_nonzero_coefs"]),
        "incoherence": float(g["incoherence"]),
        "incoherence_scale": "absolute",
        "decision": "residual",
        "coef_update": str(g["coef_update"]),
        "atom_update": "power",
        "n_iter": n_iter,
        "init": [g[f"init_{i}"] for i in range(len(np.unique(g["y_train"])))],
    }
    kernel = str(g["kernel"])
    if kernel == "none":
        model = DictionaryClassifier(**options)
    elif kernel == "rbf":
        model = KernelDictionaryClassifier(**options, sigma=float(g["sigma"]))
    else:
        model = KernelDictionaryClassifier(
            **options, kernel=kernel, coef0=float(g["alpha"]), degree=float(g["beta"])
        )
    model.fit(g["X_train"], g["y_train"])
    return model, model.dictionaries_ if kernel == "none" else model.dual_dictionaries_


@pytest.mark.parametrize("path", TRAINING, ids=lambda path: path.stem)
def test_training_equals_the_published_code(path):
    g = np.load(path)
    model, dictionaries = fitted(g, int(g["n_iter"]))
    _, after_one = fitted(g, 1)
    for i, D in enumerate(dictionaries):
        close(D, g[f"dictionary_{i}"], PARITY)
        close(after_one[i], g[f"dictionary_after_1_{i}"], PARITY)
        close(model.codes_[i], g[f"codes_{i}"].T, PARITY)
    close(model.reconstruction_, g["reconstruction"], PARITY)
    close(model.coherence_, g["coherence"], PARITY)
    close(model.class_residuals(g["X_test"]), g["residuals"], PARITY)
    np.testing.assert_array_equal(model.predict(g["X_test"]), g["predictions"])


@pytest.mark.parametrize("path", OMP, ids=lambda path: path.stem)
def test_omp_equals_the_published_code(path):
    g = np.load(path)
    codes = batch_omp(g["correlations"], g["gram"], int(g["n_nonzero_coefs"])).toarray()
    close(codes, g["codes"], PARITY)


def test_all_reference_files_are_here():
    assert (len(TRAINING), len(OMP)) == (14, 2)
