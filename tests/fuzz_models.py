"""Damage model files in every way, and load them.

python tests/fuzz_models.py [--count 12000] [--seed 0]

Half of the damaged files keep their old checksum: they must give a clear error or an equal
model.  The other half is sealed anew, as a forger would, so that only the checks of the content
stand between the file and prediction: they must give a clear error or a model that predicts
something, or says by a ValueError why it cannot.  Memory is bounded by the file, time by a clock.
"""

import argparse
import io
import json
import random
import signal
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections import Counter
from copy import deepcopy
from pathlib import Path

import numpy as np
from make_models import FOLDER, OPTIONS, outputs
from safetensors.numpy import save as serialize

import kerndict
from kerndict.persistence import container

ERRORS = (kerndict.ModelFormatError, OSError)
SECONDS = 20
#: Bytes per byte of the file, and a constant for what a header and the estimators take.
MEMORY = (4, 2**18)
VALUES = [None, True, -1, 0, 1, 2**31, 2**70, 0.5, 1e308, "", "rbf", "precomputed", "object", "str"]
VALUES += ["int64", "Pipeline", "os.system", [], [1], [[[]]], {}, {"a": 1}, "x" * 300]
NUMBERS = [0, -1, 1, 2, 255, 2**31, 2**62, -(2**63), np.nan, np.inf, 1e308, -1e308, 1e-320]


# ------------------------------------------------------------------------ damage to the bytes


def flip(data, other, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 3, 10])):
        data[place(data, rng)] ^= 1 << rng.randrange(8)
    return bytes(data)


def overwrite(data, other, rng):
    start, size = place(data, rng), rng.randrange(1, 17)
    fill = rng.choice([rng.randbytes(size), b"\xff" * size, b"\0" * size, b"9" * size])
    return data[:start] + fill + data[start + size :]


def cut(data, other, rng):
    start = place(data, rng)
    return data[:start] + rng.choice([b"", data[start + rng.randrange(1, 100) :]])


def splice(data, other, rng):
    start, begin = place(data, rng), place(other, rng)
    piece = other[begin : begin + rng.randrange(1, 300)]
    return data[:start] + piece + data[start + rng.choice([0, len(piece)]) :]


def resize(data, other, rng):
    length = rng.choice([0, 1, 2**20, 2**20 + 1, 2**32, 2**63, 2**64 - 1, rng.randrange(len(data))])
    return length.to_bytes(8, "little") + data[8:] + rng.choice([b"", bytes(2**20)])


def redigit(data, other, rng):
    """Change numbers in the header: shapes, offsets, versions, parameters."""
    length = int.from_bytes(data[:8], "little")
    header = bytearray(data[8 : 8 + length])
    digits = [i for i, byte in enumerate(header) if chr(byte).isdigit()]
    for i in rng.sample(digits, min(len(digits), rng.randrange(1, 4))):
        header[i] = ord(rng.choice("0123456789"))
    return data[:8] + bytes(header) + data[8 + length :]


def place(data, rng):
    """Return a place, as often in the header as in the rest."""
    header = min(len(data), 8 + int.from_bytes(data[:8], "little"))
    return rng.randrange(header if rng.random() < 0.5 else len(data))


BYTES = [flip, overwrite, cut, splice, resize, redigit]


# ---------------------------------------------------------------------- damage to the content


def parse(data):
    """Return the document and the arrays of a file, its checksum unchecked."""
    file = io.BytesIO(data)
    document, places = container.read_header(file, len(data))
    return document, {name: container.read_array(file, name, place) for name, place in places}


def seal(document, arrays):
    """Return a file with the right checksum."""
    document = {key: value for key, value in document.items() if key != "sha256"}
    document["sha256"] = container.checksum(document, arrays)
    return serialize(arrays, {"kerndict": json.dumps(document)})


def sealed(data):
    """Return a damaged file with the right checksum, or as it is if it has no content."""
    try:
        return seal(*parse(data))
    except (ValueError, RecursionError):
        return data


def forge(data, other, rng):
    """Change the content of a file and seal it."""
    document, arrays = parse(data)
    for _ in range(rng.choice([1, 1, 2])):
        if rng.random() < 0.3:
            forge_document(document, rng)
        else:
            forge_array(arrays, parse(other)[1], rng)
    return seal(document, arrays)


def forge_document(document, rng):
    node = document
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = rng.choice(keys)
        if isinstance(node[key], (dict, list)) and node[key] and rng.random() < 0.8:
            node = node[key]
            continue
        if rng.random() < 0.3:
            del node[key]
        else:
            node[key] = deepcopy(rng.choice(VALUES))
        return


def forge_array(arrays, others, rng):
    name = rng.choice(sorted(arrays))
    array = arrays[name]
    way = rng.randrange(7)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if way == 0:
            del arrays[name]
        elif way == 1:
            arrays[rng.choice([f"{name}x", "9.scale", "extra", "0.", "1.rule.span"])] = array
        elif way == 2:
            arrays[name] = array.astype(rng.choice(["f2", "f4", "f8", "i4", "i8", "u1", "?"]))
        elif way == 3:
            flat = array.reshape(-1)
            arrays[name] = rng.choice([flat, flat[:-1], array[None], np.append(flat, flat[:1])])
        elif way == 4:
            arrays[name] = others[rng.choice(sorted(others))]
        elif array.size:
            array = array.copy()
            value = np.array(rng.choice(NUMBERS)).astype(array.dtype)
            array.reshape(-1)[rng.randrange(array.size)] = value
            arrays[name] = array if way == 5 else np.full_like(array, value)


# ------------------------------------------------------------------------------- the judgement


def judge(data, original, path, is_sealed):
    """Return what became of a damaged file; raise if it is none of what may be."""
    path.write_bytes(data)
    assert tracemalloc.is_tracing()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        model = kerndict.load(path)
    except ERRORS as error:
        model = type(error).__name__
    peak = tracemalloc.get_traced_memory()[1] - before
    assert peak <= MEMORY[0] * len(data) + MEMORY[1], f"{peak} bytes for a file of {len(data)}"
    if isinstance(model, str):
        return model
    X, expected = original
    try:
        found = outputs(model, X)
    except ValueError:
        assert is_sealed
        return "cannot predict"
    if same(found, expected):
        return "equal"
    assert is_sealed, "a changed model under the old checksum"
    assert len(found["predict"]) == len(X)
    assert set(found["predict"]) <= set(getattr(model, "classes_", found["predict"]))
    return "another model"


def same(found, expected):
    """Tell whether outputs are equal bit for bit, the order of bytes aside."""
    return found.keys() == expected.keys() and all(
        array.dtype == expected[name].dtype.newbyteorder("=")
        and np.array_equal(array, expected[name])
        for name, array in found.items()
    )


def large(folder):
    """Write a model of about a megabyte; return its path and rows for it."""
    X = np.random.default_rng(0).standard_normal((600, 150)).astype(np.float32)
    options = {**OPTIONS, "n_atoms": 100, "n_nonzero_coefs": 5, "decision": "residual"}
    model = kerndict.KernelDictionaryClassifier(**options, sigma=10).fit(X, np.arange(600) % 3)
    kerndict.save(model, folder / "large.safetensors")
    return folder / "large.safetensors", X[:5]


def main():
    import resource  # not everywhere, and the tests import this file

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=12_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    folder = Path(tempfile.mkdtemp())
    files = {path: np.load(path.with_suffix(".npz"))["X"] for path in sorted(FOLDER.glob("*.s*"))}
    files.update([large(folder)])
    originals = [
        (path.read_bytes(), X, outputs(kerndict.load(path), X)) for path, X in files.items()
    ]
    warnings.simplefilter("ignore")  # a forged model may overflow
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + 2**29,) * 2)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tracemalloc.start()
    counts, slowest, begin = Counter(), 0.0, time.perf_counter()
    for k in range(options.count):
        (data, X, expected), (other, _, _) = rng.choice(originals), rng.choice(originals)
        way = rng.choice([*BYTES, *BYTES, forge, forge, forge, forge, forge, forge])
        damaged = way(data, other, rng)
        is_sealed = k % 2 == 0 or way is forge
        damaged = sealed(damaged) if is_sealed else damaged
        signal.alarm(SECONDS)
        start = time.perf_counter()
        try:
            outcome = judge(damaged, (X, expected), folder / "damaged", is_sealed)
        except BaseException:
            Path("fuzz-failure.safetensors").write_bytes(damaged)
            print(f"file {k} ({way.__name__}, sealed: {is_sealed}) is in fuzz-failure.safetensors")
            raise
        signal.alarm(0)
        slowest = max(slowest, time.perf_counter() - start)
        counts[("sealed" if is_sealed else "unsealed", way.__name__, outcome)] += 1
    for key, count in sorted(counts.items()):
        print(f"{key[0]:9} {key[1]:10} {key[2]:18} {count:6}")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident
    seconds = time.perf_counter() - begin
    print(f"{options.count} files in {seconds:.0f} s, the slowest {slowest:.2f} s;")
    print(f"resident memory grew by {grown / 1024:.0f} MiB; no crash, no hang, no other error")


if __name__ == "__main__":
    sys.exit(main())
