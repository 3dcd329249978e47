"""Files that are written whole or not at all."""

import errno
import os
import secrets
import stat
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, TextIO

try:
    import fcntl
except ImportError:  # not on Windows, which removes no file that is open
    fcntl = None  # type: ignore[assignment]

_BEGIN, _END = ".kerndict-", ".partial"
_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def written_whole(path: str | os.PathLike, force: bool = False) -> Iterator[BinaryIO]:
    """Give a file to write to, which takes the place of ``path`` once all is on the disk.

    Both are in one folder, so that the replacement is atomic: whatever happens, ``path``
    holds the old content or the new.  Links are followed, permissions kept; what is not a
    plain file (a folder, a device) is not replaced, nor is what is read-only without ``force``.
    What writers that were killed have left in the folder is removed.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OSError(f"{path} is not a plain file: give the path of a file.")
    if not target.parent.is_dir():
        words = f"there is no folder {Path(path).parent}: make it, or give another path"
        raise FileNotFoundError(errno.ENOENT, words, str(path))
    if is_read_only(target) and not force:
        raise PermissionError(f"{path} is read-only: make it writable, or give another path.")
    _sweep(target.parent)
    partial, descriptor = _partial(target)
    try:
        with _named(path, _FULL), os.fdopen(descriptor, "wb") as file:
            yield file
            with _named(path):
                file.flush()
                os.fsync(descriptor)
                if fcntl is None:
                    file.close()  # Windows replaces no file by one that is open
                os.replace(partial, target)  # still locked, so that nobody sweeps it up
    finally:
        with suppress(OSError):  # which is then swept up later
            partial.unlink()
    if os.name == "posix":  # the new name itself must reach the disk, too
        with _named(path):
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


@contextmanager
def text_written_whole(path: str | os.PathLike, force: bool = False) -> Iterator[TextIO]:
    """Give a file for text in UTF-8, with line ends as they are; see :func:`written_whole`."""
    with written_whole(path, force) as file:
        text = TextIOWrapper(file, encoding="utf-8", newline="")
        try:
            yield text
            text.flush()
        finally:
            with suppress(OSError):  # what is left after an error is not needed
                text.detach()


def is_read_only(path: Path) -> bool:
    """Tell whether a file is there that must not be changed; root could change any."""
    if not path.exists():
        return False
    return not (path.stat().st_mode & 0o222 and os.access(path, os.W_OK))


@contextmanager
def _named(path: str | os.PathLike, numbers: Container[int] | None = None) -> Iterator[None]:
    """Let errors, or those of some numbers, name a file, whatever stood in its place."""
    try:
        yield
    except OSError as error:
        if error.errno is None or (numbers is not None and error.errno not in numbers):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _partial(target: Path) -> tuple[Path, int]:
    """Create a file beside another, with its permissions from the start, and lock it."""
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        partial = target.with_name(f"{_BEGIN}{secrets.token_hex(8)}{_END}")
        descriptor = os.open(partial, flags, 0o666 if mode is None else mode)
        try:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)  # whatever the umask
            _lock(descriptor)
            if os.fstat(descriptor).st_nlink:  # else swept up before it was locked
                return partial, descriptor
        except BaseException:
            os.close(descriptor)
            partial.unlink(missing_ok=True)
            raise
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Lock an open file for as long as it is open; tell whether that worked."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # somebody else has it, or the file system has no locks
        return False
    return True


def _sweep(folder: Path) -> None:
    """Remove what was not written to its end, and is not being written."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    for path in folder.glob(f"{_BEGIN}*{_END}"):
        with suppress(OSError):
            descriptor = os.open(path, flags)
            try:
                idle = stat.S_ISREG(os.fstat(descriptor).st_mode) and _lock(descriptor)
                if idle and fcntl is not None:
                    path.unlink()
            finally:
                os.close(descriptor)
            if idle and fcntl is None:
                path.unlink()
