"""The rule of a model with landmarks: ridges and weights by what is known of rows left out."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kerndict.landmarks.closed_form import ClassAtoms, Rows, label_scores
from kerndict.landmarks.correction import correction_path
from kerndict.landmarks.sums import Principal
from kerndict.rules.weights import fit_weights, weigh

#: Ridges of the label scores, of the class atoms and of the correction, in units of k(y, y).
LABEL_RIDGES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
ATOM_RIDGES = (1e-3, 1e-2, 1e-1, 1.0)
CORRECTION_RIDGES = (3.0, 0.3, 0.03, 0.003)
N_FOLDS = 5
#: Rows that tell which ridge is best, about; they are held out for the correction.
TELLING = 6000


class Settled(NamedTuple):
    """What was chosen: scores are ``-weight log o + z'head + offsets``; see LandmarkRule."""

    head: NDArray
    atom_ridge: float
    weight: float
    offsets: NDArray
    held_out: NDArray


class Closed(NamedTuple):
    """The best ridges of what has a closed form, and the log-loss with them."""

    loss: float
    label_ridge: float
    atom_ridge: float
    labels: NDArray
    left: NDArray


def choose_ridges(
    rows: Rows,
    principal: Principal,
    atoms: ClassAtoms,
    label_ridges: tuple[float, ...] = LABEL_RIDGES,
    atom_ridges: tuple[float, ...] = ATOM_RIDGES,
) -> Closed:
    """Choose both ridges, one after the other, by the log-loss of rows left out."""
    targets = rows.labels, None, rows.importance
    scores = label_scores(rows, principal, label_ridges)
    losses = [fit_weights([f], *targets)[2] for f in scores]
    first = int(np.argmin(losses))
    left = atoms.left(rows, [ridge * principal.unit for ridge in atom_ridges])
    losses = [fit_weights([scores[first], o], *targets)[2] for o in left]
    second = int(np.argmin(losses))
    return Closed(
        losses[second], label_ridges[first], atom_ridges[second], scores[first], left[second]
    )


def settle(
    rows: Rows, principal: Principal, atoms: ClassAtoms, share: float, rng: np.random.RandomState
) -> Settled:
    """Return what makes the rule.

    Two heads stand for choice, and any mixture of them: the label scores, and a logistic
    correction of what the classes leave.

    Parameters
    ----------
    rows : the sample
    principal : the coordinates of all rows
    atoms : those of the classes
    share : the weight of the sample, as a share of that of all rows
    rng : deals the folds
    """
    fold = rng.permutation(len(rows)) % N_FOLDS
    n_held = int(np.clip(np.ceil(TELLING * N_FOLDS / len(rows)), 1, N_FOLDS))
    held = np.flatnonzero(fold < n_held)
    told = rows.part(held)
    closed = choose_ridges(told, principal, atoms)
    targets = told.labels, None, told.importance
    weights, offsets, loss = fit_weights([closed.labels, closed.left], *targets)
    scores = weigh([closed.labels, closed.left], weights, offsets)
    by_labels = label_head(principal, closed.label_ridge)

    start, start_offsets, _ = fit_weights([closed.left], *targets)
    left = atoms.left(rows, [closed.atom_ridge * principal.unit])[0]
    base = (start[0] * left + start_offsets).astype(rows.Z.dtype)
    ridges = [ridge * principal.unit for ridge in CORRECTION_RIDGES]
    spread = principal.spread * share
    corrections = [np.empty_like(scores) for _ in ridges]
    for k in range(n_held):
        out = fold == k
        path = correction_path(
            rows.Z[~out],
            rows.labels[~out],
            rows.importance[~out],
            base[~out],
            spread * (1 - 1 / N_FOLDS),
            ridges,
        )
        for g, W in zip(corrections, path, strict=True):
            g[fold[held] == k] = rows.Z[out] @ W.astype(rows.Z.dtype)
    best = None
    for k, g in enumerate(corrections):
        mixed = fit_weights([closed.labels, closed.left, g], *targets)
        if mixed[2] < loss - 1e-6:
            best, loss = (k, *mixed[:2]), mixed[2]
    if best is None:
        head, weight = weights[0] * by_labels, weights[1]
    else:
        k, mixture, offsets = best
        scores = weigh([closed.labels, closed.left, corrections[k]], mixture, offsets)
        head, weight = mixture[0] * by_labels, mixture[1]
        for W in correction_path(
            rows.Z, rows.labels, rows.importance, base, spread, ridges[: k + 1]
        ):
            correction = W
        head = head + mixture[2] * correction
    strange = np.sort(-scores.max(axis=1))
    return Settled(head, closed.atom_ridge * principal.unit, float(weight), offsets, strange)


def label_head(principal: Principal, ridge: float) -> NDArray:
    """Return the label scores as a linear function of the coordinates, (M, C)."""
    return principal.by_class.T / (principal.spread + ridge * principal.unit)[:, None]
