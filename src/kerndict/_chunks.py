"""Rows in chunks within the working memory, chunks in threads."""

import os
from collections.abc import Callable
from contextlib import nullcontext
from typing import TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from sklearn import config_context, get_config
from sklearn.utils import gen_batches

from kerndict._arrays import memory_of_device
from kerndict._threads import single_blas_thread

T = TypeVar("T")
#: Rows of a chunk, at most.
MOST_ROWS = 2048


def map_chunks(
    function: Callable[[slice], T],
    n_rows: int,
    *,
    row_bytes: int,
    fixed_bytes: int = 0,
    n_jobs: int | None = None,
) -> list[T]:
    """Return what a function gives for chunks of rows, in order.

    All threads together stay within scikit-learn's ``working_memory``; there are no more of them
    than cores, nor than that memory allows.

    Parameters
    ----------
    function : of a slice of rows
    n_rows : all rows
    row_bytes : what the function takes per row
    fixed_bytes : what it takes whatever the number of rows
    n_jobs : threads, as joblib counts them
    """
    config = get_config()

    # scikit-learn's own Parallel would also set the warning filters, which all threads share, and
    # leave them damaged where two of them do so at once.
    def configured(rows: slice) -> T:
        with config_context(**config):
            return function(rows)

    memory = config["working_memory"] * 2**20
    wanted = min(effective_n_jobs(n_jobs), os.cpu_count() or 1)
    threads = max(1, min(wanted, int(memory // (fixed_bytes + row_bytes))))
    each = memory / threads - fixed_bytes
    most = max(1, min(int(each // row_bytes), MOST_ROWS))
    chunks = threads * -(-n_rows // (most * threads))  # every thread gets as many
    parallel = Parallel(n_jobs=threads, prefer="threads", require="sharedmem")
    with single_blas_thread() if threads > 1 else nullcontext():
        return parallel(
            delayed(configured)(part) for part in gen_batches(n_rows, -(-n_rows // chunks))
        )


def map_on_device(function: Callable[[slice], T], n_rows: int, *, row_bytes: int) -> list[T]:
    """Return what a function gives for chunks of rows on a device, in order.

    Each is as large as scikit-learn's ``working_memory`` allows: a device works on all rows of a
    chunk at once.
    """
    memory = get_config()["working_memory"] * 2**20
    with memory_of_device(
        "let chunks be smaller by sklearn.set_config(working_memory=...), in MiB, or give the "
        "model fewer rows at a time."
    ):
        each = max(1, int(memory // row_bytes))
        return [function(part) for part in gen_batches(n_rows, each)]
