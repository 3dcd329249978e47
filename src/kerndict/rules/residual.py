"""The residual rule, Eqs. (2) and (20): the class that leaves the least of a signal wins."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import host_dtype, on_host, side_by_side
from kerndict.pursuit import (
    class_energies,
    dense_codes,
    omp_energies,
    pursuit_numbers,
    workspace_bytes,
)
from kerndict.rules.base import Parts, Rule, class_slices


def rounding(dtype: np.dtype) -> float:
    """Return the share below which a residual is zero, and energies that differ less are equal.

    It is that of the pursuit, ``eps^(3/4)``, and 100 eps at least.  Where several classes explain
    all of a signal over atoms that are nearly dependent, some tens of eps are left, other ones in
    every shape of a batch: the limit must lie well above.
    """
    eps = float(np.finfo(host_dtype(dtype)).eps)
    return max(eps ** (3 / 4), 100 * eps)


@dataclass(frozen=True)
class ResidualRule(Rule):
    """Code a signal over each class by OMP; the scores are k(y, y) minus the residuals (21).

    ``sparsity`` holds the nonzeros per code of every class.
    """

    has_probabilities: ClassVar[bool] = False
    pursues: ClassVar[bool] = True

    grams: list[NDArray]
    sparsity: NDArray

    def scores(self, correlations: Iterable[NDArray], energies: NDArray | None) -> NDArray:
        return self.settle(self.explained(correlations))

    def explained(self, correlations: Iterable[NDArray]) -> NDArray:
        """Return what each class explains of each signal, ``k(y,y)`` minus (21), as rows."""
        if not on_host(self.grams[0]):
            return class_energies(side_by_side(list(correlations)), self.grams, self.sparsity)
        each = zip(correlations, self.grams, self.sparsity.tolist(), strict=True)
        return np.stack([omp_energies(B, G, s) for B, G, s in each], axis=1)

    def parts(self, B: NDArray, energies: NDArray | None) -> Parts:
        assert energies is not None
        places = list(class_slices(self.grams))
        explained = self.explained(B[:, place] for place in places)

        def codes(c: int, rows: NDArray) -> NDArray:
            return dense_codes(B[rows, places[c]], self.grams[c], int(self.sparsity[c])).T

        return Parts(self.settle(explained), residuals(explained, energies), codes)

    def rounding(self, largest: NDArray) -> NDArray:
        return rounding(largest.dtype) * largest

    def numbers_per_row(self, rows: int, pursues: bool) -> int:
        """Return the numbers per row on a device, where classes are padded to the largest one.

        ``rows`` are the training rows that atoms of a class combine, 0 if they combine none.
        """
        n_classes, largest = len(self.grams), max(G.shape[0] for G in self.grams)
        pursuit = pursuit_numbers(largest, int(self.sparsity.max())) if pursues else 0
        return n_classes * (rows + 4 * largest + pursuit)

    def work_bytes(self) -> int:
        """Return the memory that a pursuit takes, whatever the number of rows."""
        sizes = [G.shape[0] for G in self.grams]
        dtype = host_dtype(self.grams[0].dtype)
        shapes = set(zip(sizes, self.sparsity.tolist(), strict=True))
        return max(workspace_bytes(n, min(n, s), dtype) for n, s in shapes)


def residuals(explained: NDArray, energies: NDArray) -> NDArray:
    """Return the squared residuals (21), never negative; rounding is exactly zero."""
    rest = energies[:, None] - explained
    rest[rest < rounding(rest.dtype) * energies[:, None]] = 0
    return rest
