"""Rows come in, in any batches; a model comes out."""

from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import (
    Array,
    beside,
    cast,
    host_dtype,
    moved,
    namespace,
    on_host,
    side_by_side,
    to_host,
)
from kerndict.landmarks.closed_form import ClassAtoms, Rows
from kerndict.landmarks.draw import Landmarks
from kerndict.landmarks.sample import Sample, row_keys
from kerndict.landmarks.settle import settle
from kerndict.landmarks.size import coordinate_count, sample_count
from kerndict.landmarks.sums import Principal, Sums
from kerndict.rules import LandmarkRule
from kerndict.spaces import LandmarkSpace


class Learned(NamedTuple):
    """The parts of a model; atoms are in coordinates of the space."""

    space: LandmarkSpace
    atoms: list[NDArray]
    grams: list[NDArray]
    rule: LandmarkRule


class Learner:
    """What has been learned of rows so far.

    Parameters
    ----------
    landmarks : training rows that describe all others
    n_classes : classes there are
    seed : of the random numbers that rows are sampled by and folds are dealt with
    """

    def __init__(self, landmarks: Landmarks, n_classes: int, seed: int) -> None:
        self.landmarks, self.n_classes, self.seed = landmarks, n_classes, seed
        rows = landmarks.rows
        self.sums = Sums.empty(rows.shape[0], n_classes, rows)
        count = sample_count(rows.shape[0], rows.shape[1], host_dtype(rows.dtype).itemsize)
        self.sample = Sample.empty(count, rows.shape[1], rows.dtype, rows)

    def add(self, X: NDArray, labels: NDArray, weights: NDArray, start: int | None = None) -> None:
        """Learn from rows, their classes and weights.

        ``start`` is the place of the first one among all rows there are, where others than those
        learned so far stand before it.
        """
        before = int(self.sums.rows.sum()) if start is None else start
        keys = row_keys(self.seed, before, X.shape[0])
        energies = self.landmarks.kernel.diagonal(X)
        self.sums.add(self.landmarks.correlations(X), energies, labels, weights)
        self.sample.add(X, labels, weights, keys)

    def merge(self, other: "Learner") -> None:
        """Learn what another learner with the same landmarks has learned, from rows behind."""
        self.sums.merge(other.sums)
        self.sample.merge(other.sample)

    def copy(self) -> Self:
        """Return a learner that goes on by itself; rows and landmarks are shared."""
        other = copy(self)
        other.sums, other.sample = deepcopy(self.sums), copy(self.sample)
        return other

    def converted(self, convert: Callable[[Array], Array]) -> Self:
        """Return a learner with every array of rows or landmarks converted."""
        other, products = copy(self), self.sums.products
        if on_host(products):  # where only the lower triangle counts
            products = np.tril(products) + np.tril(products, -1).T
        parts = [self.landmarks, products, self.sums.by_class]
        other.landmarks, products, by_class = moved(parts, convert)
        other.sums = replace(self.sums, products=products, by_class=by_class)
        other.sample = replace(self.sample, X=convert(self.sample.X))
        return other

    def rows(self, principal: Principal, mean: float = 1.0) -> Rows:
        """Return the sample in principal coordinates; ``mean`` is taken for a weight of 1."""
        sample = self.sample
        Z = self.landmarks.coordinates(sample.X, principal.basis)
        energies = cast(self.landmarks.kernel.diagonal(sample.X), np.float64)
        importance = sample.importance(self.sums.weight) / mean
        return Rows(Z, energies, sample.labels, sample.weights / mean, importance)

    def learned(self, n_atoms: NDArray | None, ridges: Sequence[float]) -> Learned:
        """Return the parts of the model.

        Parameters
        ----------
        n_atoms : of each class, None for enough
        ridges : candidates for that of the atoms, in units of the mean k(y, y)
        """
        # Only the ratios of weights matter: their mean is taken for 1.
        mean = float(self.sums.weight.sum() / self.sums.rows.sum())
        principal = Principal.from_sums(self.landmarks, self.sums, mean)
        rows = self.rows(principal, mean)
        energies = to_host(rows.energies)
        rows = rows.part(np.flatnonzero(energies > 0)) if not energies.all() else rows
        p = coordinate_count(self.n_classes, len(rows), principal.spread.shape[0])
        counts = None if n_atoms is None else n_atoms.tolist()
        atoms = ClassAtoms.from_rows(rows, self.n_classes, p, counts)
        rng = np.random.RandomState(self.seed)
        share = self.sample.share(self.sums.weight)
        settled = settle(rows, principal, atoms, counts, share, ridges, rng)
        dtype = self.landmarks.rows.dtype
        xp = namespace(principal.basis)
        basis = side_by_side([principal.basis[:, :p], principal.basis @ settled.head])
        space = LandmarkSpace(
            n_features=self.landmarks.rows.shape[1],
            kernel=self.landmarks.kernel,
            fit_indices=self.landmarks.indices,
            rows=self.landmarks.rows,
            basis=cast(basis, dtype),
            n_coordinates=p,
        )
        found = [cast(V, dtype) for V in atoms.atoms]
        kind = {"dtype": dtype, "device": basis.device} if not on_host(basis) else {"dtype": dtype}
        grams = [xp.eye(V.shape[1], **kind) for V in atoms.atoms]
        rule = LandmarkRule(
            grams,
            [cast(share, dtype) for share in atoms.shares(settled.atom_ridge)],
            xp.eye(basis.shape[1], **kind)[:, p:],
            settled.atom_ridge,
            settled.weight,
            beside(settled.offsets, basis),
            beside(settled.held_out, basis),
            beside(settled.losses, basis),
        )
        return Learned(space, found, grams, rule)
