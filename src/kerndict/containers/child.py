"""The process that reads mat files: a crash or a flood of memory in it stays in it.

It talks to :class:`kerndict.containers.mat.MatFile` by lines of JSON, arrays follow as raw bytes.
"""

import json
import math
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from kerndict.containers.items import Item

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

#: Kinds of types that are plain values.
KINDS = "fiubcUS"
#: What the limits on memory leave for the libraries, beyond three times the limit on arrays.
_LIBRARIES = 2**28


def main(path: str, kind: str, limit: int, seconds: int) -> None:
    """Tell what a file holds, then send the arrays that are asked for.

    Parameters
    ----------
    path : the file
    kind : MAT5 or HDF5, the name of a kind of file and of the module that reads it
    limit : bytes that an array may take
    seconds : of processor time, between two questions
    """
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come among the answers
    try:
        open_file = import_module(f"kerndict.containers.{kind.lower()}").open_file
        _limit_memory(limit)
        _limit_time(seconds)
        file = open_file(Path(path))
        _send_items(out, file.items())
        for line in sys.stdin.buffer:
            _limit_time(seconds)
            _send_array(out, file.read(json.loads(line)))
    except BrokenPipeError:  # nobody is interested any more
        os._exit(0)
    except Exception as error:
        _send(out, error=str(error), type=type(error).__name__)


def _limit_memory(limit: int) -> None:
    """Limit memory where the system can, and write neither files nor cores."""
    if resource is None:
        return
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_FSIZE, 2**16)
    statm = Path("/proc/self/statm")
    if statm.exists():
        used = int(statm.read_text().split()[0]) * resource.getpagesize()
        _set(resource.RLIMIT_AS, used + 3 * limit + _LIBRARIES)


def _limit_time(seconds: int) -> None:
    """Limit the processor time from now on, where the system can."""
    if resource is not None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        _set(resource.RLIMIT_CPU, math.ceil(used.ru_utime + used.ru_stime) + seconds)


def _set(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    resource.setrlimit(which, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _send(out: BinaryIO, **message: object) -> None:
    out.write(json.dumps(message).encode() + b"\n")
    out.flush()


def _send_items(out: BinaryIO, items: dict[str, Item]) -> None:
    _send(out, items={name: [item.words, item.n_bytes] for name, item in items.items()})


def _send_array(out: BinaryIO, array: NDArray) -> None:
    if array.dtype.kind not in KINDS:
        raise ValueError(f"an array has the type {array.dtype}")
    columns_first = array.flags.f_contiguous and not array.flags.c_contiguous
    flat = np.ascontiguousarray(array.T if columns_first else array)
    _send(out, dtype=array.dtype.str, shape=array.shape, columns_first=columns_first)
    if flat.size:
        out.write(flat.reshape(-1).view(np.uint8).data)
    out.flush()
