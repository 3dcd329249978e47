"""BLAS on one thread, for as long as anybody needs it so."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_inside = 0  # blocks that were entered and not left, of all threads
_before: list[int] = []


class _Own(threading.local):
    """How many of the blocks are those of the current thread."""

    inside = 0


_own = _Own()


@contextmanager
def single_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread inside the block.

    Most libraries have one number of threads for the whole process, and blocks may overlap in
    several threads, as the fits of a search do.  threadpoolctl alone would then lift the limit
    with the first to leave, and the last would restore what it found: the limit of another.
    """
    global _inside, _before
    with _lock:
        if _inside == 0:
            _before = [library.num_threads for library in _shared()]
        _inside += 1
        _own.inside += 1
    try:
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        with _lock:
            _inside -= 1
            _own.inside -= 1
            _settle(_before if _inside == 0 else [1] * len(_before))


@cache
def _controller() -> ThreadpoolController:
    """Return what controls the libraries of NumPy and SciPy; finding them takes milliseconds."""
    return ThreadpoolController()


@cache
def _shared() -> list[Any]:
    """Return the BLAS libraries whose number of threads is that of the process."""
    libraries = _controller().select(user_api="blas").lib_controllers
    return [each for each in libraries if each.info().get("threading_layer") != "openmp"]


def _settle(wanted: list[int]) -> None:
    """Set the numbers of threads, whoever set them last."""
    if [library.num_threads for library in _shared()] == wanted:
        return
    for library, number in zip(_shared(), wanted, strict=True):
        library.set_num_threads(number)
    # From 3.8 on, threadpoolctl lets nobody else set them until a block ends in this thread.
    with _controller().limit(limits=None):
        pass


def _forked() -> None:
    """Leave the blocks of all other threads, in a child process that does not have them."""
    global _inside
    others, _inside = _inside - _own.inside, _own.inside
    if others and not _inside:
        _settle(_before)
    _lock.release()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_forked)
