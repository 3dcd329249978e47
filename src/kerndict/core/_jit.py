"""How every compiled function of the core is compiled."""

from typing import Any

#: Cached on disk, free of the interpreter lock, sums in any order (so that they can be
#: vectorised); infinities and NaN keep their meaning, and division by zero gives them.
JIT: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract"},
}

#: The same with every operation as written.
ORDERED: dict[str, Any] = {**JIT, "fastmath": False}

#: For parts of a loop that are worth a copy at every call.
INLINE: dict[str, Any] = {**ORDERED, "forceinline": True}
