"""Let every call fail that writes to a folder, one after the other; tell what is left each time.

    LD_PRELOAD=failing.so python tests/failing.py failing.so CASE FOLDER

prints a line of JSON per call: which it was, the error, the exit code, the words for people and
what the folder then holds.  Every attempt runs in a forked process, after which the folder is put
back.
"""

import ctypes
import errno
import hashlib
import json
import os
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
from flowers import SMALL, call, table, write
from store_rows import KEPT, RESULT, fill

import kerndict
from kerndict.paper.protocol import Row
from kerndict.paper.store import Store

MODELS = Path(__file__).parent / "data" / "models"
NEXT = Row("digits", "IV", "ikdl-rbf-uaksvd", 9)


def file(folder):
    """Return what is in the file that is written."""
    path = folder / "out"
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


class Save:
    """`save` over an older file."""

    state = staticmethod(file)

    def prepare(self, folder):
        (folder / "out").write_bytes(b"old")
        self.model = kerndict.load(MODELS / "pipeline.safetensors")

    def act(self, folder):
        kerndict.save(self.model, folder / "out")


class Train(Save):
    """`train --out` over an older file."""

    def prepare(self, folder):
        (folder / "out").write_bytes(b"old")
        self.data = write(folder.with_name("train.csv"), table()[::3])
        self.model = folder.with_name("model")
        arguments = ["--label", "species", *SMALL]
        self.arguments = ["train", self.data, *arguments, "--out"]
        with redirect_stdout(StringIO()):
            assert call(*self.arguments, self.model) == 0

    def act(self, folder):
        with redirect_stdout(StringIO()):
            return call(*self.arguments, folder / "out")


class Predict(Train):
    """`predict --out` over an older file, which it writes batch by batch."""

    def act(self, folder):
        write(self.data, table() * 60)
        return call("predict", self.model, self.data, "--out", folder / "out")


def rows(folder):
    """Return the accuracies that are kept, and whether the arrays are."""
    if not (folder / "results.sqlite").exists():
        return [[], False]
    with Store(folder) as store:
        kept = [row["accuracy"] for row in store.rows()]
        return [kept, store.arrays("digits") is not None]


class Add:
    """A new row, with new arrays, for a store that has some."""

    state = staticmethod(rows)

    def prepare(self, folder):
        fill(folder)

    def act(self, folder):
        with Store(folder) as store:
            store.add(NEXT, RESULT, None)


class Begin(Add):
    """A new store."""

    def prepare(self, folder):
        pass

    def act(self, folder):
        with Store(folder) as store:
            store.add(KEPT[0][0], RESULT, {"a": np.arange(3)})


CASES = {"save": Save, "train": Train, "predict": Predict, "add": Add, "begin": Begin}


def attempt(shim, case, folder, number, error, for_good):
    """Run a case in a process of its own; return what came of it, and how many calls there were."""
    reading, writing = os.pipe()
    if not os.fork():
        errors, code = StringIO(), 0
        shim.failing_start(str(folder).encode(), number, error, for_good)
        try:
            with redirect_stderr(errors):
                code = case.act(folder) or 0
        except OSError as failure:
            errors.write(str(failure))
            code = 1
        finally:
            calls = shim.failing_stop()
            os.write(writing, json.dumps([code, errors.getvalue(), calls]).encode())
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer = json.load(pipe)
    os.wait()
    return answer


def main(shim, name, folder):
    case, shim = CASES[name](), ctypes.CDLL(shim)
    folder, kept = Path(folder) / "folder", Path(folder) / "kept"
    folder.mkdir()
    case.prepare(folder)
    shutil.copytree(folder, kept)
    for error, for_good in ((errno.EIO, False), (errno.ENOSPC, True)):
        number, calls = 0, 1
        while number <= calls:
            number += 1
            code, words, calls = attempt(shim, case, folder, number, error, for_good)
            left = sorted(path.name for path in folder.iterdir() if path.suffix == ".partial")
            line = {"call": number, "failed": number <= calls, "error": errno.errorcode[error]}
            line |= {"code": code, "words": words, "state": case.state(folder), "left": left}
            print(json.dumps(line), flush=True)
            shutil.rmtree(folder)
            shutil.copytree(kept, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
