"""The logistic head, against a general minimiser of the same objective."""

import numpy as np
import oracles
import pytest
from conftest import close, toy
from scipy.optimize import minimize

from kerndict.landmarks.correction import Correction
from kerndict.landmarks.settle import held_out_corrections

Z, labels = toy(n_classes=3, per_class=60, n_features=8, noise=1.0)
N, C = len(Z), 3
Z = Z @ np.linalg.eigh(Z.T @ Z)[1]
rng = np.random.default_rng(0)
BASE = 0.3 * rng.standard_normal((N, C))
IMPORTANCE = rng.uniform(0.2, 3, N)
RIDGES = [100.0, 10.0, 1.0]


def correction(steps, importance=IMPORTANCE, rows=Z, base=BASE):
    spread = np.diagonal((rows * importance[:, None]).T @ rows)
    return Correction(rows, labels, importance, base, spread, steps)


def minimum(importance, ridge):
    def objective(w):
        return oracles.logistic_loss(w.reshape(-1, C), Z, labels, importance, BASE, ridge)

    return minimize(objective, np.zeros(Z.shape[1] * C), method="BFGS", options={"gtol": 1e-4})


def loss(W, importance, ridge):
    return oracles.logistic_loss(W, Z, labels, importance, BASE, ridge)


@pytest.mark.parametrize("importance", [np.ones(N), IMPORTANCE], ids=["even", "uneven"])
def test_the_path_ends_at_the_minimum_for_each_ridge(importance):
    path = correction(200, importance).path(importance, RIDGES)
    for W, ridge in zip(path, RIDGES, strict=True):
        best = minimum(importance, ridge)
        assert loss(W, importance, ridge) <= best.fun * (1 + 1e-6)
        close(W, best.x.reshape(-1, C), 1e-3)


def test_few_steps_come_near_and_more_steps_come_nearer():
    gaps = []
    for steps in (3, 12, 48):
        *_, W = correction(steps).path(IMPORTANCE, RIDGES)
        gaps.append(loss(W, IMPORTANCE, RIDGES[-1]))
    best = minimum(IMPORTANCE, RIDGES[-1]).fun
    assert gaps[0] >= gaps[1] >= gaps[2]
    assert gaps[1] < best * 1.05
    assert gaps[2] < best * 1.001


def test_rows_of_importance_zero_have_no_influence():
    importance = np.where(np.arange(N) % 5 == 2, 0, IMPORTANCE)
    found = list(correction(20).path(importance, RIDGES))
    strange, base = Z.copy(), BASE.copy()
    strange[importance == 0] *= -7
    base[importance == 0] += 11 * rng.standard_normal((N // 5, C))
    whole = correction(20)
    other = Correction(strange, labels, IMPORTANCE, base, whole.spread, 20)
    for W, V in zip(found, other.path(importance, RIDGES), strict=True):
        close(V, W, 1e-12)


def test_rows_of_importance_zero_leave_the_minimum_of_the_others():
    importance = np.where(np.arange(N) % 5 == 2, 0, IMPORTANCE)
    *_, W = correction(200).path(importance, RIDGES)
    assert loss(W, importance, RIDGES[-1]) <= minimum(importance, RIDGES[-1]).fun * (1 + 1e-6)


def test_the_path_does_not_depend_on_how_rows_are_read(monkeypatch):
    whole = list(correction(12).path(IMPORTANCE, RIDGES))
    monkeypatch.setattr("kerndict.landmarks.correction.NEAR", 7 * Z.shape[1])
    for W, V in zip(whole, correction(12).path(IMPORTANCE, RIDGES), strict=True):
        close(V, W, 1e-12)


def test_single_precision_finds_the_same_but_for_rounding():
    exact = list(correction(12).path(IMPORTANCE, RIDGES))
    single = correction(12, rows=Z.astype(np.float32), base=BASE.astype(np.float32))
    for W, V in zip(exact, single.path(IMPORTANCE, RIDGES), strict=True):
        close(V, W, 1e-4)


def test_held_out_corrections_are_those_learned_without_the_fold():
    whole, fold = correction(6), np.arange(N) % 5
    found = held_out_corrections(whole, fold, 5, RIDGES)
    assert 1 <= len(found) <= len(RIDGES)
    for k in range(5):
        out = fold == k
        path = list(whole.path(np.where(out, 0, IMPORTANCE), RIDGES))
        for g, W in zip(found, path, strict=False):
            close(g[out], Z[out] @ W, 1e-12)


def test_held_out_corrections_stop_behind_the_first_ridge_that_is_worse():
    noise = rng.integers(0, C, N)
    whole = Correction(Z, noise, np.ones(N), np.zeros((N, C)), np.diagonal(Z.T @ Z).copy(), 50)
    fold = np.arange(N) % 5
    found = held_out_corrections(whole, fold, 1, [1e4, 1e2, 1.0, 1e-2, 1e-4, 1e-6])
    assert len(found) < 6
    assert all((g[fold > 0] == 0).all() for g in found)
