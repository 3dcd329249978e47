"""Kernel matrices and their diagonals; signals are rows, as in the public API."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
            K = np.asarray(self.name(X, Z))
            if K.shape != (len(X), len(Z)):
                raise ValueError(
                    f"kernel={self.name!r} returned an array of shape {K.shape} for "
                    f"{len(X)} and {len(Z)} rows: it must return one of shape "
                    f"({len(X)}, {len(Z)})."
                )
            K = K.astype(X.dtype)
        elif self.name == "rbf":
            K = self._rbf(X, Z)
        elif self.name not in ("poly", "linear"):
            raise ValueError(f"kernel={self.name!r} has no matrix that could be computed.")
        else:
            with np.errstate(over="ignore", invalid="ignore"):  # an error below says what to do
                K = X @ Z.T
                if self.name == "poly":
                    K += X.dtype.type(self.coef0)
                    K **= self.degree
        # The sum is finite unless an entry is not, or the sum itself overflows.
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(K.sum()) or np.isfinite(K).all()
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
            np.minimum(K, 0, out=K)
            K *= X.dtype.type(1 / self.sigma / self.sigma)
            np.exp(K, out=K)
        if X is Z:
            np.fill_diagonal(K, 1)
        return K

    def diagonal(self, X: NDArray) -> NDArray:
        """Return k(x, x) for every row, without the matrix."""
        if self.name == "rbf":
            return np.ones(len(X), X.dtype)
        if callable(self.name):
            blocks = (X[k : k + _DIAGONAL_BLOCK] for k in range(0, len(X), _DIAGONAL_BLOCK))
            return np.concatenate([np.diagonal(self.matrix(B, B)) for B in blocks])
        squares = 2 * _half_squares(self.centred(X))
        if self.name == "poly":
            return (squares + X.dtype.type(self.coef0)) ** self.degree
        return squares


def _wide(ends: NDArray) -> Iterator[tuple[int, int]]:
    """Join neighbours until they are at least ``_STRIP`` wide."""
    begin = 0
    for end in ends:
        if end - begin >= _STRIP or end == ends[-1]:
            yield begin, int(end)
            begin = int(end)


def _half_squares(X: NDArray) -> NDArray:
    return np.einsum("ij,ij->i", X, X) / 2


def median_distance(X: NDArray, rng: np.random.RandomState, max_rows: int = 2000) -> float:
    """Return the median Euclidean distance over pairs of at most max_rows rows of X.

    Zero distances are left out; 1.0 when no two rows differ.
    """
    if len(X) > max_rows:
        X = X[rng.choice(len(X), max_rows, replace=False)]
    X = X.astype(np.float64)
    X -= X.mean(axis=0)
    scale = np.abs(X).max()
    if scale == 0:
        return 1.0
    X /= scale
    halves = _half_squares(X)
    i, k = np.triu_indices(len(X), 1)
    squared = 2 * (halves[:, None] + halves - X @ X.T)[i, k]
    # Where most digits have cancelled, take the difference itself.
    close = np.flatnonzero(squared < 1e-6 * (halves[i] + halves[k]))
    for part in np.array_split(close, 1 + len(close) * X.shape[1] // 2**22):
        squared[part] = 2 * _half_squares(X[i[part]] - X[k[part]])
    squared = squared[squared > 0]
    return float(scale * np.sqrt(np.median(squared))) if squared.size else 1.0


def distance_shift(X: NDArray, sigma: float) -> NDArray | None:
    """Return the mean of X where rows lie so far out that distances would lose digits."""
    with np.errstate(over="ignore"):
        lost = np.finfo(X.dtype).eps * _half_squares(X).max() / sigma / sigma
    return X.mean(axis=0) if lost > 1e-8 else None
