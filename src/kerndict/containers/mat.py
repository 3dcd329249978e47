"""mat files, read in a process of their own.

The libraries that parse them were not written for files of unknown origin: some damaged files
crash them.  So they run in a child process with limits on memory and time, which sends the arrays
back, and a crash is an error like any other.
"""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import prod
from multiprocessing import spawn
from pathlib import Path
from threading import Timer
from typing import IO, Any, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from kerndict._limits import VARIABLE, check_bytes, max_bytes, stored_bytes
from kerndict.containers.child import KINDS
from kerndict.containers.items import Container, Item
from kerndict.containers.kinds import Kind

#: Seconds for an answer: so many, and one for so many bytes of the file.
_SECONDS, _BYTES_PER_SECOND = 60, 2**20
_LATE = getattr(signal, "SIGXCPU", 99)
_MAX_LINE = 2**24
_PLAIN = re.compile(rf"[<>|=][{KINDS}][0-9]{{1,9}}")


class MatFile(Container):
    """An open mat file of version 5 or 7.3."""

    def __init__(self, path: Path, kind: Kind) -> None:
        if kind is Kind.HDF5 and importlib.util.find_spec("h5py") is None:
            raise ImportError(
                f"{path} is a .mat file of version 7.3: install h5py to read it, "
                "pip install 'kerndict[mat]'."
            )
        with path.open("rb") as file:
            size = stored_bytes(file)
        self.limit = max_bytes(size)
        self._expired = False
        self._seconds = _SECONDS + size // _BYTES_PER_SECOND
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._child = _start(path, kind, self.limit, self._seconds, self._errors)
        except BaseException:
            self._errors.close()
            raise
        try:
            with self._in_time():
                listed = self._message()["items"]
            self.items = {name: Item(*item) for name, item in listed.items()}
        except BaseException:
            self.close()
            raise

    def _read(self, name: str) -> NDArray:
        with self._in_time():
            try:
                self._stdin.write(json.dumps(name).encode() + b"\n")
                self._stdin.flush()
            except OSError:
                self._fail()
            return self._array(name, self._message())

    def close(self) -> None:
        """End the process."""
        self._child.kill()
        self._child.wait()
        self._stdout.close()
        with suppress(OSError):  # what it could not be told any more
            self._stdin.close()
        self._errors.close()

    @property
    def _stdin(self) -> IO[bytes]:
        return cast(IO[bytes], self._child.stdin)

    @property
    def _stdout(self) -> IO[bytes]:
        return cast(IO[bytes], self._child.stdout)

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """End the process if an answer takes too long."""
        timer = Timer(self._seconds, self._expire)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _expire(self) -> None:
        self._expired = True
        self._child.kill()

    def _message(self) -> dict[str, Any]:
        line = self._stdout.readline(_MAX_LINE)
        if not line.endswith(b"\n"):
            self._fail()
        message = json.loads(line)
        if message.get("type") == "MemoryError":
            raise ValueError(
                f"reading it takes more memory than the limit of {self.limit:,} bytes allows. If "
                f"the file is what you expect, set the environment variable {VARIABLE} to a higher "
                "limit, such as 8G."
            )
        if "error" in message:
            words = message["error"].rstrip(".")
            raise ValueError(f"the file is damaged, or not what it seems: {words}.")
        return message

    def _array(self, name: str, header: dict[str, Any]) -> NDArray:
        """Return the array that follows a header."""
        shape = [int(length) for length in header["shape"]]
        if not _PLAIN.fullmatch(header["dtype"]) or min(shape, default=0) < 0:
            raise ValueError(f"the array {name!r} is damaged.")
        dtype = np.dtype(header["dtype"])
        check_bytes(prod(shape) * dtype.itemsize, self.limit, f"the array {name!r}")
        array = np.empty(shape[::-1] if header["columns_first"] else shape, dtype)
        if array.nbytes:
            rest = array.reshape(-1).view(np.uint8).data
            while rest:
                count = self._stdout.readinto(rest)  # type: ignore[attr-defined]
                if not count:
                    self._fail()
                rest = rest[count:]
        return array.T if header["columns_first"] else array

    def _fail(self) -> NoReturn:
        """Tell why the process has ended without an answer."""
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(5)
        code = self._child.poll()
        if code is None or self._expired or code == -_LATE:
            words = f"it took more than {self._seconds} seconds"
        elif code < 0:
            words = f"it crashed the library that reads it ({signal.strsignal(-code)})"
        else:
            self._errors.seek(0)
            lines = self._errors.read(2**16).decode(errors="replace").splitlines() or [""]
            words = f"the process that reads it ended with code {code} ({lines[-1]})"
        raise ValueError(f"the file is damaged, or not what it seems: {words}.")


def _start(
    path: Path, kind: Kind, limit: int, seconds: int, errors: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start the process, with the same modules at hand."""
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; from kerndict.containers.child import main; "
        f"main({str(path)!r}, {kind.name!r}, {limit}, {seconds})"
    )
    return subprocess.Popen(
        [spawn.get_executable(), "-W", "ignore", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
