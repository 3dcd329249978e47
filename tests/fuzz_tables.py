"""Damage to tables of all kinds, and what the commands may make of them.

Every damaged file goes through `train`, `evaluate` or `predict`: it must give a result or one
line that says what is wrong, and memory stays within a limit, however large the file says its
content is.
"""

import gzip
import io
import os
import signal
import sys
import tracemalloc
import zipfile
import zlib
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path

from damage import BYTES, flip, redigit
from flowers import call

from kerndict.containers import child, mat

CORPUS = Path(__file__).parent / "data" / "fuzz"
#: What the content of a file may take while it is fuzzed, and bytes for all that is done to it:
#: so many times that, and a constant for the model, the prediction and the batches.
LIMIT, MEMORY = 2**22, (4, 2**24)
COLUMNS = ["a", "b", "c"]
TOKENS = ['"', '""', ",", ";", "\t", "\n", "\r", "\r\n", "\n\n", "\0", "\ufeff", "é", "'", "_", " "]
TOKENS += ["nan", "inf", "1e999", "-0", "0x10", "True", "1_0", "=1", "\x1b[31m", "1" * 400]
TOKENS += ['"\n1,2,3,x,"', "\x85", "\u2028", "\x1c", '"' * 50, "," * 50, "\n" * 50]


def tokens(data, other, rng):
    """Insert what means something in csv."""
    for _ in range(rng.choice([1, 1, 2, 5])):
        start = rng.randrange(len(data) + 1)
        data = data[:start] + rng.choice(TOKENS).encode() + data[start + rng.choice([0, 0, 1]) :]
    return data


def lines(data, other, rng):
    """Repeat, remove, swap or take over lines."""
    found = data.split(b"\n")
    i, j = rng.randrange(len(found)), rng.randrange(len(found))
    way = rng.randrange(5)
    if way == 0:
        found[i:i] = [found[j]] * rng.choice([1, 2, 300])
    elif way == 1:
        del found[i]
    elif way == 2:
        found[i], found[j] = found[j], found[i]
    elif way == 3:
        found[i:i] = other.split(b"\n")[:3]
    else:
        found[i] = found[i][: rng.randrange(len(found[i]) + 1)]
    return b"\n".join(found)


def zipped(data, other, rng):
    """Compress what is damaged, or damage what is compressed."""
    if rng.random() < 0.5:
        return gzip.compress(rng.choice([tokens, lines])(data, other, rng), 1)
    return rng.choice(BYTES)(gzip.compress(data, 1), gzip.compress(other, 1), rng)


def packed_anew(data, other, rng):
    """Damage a member of an archive; its checksum is right."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, ValueError, EOFError, OSError):
        return flip(data, other, rng)
    chosen = rng.randrange(len(members))
    name, content = members[chosen]
    way = rng.choice([*BYTES, redigit, redigit, redigit])
    members[chosen] = name, way(content, other, rng)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", rng.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])) as new:
        for name, content in members:
            new.writestr(name, content)
    return file.getvalue()


def inflated(data, other, rng):
    """Damage an element of a mat file of version 5 within its compression."""
    start = 128
    while start + 8 <= len(data):
        kind, size = (int.from_bytes(data[i : i + 4], "little") for i in (start, start + 4))
        if kind == 15 and rng.random() < 0.5:
            try:
                content = zlib.decompress(data[start + 8 : start + 8 + size])
            except zlib.error:
                break
            packed = zlib.compress(rng.choice(BYTES)(content, other, rng))
            head = data[:start] + data[start : start + 4] + len(packed).to_bytes(4, "little")
            return head + packed + data[start + 8 + size :]
        start += 8 + size
    return flip(data, other, rng)


WAYS = {
    "csv": [tokens, tokens, tokens, lines, lines, zipped, *BYTES],
    "npz": [packed_anew] * 6 + BYTES,
    "mat": [inflated, inflated, *BYTES],
    "parquet": BYTES,
    "feather": BYTES,
    "jsonl": [tokens, tokens, lines, lines, zipped, *BYTES],
}
#: Kinds with columns.
COLUMNAR = ("csv", "parquet", "feather", "jsonl")


class Forked:
    """A forked process that reads a mat file, in place of a new one, which takes a second."""

    def __init__(self, path, kind, limit, seconds, errors):
        asked, answered = os.pipe(), os.pipe()
        self.code, self.pid = None, os.fork()
        if not self.pid:
            try:
                signal.alarm(0)
                tracemalloc.stop()
                for old, new in ((asked[0], 0), (answered[1], 1), (errors.fileno(), 2)):
                    os.dup2(old, new)
                os.closerange(3, 256)
                sys.stdin = open(0, closefd=False)  # noqa: SIM115
                child.main(str(path), kind.name, limit, seconds)
            finally:
                os._exit(0)
        os.close(asked[0])
        os.close(answered[1])
        self.stdin, self.stdout = os.fdopen(asked[1], "wb"), os.fdopen(answered[0], "rb")

    def wait(self, seconds=None):
        if self.code is None:
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code

    poll = wait  # asked only of processes that have ended their answers

    def kill(self):
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)


def judge(path, data, command):
    """Return what became of a damaged file; raise if it is none of what may be."""
    path.write_bytes(data)
    output, errors = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    with redirect_stdout(output), redirect_stderr(errors):
        code = call(*command)
    peak = tracemalloc.get_traced_memory()[1] - before
    words = errors.getvalue()
    assert peak <= MEMORY[0] * LIMIT + MEMORY[1], f"{peak} bytes for a file of {len(data)}"
    assert code in (0, 1, 2), f"exit code {code}"
    assert "internal error" not in words, words
    if code:
        assert words.startswith("kerndict: "), words
        assert words.endswith("\n")
        assert words.count("\n") <= 1 + words.count("warning"), words
        return "error"
    check_rows(data, command, output)
    return command[0]


def check_rows(data, command, output):
    """Check that rows in are rows out, where that is plain to see: no quotes, one kind of end."""
    plain = not set(data) & set(b'"\r\0') and data[:2] != b"\x1f\x8b" and b"," in data
    known = (b"PK\x03\x04", b"PAR1", b"MATL", b"ARRO")
    if command[0] == "predict" and plain and data[:4] not in known and data.lstrip()[:1] != b"{":
        expected = sum(bool(line) for line in data.decode("utf-8-sig").split("\n"))
        output.flush()
        found = output.buffer.getvalue().decode().count("\n")
        assert found == expected, f"{found} lines for {expected}"


class Tables:
    """What `fuzz.py` does to tables of one kind."""

    def __init__(self, kind, folder):
        os.environ["KERNDICT_MAX_BYTES"] = str(LIMIT)
        self.path = folder / f"damaged.{kind}"
        self.kind, self.out, self.models = kind, folder / "out.safetensors", {}
        training = CORPUS / "csv" / "plain.csv"
        small = ["--n-atoms", "4", "--n-iter", "0", "--linear", "--label", "kind", "--drop", "note"]
        for rule in ("collaborative", "residual"):
            self.models[rule] = folder / f"{rule}.safetensors"
            with redirect_stdout(io.StringIO()):
                code = call(
                    "train", training, *small, "--decision", rule, "--out", self.models[rule]
                )
            assert code == 0
        self.seeds = [path.read_bytes() for path in sorted((CORPUS / kind).iterdir())]
        if kind == "mat":
            for name in ("mat5", "hdf5"):  # loaded here, so that no forked process has to
                import_module(f"kerndict.containers.{name}")
            mat._start = Forked

    def damaged(self, rng):
        """Return the name of a way, a damaged file, and the command that reads it."""
        way = rng.choice(WAYS[self.kind])
        data = way(rng.choice(self.seeds), rng.choice(self.seeds), rng)
        if rng.random() < 0.1:
            again = rng.choice(WAYS[self.kind])
            data = again(data, rng.choice(self.seeds), rng)
        return way.__name__, data, self.command(rng)

    def command(self, rng):
        model = rng.choice(sorted(self.models.values()))
        label = ["--label", rng.choice(["kind", "kind", "kind", "kind", "-1", "note"])]
        if self.kind in ("npz", "mat"):
            label = rng.choice([[], [], ["--label", "kind"]])
        small = ["--n-atoms", "2", "--n-iter", "0", "--linear", "--decision", "residual"]
        small += rng.choice([["--scale", "rows"], ["--scale", "columns"], ["--raw"]])
        drop = ["--drop", "note"] if self.kind in COLUMNAR and rng.random() < 0.9 else []
        copied = ["--id", "note"] if self.kind in COLUMNAR and rng.random() < 0.5 else []
        return rng.choice(
            [
                ["train", self.path, *label, *drop, *small, "--out", self.out],
                ["evaluate", model, self.path, *label],
                ["predict", model, self.path, *copied],
            ]
        )

    def judge(self, data, command):
        """Return what became of it."""
        return judge(self.path, data, command)
