"""Kernel matrices and their diagonals; signals are rows, as in the public API."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from kerndict._arrays import (
    at_most,
    beside,
    cast,
    eps,
    namespace,
    on_host,
    row_dots,
    take,
    with_diagonal,
)
from kerndict._state import stored
from kerndict.preparation import Preparation

#: The kernels with a name; a callable ``k(X, Z) -> matrix`` is the fifth kind.
KERNELS = ("rbf", "poly", "linear", "precomputed")

_DIAGONAL_BLOCK = 32
_STRIP = 384


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters settled.

    ``"rbf"`` exp(-|x - y|^2 / 2 sigma^2), ``"poly"`` (x'y + coef0)^degree, ``"linear"``
    x'y, or a callable.  Rows go through the ``preparation`` first, if there is one; ``shift``,
    which does not change distances, is then subtracted from them before they are multiplied.
    """

    name: str | Callable[[NDArray, NDArray], Any]
    sigma: float = stored("positive", name="kernel.sigma", default=1.0)
    degree: int = stored("count", name="kernel.degree", default=2)
    coef0: float = stored("real", name="kernel.coef0", default=1.0)
    shift: NDArray | None = stored(
        "precision", "m", name="kernel.shift", optional=True, default=None
    )
    preparation: Preparation | None = None

    def matrix(self, X: NDArray, Z: NDArray) -> NDArray:
        """Return K (len(X), len(Z)) in the precision of X."""
        rows = self.centred(X)
        return self.between(rows, rows if Z is X else self.centred(Z))

    def centred(self, X: NDArray) -> NDArray:
        """Return rows as :meth:`between` takes them: prepared, and less the shift.

        X itself where there is neither.
        """
        if self.preparation is not None:
            X = self.preparation(X)
        return X if self.shift is None else X - self.shift

    def between(self, X: NDArray, Z: NDArray) -> NDArray:
        """Return K of rows that were centred before, as those of a model are, once."""
        if callable(self.name):
            K = beside(self.name(X, Z), X)
            shape = (X.shape[0], Z.shape[0])
            if tuple(K.shape) != shape:
                raise ValueError(
                    f"kernel={self.name!r} returned an array of shape {tuple(K.shape)} for "
                    f"{shape[0]} and {shape[1]} rows: it must return one of shape {shape}."
                )
            K = cast(K, X.dtype)
        elif self.name == "rbf":
            K = self._rbf(X, Z)
        elif self.name not in ("poly", "linear"):
            raise ValueError(f"kernel={self.name!r} has no matrix that could be computed.")
        else:
            with np.errstate(over="ignore", invalid="ignore"):  # an error below says what to do
                K = X @ Z.T
                if self.name == "poly":
                    K += float(self.coef0)
                    K **= self.degree
        # The sum is finite unless an entry is not, or the sum itself overflows.
        with np.errstate(over="ignore", invalid="ignore"):
            xp = namespace(K)
            finite = xp.isfinite(xp.sum(K)) or xp.all(xp.isfinite(K))
        if not finite:
            raise ValueError(
                f"kernel={self.name!r} gave values that are infinite or NaN: scale the "
                "features down, or change the kernel's parameters."
            )
        return K

    def panels(self, X: NDArray, sizes: Sequence[int]) -> Iterator[NDArray]:
        """Yield K(X, X) in panels of ``sizes`` columns each, from their own rows down.

        K is symmetric: what lies above is not computed.  Columns are computed many at a time,
        whatever the sizes.
        """
        X = self.centred(X)
        ends = np.cumsum(sizes)
        starts = ends - sizes
        for start, end in _wide(ends):
            strip = self.between(X[start:], X[start:end])
            if self.name == "rbf":
                np.fill_diagonal(strip, 1)
            for a, b in zip(starts - start, ends - start, strict=True):
                if a >= 0 and b <= end - start:
                    yield strip[a:, a:b]

    def _rbf(self, X: NDArray, Z: NDArray) -> NDArray:
        # exp(-|x - z|^2 / 2 sigma^2) = exp((x'z - |x|^2 / 2 - |z|^2 / 2) / sigma^2)
        with np.errstate(over="ignore", invalid="ignore"):
            K = X @ Z.T
            K -= _half_squares(X)[:, None]
            K -= _half_squares(Z)
            K *= 1 / self.sigma / self.sigma
            if on_host(K):
                np.minimum(K, 0, out=K)
                np.exp(K, out=K)
            else:
                K = namespace(K).exp(at_most(K, 0.0))
        return with_diagonal(K, 1.0) if X is Z else K

    def diagonal(self, X: NDArray) -> NDArray:
        """Return k(x, x) for every row, without the matrix."""
        xp = namespace(X)
        if self.name == "rbf":
            return xp.ones_like(X[:, 0])
        if callable(self.name):
            blocks = (X[part, :] for part in gen_batches(X.shape[0], _DIAGONAL_BLOCK))
            return xp.concat([xp.linalg.diagonal(self.matrix(B, B)) for B in blocks])
        squares = 2 * _half_squares(self.centred(X))
        if self.name == "poly":
            return (squares + float(self.coef0)) ** self.degree
        return squares


def _wide(ends: NDArray) -> Iterator[tuple[int, int]]:
    """Join neighbours until they are at least ``_STRIP`` wide."""
    begin = 0
    for end in ends:
        if end - begin >= _STRIP or end == ends[-1]:
            yield begin, int(end)
            begin = int(end)


def _half_squares(X: NDArray) -> NDArray:
    return row_dots(X, X) / 2


def median_distance(X: NDArray, rng: np.random.RandomState, max_rows: int = 2000) -> float:
    """Return the median Euclidean distance over pairs of at most max_rows rows of X.

    Zero distances are left out; 1.0 when no two rows differ.
    """
    if X.shape[0] > max_rows:
        X = take(X, rng.choice(X.shape[0], max_rows, replace=False))
    xp, X = namespace(X), cast(X, np.float64)
    X -= xp.mean(X, axis=0)
    scale = float(xp.max(xp.abs(X)))
    if scale == 0:
        return 1.0
    X /= scale
    halves = _half_squares(X)
    if not on_host(X):
        return scale * _median_root(X, halves)
    i, k = np.triu_indices(len(X), 1)
    squared = 2 * (halves[:, None] + halves - X @ X.T)[i, k]
    # Where most digits have cancelled, take the difference itself.
    close = np.flatnonzero(squared < 1e-6 * (halves[i] + halves[k]))
    for part in np.array_split(close, 1 + len(close) * X.shape[1] // 2**22):
        squared[part] = 2 * _half_squares(X[i[part]] - X[k[part]])
    squared = squared[squared > 0]
    return float(scale * np.sqrt(np.median(squared))) if squared.size else 1.0


def _median_root(X: NDArray, halves: NDArray) -> float:
    """Return the median distance between rows on a device; see :func:`median_distance`."""
    xp, n = namespace(X), X.shape[0]
    squared = 2 * (halves[:, None] + halves - X @ X.T)
    close = squared < 1e-6 * (halves[:, None] + halves)
    pairs = xp.triu(xp.ones_like(close), k=1)
    found = [squared[pairs & ~close]]
    i, k = xp.nonzero(pairs & close)
    step = 1 + 2**22 // X.shape[1]
    for start in range(0, i.shape[0], step):
        part = slice(start, min(start + step, i.shape[0]))
        differences = xp.take(X, i[part], axis=0) - xp.take(X, k[part], axis=0)
        found.append(2 * _half_squares(differences))
    every = xp.concat(found)
    every = xp.sort(every[every > 0])
    n = every.shape[0]
    if n == 0:
        return 1.0
    return float((every[(n - 1) // 2] + every[n // 2]) / 2) ** 0.5


def distance_shift(X: NDArray, sigma: float) -> NDArray | None:
    """Return the mean of X where rows lie so far out that distances would lose digits."""
    xp = namespace(X)
    with np.errstate(over="ignore"):
        lost = eps(X.dtype) * float(xp.max(_half_squares(X))) / sigma / sigma
    return xp.mean(X, axis=0) if lost > 1e-8 else None
