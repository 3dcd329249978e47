"""What rows go through before they are compared, against the formula with all directions."""

import numpy as np
import pytest
from conftest import BOTH, close
from scipy.linalg import sqrtm

import kerndict
from kerndict import DictionaryClassifier, KernelDictionaryClassifier, preparation
from kerndict.preparation import Recipe, learned_preparation, unit_rows, within_classes

SIZES = np.array([12, 9, 14])
LABELS = np.repeat(np.arange(3), SIZES)


def rows(m=7, seed=0, labels=LABELS):
    """Return rows that differ within classes along two directions, most of all."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((labels.max() + 1, m))
    light = rng.standard_normal((2, m))
    noise = 0.2 * rng.standard_normal((len(labels), m))
    return centres[labels] + 2 * rng.standard_normal((len(labels), 2)) @ light + noise


def whitened(X, strength, labels=LABELS, weights=None):
    """Return (I + strength E'E / t)^-1/2 x of every row, line by line."""
    weights = np.ones(len(X)) if weights is None else weights
    means = [np.average(X[labels == c], axis=0, weights=weights[labels == c]) for c in set(labels)]
    E = np.sqrt(weights)[:, None] * (X - np.array(means)[labels])
    t = np.sum(E**2) / X.shape[1]
    return X @ np.linalg.inv(sqrtm(np.eye(X.shape[1]) + strength * E.T @ E / t).real)


@pytest.mark.parametrize("m", [7, 60])
@pytest.mark.parametrize("strength", [0.1, 3.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_whitening_is_the_formula_but_for_a_factor(m, strength, weighted):
    X = rows(m)
    weights = np.random.default_rng(1).random(len(X)) if weighted else None
    found = learned_preparation(Recipe(strength=strength), X, LABELS, weights)
    expected = whitened(X, strength, weights=weights)
    ours = found(X)
    factor = np.vdot(ours, expected) / np.vdot(ours, ours)
    close(factor * ours, expected, 1e-8)
    close(found.undone(ours), X, 1e-8)
    assert not found.unit


def test_rows_of_length_one_keep_it():
    X = unit_rows(rows())
    found = learned_preparation(Recipe(strength=1.0), X, LABELS)
    assert found.unit
    close(np.linalg.norm(found(X), axis=1), np.ones(len(X)))
    expected = unit_rows(whitened(X, 1.0))
    close(found(X), expected, 1e-8)
    close(unit_rows(found.undone(found(X))), X, 1e-8)
    assert (found(np.zeros((1, 7))) == 0).all()


def test_roots_keep_signs_and_come_first():
    X = rows()
    found = learned_preparation(Recipe(square_root=True, strength=0.3), X, LABELS)
    rooted = np.sign(X) * np.sqrt(np.abs(X))
    expected = learned_preparation(Recipe(strength=0.3), rooted, LABELS)(rooted)
    close(found(X), expected)
    close(found.undone(found(X)), X, 1e-8)
    assert learned_preparation(Recipe(), X, LABELS) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_precision_of_rows_is_kept_and_they_are_left_alone(dtype):
    X = rows().astype(dtype)
    X.flags.writeable = False
    found = learned_preparation(Recipe(square_root=True, strength=0.3), X, LABELS)
    assert found(X).dtype == found.undone(X).dtype == dtype


def test_few_directions_and_projections_are_nearly_as_good(monkeypatch):
    labels = np.repeat(np.arange(10), 12)
    X = rows(200, labels=labels)
    exact = within_classes(X, labels)
    monkeypatch.setattr(preparation, "DIRECTIONS", 2)
    few = within_classes(X, labels)
    monkeypatch.setattr(preparation, "MANY_FEATURES", 50)
    projected = within_classes(X, labels)
    assert len(few.variances) == len(projected.variances) == 2
    assert len(exact.variances) > 100
    close(np.sort(few.variances), np.sort(exact.variances)[-2:], 1e-9)
    # The two directions of the light stand out by a factor of 100 and more.
    close(np.sort(projected.variances), np.sort(few.variances), 1e-6)
    close(projected.rest, few.rest, 1e-4)
    close(projected.directions @ projected.directions.T, np.eye(2), 1e-9)
    # The mean variance over all directions is 1.
    close(few.variances.sum() + few.rest * (200 - 2), 200.0)


def test_samples_that_do_not_differ_within_classes_are_left_as_they_are():
    X = rows(7)[[0, 20, 30]][LABELS]
    found = learned_preparation(Recipe(strength=3.0), X, LABELS)
    assert not len(found.shares)
    np.testing.assert_array_equal(found(X), X)


# ------------------------------------------------------------------------------- in the models


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("decision", ["residual", "collaborative"])
@pytest.mark.parametrize("options", [{}, {"n_landmarks": 20}])
def test_a_prepared_model_is_one_of_prepared_rows(kind, decision, options, path):
    if kind is DictionaryClassifier and decision == "residual" and options:
        pytest.skip("the linear classifier never takes landmarks with the residual rule")
    X, new = unit_rows(rows()), unit_rows(rows(seed=1))
    common = {"n_atoms": 4, "n_nonzero_coefs": 2, "decision": decision, "random_state": 0}
    common |= {"ridge": 0.1, **options}
    if kind is KernelDictionaryClassifier:
        common["sigma"] = 1.0
    model = kind(within_class_whitening=1.0, square_root=True, **common).fit(X, LABELS)
    assert model.within_class_whitening_ == 1.0
    assert model.square_root_
    prepared = model.model_.space.preparation
    plain = kind(within_class_whitening=0.0, square_root=False, **common)
    plain.fit(prepared(X), LABELS)
    assert plain.within_class_whitening_ == 0
    assert not plain.square_root_
    close(model.class_residuals(new), plain.class_residuals(prepared(new)), 1e-7)
    if decision == "residual" or options:  # the folds of the rule learn whitenings of their own
        close(model.decision_function(new), plain.decision_function(prepared(new)), 1e-6)
    kerndict.save(model, path)
    loaded = kerndict.load(path)
    np.testing.assert_array_equal(loaded.decision_function(new), model.decision_function(new))
    np.testing.assert_array_equal(loaded.class_residuals(new), model.class_residuals(new))
    assert loaded.within_class_whitening_ == 1.0
    images = model.model_.space.atom_rows(model.model_.atoms, None)
    assert [image.shape for image in images] == [(4, 7)] * 3 or options
    explanation = loaded.explain(new)
    assert np.isfinite(explanation.residuals).all()


def test_atoms_of_the_linear_classifier_are_seen_as_rows():
    X = rows()
    model = DictionaryClassifier(
        14, 2, n_iter=0, within_class_whitening=1.0, decision="residual", random_state=0
    ).fit(X, LABELS)
    images = model.model_.space.atom_rows(model.model_.atoms, None)[0]
    # Without a pass the atoms are samples; what is seen are those, but for their length.
    cosines = unit_rows(images) @ unit_rows(X[LABELS == 0]).T
    close(np.abs(cosines).max(axis=1)[:7], np.ones(7), 1e-8)


def test_files_whose_preparation_cannot_be_right_are_refused(path):
    import json
    import struct

    X = unit_rows(rows())
    kerndict.save(KernelDictionaryClassifier(within_class_whitening=1.0).fit(X, LABELS), path)
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    place = json.loads(content[8 : 8 + length])["0.prepare.unit"]["data_offsets"][0]
    forged = bytearray(content)
    forged[8 + length + place] = 7
    path.write_bytes(bytes(forged))
    with pytest.raises(kerndict.ModelFormatError):
        kerndict.load(path)
