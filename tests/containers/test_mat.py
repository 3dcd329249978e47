"""mat files of unknown origin: wrong arrays, crashes and floods end in errors, not in damage."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csc_array

from kerndict.containers import mat, open_container
from kerndict.datasets import load_features

FOLDER = Path(__file__).parents[1] / "data" / "mat"
rng = np.random.default_rng(0)
X = rng.standard_normal((40, 3))
y = np.arange(40) % 4


def write_sparse_hdf5(path, data, rows, ends, n_rows):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w", userblock_size=512) as file:
        group = file.create_group("fea")
        group.attrs["MATLAB_sparse"] = n_rows
        group["data"], group["ir"], group["jc"] = data, rows, ends
        file["gnd"] = y[None, :]
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64")


@pytest.mark.parametrize(
    ("rows", "ends", "words"),
    [
        ([0, 10**8, 5], [0, 1, 3], "has an entry in another row"),
        ([0, 45, 5], [0, 1, 3], "has an entry in another row"),
        ([0, -1, 5], [0, 1, 3], "has an entry in another row"),
        (np.array([0, 2**63, 5], np.uint64), [0, 1, 3], "has an entry in another row"),
        ([0, 1, 5], [0, 1, 10**8], "not in order, or beyond its entries"),
        ([0, 1, 5], [0, 3, 1], "not in order, or beyond its entries"),
        ([0, 1, 5], [0, -5, 3], "not in order, or beyond its entries"),
        ([0, 1, 5], [1, 2, 3], "not in order, or beyond its entries"),
        ([0, 1], [0, 1, 2], "differ in length"),
        ([0.5, 1, 5], [0, 1, 3], "are not numbers"),
        ([[0, 1, 5]], [0, 1, 3], "are not lists"),
        ([0, 1, 5], 3, "has no columns"),
    ],
)
def test_sparse_indices_of_version_7_3_are_checked(rows, ends, words, tmp_path):
    write_sparse_hdf5(tmp_path / "f.mat", [1.0, 2.0, 3.0], rows, ends, 40)
    with pytest.raises(ValueError, match=words):
        load_features(tmp_path / "f.mat")


@pytest.mark.parametrize("n_spare", [0, 2])
def test_sparse_matrices_of_version_7_3(n_spare, tmp_path):
    matrix = csc_array(np.where(X > 0.5, X, 0))
    spare = np.zeros(n_spare)
    data = np.append(matrix.data, spare)
    rows = np.append(matrix.indices, spare).astype(np.uint64)
    write_sparse_hdf5(tmp_path / "f.mat", data, rows, matrix.indptr.astype(np.uint64), 40)
    np.testing.assert_array_equal(load_features(tmp_path / "f.mat").data, matrix.toarray())


@pytest.mark.parametrize("index", [45, 10**8, -1])
def test_sparse_indices_of_version_5_are_checked(index, tmp_path):
    matrix = csc_array(np.where(X > 0.5, X, 0))
    matrix.indices[3] = index
    savemat(tmp_path / "f.mat", {"fea": matrix, "gnd": y})
    with pytest.raises(ValueError, match="a sparse matrix of 40 rows has an entry in another row"):
        load_features(tmp_path / "f.mat")


@pytest.mark.parametrize("name", ["crash-dense.mat", "crash-sparse.mat"])
def test_files_that_crash_scipy(name):
    with pytest.raises(ValueError, match=r"\.mat: .*the file is damaged, or not what it seems"):
        load_features(FOLDER / name)


def start_with(monkeypatch, code):
    """Let a process run other code than the reader."""

    def start(path, kind, limit, seconds, errors):
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", code]
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors)

    monkeypatch.setattr(mat, "_start", start)


@pytest.fixture
def good(tmp_path):
    savemat(tmp_path / "good.mat", {"fea": X, "gnd": y})
    return tmp_path / "good.mat"


def test_a_crash_is_an_error(good, monkeypatch):
    start_with(monkeypatch, "import os; os.abort()")
    with pytest.raises(ValueError, match=r"good.mat: the file is damaged, .* it crashed|code 3"):
        load_features(good)


def test_a_hang_is_an_error(good, monkeypatch):
    monkeypatch.setattr(mat, "_SECONDS", 0.5)
    start_with(monkeypatch, "import time; time.sleep(100)")
    with pytest.raises(ValueError, match=r"it took more than 0\.5 seconds"):
        load_features(good)


def test_a_failure_to_start_shows_its_reason(good, monkeypatch):
    start_with(monkeypatch, "raise SystemExit('no such thing')")
    with pytest.raises(ValueError, match=r"ended with code 1 \(no such thing\)"):
        load_features(good)


ITEMS = '{"items": {"fea": ["", 8], "gnd": ["", 8]}}'


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ('{"dtype": "|O8", "shape": [40, 3], "columns_first": false}', "'fea' is damaged"),
        ('{"dtype": "<f8", "shape": [-40], "columns_first": false}', "'fea' is damaged"),
        ('{"dtype": "<f8", "shape": [1000000000], "columns_first": false}', "8,000,000,000 bytes"),
        ('{"dtype": "<f8", "shape": [40], "columns_first": false}', "ended with code 0"),
        ('{"type": "MemoryError", "error": ""}', "takes more memory than the limit"),
    ],
)
def test_answers_are_checked(answer, words, good, monkeypatch):
    code = f"print('{ITEMS}', flush=True); input(); print('{answer}')"
    start_with(monkeypatch, code)
    with pytest.raises(ValueError, match=words):
        load_features(good)


def test_limits_of_the_process(tmp_path):
    resource = pytest.importorskip("resource")
    code = (
        "import resource; from kerndict.containers import child; child._limit_memory(2**20); "
        "child._limit_time(7); print([resource.getrlimit(which)[0] for which in "
        "(resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_CORE)])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    memory, seconds, core = map(int, done.stdout.strip("[]\n").split(","))
    assert 7 < seconds < 30
    assert core == 0
    if Path("/proc/self/statm").exists():
        assert memory not in (resource.RLIM_INFINITY, 0)


def test_no_process_and_no_file_is_left(good):
    with open_container(good) as container:
        child = container._child
        assert container.read("fea").shape == (40, 3)
    assert child.poll() is not None
    assert container._errors.closed


def test_only_what_is_needed_is_read():
    features = load_features(FOLDER / "crash-unused.mat")  # a structure beside the features
    assert features.data.shape == (10, 4)


def test_types_and_orders_are_kept(tmp_path):
    arrays = {
        "a": np.asfortranarray(X.astype(np.float32)),
        "b": np.arange(24, dtype=np.int16).reshape(2, 3, 4),
        "c": np.zeros((0, 3)),
        "d": np.array(["one", "three"]),
        "e": X + 1j,
        "f": np.array([[True, False]]),
    }
    savemat(tmp_path / "f.mat", arrays)
    with open_container(tmp_path / "f.mat") as container:
        for name, expected in arrays.items():
            found = container.read(name)
            np.testing.assert_array_equal(np.char.strip(found) if name == "d" else found, expected)
            assert found.dtype.kind in (expected.dtype.kind, "u")
