"""Sets of classes that hold the true one as often as was asked."""

import numpy as np
import pytest
from conftest import BOTH
from sklearn.datasets import load_digits

import kerndict
from kerndict import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.rules.collaborative import largest_loss


def test_the_limit_is_the_conformal_quantile():
    losses = np.arange(1.0, 20.0)  # 19 of them: (19 + 1) (1 - 0.1) = 18
    assert largest_loss(losses, 0.1) == 18
    assert largest_loss(losses, 0.05) == 19
    assert largest_loss(losses, 0.04) == np.inf
    assert largest_loss(np.empty(0), 0.5) == np.inf


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("options", [{}, {"n_landmarks": 100}])
def test_sets_hold_the_true_class_as_often_as_asked(kind, options, path):
    X, y = load_digits(return_X_y=True)
    X += 5 * np.random.default_rng(0).standard_normal(X.shape)  # hard to tell
    settings = {"n_iter": 1, "within_class_whitening": 0, "random_state": 0}
    model = kind(**settings, **options).fit(X[:900], y[:900])
    new, truth = X[900:], y[900:]
    found = {alpha: model.predict_set(new, alpha) for alpha in (0.05, 0.2)}
    for alpha, sets in found.items():
        assert sets.shape == (len(new), 10)
        assert sets.dtype == bool
        covered = sets[np.arange(len(new)), truth].mean()
        # Four standard errors of the share of 897 new samples, and of 900 training samples.
        assert abs(covered - (1 - alpha)) < 4 * np.sqrt(2 * alpha * (1 - alpha) / 900) + 0.01
    assert (found[0.2] <= found[0.05]).all()
    assert found[0.2].sum() < found[0.05].sum()
    kerndict.save(model, path)
    np.testing.assert_array_equal(kerndict.load(path).predict_set(new, 0.2), found[0.2])


def test_what_cannot_be_told_says_so():
    X, y = np.random.default_rng(0).standard_normal((20, 4)), np.arange(20) % 2
    model = DictionaryClassifier(2, 1).fit(X, y)
    for alpha in (0, 1, -0.1):
        with pytest.raises(ValueError, match=r"give a number in \(0, 1\)"):
            model.predict_set(X, alpha)
    with pytest.raises(AttributeError, match="predict_set"):
        KernelDictionaryClassifier(2, 1, decision="residual").fit(X, y).predict_set(X)
    single = DictionaryClassifier(1, 1).fit(np.eye(3), [0, 1, 2])
    assert single.predict_set(np.eye(3)).all()  # nothing was left out: any class may be true
