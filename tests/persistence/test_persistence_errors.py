"""What cannot be saved or loaded says so, and whatever happens the old file stays."""

import dataclasses
import errno
import json
import os
import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from conftest import toy
from fuzz_models import parse, seal
from make_models import FOLDER, RESIDUAL
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder, StandardScaler

import kerndict
from kerndict import DictionaryClassifier, KernelDictionaryClassifier, ModelFormatError
from kerndict.persistence import container

X, y = toy()
LINEAR = DictionaryClassifier(**RESIDUAL).fit(X, y)
SMALL = DictionaryClassifier(1, 1)


def example(name="linear-collaborative"):
    return (FOLDER / f"{name}.safetensors").read_bytes()


# --------------------------------------------------------------------------------------- saving


class Subclass(DictionaryClassifier):
    pass


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KernelDictionaryClassifier(**RESIDUAL, kernel=rbf_kernel), "code, which a file cannot"),
        (make_pipeline(KernelPCA(2), DictionaryClassifier(1, 1)), r"KernelPCA.*OneHot.*skops\.io"),
        (
            make_pipeline(make_pipeline(KernelPCA(2)), DictionaryClassifier(1, 1)),
            r"KernelPCA.*by skops\.io\.dump",
        ),
        (
            make_pipeline(ColumnTransformer([("a", KernelPCA(2), [0, 1])]), SMALL),
            r"KernelPCA.*by skops\.io\.dump",
        ),
        (make_pipeline(OneHotEncoder(drop=X[0], sparse_output=False), SMALL), "drop="),
        (make_pipeline(SelectKBest(lambda X, y: f_classif(X, y), k=2), SMALL), "is code"),
        (make_pipeline(FunctionTransformer(np.abs), LINEAR), "func=<ufunc"),
        (make_pipeline(PCA(2, random_state=np.random.RandomState(0)), SMALL), "random_state=Rand"),
        (make_pipeline(Normalizer(), StandardScaler()), "StandardScaler cannot be written"),
        (GridSearchCV(LINEAR, {"n_atoms": [2]}, cv=2, refit=False), "give it refit=True"),
        (
            GridSearchCV(make_pipeline(Normalizer()), {}, cv=2, scoring=lambda *_: 0),
            "Normalizer can",
        ),
        (Subclass(3, 1), "Subclass cannot be written"),
        (DictionaryClassifier(3, 1, random_state=np.random.RandomState(0)), "random_state=Rand"),
        (DictionaryClassifier(3, 1, init=[np.ones((10, 3))] * 3), r"init=\[array"),
    ],
)
def test_models_that_cannot_be_written(path, model, message):
    model.fit(X, y)
    with pytest.raises(ModelFormatError, match=message):
        kerndict.save(model, path)
    assert not list(path.parent.iterdir())


def test_settings_that_would_not_load_are_not_written(path):
    model = DictionaryClassifier(3, 1).fit(X, y).set_params(n_jobs=10**6)
    with pytest.raises(ModelFormatError, match="n_jobs=1000000 is not a number of threads"):
        kerndict.save(model, path)
    assert not list(path.parent.iterdir())


@pytest.mark.parametrize(
    "thing", [None, 3, "text", DictionaryClassifier, [LINEAR], {}, Pipeline([])]
)
def test_things_that_are_no_models(path, thing):
    with pytest.raises(ModelFormatError, match="cannot be written: give a DictionaryClassifier"):
        kerndict.save(thing, path)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([1, 2, 3]).astype("M8[s]"),
        np.array([1, 2, 3]).astype(np.longdouble),
        np.array(["a", 2, None], object),
    ],
)
def test_labels_that_cannot_be_written(path, labels):
    model = DictionaryClassifier(**RESIDUAL).fit(X, y)
    model.model_ = dataclasses.replace(model.model_, classes=labels)
    with pytest.raises(ModelFormatError, match="labels of the type"):
        kerndict.save(model, path)


@pytest.mark.parametrize(
    "model",
    [
        DictionaryClassifier(),
        KernelDictionaryClassifier(),
        make_pipeline(Normalizer(), DictionaryClassifier()),
        make_pipeline(StandardScaler(), LINEAR),
    ],
)
def test_unfitted_models(path, model):
    with pytest.raises(NotFittedError):
        kerndict.save(model, path)


def test_a_model_that_could_not_be_read_is_not_written(path):
    model = DictionaryClassifier(**RESIDUAL).fit(X, y)
    model.dictionaries_[0][0, 0] = np.nan
    with pytest.raises(ModelFormatError, match="'dictionaries' holds values that it cannot hold"):
        kerndict.save(model, path)
    assert not path.exists()


def test_headers_have_a_limit(path, monkeypatch):
    monkeypatch.setattr(container, "MAX_HEADER", 500)
    with pytest.raises(ModelFormatError, match="header exceeds 500"):
        kerndict.save(LINEAR, path)


# --------------------------------------------------------------------------------------- writing


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(path, monkeypatch, name):
    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path.write_bytes(b"old")
    monkeypatch.setattr(os, name, fail)
    with pytest.raises(OSError, match="No space left"):
        kerndict.save(LINEAR, path)
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_a_kill_leaves_the_old_file(path, name):
    path.write_bytes(b"old")
    code = f"""
import os, signal, kerndict
model = kerndict.load({str(FOLDER / "linear-residual.safetensors")!r})
os.{name} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
kerndict.save(model, {str(path)!r})
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    assert path.read_bytes() == b"old"
    assert len(list(path.parent.iterdir())) == 2
    kerndict.save(LINEAR, path)
    assert list(path.parent.iterdir()) == [path]
    np.testing.assert_array_equal(kerndict.load(path).predict(X), LINEAR.predict(X))


@pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")
def test_links_and_permissions_stay(path):
    target = path.with_name("target")
    target.write_bytes(b"old")
    target.chmod(0o640)
    path.symlink_to(target)
    kerndict.save(LINEAR, path)
    assert path.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert kerndict.load(path).score(X, y) == LINEAR.score(X, y)
    fresh = path.with_name("fresh")
    umask = os.umask(0o027)
    try:
        kerndict.save(LINEAR, fresh)
    finally:
        os.umask(umask)
    assert fresh.stat().st_mode & 0o777 == 0o640


def test_places_that_cannot_be_written(tmp_path):
    for place in (tmp_path, tmp_path / "missing" / "model", "/dev/null"):
        with pytest.raises(OSError, match=r"plain file|there is no folder"):
            kerndict.save(LINEAR, place)
    assert not list(tmp_path.iterdir())


# --------------------------------------------------------------------------------------- reading


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices of POSIX")
def test_places_that_cannot_be_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe", "/dev/zero", tmp_path / "missing"):
        with pytest.raises(OSError, match=r"plain file|No such file"):
            kerndict.load(place)


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("it was unpickled",))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        bytes(8),
        bytes(1000),
        b"\x02\0\0\0\0\0\0\0{}",
        b"\x02\0\0\0\0\0\0\0[]",
        b"\x04\0\0\0\0\0\0\0null",
        pickle.dumps(Bomb()),
        pickle.dumps([Bomb()] * 1000),
        b"PK\x03\x04" + bytes(100),
        b"a,b,c\n1,2,3\n" * 100,
        (2**64 - 1).to_bytes(8, "little") + b"{}",
        (10**6).to_bytes(8, "little") + b"[" * 10**6,
        (10**6).to_bytes(8, "little") + b'{"a":' * 200_000,
        container.serialize({"weight": np.zeros(3)}),
        container.serialize({"weight": np.zeros(3)}, {"format": "pt"}),
        container.serialize({}, {"kerndict": "{}"}),
        container.serialize({}, {"kerndict": "3"}),
        container.serialize({}, {"kerndict": "[" * 100_000}),
        container.serialize({}, {"kerndict": '{"format_version":1}'}),
        container.serialize({}, {"kerndict": '{"format_version":NaN}'}),
    ],
)
def test_foreign_files(path, data):
    path.write_bytes(data)
    with pytest.raises(ModelFormatError, match=r"model\.safetensors: ") as caught:
        kerndict.load(path)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("depth", [10, 300, 900, 990, 1000, 5000])
def test_deep_documents(path, depth):
    document = '{"format_version":1,"steps":' + "[" * depth + "]" * depth + "}"
    path.write_bytes(container.serialize({}, {"kerndict": document}))
    with pytest.raises(ModelFormatError):
        kerndict.load(path)


def test_a_truncated_file_at_every_length(path):
    data = example("linear-residual")
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(ModelFormatError):
            kerndict.load(path)
    path.write_bytes(data + b"\0")
    with pytest.raises(ModelFormatError):
        kerndict.load(path)


@pytest.mark.parametrize("version", [3, 0, -1, 1.0, True, "1", None, [1], 10**30])
def test_other_format_versions(path, version):
    document, arrays = parse(example())
    path.write_bytes(seal({**document, "format_version": version}, arrays))
    with pytest.raises(ModelFormatError, match=r"format version .* is not known.*'kerndict'"):
        kerndict.load(path)


def test_a_wrong_checksum(path):
    data = bytearray(example())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(ModelFormatError, match="checksum is wrong"):
        kerndict.load(path)


EMPTY = {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}
WORST = [
    json.dumps({"__metadata__": {"kerndict": f"[{'[],' * 43_000}[]]"}}),
    json.dumps(dict.fromkeys(map(str, range(1900)), EMPTY)),
]


@pytest.mark.parametrize("header", WORST, ids=["lists", "arrays"])
def test_the_worst_headers_take_a_few_mebibytes(path, header):
    assert 0.9 * container.MAX_HEADER < len(header) <= container.MAX_HEADER
    path.write_bytes(len(header).to_bytes(8, "little") + header.encode())
    tracemalloc.start()
    try:
        with pytest.raises(ModelFormatError):
            kerndict.load(path)
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


def test_huge_files_and_headers_take_no_memory(path):
    data = example()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    for entry in header.values():
        if "shape" in entry:
            entry.update(shape=[2**40, 2**20], data_offsets=[0, 2**62])
    coded = json.dumps(header).encode()
    sizes = [2**34, len(data), len(data)]
    contents = [
        (2**33).to_bytes(8, "little"),  # a sparse file with a header of half its size
        len(coded).to_bytes(8, "little") + coded + data[8 + length :],
        (2**62).to_bytes(8, "little") + data[8:],
    ]
    for size, content in zip(sizes, contents, strict=True):
        path.write_bytes(content)
        if size > len(content):
            os.truncate(path, size)
        tracemalloc.start()
        try:
            with pytest.raises(ModelFormatError):
                kerndict.load(path)
            assert tracemalloc.get_traced_memory()[1] < 2**20
        finally:
            tracemalloc.stop()


def large_and_sparse(path, n_entries):
    """Write a model with one more array, of zeros which are a hole in the file."""
    data = example()
    length = int.from_bytes(data[:8], "little")
    header, size = json.loads(data[8 : 8 + length]), len(data) - 8 - length
    end = size + 8 * n_entries
    header["extra"] = {"dtype": "F64", "shape": [n_entries], "data_offsets": [size, end]}
    coded = json.dumps(header).encode()
    content = len(coded).to_bytes(8, "little") + coded + data[8 + length :]
    path.write_bytes(content)
    os.truncate(path, 8 + len(coded) + end)


@pytest.mark.skipif(not hasattr(os, "SEEK_HOLE"), reason="holes cannot be told from zeros")
def test_a_hole_is_not_read(path, monkeypatch):
    large_and_sparse(path, 5 * 2**27)
    if path.stat().st_blocks * 512 > 2**20:
        pytest.skip("the file system has no sparse files")
    tracemalloc.start()
    try:
        with pytest.raises(ModelFormatError, match=r"would take 5,.* bytes .* KERNDICT_MAX_BYTES"):
            kerndict.load(path)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
    large_and_sparse(path, 2**17)  # small enough to be read, and found to be wrong
    with pytest.raises(ModelFormatError, match="checksum is wrong"):
        kerndict.load(path)
    monkeypatch.setenv("KERNDICT_MAX_BYTES", "1000K")
    with pytest.raises(ModelFormatError, match="more than the limit of 1,024,000 bytes"):
        kerndict.load(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"shape": [7]}, "the shape of the array 'classes' is not its size"),
        ({"shape": [-3]}, "the shape of the array 'classes' is not its size"),
        ({"shape": [True, 3]}, "the shape of the array 'classes' is not its size"),
        ({"shape": 3}, "the header of the array 'classes'"),
        ({"data_offsets": [0]}, "the header of the array 'classes'"),
        ({"data_offsets": None}, "the header of the array 'classes'"),
        ({"dtype": "BF16"}, "the array 'classes' has the type 'BF16'"),
        ({"dtype": []}, "the header of the array 'classes'"),
        ({"data_offsets": [0, 24]}, "is not where it should be"),
        ({"shape": [0], "data_offsets": [2**62, 2**62]}, "is not where it should be"),
    ],
)
def test_headers_that_do_not_fit_the_file(path, change, words):
    data = example("linear-residual")
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    assert header["classes"]["shape"] == [3]
    header["classes"].update(change)
    coded = json.dumps(header).encode()
    path.write_bytes(len(coded).to_bytes(8, "little") + coded + data[8 + length :])
    with pytest.raises(ModelFormatError, match=words):
        kerndict.load(path)
