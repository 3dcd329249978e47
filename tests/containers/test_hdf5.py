"""mat of version 7.3, which is HDF5: what it may refer to."""

import numpy as np
import pytest

from kerndict.containers import open_container
from kerndict.datasets import load_features

h5py = pytest.importorskip("h5py")

LINK = "a link to another place, which is not followed"
STORED = "stored in another file, which is not read"


def link(file, name, secret):
    file[name] = h5py.ExternalLink(str(secret) + ".h5", "/data")


def soft_link(file, name, secret):
    file["behind"] = h5py.ExternalLink(str(secret) + ".h5", "/")
    file[name] = h5py.SoftLink("/behind/data")


def store(file, name, secret):
    file.create_dataset(name, (2, 4), np.uint8, external=[(str(secret), 0, 8)])


def virtual(file, name, secret):
    layout = h5py.VirtualLayout((2, 4), np.uint8)
    layout[:] = h5py.VirtualSource(str(secret) + ".h5", "data", (2, 4))
    file.create_virtual_dataset(name, layout)


@pytest.fixture
def secret(tmp_path):
    (tmp_path / "secret").write_bytes(b"password")
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["data"] = np.frombuffer(b"password", np.uint8).reshape(2, 4)
    return tmp_path / "secret"


@pytest.mark.parametrize(
    ("way", "words"), [(link, LINK), (soft_link, LINK), (store, STORED), (virtual, STORED)]
)
def test_other_files_are_not_read(way, words, secret, tmp_path):
    with h5py.File(tmp_path / "f.mat", "w") as file:
        way(file, "fea", secret)
        file["gnd"] = [[1, 1, 2, 2]]
    with h5py.File(tmp_path / "f.mat") as file:
        assert file["fea"][()].tobytes() == b"password"  # HDF5 would read it
    with pytest.raises(ValueError, match=f"fea is {words}"):
        load_features(tmp_path / "f.mat")


@pytest.mark.parametrize("part", ["data", "ir", "jc"])
@pytest.mark.parametrize("way", [link, soft_link, store, virtual])
def test_other_files_are_not_parts_of_a_sparse_matrix(way, part, secret, tmp_path):
    with h5py.File(tmp_path / "f.mat", "w") as file:
        group = file.create_group("fea")
        group.attrs["MATLAB_sparse"] = 4
        for name, values in {"data": [1.0, 2.0], "ir": [0, 1], "jc": [0, 1, 2]}.items():
            if name != part:
                group[name] = values
        way(group, part, secret)
        file["gnd"] = [[1, 1, 2, 2]]
    with pytest.raises(ValueError, match=f"the part '{part}' of a sparse matrix is not in the"):
        load_features(tmp_path / "f.mat")


def test_links_that_nobody_asks_for_do_no_harm(secret, tmp_path):
    X = np.arange(8.0).reshape(4, 2)
    with h5py.File(tmp_path / "f.mat", "w") as file:
        file["fea"], file["gnd"] = X.T, [[1, 1, 2, 2]]
        link(file, "other", secret)
    np.testing.assert_array_equal(load_features(tmp_path / "f.mat").data, X)
    with open_container(tmp_path / "f.mat") as container:
        assert container.items["other"].words == LINK
        with pytest.raises(ValueError, match=f"'other' is {LINK}"):
            container.read("other")


def test_what_is_not_an_array_of_numbers(tmp_path):
    with h5py.File(tmp_path / "f.mat", "w") as file:
        file["text"] = "a string of any length"
        file["record"] = np.zeros(2, [("a", int)])
        file["nothing"] = h5py.Empty("f8")
        file["type"] = np.dtype(float)
    with open_container(tmp_path / "f.mat") as container:
        assert not any(item.is_array for item in container.items.values())
        assert len(container.items) == 4
