"""npz files of unknown origin."""

import io
import sys
import zipfile

import numpy as np
import pytest

from kerndict.containers import open_container
from kerndict.datasets import load_features

X, y = np.random.default_rng(0).standard_normal((10, 4)), np.arange(10) % 3


def npy(array):
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)
    return file.getvalue()


def write(path, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)


def test_only_what_is_needed_is_read(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "f.npz", X=X, y=y, unused=np.zeros(1000))
    read = []
    original = np.lib.format.read_array
    monkeypatch.setattr(
        "kerndict.containers.npz.npy.read_array",
        lambda member, **options: read.append(member.name) or original(member, **options),
    )
    load_features(tmp_path / "f.npz")
    assert read == ["X.npy", "y.npy"]


def test_a_header_that_does_not_fit_its_data(tmp_path):
    data = npy(X).replace(b"(10, 4)", b"(99, 4)")
    write(tmp_path / "f.npz", [("X.npy", data), ("y.npy", npy(y))])
    with pytest.raises(ValueError, match=r"array of shape \(99, 4\) does not fit its data"):
        load_features(tmp_path / "f.npz")


def test_two_arrays_of_one_name(tmp_path):
    write(tmp_path / "f.npz", [("X.npy", npy(X)), ("X", npy(X)), ("y.npy", npy(y))])
    with pytest.raises(ValueError, match="two arrays of one name"):
        load_features(tmp_path / "f.npz")


def test_methods_that_numpy_does_not_write_are_not_tried(tmp_path):
    write(tmp_path / "f.npz", [("X.npy", npy(X)), ("y.npy", npy(y))], zipfile.ZIP_LZMA)
    with pytest.raises(ValueError, match="compressed in a way that NumPy does not use"):
        load_features(tmp_path / "f.npz")


def test_damage_is_found_when_an_array_is_read(tmp_path):
    large = np.tile(X, (1000, 1))
    np.savez(tmp_path / "f.npz", X=large, y=y)
    data = bytearray((tmp_path / "f.npz").read_bytes())
    data[data.index(large.tobytes()) + large.nbytes // 2] ^= 1
    (tmp_path / "f.npz").write_bytes(data)
    with open_container(tmp_path / "f.npz") as container:
        np.testing.assert_array_equal(container.read("y"), y)
        with pytest.raises(ValueError, match="the array 'X' is damaged: Bad CRC-32"):
            container.read("X")


def test_text_that_is_none(tmp_path):
    labels = np.array(["a", "b"] * 5).view(np.uint32)
    labels[3] = sys.maxunicode + 1
    for order in "<>":
        wrong = labels.astype(f"{order}u4").view(f"{order}U1")
        write(tmp_path / "f.npz", [("X.npy", npy(X)), ("y.npy", npy(wrong))])
        with pytest.raises(ValueError, match="the array 'y' is damaged: it holds what is no text"):
            load_features(tmp_path / "f.npz")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"(10, 4)", b"(10, 4("),
        (b"{'descr'", b"('descr'"),
        (b"'<f8'", b"'\n  '"),
        (b"{'descr'", b"\xff'descr'"),
        (b"False", b"((((("),
        (b"'descr'", b"[[[[[[["),
        (b"{'descr'", b" " * 11_000 + b"{'descr'"),
    ],
)
def test_headers_that_are_no_python(tmp_path, old, new):
    data = npy(X)
    assert old in data
    data = data.replace(old, new)
    length = data.index(X.tobytes()) - 10
    data = data[:8] + length.to_bytes(2, "little") + data[10:]
    write(tmp_path / "f.npz", [("X.npy", data), ("y.npy", npy(y))])
    with pytest.raises(ValueError, match=r"f\.npz: ") as caught:
        load_features(tmp_path / "f.npz")
    assert "\n" not in str(caught.value)


def test_names_are_one_line(tmp_path):
    write(tmp_path / "f.npz", [("a\nb.npy", npy(X)), ("c", b"text")])
    with pytest.raises(ValueError, match=r"Found: 'a\\nb' \(10, 4\) float64, c \(not an array\)\."):
        load_features(tmp_path / "f.npz")
