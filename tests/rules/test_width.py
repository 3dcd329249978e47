"""The automatic width, and the scale of the incoherence."""

import numpy as np
import pytest
from conftest import close, toy

from kerndict import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.core.learn import balanced_gamma, encode
from kerndict.core.linear import LinearProblem
from kerndict.core.start import start_from_pivots
from kerndict.kernels import median_distance
from kerndict.rules import width
from kerndict.rules.width import MAX_ROWS, WIDTHS, choose_width, draw_rows

X, y = toy(n_classes=4, noise=1.0)


def chosen(X, y):
    multiple, median = choose_width(X, y, np.random.RandomState(0))
    assert median == median_distance(X, np.random.RandomState(0))
    return multiple


def test_the_width_follows_the_structure_not_the_units():
    rng = np.random.default_rng(0)
    # Subspaces through the origin: a wide, almost linear kernel.
    labels = np.repeat(np.arange(5), 20)
    bases = rng.standard_normal((5, 8, 30))
    far = np.einsum("ik,ikm->im", rng.standard_normal((100, 8)), bases[labels])
    far /= np.linalg.norm(far, axis=1, keepdims=True)
    # Small clumps, several per class: a narrow one.
    clumps = rng.standard_normal((25, 3)) * 10
    near = clumps[np.tile(np.arange(25), 4)] + rng.standard_normal((100, 3)) / 9
    classes = np.tile(np.arange(25), 4) % 5
    assert chosen(far, labels) > 2 * chosen(near, classes)
    for data, target in ((far, labels), (near, classes)):
        assert np.isclose(chosen(data, target), WIDTHS).any()
        close(chosen(1e6 * data + 1e4, target), chosen(data, target), 1e-6)


def test_one_sample_per_class_gives_the_median():
    assert chosen(X[:4], np.arange(4)) == 1.0


def test_rows_are_drawn_densely():
    for sizes, classes in (([30] * 102, 30), ([700] * 10, 10), ([5] * 100, 100), ([4] * 400, 150)):
        labels = np.repeat(np.arange(len(sizes)), sizes)
        rows, counts = draw_rows(labels, np.random.RandomState(0))
        assert len(rows) == counts.sum() <= MAX_ROWS
        assert len(counts) == classes
        assert len(set(rows)) == len(rows)
        assert (np.diff(labels[rows]) >= 0).all()
        np.testing.assert_array_equal(np.unique(labels[rows], return_counts=True)[1], counts)


def test_only_rbf_without_sigma_is_searched(monkeypatch):
    def never(*arguments):
        raise AssertionError("searched")

    monkeypatch.setattr(width, "leave_one_out_loss", never)
    KernelDictionaryClassifier(sigma=2.0, decision="residual").fit(X, y)
    KernelDictionaryClassifier(kernel="linear", decision="residual").fit(X, y)
    with pytest.raises(AssertionError, match="searched"):
        KernelDictionaryClassifier(decision="residual").fit(X, y)


@pytest.mark.parametrize("classifier", [DictionaryClassifier, KernelDictionaryClassifier])
def test_relative_incoherence_means_the_same_at_any_scale(classifier):
    options = {"incoherence": 0.5, "decision": "residual", "random_state": 0}
    if classifier is KernelDictionaryClassifier:
        options["kernel"] = "linear"
    model, scaled = (classifier(**options).fit(scale * X, y) for scale in (1.0, 100.0))
    assert np.isclose(scaled.incoherence_, 1e4 * model.incoherence_, rtol=1e-6)
    close(scaled.coherence_, model.coherence_, 1e-6)
    free = classifier(**(options | {"incoherence": 0.0})).fit(X, y)
    assert model.coherence_[-1] < free.coherence_[-1]
    options |= {"incoherence": model.incoherence_, "incoherence_scale": "absolute"}
    same = classifier(**options).fit(X, y)
    assert same.incoherence_ == model.incoherence_
    np.testing.assert_array_equal(same.coherence_, model.coherence_)
    assert free.incoherence_ == 0


def test_linear_and_kernel_agree_on_the_relative_scale():
    options = {"incoherence": 0.5, "decision": "residual", "random_state": 0}
    linear = DictionaryClassifier(**options).fit(X, y)
    kernel = KernelDictionaryClassifier(kernel="linear", **options).fit(X, y)
    assert np.isclose(kernel.incoherence_, linear.incoherence_, rtol=1e-6)


def test_balance_is_the_ratio_of_mean_curvatures():
    signals = [X[y == c].T for c in range(4)]
    problem = LinearProblem(signals, incoherent=True)
    start_from_pivots(problem, [6] * 4, np.random.RandomState(0))
    first, second = [], []
    for c in range(4):
        codes = encode(problem, c, 3)
        first.append(np.mean(np.sum(codes**2, axis=1)))
        P = sum(problem.atoms[k] @ problem.atoms[k].T for k in range(4) if k != c)
        Q = np.linalg.svd(signals[c], full_matrices=False)[0]
        second.append(2 * np.mean(np.linalg.eigvalsh(Q.T @ P @ Q)))
    close(balanced_gamma(problem, [3] * 4), np.mean(first) / np.mean(second))


def test_classes_without_anything_in_common_need_no_penalty():
    block = np.abs(np.random.default_rng(0).standard_normal((12, 4)))
    data = np.zeros((24, 8))
    data[:12, :4], data[12:, 4:] = block, block
    model = DictionaryClassifier(incoherence=1.0, decision="residual").fit(
        data, np.repeat([0, 1], 12)
    )
    assert model.incoherence_ == 0


def test_of_many_classes_those_with_several_samples_are_drawn():
    labels = np.r_[np.arange(350), np.repeat(np.arange(350, 700), 2)]
    rows, counts = draw_rows(labels, np.random.RandomState(0))
    assert (counts == 2).all()
    assert len(rows) <= MAX_ROWS


def test_rows_that_do_not_differ_have_the_width_one():
    X, y = np.ones((8, 3)), np.repeat([0, 1], 4)
    assert choose_width(X, y, np.random.RandomState(0)) == (1.0, 1.0)
