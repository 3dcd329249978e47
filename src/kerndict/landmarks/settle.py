"""The rule of a model with landmarks: ridges and weights by what is known of rows left out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import beside, cast, namespace, on_host, take, to_host
from kerndict.landmarks.closed_form import ClassAtoms, FoldAtoms, Rows, label_scores
from kerndict.landmarks.correction import Correction
from kerndict.landmarks.sums import Principal
from kerndict.rules.weights import fit_weights, losses, polish, weigh

#: Ridges of the label scores, of the class atoms and of the correction, in units of k(y, y).
LABEL_RIDGES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
ATOM_RIDGES = (1e-3, 1e-2, 1e-1, 1.0)
CORRECTION_RIDGES = (3.0, 0.3, 0.03, 0.003)
N_FOLDS = 5
#: Rows that tell which ridge is best, about; they are held out for the correction.
TELLING = 8000
#: Steps of the correction for each ridge: more where there are rows enough for one fold to tell.
FEW_STEPS, MANY_STEPS = 6, 12
#: Coordinates that are corrected: one for so many rows, but 1000.
ROWS_EACH, CORRECTED = 20, 1000
#: Rows times classes that are told of, and rows times coordinates times classes of a correction, at
#: most: with thousands of classes fewer rows tell, and nothing is corrected.
TOLD, CORRECTED_WORK = 4e6, 5e9
#: Log-loss per row that a correction must gain: it costs a second fit.
GAIN = 1e-3


class Settled(NamedTuple):
    """What was chosen: scores are ``-weight log o + z'head + offsets``; see LandmarkRule."""

    head: NDArray
    atom_ridge: float
    weight: float
    offsets: NDArray
    held_out: NDArray
    losses: NDArray


class Closed(NamedTuple):
    """The best ridges of what has a closed form, the features with them, and their weights."""

    label_ridge: float
    atom_ridge: float
    features: list[NDArray]
    weights: NDArray
    offsets: NDArray
    loss: float


def choose_ridges(
    rows: Rows,
    principal: Principal,
    atoms: ClassAtoms | FoldAtoms,
    atom_ridges: Sequence[float] = ATOM_RIDGES,
) -> Closed:
    """Choose both ridges, one after the other, by the log-loss of rows left out."""
    targets = rows.labels, None, rows.importance
    scores = label_scores(rows, principal, LABEL_RIDGES)
    first = int(np.argmin([fit_weights([f], *targets)[2] for f in scores]))
    left = atoms.left(rows, [ridge * principal.unit for ridge in atom_ridges])
    fits = [fit_weights([scores[first], o], *targets) for o in left]
    second = int(np.argmin([loss for _, _, loss in fits]))
    features = [scores[first], left[second]]
    return Closed(
        LABEL_RIDGES[first] * principal.unit,
        atom_ridges[second] * principal.unit,
        features,
        *fits[second],
    )


def settle(
    rows: Rows,
    principal: Principal,
    atoms: ClassAtoms,
    n_atoms: Sequence[int] | None,
    share: float,
    atom_ridges: Sequence[float],
    rng: np.random.RandomState,
) -> Settled:
    """Return what makes the rule.

    Two heads stand for choice, and any mixture of them: the label scores, and a logistic
    correction of what the classes leave.

    Parameters
    ----------
    rows : the sample
    principal : the coordinates of all rows
    atoms : those of the classes
    n_atoms : how many a class keeps, None for all that it has
    share : the weight of the sample, as a share of that of all rows
    atom_ridges : candidates, in units of the mean k(y, y)
    rng : deals the folds
    """
    fold = rng.permutation(len(rows)) % N_FOLDS
    n_held = int(np.clip(round(TELLING * N_FOLDS / len(rows)), 1, N_FOLDS))
    n_classes = len(atoms.atoms)
    telling: ClassAtoms | FoldAtoms = atoms
    if n_atoms is not None and any(map(atoms.keeps, range(n_classes), n_atoms)):
        rows = replace(rows, folds=fold)
        telling = FoldAtoms.from_rows(rows, n_classes, atoms.atoms[0].shape[0], n_atoms)
    held = np.flatnonzero(fold < n_held)
    held = np.sort(rng.permutation(held)[: max(N_FOLDS, int(TOLD / n_classes))])
    told = rows if len(held) == len(rows) else rows.part(held)
    closed = choose_ridges(told, principal, telling, atom_ridges)
    features, given = closed.features, (closed.weights, closed.offsets)
    head, correction, q = label_head(principal, closed.label_ridge), None, 0
    if len(rows) * max(CORRECTED, len(rows) // ROWS_EACH) * n_classes <= CORRECTED_WORK:
        corrected = _problem(rows, told, principal, telling, closed, share, n_held)
        q = corrected.Z.shape[1]
        ridges = [ridge * principal.unit for ridge in CORRECTION_RIDGES]
        corrections = held_out_corrections(corrected, fold, n_held, ridges)
        mixtures = [
            fit_weights([*features, take(g, held)], told.labels, None, told.importance)
            for g in corrections
        ]
        best = int(np.argmin([loss for _, _, loss in mixtures]))
        if mixtures[best][2] <= closed.loss - GAIN:
            features, given = [*features, take(corrections[best], held)], mixtures[best][:2]
            *_, correction = corrected.path(rows.importance, ridges[: best + 1])
    weights, offsets = best_weights(features, told, *given)
    head = float(weights[0]) * head
    if correction is not None:
        head[:q, :] += float(weights[2]) * correction
    scores = weigh(features, weights, offsets)
    best_scores = to_host(namespace(scores).max(scores, axis=1))
    strange = beside(as_of_all(-best_scores, told.importance), scores)
    lost = as_of_all(losses(scores, told.labels), told.importance)
    return Settled(head, closed.atom_ridge, float(weights[1]), offsets, strange, lost)


def as_of_all(values: NDArray, importance: NDArray) -> NDArray:
    """Return as many sorted values as are given, spread as those of all rows are.

    The sample holds more of small classes than their share: each value counts as much as its row.
    """
    order = np.argsort(values, kind="stable")
    if np.ptp(importance) <= 1e-9 * importance.max():
        return values[order]
    share = np.cumsum(importance[order])
    middles = share[-1] * (np.arange(len(values)) + 0.5) / len(values)
    return values[order][np.minimum(np.searchsorted(share, middles), len(values) - 1)]


def _problem(
    rows: Rows,
    told: Rows,
    principal: Principal,
    atoms: ClassAtoms | FoldAtoms,
    closed: Closed,
    share: float,
    n_held: int,
) -> Correction:
    """Return the problem of a correction of what the classes leave.

    It begins without the label scores: it is to take their place.
    """
    told_by = closed.features[1:]
    found = fit_weights(told_by, told.labels, None, told.importance)
    weight, offsets = best_weights(told_by, told, *found[:2])
    every = len(told) == len(rows)
    left = told_by[0] if every else atoms.left(rows, [closed.atom_ridge])[0]
    q = min(max(CORRECTED, len(rows) // ROWS_EACH), rows.Z.shape[1])
    return Correction(
        np.ascontiguousarray(rows.Z[:, :q]) if on_host(rows.Z) else rows.Z[:, :q],
        rows.labels,
        rows.importance,
        cast(float(weight[0]) * left + beside(offsets, left), rows.Z.dtype),
        principal.spread[:q] * share,
        FEW_STEPS if n_held > 1 else MANY_STEPS,
    )


def held_out_corrections(
    corrected: Correction, fold: NDArray, n_held: int, ridges: Sequence[float]
) -> list[NDArray]:
    """Return the correction of every row of the first folds, without its fold, for each ridge.

    The first fold tells where to stop: at the first ridge that is worse than the one before.
    """
    found = [namespace(corrected.base).zeros_like(corrected.base) for _ in ridges]
    labels, base = corrected.labels, corrected.base
    for k in range(n_held):
        out = fold == k
        places, mask = np.flatnonzero(out), beside(out, base)
        told = take(base, places)
        path = corrected.path(np.where(out, 0, corrected.importance), ridges[: len(found)])
        so_far: list[float] = []
        for g, W in zip(found, path, strict=False):
            g[mask] = take(corrected.Z, places) @ cast(W, g.dtype)
            so_far.append(losses(told + take(g, places), labels[out]) @ corrected.importance[out])
            if k == 0 and len(so_far) > 1 and so_far[-1] > so_far[-2]:
                break
        if k == 0:
            found = found[: len(so_far)]
    return found


def best_weights(
    features: list[NDArray], rows: Rows, weights: NDArray, offsets: NDArray
) -> tuple[NDArray, NDArray]:
    """Return weights and offsets to rounding, which batches of other shapes differ by."""
    return polish(features, rows.labels, weights, offsets, rows.importance)


def label_head(principal: Principal, ridge: float) -> NDArray:
    """Return the label scores as a linear function of the coordinates, (M, C)."""
    return principal.by_class.T / (principal.spread + ridge)[:, None]
