"""Correlations to scores, and to typicality."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kerndict.export.graph import Graph
from kerndict.export.groups import Groups
from kerndict.export.pursuit import explained
from kerndict.export.spaces import Signals
from kerndict.rules import CollaborativeRule, LandmarkRule, ResidualRule


def scores(graph: Graph, rule: object, given: Signals) -> tuple[str, str]:
    """Add what leads to the scores (N, C); return these, and the energies that they rest on."""
    return _KINDS[type(rule)](graph, rule, given)


def _residual(graph: Graph, rule: ResidualRule, given: Signals) -> tuple[str, str]:
    found = explained(graph, given.correlations, rule.grams, rule.sparsity)
    largest = graph.reduce("ReduceMax", found, 1, keep=True)
    share = max(graph.eps**0.75, 100 * graph.eps)
    least = graph.op("Mul", largest, graph.reals(1 - share))
    return _raised(graph, found, least, largest), given.energies


def _collaborative(graph: Graph, rule: CollaborativeRule, given: Signals) -> tuple[str, str]:
    B, energies = given.correlations, given.energies
    if not energies:
        assert rule.span is not None
        spanned = graph.op("Mul", graph.op("MatMul", B, graph.reals(rule.span)), B)
        total = graph.reduce("ReduceSum", spanned, 1, keep=True)
        energies = graph.op("Max", total, graph.reals(0.0))
    X = graph.op("MatMul", B, graph.reals(rule.inverse))
    groups = Groups.of([len(G) for G in rule.grams])
    explained_, spent, own = [], [], []
    for members, b, x in zip(
        groups.members, groups.split(graph, B), groups.split(graph, X), strict=True
    ):
        G = graph.reals(groups.matrices(members, rule.grams))
        inverse = graph.reals(groups.matrices(members, rule.own_inverses))
        twice = graph.op("Mul", b, graph.reals(2.0))
        rest = graph.op("Sub", graph.op("MatMul", x, G), twice)
        explained_.append(graph.reduce("ReduceSum", graph.op("Mul", x, rest), 2))
        spent.append(graph.reduce("ReduceSumSquare", x, 2))
        product = graph.op("Mul", graph.op("MatMul", b, inverse), b)
        own.append(graph.reduce("ReduceSum", product, 2))
    r = graph.op("Add", energies, groups.by_class(graph, explained_))
    q = groups.by_class(graph, spent)
    o = graph.op("Sub", energies, groups.by_class(graph, own))
    alpha, beta, delta = rule.weights
    total = graph.reals(rule.offsets)
    for feature, weight in ((r, -alpha), (q, beta), (o, -delta)):
        logs = _relative_log(graph, feature, energies)
        total = graph.op("Add", total, graph.op("Mul", logs, graph.reals(weight)))
    return _settled(graph, _with_energy(graph, total, energies)), energies


def _landmark(graph: Graph, rule: LandmarkRule, given: Signals) -> tuple[str, str]:
    groups = Groups.of([len(shares) for shares in rule.shares])
    roots = np.sqrt(np.concatenate(rule.shares).astype(np.float64))
    B = graph.op("Mul", given.correlations, graph.reals(roots))
    each = [graph.reduce("ReduceSumSquare", b, 2) for b in groups.split(graph, B)]
    left = graph.op("Sub", given.energies, groups.by_class(graph, each))
    logs = _relative_log(graph, left, given.energies)
    own = graph.op("Mul", logs, graph.reals(-rule.weight))
    total = graph.op("Add", graph.op("Add", given.heads, own), graph.reals(rule.offsets))
    return _settled(graph, _with_energy(graph, total, given.energies)), given.energies


def _relative_log(graph: Graph, values: str, energies: str) -> str:
    """Return ``log(value / k(y, y))``, floored at the logarithm of eps."""
    there = graph.op("Greater", energies, graph.reals(0.0))
    safe = graph.op("Where", there, energies, graph.reals(1.0))
    shares = graph.op("Max", graph.op("Div", values, safe), graph.reals(graph.eps))
    return graph.op("Log", shares)


def _with_energy(graph: Graph, total: str, energies: str) -> str:
    """Return scores, zero for a signal without energy."""
    there = graph.op("Greater", energies, graph.reals(0.0))
    return graph.op("Where", there, total, graph.reals(0.0))


def _settled(graph: Graph, found: str) -> str:
    """Raise scores within rounding of the row's largest to it."""
    largest = graph.reduce("ReduceMax", found, 1, keep=True)
    size = graph.op("Add", graph.op("Abs", largest), graph.reals(1.0))
    margin = graph.op("Mul", size, graph.reals(np.sqrt(graph.eps)))
    return _raised(graph, found, graph.op("Sub", largest, margin), largest)


def _raised(graph: Graph, found: str, least: str, largest: str) -> str:
    return graph.op("Where", graph.op("GreaterOrEqual", found, least), largest, found)


def typicality(graph: Graph, found: str, energies: str, held_out: NDArray) -> str:
    """Add the p-value (N,) of every row's best score.

    The samples that are milder are counted by bisection, one halving after the other.
    """
    best = graph.reduce("ReduceMax", found, 1, keep=True)
    there = graph.op("Greater", energies, graph.reals(0.0))
    strange = graph.op("Where", there, graph.op("Neg", best), graph.reals(np.inf))
    count = len(held_out)
    padded = np.append(held_out, np.full(2 ** count.bit_length() - count, np.inf))
    table = graph.reals(padded)
    milder = graph.op("Expand", graph.indices(0), graph.op("Shape", best))
    for step in reversed(range(count.bit_length())):
        last = graph.op("Add", milder, graph.indices(2**step - 1))
        more = graph.op("Less", graph.op("Gather", table, last, axis=0), strange)
        taken = graph.op("Where", more, graph.indices(2**step), graph.indices(0))
        milder = graph.op("Add", milder, taken)
    others = graph.cast(graph.op("Sub", graph.indices(1 + count), milder))
    return graph.reshape(graph.op("Div", others, graph.reals(1 + count)), -1)


_KINDS: dict[type, Callable] = {
    ResidualRule: _residual,
    CollaborativeRule: _collaborative,
    LandmarkRule: _landmark,
}
