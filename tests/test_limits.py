"""How much memory the content of a file may take."""

import os
import zlib

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csc_array

from kerndict._limits import max_bytes, stored_bytes
from kerndict.containers import open_container
from kerndict.datasets import load_features


@pytest.mark.parametrize(
    ("given", "expected"),
    [("500", 500), ("2K", 2048), ("3 mb", 3 * 2**20), ("8G", 2**33), ("", 2**30), ("1TB", 2**40)],
)
def test_the_limit_is_set_in_the_environment(given, expected, monkeypatch):
    monkeypatch.setenv("KERNDICT_MAX_BYTES", given)
    assert max_bytes(10) == expected


@pytest.mark.parametrize("given", ["much", "-5", "0", "1.5G", "G", "5X", "١"])
def test_limits_that_are_no_number(given, monkeypatch):
    monkeypatch.setenv("KERNDICT_MAX_BYTES", given)
    with pytest.raises(ValueError, match=f"KERNDICT_MAX_BYTES={given} is not a number of bytes"):
        max_bytes(10)


def test_large_files_may_take_more():
    assert max_bytes(2**30) == 20 * 2**30


@pytest.mark.skipif(not hasattr(os, "SEEK_HOLE"), reason="holes cannot be told from zeros")
def test_holes_are_not_stored(tmp_path):
    path = tmp_path / "file"
    with path.open("wb+") as file:
        for start in (0, 10 * 2**20):
            file.seek(start)
            file.write(b"x" * 2**16)
        file.truncate(100 * 2**20)
        file.flush()
        file.seek(77)
        if path.stat().st_blocks * 512 > 50 * 2**20:
            pytest.skip("the file system has no sparse files")
        assert 2**17 <= stored_bytes(file) < 2**20
        assert file.tell() == 77
    path.write_bytes(b"")
    with path.open("rb") as file:
        assert stored_bytes(file) == 0


def sparse_mat(path):
    savemat(path, {"fea": csc_array((10**5, 12_000)), "gnd": np.arange(10)})


def sparse_hdf5(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        group = file.create_group("fea")
        group.attrs["MATLAB_sparse"] = 10**6
        group.create_dataset("jc", (1201,), np.int64, compression="gzip")
        file["gnd"] = np.arange(10)


def hdf5(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file.create_dataset("fea", (12_000, 10**5), np.float64, chunks=(1000, 1000), compression=1)
        file["gnd"] = np.arange(10)


@pytest.mark.parametrize("write", [sparse_mat, sparse_hdf5, hdf5])
def test_small_files_with_large_arrays(write, tmp_path):
    write(tmp_path / "f")
    assert (tmp_path / "f").stat().st_size < 2**22
    with pytest.raises(ValueError, match=r"the array '.*' would take .* KERNDICT_MAX_BYTES"):
        load_features(tmp_path / "f")


def test_a_large_array_of_npz_is_read_if_it_is_needed(tmp_path, monkeypatch):
    X, large = np.eye(10), np.zeros(10**6)
    monkeypatch.setenv("KERNDICT_MAX_BYTES", "1M")
    np.savez_compressed(tmp_path / "f.npz", X=X, y=np.arange(10), unused=large)
    np.testing.assert_array_equal(load_features(tmp_path / "f.npz").data, X)
    np.savez_compressed(tmp_path / "f.npz", X=X, y=np.arange(10), train=large)
    with pytest.raises(ValueError, match=r"the array 'train' .* would take 8,000,800 bytes"):
        load_features(tmp_path / "f.npz")


def test_arrays_count_together(tmp_path, monkeypatch):
    X = np.zeros((10, 100))
    np.savez(tmp_path / "f", x_train=X.T, y_train=X[:, 0], x_test=X.T, y_test=X[:, 0])
    monkeypatch.setenv("KERNDICT_MAX_BYTES", "17000")
    assert load_features(tmp_path / "f.npz").data.shape == (20, 100)
    monkeypatch.setenv("KERNDICT_MAX_BYTES", "15000")
    with pytest.raises(ValueError, match=r"'x_test' .* would take 16,080 bytes .* of 15,000 bytes"):
        load_features(tmp_path / "f.npz")


def flood(path, n_bytes):
    """Write a mat file that says of an array of 48 bytes, when it is read, that it has n_bytes."""
    savemat(path, {"fea": np.ones((3, 2))})
    content = path.read_bytes()
    head, body = content[:128], content[128:]
    at = body.index(np.ones(6).tobytes())
    assert body[at - 4 : at] == (48).to_bytes(4, "little")
    packer = zlib.compressobj(1)
    packed = packer.compress(body[: at - 4] + n_bytes.to_bytes(4, "little"))
    packed += b"".join(packer.compress(bytes(2**20)) for _ in range(n_bytes // 2**20 + 1))
    packed += packer.flush()
    sizes = (15).to_bytes(4, "little") + len(packed).to_bytes(4, "little")
    path.write_bytes(head + sizes + packed)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is not limited here")
def test_the_process_that_reads_mat_files_is_limited(tmp_path, monkeypatch):
    flood(tmp_path / "f.mat", 2**29)
    with open_container(tmp_path / "f.mat") as container:
        assert container.items["fea"].n_bytes == 48
        monkeypatch.setenv("KERNDICT_MAX_BYTES", "1M")
    with (
        open_container(tmp_path / "f.mat") as container,
        pytest.raises(ValueError, match="takes more memory than the limit of 1,048,576 bytes"),
    ):
        container.read("fea")
