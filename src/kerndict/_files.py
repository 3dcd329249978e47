"""Files that are written whole or not at all."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: str | os.PathLike) -> Iterator[Path]:
    """Give a path to write to, which takes the place of ``path`` once all is on the disk.

    Both are in one folder, so that the replacement is atomic: whatever happens, ``path``
    holds the old content or the new.  Links are followed, permissions kept; what is not a
    plain file (a folder, a device) is not replaced.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OSError(f"{path} is not a plain file: give the path of a file.")
    partial = target.with_name(f".kerndict-{secrets.token_hex(8)}.partial")
    try:
        yield partial
        if target.exists():
            shutil.copymode(target, partial)
        with partial.open("r+b") as file:
            os.fsync(file.fileno())
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
    if os.name == "posix":  # the new name itself must reach the disk, too
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
