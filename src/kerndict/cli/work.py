"""Long work: a bar with the time left, and Ctrl-C at any time."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from pathlib import Path
from typing import TypeVar

from numpy.typing import NDArray

from kerndict._jit import is_cold
from kerndict._words import clock
from kerndict.classifiers.progress import unwatched, watched
from kerndict.core import sweep

T = TypeVar("T")
#: Hears how far something is: in words, and as a share of the whole.
Teller = Callable[[str, float], None]
#: Work that takes longer is told of beforehand; seconds.
LONG = 60
#: Seconds between two lines where there is no terminal.
SAY_EVERY = 10.0


def say(text: str) -> None:
    """Tell on standard error how far it is."""
    print(f"kerndict: {text}", file=sys.stderr, flush=True)


def work(function: Callable[[], T], quiet: bool = False) -> T:
    """Return what a function returns, and show meanwhile how far the fits in it are.

    With ``quiet`` nothing is shown: somebody else does.

    It runs in a thread: this one can then end at Ctrl-C, whatever that one is computing.
    """
    result: list[T] = []
    errors: list[BaseException] = []
    with nullcontext(unwatched) if quiet else bar() as tell:

        def run() -> None:
            try:
                with watched(tell):
                    result.append(function())
            except BaseException as error:
                errors.append(error)

        worker = threading.Thread(target=copy_context().run, args=(run,), daemon=True)
        worker.start()
        while worker.is_alive():
            worker.join(0.2)
    if errors:
        raise errors[0]
    return result[0]


@contextmanager
def bar() -> Iterator[Teller]:
    """Give what shows how far something is: a bar on a terminal, else a line now and then."""
    if not sweep.sweep.signatures and is_cold(Path(sweep.__file__)):
        say("compiling, once on a machine: some ten seconds")
    if sys.stderr is None or not sys.stderr.isatty():
        yield _Lines()
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        yield _Lines()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("reading", total=1.0)
        yield lambda words, share: shown.update(task, description=words, completed=share)


class _Lines:
    """Tells how far something is in lines, where that takes long."""

    def __init__(self) -> None:
        self._begin = self._said = time.perf_counter()

    def __call__(self, words: str, share: float) -> None:
        now = time.perf_counter()
        if now - self._said > SAY_EVERY:
            self._said = now
            left = ""
            if share > 0:
                seconds = (now - self._begin) * (1 / share - 1)
                left = f": {100 * share:.0f} %, about {clock(seconds)} left"
            say(f"{words}{left}")


def warn_if_long(seconds: float) -> None:
    """Say beforehand that something will take long."""
    if seconds > LONG:
        say(f"the fit will take about {clock(seconds)}")


def kernel_bytes(X: NDArray) -> int:
    """Return the memory of the kernel matrix of some rows."""
    return X.itemsize * len(X) ** 2
