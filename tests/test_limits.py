"""How much memory the content of a file may take."""

import gzip
import os
import re
import tracemalloc
import zlib

import numpy as np
import pytest
from flowers import call
from scipy.io import savemat
from scipy.sparse import csc_array

from kerndict._limits import max_bytes, stored_bytes
from kerndict.containers import open_container
from kerndict.datasets import load_features
from kerndict.tables import Selection, open_table, text


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


def zipped(path):
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("a,b,kind\n" + "1,2,x\n3,4,y\n" * 50_000)


def repeated(path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    ones = np.ones(100_000)
    columns = {"a": ones, "b": ones, "kind": ["x", "y"] * 50_000}
    parquet.write_table(arrow.table(columns), path, row_group_size=1000)


@pytest.mark.parametrize("write", [zipped, repeated])
def test_small_files_with_many_rows(write, tmp_path, monkeypatch, capsys):
    data = tmp_path / "data"
    write(data)
    arguments = ["train", data, "--label", "kind", "--out", tmp_path / "m", "--linear"]
    monkeypatch.setenv("KERNDICT_MAX_BYTES", "1M")
    assert call(*arguments) == 1
    errors = capsys.readouterr().err
    assert re.search(r"rows and more, would take 1,\d{3},\d{3} bytes of memory", errors)
    assert "KERNDICT_MAX_BYTES" in errors


def test_a_large_row_group(tmp_path, monkeypatch, capsys):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    values = np.random.default_rng(0).random(10_000)
    columns = {"a": values, "kind": ["x", "y"] * 5000}
    parquet.write_table(arrow.table(columns), tmp_path / "data")
    arguments = ["train", tmp_path / "data", "--label", "kind", "--out", tmp_path / "m"]
    monkeypatch.setenv("KERNDICT_MAX_BYTES", "10K")
    assert call(*arguments) == 1
    assert "data: row group 1 would take" in capsys.readouterr().err


def test_one_long_label(tmp_path, monkeypatch, capsys):
    rows = "".join(f"{i},2,{'xy'[i % 2]}\n" for i in range(1000))
    (tmp_path / "data").write_text(f"a,b,kind\n{rows}3,4,{'z' * 10_000}\n")
    arguments = ["train", tmp_path / "data", "--label", "kind", "--out", tmp_path / "m"]
    monkeypatch.setenv("KERNDICT_MAX_BYTES", "10M")
    assert call(*arguments) == 1
    assert "the array of labels would take 40,040,000 bytes" in capsys.readouterr().err


@pytest.mark.parametrize("head", [b"", b"a,b,kind\n1,2,x\n"])
def test_a_line_without_an_end(head, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(text, "MAX_LINE", 2**16)
    with gzip.open(tmp_path / "data", "wb", compresslevel=1) as file:
        file.write(head + b"1," * 2**22)
    arguments = ["train", tmp_path / "data", "--label", "kind", "--out", tmp_path / "m"]
    tracemalloc.start()
    try:
        assert call(*arguments) == 1
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()
    assert "a line of more than 65,536 characters" in capsys.readouterr().err


def test_long_rows_make_small_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "MAX_LINE", 2**12)
    (tmp_path / "data").write_text("a,note\n" + f"1,{'z' * 1000}\n" * 100)
    with open_table(str(tmp_path / "data")) as table:
        batches = [len(batch.X) for batch in table.batches(Selection([0]))]
    assert sum(batches) == 100
    assert max(batches) == 5
