"""What is known of each row without itself, in closed form: no folds, no second fit.

In the principal coordinates z of a row, the second moment of all rows is ``diag(D)``.  With the
ridge ``l``, ``w = z / (D + l)`` and ``h = z'w``, kernel ridge regression on the labels gives each
class the score ``f_c = s_c'w``, s_c the sum of its rows.  Without the row itself, of weight v,
that is ``f_c / (1 - v h)``, and ``(f_c - v h) / (1 - v h)`` for its own class.

The atoms of class c are the eigenvectors of the second moment S_c of its rows, with eigenvalues
d_j, in the first p coordinates.  With ``b = V'z`` and ``g = sum b_j^2 / (d_j + l)``, the class
leaves ``o_c = k(y,y) - |b|^2 + l g`` of the row; without the row itself, ``g`` becomes
``g / (1 - v g)`` in its own class.  Both are Sherman and Morrison's formula.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from kerndict._arrays import at_least, beside, cast, eps, less_entries, namespace, on_host, take
from kerndict.landmarks.sums import Principal
from kerndict.rules.features import relative_log

#: Where nothing is left of a row without itself, less than this is taken for rounding.
SMALLEST = 1e-9
#: Rows at a time, on the host and on a device.
ROWS, ROWS_ON_DEVICE = 4096, 65_536


@dataclass(frozen=True)
class Rows:
    """Rows of the sample in principal coordinates.

    ``weights`` are those they have in the sums, ``importance`` what they count in a loss, ``folds``
    the parts that they are left out in where no closed form does.
    """

    Z: NDArray
    energies: NDArray
    labels: NDArray
    weights: NDArray
    importance: NDArray
    folds: NDArray | None = None

    def __len__(self) -> int:
        return self.Z.shape[0]

    def part(self, which: NDArray) -> Self:
        """Return some of the rows."""
        return type(self)(
            take(self.Z, which),
            take(self.energies, which),
            self.labels[which],
            self.weights[which],
            self.importance[which],
            None if self.folds is None else self.folds[which],
        )

    def chunks(self) -> Iterator[tuple[slice, NDArray]]:
        """Yield some rows at a time in double precision, with their place."""
        for part in gen_batches(len(self), ROWS if on_host(self.Z) else ROWS_ON_DEVICE):
            yield part, cast(self.Z[part, :], np.float64, copy=False)

    def zeros(self, count: int) -> NDArray:
        """Return so many numbers for each row, in double precision."""
        return beside(np.zeros((len(self), count)), self.Z)


def label_scores(rows: Rows, principal: Principal, ridges: Sequence[float]) -> list[NDArray]:
    """Return f_c of every row without itself, (N, C), for each ridge."""
    found = [rows.zeros(principal.by_class.shape[0]) for _ in ridges]
    for part, Z in rows.chunks():
        squares, v = Z**2, beside(rows.weights[part], Z)
        for f, ridge in zip(found, ridges, strict=True):
            inverse = 1 / (principal.spread + ridge * principal.unit)
            own = v * (squares @ inverse)
            scores = less_entries((Z * inverse) @ principal.by_class.T, rows.labels[part], own)
            f[part, :] = scores / at_least(1 - own, SMALLEST)[:, None]
    return found


@dataclass(frozen=True)
class ClassAtoms:
    """Orthonormal atoms of every class, (p, n_c), and the second moment along each."""

    atoms: list[NDArray]
    spread: list[NDArray]

    @classmethod
    def from_rows(cls, rows: Rows, n_classes: int, p: int, n_atoms: Sequence[int] | None) -> Self:
        """Return the principal directions of every class; ``n_atoms`` of them, if given."""
        xp, host = namespace(rows.Z), on_host(rows.Z)
        atoms, spread = [], []
        for c in range(n_classes):
            own = np.flatnonzero(rows.labels == c)
            if not len(own):  # none with energy: an atom that explains nothing
                d, V = beside(np.zeros(1), rows.Z), beside(np.eye(p, 1), rows.Z)
            elif len(own) < p:  # the same from the right singular vectors
                _, root, Vt = xp.linalg.svd(_scaled(rows, own, p), full_matrices=False)
                d, V = root**2, Vt.T
            else:
                moment = beside(np.zeros((p, p)), rows.Z)
                for part in gen_batches(len(own), ROWS if host else ROWS_ON_DEVICE):
                    scaled = _scaled(rows, own[part], p)
                    moment += scaled.T @ scaled
                d, V = xp.linalg.eigh(moment)
                d, V = at_least(xp.flip(d), 0), xp.flip(V, axis=1)
            kept = max(1, int(xp.count_nonzero(d > eps(rows.Z.dtype) * d[0])))
            if n_atoms is not None:
                kept = min(kept, n_atoms[c])
            atoms.append(np.ascontiguousarray(V[:, :kept]) if host else V[:, :kept])
            spread.append(d[:kept])
        return cls(atoms, spread)

    def keeps(self, c: int, count: int) -> bool:
        """Tell whether a class has as many atoms as it may, and could have had more."""
        return self.atoms[c].shape[1] == count

    def shares(self, ridge: float) -> list[NDArray]:
        """Return what of the energy along each atom is taken for that of the class."""
        return [d / (d + ridge) for d in self.spread]

    def left(self, rows: Rows, ridges: Sequence[float]) -> list[NDArray]:
        """Return -log o_c of every row without itself, relative to k(y, y), for each ridge."""
        xp = namespace(rows.Z)
        found = [rows.zeros(len(self.atoms)) for _ in ridges]
        p = self.atoms[0].shape[0]
        for part, Z in rows.chunks():
            Z = np.ascontiguousarray(Z[:, :p]) if on_host(Z) else Z[:, :p]
            for c, (V, d) in enumerate(zip(self.atoms, self.spread, strict=True)):
                squares = (Z @ V) ** 2
                explained = xp.sum(squares, axis=1)
                own = beside(np.where(rows.labels[part] == c, rows.importance[part], 0), Z)
                for o, ridge in zip(found, ridges, strict=True):
                    g = squares @ (1 / (d + ridge))
                    without = g / at_least(1 - own * g, SMALLEST)
                    o[part, c] = rows.energies[part] - explained + ridge * without
        return [-relative_log(o, rows.energies) for o in found]


@dataclass(frozen=True)
class FoldAtoms:
    """The atoms of every class without the rows of each fold in turn.

    For classes that keep fewer atoms than they have directions: which ones they keep depends on
    every row, and no closed form tells them without it.
    """

    without: list[ClassAtoms]

    @classmethod
    def from_rows(cls, rows: Rows, n_classes: int, p: int, n_atoms: Sequence[int]) -> Self:
        """Return the atoms; see :meth:`ClassAtoms.from_rows`."""
        folds = rows.folds
        assert folds is not None
        others = (rows.part(np.flatnonzero(folds != k)) for k in range(folds.max() + 1))
        return cls([ClassAtoms.from_rows(part, n_classes, p, n_atoms) for part in others])

    def left(self, rows: Rows, ridges: Sequence[float]) -> list[NDArray]:
        """Return -log o_c of every row by atoms that it did not shape, for each ridge."""
        folds = rows.folds
        assert folds is not None
        found: list[list[NDArray]] = [[] for _ in ridges]
        for k, atoms in enumerate(self.without):
            part = rows.part(np.flatnonzero(folds == k))
            nobodys = replace(part, labels=np.full(len(part), -1))
            for parts, left in zip(found, atoms.left(nobodys, ridges), strict=True):
                parts.append(left)
        places = np.argsort(np.argsort(folds, kind="stable"), kind="stable")
        xp = namespace(rows.Z)
        return [take(xp.concat(parts), places) for parts in found]


def _scaled(rows: Rows, which: NDArray, p: int) -> NDArray:
    """Return the first p coordinates of some rows, times the root of what each counts."""
    Z = rows.Z[which, :p] if on_host(rows.Z) else take(rows.Z[:, :p], which)
    roots = beside(np.sqrt(rows.importance[which]), Z)
    return cast(Z, np.float64, copy=False) * roots[:, None]
