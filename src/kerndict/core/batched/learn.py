"""The training loop for devices; :mod:`kerndict.core.learn` says what it computes."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import Array, cast, eps, take, to_host
from kerndict.core.batched.problem import BatchedProblem
from kerndict.core.batched.sweep import Step, sweep, unused_atoms
from kerndict.core.learn import Iteration
from kerndict.pursuit import class_codes


def encode(problem: BatchedProblem, s: Sequence[int]) -> list[Array]:
    """Code the signals of all classes over their own atoms, X (n_i, N_i) of each."""
    return _codes(problem, _encode(problem, slice(0, len(s)), s))


def _encode(problem: BatchedProblem, which: slice, s: Sequence[int]) -> Array:
    R, D = problem.R[which, :, :], problem.D[which, :, :]
    flipped = problem.xp.matrix_transpose(D)
    B, G = (cast(M, problem.dtype, copy=False) for M in (R @ flipped, D @ flipped))
    return class_codes(B, G, np.array(s[which]))


def _codes(problem: BatchedProblem, X: Array) -> list[Array]:
    sizes = zip(problem.sizes, problem.n_atoms, strict=True)
    return [X[i, :N, :n].T for i, (N, n) in enumerate(sizes)]


def balanced_gamma(problem: BatchedProblem, s: Sequence[int]) -> float:
    """Return the gamma at which the two terms of (3) or (7) weigh the same for an atom."""
    X = cast(_encode(problem, slice(0, len(s)), s), np.float64, copy=False)
    counts = np.array(problem.n_atoms)
    first = float((to_host(problem.xp.sum(X**2, axis=(1, 2))) / counts).sum())
    second = float(2 * problem.mean_penalties().sum())
    rounding = float(100 * eps(problem.dtype) * counts.sum())
    return first / second if second > rounding else 0.0


def learn(
    problem: BatchedProblem,
    s: Sequence[int],
    gamma: float,
    n_iter: int,
    exact: bool,
    uaksvd: bool,
    rng: np.random.RandomState,
) -> Iterator[Iteration]:
    """Minimise (3) or (7): all classes at once, or with a penalty one after the other."""
    n_classes, xp = len(s), problem.xp
    groups = [slice(0, n_classes)] if gamma == 0 else [slice(i, i + 1) for i in range(n_classes)]
    for _ in range(n_iter):
        codes, squares = [], []
        for which in groups:
            X = cast(_encode(problem, which, s), np.float64, copy=True)
            E = _update_classes(problem, which, X, gamma, exact, uaksvd, rng)
            codes.append(X)
            squares.append(xp.sum(E**2))
        yield Iteration(_codes(problem, xp.concat(codes, axis=0)), float(xp.sum(xp.stack(squares))))


def _update_classes(
    problem: BatchedProblem,
    which: slice,
    X: Array,
    gamma: float,
    exact: bool,
    uaksvd: bool,
    rng: np.random.RandomState,
) -> Array:
    """Sweep over the atoms of some classes; return the error, up to a rotation."""
    xp, i = problem.xp, which.start
    R = problem.R[which, :, :]
    D = xp.asarray(problem.D[which, :, :], copy=True)
    E = R - X @ D
    unused = unused_atoms(X, problem.n_atoms[which])
    shift, repulsion, fresh, basis = xp.zeros_like(D[:, 0, :]), None, None, None
    if exact:
        if gamma > 0 and not unused[0, : problem.n_atoms[i]].all():
            # Rotate so that P is diagonal: (12) becomes a division.
            energies = xp.sum(X[0, :, :] ** 2, axis=0)
            right = (X[0, :, :].T @ E[0, :, :] + energies[:, None] * D[0, :, :]).T
            basis, values = _eigenbasis(problem, i, right, energies, unused[0], gamma)
            R, D = R @ basis, D @ basis
            E, shift = R - X @ D, (2 * gamma * values)[None, :]
    else:
        if gamma > 0:
            own = xp.matrix_transpose(D)[0, :, :]
            repulsion = xp.matrix_transpose(2 * gamma * problem.penalty(i, own)[None, :, :])
        fresh = _fresh(problem, which, unused, D, rng)
    E = sweep(E, D, X, Step(exact, uaksvd, shift, repulsion, problem.w[which, :]), unused, R, fresh)
    problem.accept(which, D if basis is None else D @ basis.T)
    return E


def _eigenbasis(
    problem: BatchedProblem,
    i: int,
    right: Array,
    energies: Array,
    unused: NDArray,
    gamma: float,
) -> tuple[Array, Array]:
    """Return the eigenbasis of P for the atoms in use."""
    used = np.flatnonzero(~unused[: problem.n_atoms[i]])
    return problem.eigenbasis(i, take(right.T, used).T, take(energies, used), gamma)


def _fresh(
    problem: BatchedProblem, which: slice, unused: NDArray, D: Array, rng: np.random.RandomState
) -> Array:
    """Return Gaussian atoms in the places of those that no signal uses, zeros elsewhere."""
    fresh = problem.xp.zeros_like(D)
    for row, i in enumerate(range(which.start, which.stop)):
        places = np.flatnonzero(unused[row])
        if len(places):
            drawn = problem.draw(i, len(places), rng)
            for k, j in enumerate(places.tolist()):
                fresh[row, j, :] = drawn[k, :]
    return fresh
