"""Rows of Dask collections, chunk by chunk, and the tasks that make each chunk."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask._task_spec import GraphNode, convert_legacy_graph
from dask.base import is_dask_collection
from dask.utils import ensure_dict
from distributed import Future

#: Where the lengths of chunks are not known, each is taken to have this many rows while rows are
#: drawn, so that every row has a place of its own.
SLOT = 2**32


class Chunks(NamedTuple):
    """Rows, labels and weights in chunks of the same rows.

    Parameters
    ----------
    keys : for each chunk those of its rows, labels and, if there are any, weights
    own : for each chunk the tasks that make it and that no other chunk needs; they can be run as
        one with whatever is done to the chunk, so that its rows are never moved nor kept
    shared : the other tasks, by key
    sizes : the rows of each chunk, None where Dask does not know them
    names : those of the columns, None for arrays
    """

    keys: list[tuple[Hashable, ...]]
    own: list[list[GraphNode]]
    shared: dict[Hashable, Any]
    sizes: list[int] | None
    names: list[Any] | None

    @property
    def first(self) -> list[int]:
        """The place of the first row of each chunk; chunks of unknown size are far apart."""
        if self.sizes is None:
            return [SLOT * number for number in range(len(self.keys))]
        return np.concatenate([[0], np.cumsum(self.sizes)])[:-1].astype(int).tolist()


def is_frame(X: Any) -> bool:
    """Tell whether X is a Dask dataframe, or a column of one."""
    return is_dask_collection(X) and hasattr(X, "npartitions") and hasattr(X, "map_partitions")


def is_array(X: Any) -> bool:
    """Tell whether X is a Dask array."""
    return isinstance(X, da.Array)


def whole_rows(X: Any) -> Any:
    """Return rows with all their columns in one chunk.

    Raises
    ------
    TypeError
        X is no Dask array or dataframe.
    ValueError
        X does not have two dimensions.
    """
    if not is_array(X) and not is_frame(X):
        raise TypeError(
            f"X is a {type(X).__name__}: give a Dask array or dataframe, or fit the classifier of "
            "the same name without Dask to rows in memory."
        )
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions: give one row per sample, (rows, features).")
    return X.rechunk({1: -1}) if is_array(X) and X.numblocks[1] > 1 else X


def aligned(X: Any, y: Any, sample_weight: Any = None) -> Chunks:
    """Return rows, labels and weights in chunks of the same rows.

    Arrays of known chunk sizes may be cut differently; all others must have as many chunks as X.
    """
    X = whole_rows(X)
    columns = {"y": y} if sample_weight is None else {"y": y, "sample_weight": sample_weight}
    found = [X, *(_column(name, values, X) for name, values in columns.items())]
    # What X and y come from has the same names in both, as long as nothing is joined.
    found = [each.optimize(fuse=False) if is_frame(each) else each for each in found]
    graph: dict[Hashable, Any] = {}
    for each in found:
        graph |= ensure_dict(each.__dask_graph__())
    sizes = None
    if is_array(X) and not any(np.isnan(size) for size in X.chunks[0]):
        sizes = [int(size) for size in X.chunks[0]]
    names = None if is_array(X) else list(X.columns)
    keys = list(zip(*map(_keys, found), strict=True))
    return Chunks(keys, *_divided(convert_legacy_graph(graph), keys), sizes, names)


def _keys(collection: Any) -> list[Hashable]:
    """Return the key of each chunk of rows."""
    found = collection.__dask_keys__()
    return [key[0] if isinstance(key, list) else key for key in found]


def _column(name: str, values: Any, X: Any) -> Any:
    """Return one value per row, in as many chunks as X has."""
    if not is_array(values) and not is_frame(values):
        raise TypeError(
            f"{name} is a {type(values).__name__}: give a Dask array or series with the same "
            "chunks as X."
        )
    if values.ndim != 1:
        raise ValueError(f"{name} has {values.ndim} dimensions: give one value per sample.")
    if is_array(values) and is_array(X) and values.chunks[0] != X.chunks[0]:
        known = not np.isnan([*values.chunks[0], *X.chunks[0]]).any()
        if known and sum(values.chunks[0]) == sum(X.chunks[0]):
            return values.rechunk((X.chunks[0],))
        if known:
            raise ValueError(
                f"{name} has {sum(values.chunks[0])} values for {sum(X.chunks[0])} rows of X: "
                "give one per row."
            )
    here, there = (len(_keys(each)) for each in (values, X))
    if here != there:
        raise ValueError(
            f"{name} has {here} chunks and X {there}, and their sizes are not known: give both "
            "with the same chunks, as columns of one dataframe have, or call "
            "compute_chunk_sizes()."
        )
    return values


def _divided(
    graph: dict[Hashable, Any], wanted: Sequence[Sequence[Hashable]]
) -> tuple[list[list[GraphNode]], dict[Hashable, Any]]:
    """Return the tasks that only one of the chunks needs, for each, and all others it needs."""
    shared, owner = -1, dict[Hashable, int]()
    for number, keys in enumerate(wanted):
        ahead = [key for key in keys if key in graph]
        while ahead:
            key = ahead.pop()
            before = owner.get(key)
            if before in (number, shared):
                continue
            owner[key] = number if before is None else shared
            ahead.extend(need for need in _needs(graph[key]) if need in graph)
    own: list[list[GraphNode]] = [[] for _ in wanted]
    others: dict[Hashable, Any] = {}
    for key, number in owner.items():
        if number == shared or _is_future(graph[key]):
            others[key] = graph[key]
        else:
            own[number].append(graph[key])
    return own, others


def _is_future(node: Any) -> bool:
    return not isinstance(node, GraphNode) or isinstance(getattr(node, "value", None), Future)


def _needs(node: Any) -> Sequence[Hashable]:
    return () if _is_future(node) else tuple(node.dependencies)
