"""Pursuits in packed vectors: room to work in, and the compiled loops."""

import numpy as np
from numpy.typing import NDArray

from kerndict.pursuit.given import Given
from kerndict.pursuit.packed import loops
from kerndict.pursuit.shape import Shape, plan


def codes(given: Given, counts: NDArray, supports: NDArray, values: NDArray) -> None:
    """Write the codes of all signals; see :func:`kerndict.pursuit.omp.omp_codes`."""
    loops.codes(given, *_room(given), counts, supports, values)


def energies(given: Given, explained: NDArray) -> None:
    """Write what the codes explain; see :func:`kerndict.pursuit.omp.omp_energies`."""
    loops.energies(given, *_room(given), explained)


def _room(given: Given) -> tuple[Shape, NDArray, NDArray]:
    """Return the lengths, work space for numbers, and work space for chosen atoms."""
    shape, size = plan(len(given.G), given.s, given.B.dtype)
    return shape, np.zeros(size, given.B.dtype), np.zeros(2 * shape.s, np.int32)
