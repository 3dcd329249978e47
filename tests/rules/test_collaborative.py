import numpy as np
import pytest
from conftest import close, unit
from scipy.special import log_softmax

from kerndict.rules import CollaborativeRule
from kerndict.rules.features import (
    OWN_RIDGE,
    own_feature,
    own_inverses,
    pseudo_inverse,
    ridge_path,
    rule_features,
)
from kerndict.rules.weights import fit_weights

rng = np.random.default_rng(0)
D = [unit(rng.standard_normal((12, n))) for n in (3, 5, 4)]
Y = rng.standard_normal((12, 20))
ALL = np.hstack(D)
G, B = ALL.T @ ALL, Y.T @ ALL
BLOCKS = [d.T @ d for d in D]
ENERGY = np.sum(Y**2, axis=0)


def make_rule(weights, offsets, held_out=(), span=None):
    """Return a rule with the ridge 0.1."""
    inverse = np.linalg.inv(G + 0.1 * np.eye(12))
    own = own_inverses(BLOCKS)
    return CollaborativeRule(BLOCKS, 0.1, weights, offsets, inverse, own, np.array(held_out), span)


def textbook(ridge):
    """Return the features line by line from their definition, in signal space."""
    left, spent, alone = (np.empty((20, 3)) for _ in range(3))
    bounds = np.cumsum([0, 3, 5, 4])
    for t, y in enumerate(Y.T):
        x = np.linalg.solve(G + ridge * np.eye(12), ALL.T @ y)
        for c in range(3):
            own = x[bounds[c] : bounds[c + 1]]
            left[t, c] = -np.log(np.sum((y - D[c] @ own) ** 2) / (y @ y))
            spent[t, c] = np.log(own @ own / (y @ y))
            b = D[c].T @ y
            o = y @ y - b @ np.linalg.solve(BLOCKS[c] + OWN_RIDGE * np.eye(len(b)), b)
            alone[t, c] = -np.log(o / (y @ y))
    return left, spent, alone


def test_features_equal_their_definition():
    for (left, spent), ridge in zip(
        ridge_path(B, G, BLOCKS, ENERGY, [1e-3, 0.1, 1.0]), [1e-3, 0.1, 1.0], strict=True
    ):
        close(left, textbook(ridge)[0])
        close(spent, textbook(ridge)[1])
    close(own_feature(B, own_inverses(BLOCKS), ENERGY), textbook(0.1)[2])


def test_scores_weigh_all_features():
    offsets = np.array([0.3, 0.0, -0.2])
    rule = make_rule(np.array([2.0, 0.5, 0.3]), offsets)
    left, spent, alone = textbook(0.1)
    close(rule.scores([B], ENERGY), 2 * left + 0.5 * spent + 0.3 * alone + offsets)
    assert not rule.scores([0 * B], 0 * ENERGY).any()


def test_without_the_diagonal_the_span_takes_its_place():
    span = pseudo_inverse(G, np.dtype(float))
    rule = make_rule(np.array([2.0, 0.5, 0.3]), np.zeros(3), span=span)
    close(rule.scores([B], None), rule.scores([B], ENERGY), 1e-7)
    twins = np.hstack([ALL[:, :4], ALL[:, :4]])  # a Gram matrix without an inverse
    span = pseudo_inverse(twins.T @ twins, np.dtype(float))
    projection = np.linalg.pinv(twins) @ Y
    energy = np.sum((twins @ projection) ** 2, axis=0)
    close(np.sum((Y.T @ twins @ span) * (Y.T @ twins), axis=1), energy)


def test_typicality_is_a_p_value_of_the_winners_strangeness():
    weights, offsets = np.array([2.0, 0.5, 0.3]), np.array([0.3, 0.0, -0.2])
    left, spent, alone = textbook(0.1)
    strange = -np.max(2 * left + 0.5 * spent + 0.3 * alone + offsets, axis=1)
    known = np.sort(strange[::2] - 1e-9)
    rule = make_rule(weights, offsets, known)
    expected = [(1 + sum(known >= s)) / 11 for s in strange]
    close(rule.typicality([B], ENERGY), expected)
    close(rule.typicality([3 * B], 9 * ENERGY), expected)  # the length of a signal says nothing
    close(rule.typicality([0 * B], 0 * ENERGY), np.full(20, 1 / 11))
    rule = make_rule(weights, offsets)
    close(rule.typicality([B], ENERGY), np.ones(20))


def test_signals_without_energy_have_no_features():
    left, spent = rule_features(np.zeros((1, 12)), np.zeros((1, 12)), BLOCKS, np.zeros(1))
    assert not left.any()
    assert not spent.any()
    assert not own_feature(np.zeros((1, 12)), own_inverses(BLOCKS), np.zeros(1)).any()


def test_weights_minimise_the_log_loss():
    labels = rng.integers(0, 4, 300)
    features = [rng.standard_normal((300, 4)) for _ in range(2)]
    features[0][np.arange(300), labels] += 1.0
    features[1][np.arange(300), labels] -= 1.0  # worth a negative weight: none
    features[0][:, 2] += 2.0  # a class that leaves little of anything
    weights, offsets, loss = fit_weights(features, labels)

    def log_loss(w, b):
        scores = w[0] * features[0] + w[1] * features[1] + b
        return -log_softmax(scores, axis=1)[np.arange(300), labels].mean()

    assert weights[1] == 0
    assert offsets.argmin() == 2
    assert loss == pytest.approx(log_loss(weights, offsets), rel=0.02)
    for step in ([0.1, 0], [-0.1, 0], [0, 0.1]):
        assert log_loss(weights + step, offsets) > log_loss(weights, offsets) - 1e-4
    for step in (-0.3, 0.3):
        assert log_loss(weights, offsets + step * np.eye(4)[2]) > log_loss(weights, offsets) - 1e-4


def test_weights_stay_finite_when_nothing_is_confused():
    labels = np.arange(60) % 3
    weights, _, loss = fit_weights([5.0 * np.eye(3)[labels]], labels)
    assert np.isfinite(weights).all()
    assert loss < 0.01
