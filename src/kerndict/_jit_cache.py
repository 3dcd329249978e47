"""Machine code on disk: compiled once, loaded by every later process.

numba has such a cache.  This one takes its place because numba's does not notice a change in a
helper that lies in another file, fails where no folder can be written to, even at import, and
fails on a damaged file.  Here

1. every file has a stamp: the SHA-256 of the source of the function and of all files of this
   package that it imports, directly or not.  With another stamp the code is compiled anew;
2. every file has a checksum: a damaged one is named in a warning, and replaced;
3. a folder that can only be read is read; where none can be written to, a warning says so.

There is one file per function, signature, processor and version of Python and numba.  It lies in
the folder ``NUMBA_CACHE_DIR`` where that is set; else in ``__pycache__`` beside the source, as
numba's files do, or else in ``~/.cache/kerndict``.
"""

import hashlib
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba import config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from kerndict._files import written_whole
from kerndict._warn import warn_user

_PACKAGE = Path(__file__).parent
_DIGEST = hashlib.sha256().digest_size
_IMPORT = re.compile(
    rf"^\s*(?:from|import)\s+{_PACKAGE.name}\b([\w.]*)(?: import (\([^)]*\)|.*))?", re.M
)


class CodeCache(NullCache):
    """The machine code of one function, in place of numba's cache of a dispatcher."""

    def __init__(self, function: Callable) -> None:
        self._source = Path(function.__code__.co_filename)
        self._name = f"{self._source.stem}.{function.__qualname__}"

    def load_overload(self, signature: Any, target: Any) -> CompileResult | None:
        """Return the code for a signature, or None where there is none yet."""
        target.refresh()
        try:
            stamp = source_stamp(self._source)
        except OSError:  # no source, no way to tell that code is up to date
            return None
        name = self._file_name(signature, target.codegen())
        for folder in folders(self._source.parent):
            try:
                content = (folder / name).read_bytes()
            except OSError:
                continue
            if content[:_DIGEST] != stamp:
                continue
            try:
                return _rebuild(content[_DIGEST:], signature, target)
            except Exception as error:
                warn_user(
                    f"{folder / name}, compiled code, is damaged and made anew: {error!r}.",
                    RuntimeWarning,
                )
        return None

    def save_overload(self, signature: Any, result: CompileResult) -> None:
        """Keep the code for a signature, where there is a folder that takes it."""
        try:
            stamp = source_stamp(self._source)
            content = dumps((signature, result._reduce()))
        except Exception as error:
            return _warn_once(f"it cannot be read ({error!r})")
        name = self._file_name(signature, result.codegen)
        for folder in folders(self._source.parent):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                with written_whole(folder / name) as file:
                    file.write(stamp + _digest(content) + content)
            except OSError:
                continue
            return None
        return _warn_once("no folder for it can be written to")

    def _file_name(self, signature: Any, codegen: Any) -> str:
        """Return the name of the file: one for all that code depends on but its source."""
        versions = sys.implementation.cache_tag, numba.__version__, llvmlite.__version__
        options = str(config.OPT), config.BOUNDSCHECK
        key = repr((str(signature), codegen.magic_tuple(), versions, options))
        return f"{self._name}-{_digest(key.encode()).hex()[:32]}.code"


def folders(source: Path) -> Iterator[Path]:
    """Yield the folders that may hold the code of sources in a folder, the best one first."""
    own = f"{source.name}-{_digest(str(source).encode()).hex()[:16]}"
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR) / own
        return
    yield source / "__pycache__"
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    except RuntimeError:  # no home
        return
    yield home / "kerndict" / own


def is_cold(source: Path) -> bool:
    """Tell whether the functions of a source have yet to be compiled on this machine."""
    stamp = source_stamp(source)
    for folder in folders(source.parent):
        for path in folder.glob(f"{source.stem}.*.code"):
            try:
                with path.open("rb") as file:
                    if file.read(_DIGEST) == stamp:
                        return False
            except OSError:
                continue
    return True


@cache
def source_stamp(path: Path) -> bytes:
    """Return the SHA-256 of a source file and all files of this package that it imports."""
    sources: dict[Path, bytes] = {}
    _collect(path, sources)
    return _digest(b"".join(_digest(sources[each]) for each in sorted(sources)))


def _collect(path: Path, sources: dict[Path, bytes]) -> None:
    sources[path] = path.read_bytes()
    for dotted, names in _IMPORT.findall(sources[path].decode()):
        module = _PACKAGE.joinpath(*dotted.split("."))
        for place in (module, *(module / name for name in re.findall(r"\w+", names))):
            for file in (place.with_suffix(".py"), place / "__init__.py"):
                if file not in sources and file.is_file():
                    _collect(file, sources)


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _rebuild(content: bytes, signature: Any, target: Any) -> CompileResult:
    """Return the code from a checksum and what it was taken of."""
    if _digest(content[_DIGEST:]) != content[:_DIGEST]:
        raise ValueError("the checksum is wrong")
    kept, result = pickle.loads(content[_DIGEST:])
    if kept != signature:
        raise ValueError(f"it is for {kept}")
    return CompileResult._rebuild(target, *result)


@cache
def _warn_once(reason: str) -> None:
    warn_user(
        "The compiled code of kerndict is not kept on disk, so that every process compiles anew, "
        f"some ten seconds: {reason}. Set NUMBA_CACHE_DIR to a folder that can be written to.",
        RuntimeWarning,
    )
