"""What is known of rows without themselves, against really leaving each of them out."""

from dataclasses import replace

import numpy as np
import oracles
import pytest
from conftest import close, toy

from kerndict.kernels import Kernel
from kerndict.landmarks import Landmarks
from kerndict.landmarks.closed_form import ClassAtoms, FoldAtoms, Rows, label_scores
from kerndict.landmarks.sums import Principal, Sums

X, labels = toy(per_class=20, noise=1.0)
N, C = len(X), 3
RIDGES = (1e-3, 0.1, 1.0)
UNEVEN = np.random.default_rng(1).uniform(0.2, 3, N)


def described(weights, kernel=None, places=None):
    """Return the rows and their principal coordinates, with some of them as landmarks."""
    places = np.arange(0, N, 4) if places is None else places
    landmarks = Landmarks.from_rows(kernel or Kernel("rbf", 4.0), X[places], places)
    sums = Sums.empty(len(landmarks.rows), C)
    K, energies = landmarks.correlations(X), landmarks.kernel.diagonal(X)
    sums.add(K, energies, labels, weights)
    principal = Principal.from_sums(landmarks, sums)
    return Rows(K @ principal.basis, energies, labels, weights, weights), principal


def only(rows, which):
    return rows.part(np.flatnonzero(which))


@pytest.mark.parametrize("weights", [np.ones(N), UNEVEN], ids=["even", "uneven"])
@pytest.mark.parametrize("kernel", [Kernel("rbf", 4.0), Kernel("linear")], ids=["rbf", "linear"])
def test_label_scores_are_those_of_a_regression_without_the_row(weights, kernel):
    rows, principal = described(weights, kernel)
    for found, ridge in zip(label_scores(rows, principal, RIDGES), RIDGES, strict=True):
        absolute = ridge * principal.unit
        expected = oracles.ridge_scores_left_out(rows.Z, labels, weights, absolute, C)
        close(found, expected, 1e-8)


def test_label_scores_of_a_sample_are_those_of_the_same_rows_among_all():
    rows, principal = described(UNEVEN)
    some = np.arange(1, N, 3)
    for few, every in zip(
        label_scores(rows.part(some), principal, RIDGES),
        label_scores(rows, principal, RIDGES),
        strict=True,
    ):
        close(few, every[some])


def test_label_scores_do_not_depend_on_the_chunks(monkeypatch):
    rows, principal = described(UNEVEN)
    whole = label_scores(rows, principal, RIDGES)
    monkeypatch.setattr("kerndict.landmarks.closed_form.ROWS", 7)
    for found, expected in zip(label_scores(rows, principal, RIDGES), whole, strict=True):
        close(found, expected, 1e-13)


@pytest.mark.parametrize("weights", [np.ones(N), UNEVEN], ids=["even", "uneven"])
@pytest.mark.parametrize("p", [5, 15], ids=["more rows than coordinates", "all coordinates"])
def test_what_a_class_leaves_is_that_of_the_class_without_the_row(weights, p):
    rows, principal = described(weights)
    atoms = ClassAtoms.from_rows(rows, C, p, None)
    ridges = [ridge * principal.unit for ridge in RIDGES]
    for found, ridge in zip(atoms.left(rows, ridges), ridges, strict=True):
        expected = oracles.class_left_out(rows.Z[:, :p], rows.energies, labels, weights, ridge, C)
        close(np.exp(-found) * rows.energies[:, None], expected, 1e-8)


def test_what_a_class_of_few_rows_leaves_is_that_of_the_class_without_the_row():
    rows, principal = described(UNEVEN)
    few = only(rows, np.arange(N) % 20 < 4)
    p, ridge = 15, 0.1 * principal.unit
    atoms = ClassAtoms.from_rows(few, C, p, None)
    assert [A.shape for A in atoms.atoms] == [(p, 4)] * C
    expected = oracles.class_left_out(
        few.Z[:, :p], few.energies, few.labels, few.importance, ridge, C
    )
    close(np.exp(-atoms.left(few, [ridge])[0]) * few.energies[:, None], expected, 1e-8)


def test_atoms_from_few_rows_and_from_many_agree():
    rows, principal = described(UNEVEN)
    p = 15
    tiny = np.full(N, 1e-30)
    padded = Rows(
        np.vstack([rows.Z[::5], rows.Z]),
        np.concatenate([rows.energies[::5], rows.energies]),
        np.concatenate([labels[::5], labels]),
        np.concatenate([UNEVEN[::5], tiny]),
        np.concatenate([UNEVEN[::5], tiny]),
    )
    few = ClassAtoms.from_rows(rows.part(np.arange(0, N, 5)), C, p, None)
    many = ClassAtoms.from_rows(padded, C, p, None)
    for A, B, d, e in zip(few.atoms, many.atoms, few.spread, many.spread, strict=True):
        close(e, d, 1e-10)
        close(B @ B.T, A @ A.T, 1e-8)
    for o, q in zip(
        few.left(rows, [0.1 * principal.unit]),
        many.left(rows, [0.1 * principal.unit]),
        strict=True,
    ):
        other = np.setdiff1d(np.arange(N), np.arange(0, N, 5))
        strangers = labels[other, None] != np.arange(C)
        close(q[other][strangers], o[other][strangers], 1e-8)


def test_atoms_are_orthonormal_and_as_many_as_asked_for():
    rows, _ = described(UNEVEN)
    asked = [1, 3, 100]
    atoms = ClassAtoms.from_rows(rows, C, 15, asked)
    assert [A.shape[1] for A in atoms.atoms] == [1, 3, 15]
    for A, d in zip(atoms.atoms, atoms.spread, strict=True):
        close(A.T @ A, np.eye(A.shape[1]), 1e-12)
        assert (np.diff(d) <= 0).all()
        assert (d > 0).all()
    for share, d in zip(atoms.shares(0.3), atoms.spread, strict=True):
        close(share, d / (d + 0.3))


def test_a_class_without_rows_has_an_atom_that_explains_nothing():
    rows, principal = described(UNEVEN)
    atoms = ClassAtoms.from_rows(only(rows, labels != 1), C, 15, None)
    ridge = 0.1 * principal.unit
    assert atoms.atoms[1].shape == (15, 1)
    np.testing.assert_array_equal(atoms.shares(ridge)[1], [0])
    absent = atoms.left(only(rows, labels != 1), [ridge])[0][:, 1]
    np.testing.assert_allclose(absent, 0, atol=1e-12)


def test_few_atoms_are_those_without_the_fold_of_a_row():
    rows, principal = described(UNEVEN)
    rows = replace(rows, folds=np.random.default_rng(2).integers(0, 4, N))
    some = rows.part(np.arange(0, N, 2))
    found = FoldAtoms.from_rows(rows, C, 10, [3] * C).left(some, [principal.unit])[0]
    for row, fold in enumerate(some.folds):
        without = only(rows, rows.folds != fold)
        atoms = ClassAtoms.from_rows(without, C, 10, [3] * C)
        alone = replace(some.part([row]), labels=np.array([-1]))
        close(found[row : row + 1], atoms.left(alone, [principal.unit])[0], 1e-10)
