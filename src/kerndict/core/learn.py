"""The only training loop: iterations x classes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kerndict.core.problem import Problem
from kerndict.core.sweep import sweep
from kerndict.pursuit import dense_codes


@dataclass(frozen=True)
class Iteration:
    """The state after one iteration.

    ``codes`` holds X (n, N_i) per class, ``reconstruction`` the first term of (3) or (7); the
    second is ``problem.coherence()``, which is not needed to go on.
    """

    codes: list[NDArray]
    reconstruction: float


def encode(problem: Problem, i: int, s: int) -> NDArray:
    """Code the signals of class i over its own atoms, X (n, N_i)."""
    return dense_codes(*problem.correlations(i), s)


def balanced_gamma(problem: Problem, s: Sequence[int]) -> float:
    """Return the gamma at which the two terms of (3) or (7) weigh the same for an atom.

    The curvature of (8) in an atom is ``|x|^2 + 2 gamma P``, x its coefficients.  Both parts
    are taken for the initial atoms, as means over classes: ``|X_i|^2 / n`` is the mean of the
    first over the atoms of a class, the mean eigenvalue of P on its span that of the second.
    It is 0 when no class has anything in common with another.
    """
    first = second = rounding = 0.0
    for i, atoms in enumerate(problem.atoms):
        X = encode(problem, i, s[i])
        first += float(np.sum(X.astype(np.float64, copy=False) ** 2)) / atoms.shape[1]
        second += 2 * problem.mean_penalty(i)
        rounding += 100 * np.finfo(problem.dtype).eps * atoms.shape[1]
    return first / second if second > rounding else 0.0


def learn(
    problem: Problem,
    s: Sequence[int],
    gamma: float,
    n_iter: int,
    exact: bool,
    uaksvd: bool,
    rng: np.random.RandomState,
) -> Iterator[Iteration]:
    """Minimise (3) or (7) by coding and sweeping one class after the other.

    Each class sees the others as they are by then (Gauss-Seidel).  The atoms end up
    in ``problem``.  ``s`` holds the nonzeros per code of every class.
    """
    classes = range(len(problem.signals))
    for _ in range(n_iter):
        codes, reconstruction = [], 0.0
        for i in classes:
            X = encode(problem, i, s[i]).astype(np.float64, copy=False)
            E = update_class(problem, i, X, gamma, exact, uaksvd, rng)
            codes.append(X)
            reconstruction += float(np.sum(E**2))
        yield Iteration(codes, reconstruction)


def update_class(
    problem: Problem,
    i: int,
    X: NDArray,
    gamma: float,
    exact: bool,
    uaksvd: bool,
    rng: np.random.RandomState,
) -> NDArray:
    """Sweep over the atoms of class i; return the error E, up to a rotation.

    ``X`` (n, N_i) is updated in place, the atoms in ``problem``.
    """
    D = problem.atoms[i].copy(order="F")
    Y = problem.signals[i].astype(np.float64, order="F", copy=False)
    E = np.asfortranarray(Y - D @ X)
    used = np.any(X != 0, axis=1)
    basis, shift = None, np.zeros(len(Y))
    repulsion, fresh = np.empty((len(Y), 0)), np.empty((len(Y), 0))

    if exact:
        if gamma > 0 and used.any():
            # Rotate so that P is diagonal: (12) becomes a division.
            energies = np.sum(X[used] ** 2, axis=1)
            right = E @ X[used].T + energies * D[:, used]
            basis, values = problem.eigenbasis(i, right, energies, gamma)
            Y, D = (np.asfortranarray(basis.T @ Z) for Z in (Y, D))
            E = np.asfortranarray(Y - D @ X)
            shift = 2 * gamma * values
    else:
        repulsion = 2 * gamma * problem.repulsion(i) if gamma > 0 else np.zeros(D.shape)
        fresh = problem.draw(i, int(np.sum(~used)), rng)

    repulsion, Y, fresh = (np.ascontiguousarray(Z.T) for Z in (repulsion, Y, fresh))
    sweep(E.T, D.T, X, exact, shift, repulsion, problem.eigenvalues[i], uaksvd, Y, fresh)
    problem.accept(i, D if basis is None else np.asfortranarray(basis @ D))
    return E
