"""The pursuit over all classes at once, for devices."""

from collections.abc import Sequence

from numpy.typing import NDArray

from kerndict._arrays import Array
from kerndict._stack import Stack
from kerndict.pursuit.batched import batched_codes, batched_energies


def class_energies(B: Array, grams: Sequence[Array], sparsity: NDArray) -> Array:
    """Return what OMP explains of each signal over the atoms of each class, (N, C).

    Parameters
    ----------
    B : (N, sum of n_i), the correlations with the atoms of all classes, side by side
    grams : the Gram matrix of each class
    sparsity : nonzeros per code of each class, at most
    """
    stack = Stack.of(grams)
    return batched_energies(stack.split(B), stack.blocks, sparsity.tolist()).T


def pursuit_numbers(n: int, s: int) -> int:
    """Return the numbers that :func:`class_energies` holds for a signal and a class."""
    return (min(n, s) + 6) * n


def class_codes(B: Array, G: Array, sparsity: NDArray) -> Array:
    """Return the codes (C, N, n) of signals of every class over its own atoms.

    Parameters
    ----------
    B : (C, N, n), correlations
    G : (C, n, n), Gram matrices; padding is zero in both
    sparsity : nonzeros per code of each class, at most
    """
    return batched_codes(B, G, sparsity.tolist())
