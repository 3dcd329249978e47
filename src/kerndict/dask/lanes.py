"""Adding up what chunks say, on the workers of a cluster.

The chunks are cut into as many *lanes* as the cluster has threads.  Within a lane one chunk is
added after the other, and the sum stays on its worker; the sums of the lanes are then added in
pairs, the sums of pairs in pairs, and so on.  So a thread holds the sum before a chunk and the
one after it, or the two of a pair and theirs.  What is added to what depends on the chunks and on
the number of threads, never on which worker is faster or dies.

Each lane begins on a thread of its own.  A chunk that is made for nothing else is made where the
sum before it is; of one that is there already, it or the sum is moved, whichever is smaller.
"""

from collections.abc import Callable, Hashable, Sequence
from itertools import zip_longest
from typing import Any
from uuid import uuid4

import dask
import numpy as np
from dask._task_spec import DataNode, GraphNode, Task, TaskRef
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from dask.sizeof import sizeof
from dask.utils import parse_bytes
from distributed import Client

from kerndict.dask.chunks import Chunks

_WARN = "distributed.admin.large-graph-warning-threshold"


def cut_in_lanes(weights: Sequence[float], n_lanes: int) -> list[range]:
    """Return neighbouring chunks in lanes of about the same weight, none of them empty.

    >>> cut_in_lanes([1, 1, 1, 1, 4], 2)
    [range(0, 4), range(4, 5)]
    """
    n_lanes = max(1, min(n_lanes, len(weights)))
    middle = np.cumsum(weights) - np.asarray(weights) / 2
    lane = np.minimum(middle / max(float(np.sum(weights)), 1e-300) * n_lanes, n_lanes - 1)
    ends = np.searchsorted(lane.astype(int), np.arange(n_lanes), side="right").tolist()
    return [range(a, b) for a, b in zip([0, *ends], ends, strict=False) if b > a]


def add_up(
    client: Client,
    chunks: Chunks,
    name: str,
    step: Callable[..., Any],
    merge: Callable[[Any, Any], Any],
    shared: object,
    first: Sequence[int],
    weights: Sequence[float] | None = None,
) -> Any:
    """Return what all chunks say together.

    Parameters
    ----------
    client : of the cluster
    chunks : the rows
    name : what the tasks are called
    step : of the sum before, or None, ``shared``, the number of a chunk, the place of its first
        row, its rows, its labels and maybe its weights: the sum with them
    merge : of two sums, neighbours: the sum of both
    shared : what every step needs
    first : the place of the first row of each chunk
    weights : how long the step of each chunk takes, as far as is known
    """
    threads = [worker for worker, count in client.nthreads().items() for _ in range(count)]
    lanes = cut_in_lanes([1.0] * len(first) if weights is None else weights, len(threads))
    token = uuid4().hex
    common = f"kerndict-{name}-{token}"
    needed = {**chunks.shared, common: DataNode(common, shared)}
    graph: dict[Hashable, Any] = {}
    sums: list[Hashable] = []
    heads: dict[Hashable, str] = {}
    for lane, worker in zip_longest(lanes, threads[: len(lanes)]):
        before: Hashable | None = None
        for number in lane:
            key = f"kerndict-{name}-chunk-{number}-{token}"
            sum_before = None if before is None else TaskRef(before)
            parts = [TaskRef(part) for part in chunks.keys[number]]
            task: GraphNode = Task(
                key, step, sum_before, TaskRef(common), number, first[number], *parts
            )
            own = chunks.own[number]
            graph[key] = GraphNode.fuse(*own, task, key=key) if own else task
            if before is None and worker is not None:
                heads[key] = worker
            before = key
        sums.append(before)
    level = 0
    while len(sums) > 1:
        level += 1
        pairs = [sums[k : k + 2] for k in range(0, len(sums), 2)]
        sums = []
        for number, pair in enumerate(pairs):
            key = f"kerndict-{name}-merge-{level}-{number}-{token}"
            if len(pair) == 2:
                graph[key] = Task(key, merge, TaskRef(pair[0]), TaskRef(pair[1]))
            sums.append(key if len(pair) == 2 else pair[0])
    where = {"workers": heads.get, "allow_other_workers": True}
    layers = {
        "needed": MaterializedLayer(needed),
        "heads": MaterializedLayer({key: graph.pop(key) for key in heads}, where),
        sums[0]: MaterializedLayer(graph),
    }
    if not graph:  # a single chunk
        layers[sums[0]] = layers.pop("heads")
    above = list(layers)
    layered = HighLevelGraph(layers, {key: set(above[:k]) for k, key in enumerate(above)})
    return _computed(client, Delayed(sums[0], layered), sizeof(shared))


def _computed(client: Client, value: Delayed, known_bytes: int) -> Any:
    """Return a value; nothing goes on where that fails or is interrupted."""
    warn = parse_bytes(dask.config.get(_WARN)) + known_bytes
    with dask.config.set({_WARN: warn}):  # what every step needs is no mistake of anybody
        future = client.compute(value, optimize_graph=False)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise
