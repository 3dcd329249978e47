"""Damage to model files, and what may become of them.

Half of the damaged files keep their old checksum: they must give a clear error or an equal
model.  The other half is sealed anew, as a forger would, so that only the checks of the content
stand between the file and prediction: they must give a clear error or a model that predicts
something, or says by a ValueError why it cannot.  Memory is bounded by the file.
"""

import io
import json
import tracemalloc
import warnings
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy

import numpy as np
from damage import BYTES
from flowers import call
from make_models import FOLDER, OPTIONS, kept_rows, outputs
from safetensors.numpy import save as serialize

import kerndict
from kerndict.persistence import container

ERRORS = (kerndict.ModelFormatError, OSError)
#: Bytes per byte of the file, and a constant for what a header and the estimators take.
MEMORY = (4, 2**18)
VALUES = [None, True, -1, 0, 1, 2**31, 2**70, 0.5, 1e308, "", "rbf", "precomputed", "object", "str"]
VALUES += ["int64", "Pipeline", "os.system", [], [1], [[[]]], {}, {"a": 1}, "x" * 300]
NUMBERS = [0, -1, 1, 2, 255, 2**31, 2**62, -(2**63), np.nan, np.inf, 1e308, -1e308, 1e-320]


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


def judge(data, original, path, is_sealed):
    """Return what became of a damaged file; raise if it is none of what may be."""
    path.write_bytes(data)
    assert tracemalloc.is_tracing()
    for _ in range(2):  # what is imported late, or by other threads, is not asked for twice
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        try:
            model = kerndict.load(path)
        except ERRORS as error:
            model = type(error).__name__
        peak = tracemalloc.get_traced_memory()[1] - before
        if peak <= MEMORY[0] * len(data) + MEMORY[1]:
            break
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


class Models:
    """What `fuzz.py` does to model files."""

    def __init__(self, folder):
        self.path = folder / "damaged.safetensors"
        files = {path: kept_rows(path) for path in sorted(FOLDER.glob("*.s*"))}
        files.update([large(folder)])
        self.originals = [
            (path.read_bytes(), (X, outputs(kerndict.load(path), X))) for path, X in files.items()
        ]

    def damaged(self, rng):
        """Return the name of a way, a damaged file, and what is needed to judge it."""
        (data, original), (other, _) = rng.choice(self.originals), rng.choice(self.originals)
        way = rng.choice([*BYTES, *BYTES, *([forge] * 6)])
        data, is_sealed = way(data, other, rng), way is forge
        if not is_sealed and rng.random() < 0.5:
            data, is_sealed = sealed(data), True
        kind = "sealed" if is_sealed else "unsealed"
        return f"{kind} {way.__name__}", data, (original, is_sealed)

    def judge(self, data, needed):
        """Return what became of it; what loads can also be inspected, in words and in JSON."""
        outcome = judge(data, needed[0], self.path, needed[1])
        for options in ([], ["--json"]):
            output, errors = io.StringIO(), io.StringIO()
            with redirect_stdout(output), redirect_stderr(errors):
                code = call("inspect", self.path, *options)
            assert code == (outcome in ("ModelFormatError", "OSError")), errors.getvalue()
            assert "internal error" not in errors.getvalue(), errors.getvalue()
        return outcome
