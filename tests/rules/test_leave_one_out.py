"""Leave-one-out in closed form against coding each sample anew."""

import numpy as np
import pytest
from conftest import close, toy

from kerndict.kernels import Kernel
from kerndict.rules.features import rule_features
from kerndict.rules.leave_one_out import leave_one_out_codes, leave_one_out_loss
from kerndict.rules.weights import fit_weights

X, y = toy(n_classes=4, noise=2.0)
K = Kernel("rbf", 4.0).matrix(X, X)
SIZES = np.bincount(y).tolist()


@pytest.mark.parametrize("ridge", [1e-3, 0.5])
def test_codes_are_those_over_all_other_samples(ridge):
    codes = leave_one_out_codes(K, ridge)
    for i in range(len(K)):
        others = np.arange(len(K)) != i
        G = K[np.ix_(others, others)] + ridge * np.eye(len(K) - 1)
        close(codes[i, others], np.linalg.solve(G, K[others, i]), 1e-9)
        assert codes[i, i] == 0


def test_the_loss_is_that_of_the_rule_at_the_best_ridge():
    ridges = (1e-3, 1e-1, 1.0)
    blocks = [K[12 * c : 12 * c + 12, 12 * c : 12 * c + 12] for c in range(4)]
    expected = [
        fit_weights(rule_features(leave_one_out_codes(K, ridge), K, blocks, np.ones(len(K))), y)[2]
        for ridge in ridges
    ]
    assert len(set(expected)) == 3
    close(leave_one_out_loss(K, SIZES, ridges), min(expected))


def test_a_class_of_one_sample_is_not_counted_but_competes():
    part = np.r_[0:37]  # one sample of the last class
    K_part = K[np.ix_(part, part)]
    blocks = [K_part[a : a + n, a : a + n] for a, n in ((0, 12), (12, 12), (24, 12), (36, 1))]
    codes = leave_one_out_codes(K_part, 0.1)[:36]
    expected = fit_weights(rule_features(codes, K_part[:36], blocks, np.ones(36)), y[:36])[2]
    close(leave_one_out_loss(K_part, [12, 12, 12, 1], (0.1,)), expected)
    without = leave_one_out_loss(K_part[:36, :36], [12, 12, 12], (0.1,))
    assert abs(expected - without) > 1e-6
