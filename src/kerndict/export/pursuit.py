"""OMP step by step: what :mod:`kerndict.pursuit.omp` computes, for all classes of a group at once.

Dependent atoms are put out before each choice, not when they are met: an atom that is dependent
once stays so, and the choice is the same.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kerndict.export.graph import Graph
from kerndict.export.groups import Groups

#: Rounding of what is known to double precision is below this.
_DOUBLE = 1e-10


def explained(graph: Graph, B: str, grams: Sequence[NDArray], sparsity: NDArray) -> str:
    """Return what each class explains of each signal, (N, C), from correlations (N, n)."""
    steps = [min(int(s), len(G)) for s, G in zip(sparsity, grams, strict=True)]
    groups = Groups.of([len(G) for G in grams], steps)
    parts = [
        _energies(graph, b, groups.matrices(members, grams), [steps[c] for c in members])
        for members, b in zip(groups.members, groups.split(graph, B), strict=True)
    ]
    return groups.by_class(graph, parts)


def _energies(graph: Graph, alpha: str, G: NDArray, steps: Sequence[int]) -> str:
    """Return the explained energies (C, N) of one group.

    Parameters
    ----------
    alpha : (C, N, n), the correlations
    G : (C, n, n), the Gram matrices; atoms of norm 0 are never chosen
    steps : the nonzeros of each class
    """
    n_classes, n = G.shape[:2]
    tau = graph.eps**0.75
    delta = graph.eps ** (2 / 3 if graph.eps < _DOUBLE else 1 / 2)
    squares = np.diagonal(G, axis1=1, axis2=2)[:, None, :]  # (C, 1, n)
    lengths = np.sqrt(squares)
    inverse = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    first = graph.indices(n * np.arange(n_classes)[:, None, None])
    rows, zero = graph.reals(G.reshape(n_classes * n, n)), graph.reals(0.0)
    relative = graph.op("Mul", graph.op("Abs", alpha), graph.reals(tau * inverse))
    level = graph.reduce("ReduceMax", relative, 2, keep=True)  # (C, N, 1)
    noise = graph.op("Mul", level, graph.reals(lengths))
    least, left = graph.reals(delta * squares), graph.reals(squares)
    # Where the n numbers of each class and signal begin, (C, N, 1).
    each = graph.op("Range", graph.indices(0), graph.op("Size", alpha), graph.indices(n))
    starts = graph.reshape(each, n_classes, -1, 1)
    out = energy = ""
    Q: list[str] = []
    for k in range(max(steps)):
        # `able`: not chosen, independent, and correlated by more than rounding.
        size = graph.op("Abs", alpha)
        able = graph.op("And", graph.op("Greater", size, noise), graph.op("Greater", left, least))
        if min(steps) <= k:
            going = np.array(steps)[:, None, None] > k
            able = graph.op("And", able, graph.constant(going))
        if out:
            able = graph.op("And", able, graph.op("Not", out))
        height = graph.reduce("ReduceMax", graph.op("Where", able, size, zero), 2, keep=True)
        alike = graph.op("GreaterOrEqual", size, graph.op("Sub", height, noise))
        alike = graph.cast(graph.op("And", alike, able), np.float32)
        best = graph.op("ArgMax", alike, axis=2, keepdims=1)  # (C, N, 1), the first of them
        found = graph.op("Greater", height, zero)

        place = graph.op("Add", starts, best)

        def at(values: str, place: str = place) -> str:
            return graph.op("Gather", graph.reshape(values, -1), place, axis=0)

        there = left if k else graph.op("Expand", left, graph.op("Shape", alpha))
        # Where no atom is left the pivot is infinite, and what is divided by it zero.
        pivot = graph.op("Sqrt", graph.op("Where", found, at(there), graph.reals(np.inf)))
        c = graph.op("Div", at(alpha), pivot)
        square = graph.op("Mul", c, c)
        energy = graph.op("Add", energy, square) if energy else square
        if k + 1 == max(steps):
            break
        row = graph.op("Squeeze", graph.op("Add", best, first), graph.indices([2]))
        q = graph.op("Gather", rows, row, axis=0)  # (C, N, n)
        for former in Q:
            q = graph.op("Sub", q, graph.op("Mul", at(former), former))
        q = graph.op("Div", q, pivot)
        alpha = graph.op("Sub", alpha, graph.op("Mul", c, q))
        left = graph.op("Sub", left, graph.op("Mul", q, q))
        taken = graph.op("Equal", best, graph.indices(np.arange(n)))
        out = graph.op("Or", out, taken) if out else taken
        Q.append(q)
    return graph.op("Squeeze", energy, graph.indices([2]))
