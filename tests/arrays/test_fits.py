"""What is learned elsewhere is what is learned on the host."""

import numpy as np
import pytest
from conftest import BOTH, close, make, toy

from kerndict import KernelDictionaryClassifier
from kerndict._arrays import on_host, to_host

#: Learned atoms and what comes from them in the same steps.
ATOMS = {np.float64: 1e-10, np.float32: 1e-3}
#: The weights of the rule come from a search that ends when a step lowers the loss by a share of
#: 2e-9: near a minimum, that leaves them about the root of it, 5e-5, to go.
PROBABILITIES = {np.float64: 1e-5, np.float32: 2e-2}

SETTINGS = [
    {},
    {"incoherence": 1.0},
    {"incoherence": 1.0, "atom_update": "power", "coef_update": "uaksvd"},
    {"init": "random", "atom_update": "power", "n_atoms": 14},
    {"init": "pivoted", "n_atoms": 0.5},
    {"n_iter": 0},
]


def uneven(dtype=np.float64):
    X, y = toy(n_classes=3, per_class=20, n_features=12)
    kept = np.r_[0:20, 20:33, 40:59]
    return X[kept].astype(dtype), y[kept]


@pytest.mark.filterwarnings("ignore::kerndict.SpanWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("options", SETTINGS, ids=str)
@pytest.mark.parametrize("kind", BOTH)
def test_atoms(kind, options, dtype, there):
    X, y = uneven(dtype)
    model = make(kind, **options).fit(X, y)
    found = make(kind, **options).fit(there(X), there(y))
    for mine, expected in zip(found.model_.atoms, model.model_.atoms, strict=True):
        assert not on_host(mine)
        close(to_host(mine), expected, ATOMS[dtype])
    close(found.reconstruction_, model.reconstruction_, ATOMS[dtype])
    close(found.incoherence_, model.incoherence_, ATOMS[dtype])
    np.testing.assert_array_equal(to_host(found.predict(there(X))), model.predict(X))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", BOTH)
def test_all_automatic_choices(kind, dtype, there):
    X, y = uneven(dtype)
    model, found = kind(random_state=0).fit(X, y), kind(random_state=0).fit(there(X), there(y))
    assert found.ridge_ == model.ridge_
    if kind is KernelDictionaryClassifier:
        assert found.sigma_ == pytest.approx(model.sigma_, rel=1e-5)
    close(to_host(found.predict_proba(there(X))), model.predict_proba(X), PROBABILITIES[dtype])
    close(to_host(found.rule_offsets_), model.rule_offsets_, 1e-2)


@pytest.mark.parametrize("kind", BOTH)
def test_weights_of_rows(kind, there):
    X, y = uneven()
    weights = np.random.default_rng(1).integers(0, 4, len(X)) / 2
    model = make(kind, "collaborative").fit(X, y, sample_weight=weights)
    found = make(kind, "collaborative").fit(there(X), there(y), sample_weight=there(weights))
    close(to_host(found.predict_proba(there(X))), model.predict_proba(X), PROBABILITIES[np.float64])
    for mine, expected in zip(found.codes_, model.codes_, strict=True):
        close(to_host(mine), expected, ATOMS[np.float64])


@pytest.mark.parametrize("kernel", ["poly", "precomputed", lambda X, Z: (X @ Z.T + 1) ** 3])
def test_kernels(kernel, there):
    X, y = uneven()
    X = (X @ X.T + 1) ** 2 if kernel == "precomputed" else X
    model, found = (make(KernelDictionaryClassifier, kernel=kernel) for _ in range(2))
    model.fit(X, y)
    found.fit(there(X), y)
    for mine, expected in zip(found.model_.atoms, model.model_.atoms, strict=True):
        close(to_host(mine), expected, ATOMS[np.float64])


@pytest.mark.parametrize("kind", BOTH)
def test_landmarks(kind, there):
    X, y = toy(per_class=60)
    options = {"n_landmarks": 30, "random_state": 0}
    model, found = kind(**options).fit(X, y), kind(**options).fit(there(X), there(y))
    np.testing.assert_array_equal(found.fit_indices_, model.fit_indices_)
    # Sums over all rows are seen through the inverse of the landmarks' kernel matrix, whose
    # condition may reach 1e6: so much of their rounding stays.
    close(to_host(found.predict_proba(there(X))), model.predict_proba(X), 1e-6)


def test_landmarks_and_the_residual_rule(there):
    X, y = toy(per_class=60)
    options = {"n_landmarks": 30, "decision": "residual", "sigma": 3.0, "random_state": 0}
    model = KernelDictionaryClassifier(**options).fit(X, y)
    found = KernelDictionaryClassifier(**options).fit(there(X), there(y))
    close(to_host(found.class_residuals(there(X))), model.class_residuals(X), 1e-6)


def test_a_matrix_that_is_no_kernel(there):
    X, y = toy()
    K = X @ X.T - 5 * np.eye(len(X))
    with pytest.raises(ValueError, match="positive semidefinite"):
        KernelDictionaryClassifier(kernel="precomputed", n_landmarks="all").fit(there(K), y)
    K[0, 1] += 1
    with pytest.raises(ValueError, match="not symmetric"):
        KernelDictionaryClassifier(kernel="precomputed", n_landmarks="all").fit(there(K), y)
