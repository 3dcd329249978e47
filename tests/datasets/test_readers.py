"""One small made-up file per layout, and everything that is none."""

import pickle
import zipfile

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csc_array

from kerndict.datasets import load_features

rng = np.random.default_rng(0)
X = rng.standard_normal((10, 4))
y = np.array([3, 3, 3, 5, 5, 5, 8, 8, 8, 8])
CODES = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 2])
ONE_HOT = np.eye(3)[CODES].T


def write_hdf5(path, **arrays):
    """Write as MATLAB 7.3 does: a block of user data, columns first."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in arrays.items():
            file[name] = np.asarray(array).T
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64")


def write_npz(path, **arrays):
    np.savez(path, **arrays)


def write_mat(path, **arrays):
    savemat(path, arrays)


ROWS = {"X": X, "y": y}
PARTS = {"x_train": X[:6].T, "y_train": y[:6], "x_test": X[6:].T, "y_test": y[6:]}
DPL = {"TrData": X[:6].T, "TrLabel": y[None, :6], "TtData": X[6:].T, "TtLabel": y[None, 6:]}
LAYOUTS = {
    "npz": (write_npz, ROWS, False),
    "npz with a mask": (write_npz, {**ROWS, "train": np.arange(10) < 6}, True),
    "npz of integers with a scale": (
        write_npz,
        {"X": np.round(X * 100).astype(np.int16), "y": y, "scale": 0.01},
        False,
    ),
    "npz in two parts": (write_npz, PARTS, True),
    "npz in two parts, one-hot": (
        write_npz,
        {**PARTS, "y_train": ONE_HOT[:, :6], "y_test": ONE_HOT[:, 6:]},
        True,
    ),
    "LC-KSVD": (write_mat, {"featureMat": X.T, "labelMat": ONE_HOT}, False),
    "LC-KSVD, sparse": (write_mat, {"featureMat": csc_array(X.T), "labelMat": ONE_HOT}, False),
    "LC-KSVD 7.3": (write_hdf5, {"featureMat": X.T, "labelMat": ONE_HOT}, False),
    "DPL": (write_mat, DPL, True),
    "DPL 7.3": (write_hdf5, DPL, True),
    "DICTOL": (write_mat, {"Y": X.T, "Y_range": np.array([[0, 3, 6, 10]])}, False),
    "DICTOL 7.3": (write_hdf5, {"Y": X.T, "Y_range": np.array([[0, 3, 6, 10]])}, False),
    "fea and gnd": (write_mat, {"fea": X, "gnd": y[:, None]}, False),
    "fea and gnd 7.3": (write_hdf5, {"fea": X, "gnd": y[:, None]}, False),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, tmp_path):
    write, arrays, split = LAYOUTS[layout]
    path = tmp_path / "features.npz"  # the name does not matter, the content does
    if write is write_mat:
        path = tmp_path / "features.mat"
    write(path, **arrays)
    if "7.3" in layout:
        path = path.rename(tmp_path / "features.dat")
    features = load_features(path)
    np.testing.assert_allclose(features.data, X, atol=0.006 if "scale" in layout else 0)
    np.testing.assert_array_equal(features.target, CODES)
    assert len(features.target_names) == 3
    assert features.data.flags.c_contiguous
    assert path.name in features.DESCR
    if split:
        np.testing.assert_array_equal(features.train, np.arange(10) < 6)
    else:
        assert features.train is None


def test_sparse_matrices_and_structures_of_version_7_3(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "f.mat"
    write_hdf5(path, featureMat=X.T)
    sparse = csc_array(ONE_HOT)
    with h5py.File(path, "r+") as file:
        group = file.create_group("labelMat")
        group.attrs["MATLAB_sparse"] = 3
        group["data"], group["ir"], group["jc"] = sparse.data, sparse.indices, sparse.indptr
        file.create_group("info")["name"] = 1
    np.testing.assert_array_equal(load_features(path).target, CODES)
    with h5py.File(path, "r+") as file:
        del file["labelMat"]
    with pytest.raises(ValueError, match=r"info \(a structure\)"):
        load_features(path)


def test_members_that_are_no_arrays(tmp_path):
    with zipfile.ZipFile(tmp_path / "f.npz", "w") as file:
        file.writestr("X", b"text")
        file.writestr("y", b"text")
    with pytest.raises(ValueError, match=r"Found: X \(not an array\), y \(not an array\)"):
        load_features(tmp_path / "f.npz")


def test_single_precision_is_kept(tmp_path):
    np.savez(tmp_path / "f.npz", X=X.astype(np.float32), y=y)
    assert load_features(tmp_path / "f.npz").data.dtype == np.float32


def test_string_labels_are_kept_as_names(tmp_path):
    np.savez(tmp_path / "f.npz", X=X, y=np.array(["b", "a"])[CODES % 2])
    features = load_features(tmp_path / "f.npz")
    assert features.target_names.tolist() == ["a", "b"]
    np.testing.assert_array_equal(features.target, 1 - CODES % 2)


class Trap:
    """Fails the test when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def test_pickles_are_never_loaded(tmp_path):
    objects = np.empty(2, dtype=object)
    objects[:] = [Trap(), Trap()]
    np.savez(tmp_path / "inside.npz", X=objects, y=y, allow_pickle=True)
    with pytest.raises(ValueError, match=r"Found: X \(pickled, and never loaded\), y"):
        load_features(tmp_path / "inside.npz")
    np.savez(tmp_path / "beside.npz", X=X, y=y, extra=objects, allow_pickle=True)
    assert load_features(tmp_path / "beside.npz").data.shape == (10, 4)
    (tmp_path / "plain.npz").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ValueError, match="a pickle, which is never loaded"):
        load_features(tmp_path / "plain.npz")


@pytest.mark.parametrize("layout", ["npz", "DPL", "LC-KSVD 7.3"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_truncated_files(layout, share, tmp_path):
    write, arrays, _ = LAYOUTS[layout]
    path = tmp_path / ("whole.npz" if layout == "npz" else "whole.mat")
    write(path, **arrays)
    content = path.read_bytes()
    cut = tmp_path / "cut"
    cut.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match=r"damaged|no known layout|Expected"):
        load_features(cut)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "an empty file"),
        (b"a,b,c\n1,2,3\n", r"begins with b'a,b,c.*not a \.npz file"),
        (b"\x93NUMPY\x01\x00", "not a .npz file"),
    ],
)
def test_other_files(content, words, tmp_path):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ValueError, match=words):
        load_features(tmp_path / "file")


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        (
            {"data": X, "labels": y},
            r"Found: data \(10, 4\) float64.*Expected one of: kerndict \(X, y\)",
        ),
        ({"X": X, "y": y[:7]}, "10 samples and 7 labels"),
        ({"X": X[0], "y": y}, r"shape \(4,\)"),
        ({"X": X.astype(str), "y": y}, "type <U"),
        ({"X": np.where(X > 1, np.nan, X), "y": y}, "NaN or infinity"),
        ({"X": X, "y": y, "train": np.arange(10)}, "not a mask"),
        ({"X": X, "y": y, "train": np.arange(4) < 2}, "4 entries of the mask"),
        ({"X": X, "y": y, "train": np.ones(10, bool)}, "leaves no samples for one"),
        ({"X": X, "y": y + 0.5}, "not whole numbers"),
        ({"X": X, "y": np.where(y > 3, np.nan, y)}, "not whole numbers"),
        ({"X": X[:0], "y": y[:0]}, r"shape \(0, 4\)"),
        ({**PARTS, "y_train": y[:7], "y_test": y[7:]}, "y_train has 7 labels for 6 signals"),
        ({**PARTS, "y_test": ONE_HOT[:, 6:]}, "in different ways"),
        ({"Y": X.T, "Y_range": [0, 3.7, 10]}, "does not cut"),
        ({"X": X, "y": y, "scale": np.ones(4)}, "must be one number"),
        ({**PARTS, "x_test": X[6:, :2].T}, "must have the same rows"),
        ({"featureMat": X.T, "labelMat": np.ones((3, 10))}, "not one-hot"),
        ({"Y": X.T, "Y_range": [0, 3, 2, 10]}, "does not cut"),
        ({"Y": X.T, "Y_range": [0, 3, 6]}, "does not cut"),
    ],
)
def test_wrong_contents_say_what_was_found(arrays, words, tmp_path):
    np.savez(tmp_path / "f.npz", **arrays)
    with pytest.raises(ValueError, match=words) as info:
        load_features(tmp_path / "f.npz")
    assert "Found:" in str(info.value)
    assert str(tmp_path / "f.npz") in str(info.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_features(tmp_path / "nothing.npz")


def test_the_feature_sets_at_hand(data_folder):
    for name, shape, n_classes, split in (
        ("yaleb", (2414, 504), 38, True),
        ("ar", (2600, 540), 100, False),
        ("coil20", (1440, 1024), 20, False),
    ):
        features = load_features(data_folder / f"{name}.npz")
        assert features.data.shape == shape
        assert len(features.target_names) == n_classes
        assert (features.train is not None) == split
