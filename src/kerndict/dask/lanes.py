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
    beginning: dict[Hashable, GraphNode] = {}
    rest: dict[Hashable, GraphNode] = {}
    sums: list[Hashable] = []
    for lane in lanes:
        tasks = _lane(chunks, lane, f"kerndict-{name}-chunk-{{}}-{token}", step, common, first)
        head, *others = tasks
        beginning[head.key] = head
        rest.update({task.key: task for task in others})
        sums.append(tasks[-1].key)
    total = _add_pairs(sums, f"kerndict-{name}-merge-{{}}-{{}}-{token}", merge, rest)
    where: dict[str, Any] = {}
    if threads:
        workers = dict(zip(beginning, threads, strict=False))
        where = {"workers": workers.get, "allow_other_workers": True}
    layers = {"needed": MaterializedLayer(needed), "beginning": MaterializedLayer(beginning, where)}
    if rest:
        layers["rest"] = MaterializedLayer(rest)
    above = list(layers)
    graph = HighLevelGraph(layers, {key: set(above[:k]) for k, key in enumerate(above)})
    return _computed(client, Delayed(total, graph, layer=above[-1]), sizeof(shared))


def _lane(
    chunks: Chunks,
    lane: range,
    name: str,
    step: Callable[..., Any],
    common: Hashable,
    first: Sequence[int],
) -> list[GraphNode]:
    """Return the steps of a lane, each of them with the tasks that only its chunk needs."""
    tasks: list[GraphNode] = []
    for number in lane:
        key = name.format(number)
        before = TaskRef(tasks[-1].key) if tasks else None
        parts = [TaskRef(part) for part in chunks.keys[number]]
        task = Task(key, step, before, TaskRef(common), number, first[number], *parts)
        own = chunks.own[number]
        tasks.append(GraphNode.fuse(*own, task, key=key) if own else task)
    return tasks


def _add_pairs(
    sums: list[Hashable],
    name: str,
    merge: Callable[[Any, Any], Any],
    tasks: dict[Hashable, GraphNode],
) -> Hashable:
    """Add the tasks that add sums in pairs, and pairs in pairs; return the key of the total."""
    level = 0
    while len(sums) > 1:
        level += 1
        pairs, sums = [sums[k : k + 2] for k in range(0, len(sums), 2)], []
        for number, pair in enumerate(pairs):
            key = pair[0]
            if len(pair) == 2:
                key = name.format(level, number)
                tasks[key] = Task(key, merge, TaskRef(pair[0]), TaskRef(pair[1]))
            sums.append(key)
    return sums[0]


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
