"""How every compiled function is compiled.

Two decorators: :func:`compiled` for functions that Python calls, whose machine code is kept on
disk from process to process, and :func:`part` for those that only compiled functions call, which
are compiled into their callers.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import config, njit

try:
    from kerndict._jit_cache import CodeCache, is_cold
except ImportError:  # a numba whose cache is built otherwise: every process compiles anew
    CodeCache = None  # type: ignore[assignment, misc]

    def is_cold(source: Path) -> bool:
        """Tell whether the functions of a source have yet to be compiled."""
        return True


__all__ = ["compiled", "is_cold", "part"]


def compiled(*, ordered: bool = False) -> Callable[[Callable], Any]:
    """Compile a function that Python calls.

    Parameters
    ----------
    ordered : bool, every sum in the order that is written; otherwise in any order, so that sums
        can be vectorised
    """

    def compile_and_keep(function: Callable) -> Any:
        dispatcher = njit(**_options(ordered))(function)
        if CodeCache is not None and not config.DISABLE_JIT:
            dispatcher._cache = CodeCache(function)
        return dispatcher

    return compile_and_keep


def part(*, ordered: bool = False, inline: bool = False) -> Callable[[Callable], Any]:
    """Compile a function that only compiled functions call.

    Parameters
    ----------
    ordered : bool, as for :func:`compiled`
    inline : bool, for functions that are worth a copy at every call
    """
    return njit(forceinline=inline, **_options(ordered))


def _options(ordered: bool) -> dict[str, Any]:
    """Return numba's options: free of the interpreter lock; infinities and NaN keep their meaning.

    Division by zero gives them.
    """
    fastmath: Any = False if ordered else {"reassoc", "contract"}
    return {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
