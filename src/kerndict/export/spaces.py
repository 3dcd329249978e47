"""Rows to correlations with atoms, and to energies k(y, y)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kerndict.exceptions import ModelFormatError
from kerndict.export.graph import Graph
from kerndict.export.groups import Groups
from kerndict.kernels import Kernel
from kerndict.model import Model
from kerndict.preparation import Preparation
from kerndict.spaces import KernelSpace, LandmarkSpace, LinearSpace, PrecomputedSpace


@dataclass(frozen=True)
class Signals:
    """What a rule asks for: correlations (N, n) with all atoms, with the heads, and k(y, y).

    ``heads`` is (N, C) or empty; ``energies`` (N, 1), empty where it is not known.
    """

    correlations: str
    heads: str
    energies: str


def signals(graph: Graph, model: Model, X: str) -> Signals:
    """Add what leads from rows to correlations and energies."""
    if model.space.preparation is not None:
        X = _prepared(graph, model.space.preparation, X)
    return _KINDS[type(model.space)](graph, model, X)


def _prepared(graph: Graph, preparation: Preparation, X: str) -> str:
    """Return rows as they are compared, as :class:`Preparation` makes them."""
    if preparation.square_root:
        X = graph.op("Mul", graph.op("Sign", X), graph.op("Sqrt", graph.op("Abs", X)))
    if len(preparation.shares):
        V = preparation.directions
        along = graph.op("MatMul", X, graph.reals(V.T * preparation.shares))
        X = graph.op("Sub", X, graph.op("MatMul", along, graph.reals(V)))
    if preparation.unit:  # a row of zeros stays
        lengths = graph.op("Sqrt", _squares(graph, X))
        X = graph.op("Div", X, graph.op("Max", lengths, graph.reals(np.finfo(np.float32).tiny)))
    return X


def _linear(graph: Graph, model: Model, X: str) -> Signals:
    correlations = graph.op("MatMul", X, graph.reals(np.hstack(model.atoms)))
    return Signals(correlations, "", _squares(graph, X))


def _exact(graph: Graph, model: Model, X: str) -> Signals:
    space = model.space
    assert isinstance(space, KernelSpace)
    K = _kernel(graph, space.kernel, X, space.rows)
    return Signals(_dual(graph, model, K), "", _energies(graph, space.kernel, X))


def _given(graph: Graph, model: Model, X: str) -> Signals:
    space = model.space
    assert isinstance(space, PrecomputedSpace)
    energies = ""
    if space.training_diagonal is not None:
        energies = _constant_like(graph, X, space.training_diagonal)
    return Signals(_dual(graph, model, graph.columns(X, space.fit_indices)), "", energies)


def _landmarks(graph: Graph, model: Model, X: str) -> Signals:
    space, heads = model.space, ""
    assert isinstance(space, LandmarkSpace)
    K = _kernel(graph, space.kernel, X, space.rows)
    Z = graph.op("MatMul", K, graph.reals(space.basis))
    atoms = np.hstack(model.atoms)
    first = _first(graph, Z, len(atoms), space.basis.shape[1])
    for head in model.rule.heads:
        part = _first(graph, Z, len(head), space.basis.shape[1])
        heads = graph.op("MatMul", part, graph.reals(head))
    correlations = graph.op("MatMul", first, graph.reals(atoms))
    return Signals(correlations, heads, _energies(graph, space.kernel, X))


def _first(graph: Graph, Z: str, count: int, width: int) -> str:
    """Return the first coordinates of all."""
    if count == width:
        return Z
    return graph.op("Slice", Z, graph.indices([0]), graph.indices([count]), graph.indices([1]))


def _dual(graph: Graph, model: Model, K: str) -> str:
    """Return correlations with atoms that are combinations of the training rows of a class."""
    rows = [len(A) for A in model.atoms]
    groups = Groups.of(rows, model.n_atoms.tolist())
    parts = [
        graph.op("MatMul", part, graph.reals(groups.matrices(members, model.atoms)))
        for members, part in zip(groups.members, groups.split(graph, K), strict=True)
    ]
    return groups.with_sizes(model.n_atoms.tolist()).join(graph, parts)


def _kernel(graph: Graph, kernel: Kernel, X: str, rows: NDArray) -> str:
    """Return the kernel of rows with those of the model, as :class:`Kernel` computes it."""
    if callable(kernel.name):
        raise ModelFormatError(
            f"kernel={kernel.name!r} is code, which cannot be exported: use kernel='precomputed' "
            "and compute the kernel yourself, or kernel='rbf', 'poly' or 'linear'."
        )
    Z = kernel.centred(rows).astype(np.float64)
    if kernel.shift is not None:
        X = graph.op("Sub", X, graph.reals(kernel.shift))
    K = graph.op("MatMul", X, graph.reals(Z.T))
    if kernel.name == "linear":
        return K
    if kernel.name == "poly":
        return _power(graph, K, kernel)
    halves = graph.op("Mul", _squares(graph, X), graph.reals(0.5))
    K = graph.op("Sub", K, halves)
    K = graph.op("Sub", K, graph.reals(np.einsum("ij,ij->i", Z, Z) / 2))
    K = graph.op("Min", K, graph.reals(0.0))
    return graph.op("Exp", graph.op("Mul", K, graph.reals(1 / kernel.sigma / kernel.sigma)))


def _energies(graph: Graph, kernel: Kernel, X: str) -> str:
    """Return k(y, y), (N, 1)."""
    if kernel.name == "rbf":
        return _constant_like(graph, X, 1.0)
    squares = _squares(graph, X)
    return _power(graph, squares, kernel) if kernel.name == "poly" else squares


def _power(graph: Graph, products: str, kernel: Kernel) -> str:
    base = graph.op("Add", products, graph.reals(kernel.coef0))
    return graph.op("Pow", base, graph.reals(kernel.degree))


def _squares(graph: Graph, X: str) -> str:
    return graph.reduce("ReduceSumSquare", X, 1, keep=True)


def _constant_like(graph: Graph, X: str, value: float) -> str:
    """Return one number for every row, (N, 1)."""
    n_rows = graph.op("Shape", X, end=1)
    shape = graph.op("Concat", n_rows, graph.indices([1]), axis=0)
    return graph.op("Expand", graph.reals(value), shape)


_KINDS: dict[type, Callable[[Graph, Model, str], Signals]] = {
    LinearSpace: _linear,
    KernelSpace: _exact,
    PrecomputedSpace: _given,
    LandmarkSpace: _landmarks,
}
