"""Containers of arrays: .npz, and .mat of versions 5 and 7.3."""

import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, issparse

_HDF5 = b"\x89HDF\r\n\x1a\n"

#: What a file holds by name: an array, or the words for what is not one.
Found = dict[str, NDArray | str]


def read_container(path: Path) -> Found:
    """Return what a .npz or .mat file holds, whatever its name; nothing is unpickled."""
    with path.open("rb") as file:
        head = file.read(1024)
    try:
        if zipfile.is_zipfile(path):
            return _read_npz(path)
        if head.startswith(_HDF5) or head[512:].startswith(_HDF5):
            return _read_hdf5(path)
        if head.startswith(b"MATLAB 5.0 MAT-file"):
            return _read_mat(path)
    except ImportError:
        raise
    except Exception as error:
        raise ValueError(f"the file is damaged, or not what it seems: {error}.") from error
    kind = "an empty file" if not head else f"a file that begins with {head[:16]!r}"
    if head.startswith(b"PK\x03\x04"):
        kind = "a damaged .npz file (its end is missing)"
    elif head[:1] == b"\x80":
        kind = "a pickle, which is never loaded"
    raise ValueError(f"found {kind}, not a .npz file or a .mat file of version 5 or 7.3.")


def _read_npz(path: Path) -> Found:
    found: Found = {}
    with np.load(path, allow_pickle=False) as file:
        for name in file.files:
            try:
                item = file[name]
                found[name] = item if isinstance(item, np.ndarray) else "not an array"
            except ValueError as error:
                if "allow_pickle" not in str(error):
                    raise
                found[name] = "pickled, and never loaded"
    return found


def _read_mat(path: Path) -> Found:
    from scipy.io import loadmat

    arrays = loadmat(path)
    return {
        name: value.toarray() if issparse(value) else value
        for name, value in arrays.items()
        if not name.startswith("__")
    }


def _read_hdf5(path: Path) -> Found:
    try:
        import h5py
    except ImportError as error:
        raise ImportError(
            f"{path} is a .mat file of version 7.3: install h5py to read it, "
            "pip install 'kerndict[mat]'."
        ) from error
    found: Found = {}
    with h5py.File(path, "r") as file:
        for name, item in file.items():
            if isinstance(item, h5py.Dataset):
                found[name] = np.asarray(item).T  # MATLAB writes columns first
            elif "MATLAB_sparse" in item.attrs:
                rows = int(item.attrs["MATLAB_sparse"])
                columns = item["jc"][()].astype(np.int64)
                empty = (np.zeros(0), np.zeros(0, np.int64))
                data, indices = (item["data"][()], item["ir"][()]) if "data" in item else empty
                shape = (rows, len(columns) - 1)
                found[name] = csc_array((data, indices, columns), shape=shape).toarray()
            else:
                found[name] = "a structure"
    return found
