"""The pursuit and the sweep of all classes at once against the textbook."""

import numpy as np
import oracles
import pytest
from conftest import close, unit

from kerndict._arrays import to_host
from kerndict.core.batched.sweep import Step, sweep, unused_atoms
from kerndict.pursuit import class_codes, class_energies


def problems(rng, n=9, m=7, N=11):
    """Return dictionaries and signals: one of them smaller, one with an atom twice, one plain."""
    D = [unit(rng.standard_normal((m, size))) for size in (n, n - 3, n)]
    D[2][:, 5] = D[2][:, 1]
    return D, [rng.standard_normal((m, N)) for _ in D]


def padded(arrays):
    height, width = (max(a.shape[k] for a in arrays) for k in (0, 1))
    return np.stack(
        [np.pad(a, ((0, height - a.shape[0]), (0, width - a.shape[1]))) for a in arrays]
    )


def test_codes(there):
    D, Y = problems(np.random.default_rng(0))
    Y[0][:, 3] = 0
    sparsity = np.array([3, 4, 20])
    B = padded([(y.T @ d) for y, d in zip(Y, D, strict=True)])
    G = padded([d.T @ d for d in D])
    X = to_host(class_codes(there(B), there(G), sparsity))
    for found, y, d, s in zip(X, Y, D, sparsity, strict=True):
        expected = np.zeros((len(found), found.shape[1]))
        for t, b in enumerate(y.T @ d):
            support = oracles.gram_omp(b, d.T @ d, min(int(s), d.shape[1]))
            if support:
                x = np.linalg.lstsq(d[:, support], y[:, t], rcond=None)[0]
                expected[t, support] = x
        close(found, expected)


def test_energies(there):
    D, Y = problems(np.random.default_rng(1))
    y = Y[0]
    sparsity = np.array([2, 3, 4])
    B = np.hstack([y.T @ d for d in D])
    found = to_host(class_energies(there(B), [there(d.T @ d) for d in D], sparsity))
    for c, (d, s) in enumerate(zip(D, sparsity, strict=True)):
        rest = y - d @ oracles.omp(y, d, int(s))
        close(found[:, c], np.sum(y**2, axis=0) - np.sum(rest**2, axis=0))


@pytest.mark.parametrize("uaksvd", [False, True])
@pytest.mark.parametrize("exact", [True, False])
def test_a_sweep(exact, uaksvd, there):
    rng = np.random.default_rng(2)
    D, Y = problems(rng)
    D[2][:, 5] = unit(rng.standard_normal((7, 1)))[:, 0]
    X = [oracles.omp(y, d, 2) for y, d in zip(Y, D, strict=True)]
    X[0][4] = 0  # nobody uses this atom, nor that one
    X[1][2] = 0
    gamma, fresh = 0.0, None
    expected = []
    for y, d, x in zip(Y, D, X, strict=True):
        P = np.zeros((7, 7))
        drawn = np.random.default_rng(7)
        expected.append(oracles.sweep(np.eye(7), y, d, x, P, gamma, exact, uaksvd, drawn))
    counts = [d.shape[1] for d in D]
    R, A, codes = (there(padded(a)) for a in ([y.T for y in Y], [d.T for d in D], [x.T for x in X]))
    xp_zeros = there(np.zeros((3, 7)))
    unused = unused_atoms(codes, counts)
    if not exact:
        rows = np.zeros((3, max(counts), 7))
        for c, mask in enumerate(unused):
            drawn = np.random.default_rng(7).standard_normal((7, int(mask.sum())))
            rows[c, mask] = unit(drawn).T if mask.any() else 0
        fresh = there(rows)
    step = Step(exact, uaksvd, xp_zeros, None, there(np.ones((3, 7))))
    E = to_host(sweep(R - codes @ A, A, codes, step, unused, R, fresh))
    for c, (d, x) in enumerate(expected):
        close(to_host(A)[c, : counts[c]].T, d, 1e-8)
        close(to_host(codes)[c, :, : counts[c]].T, x, 1e-8)
        close(E[c].T, Y[c] - d @ x, 1e-8)
