"""Write the small files in tests/data/fuzz, which `fuzz.py` damages.

python tests/make_corpus.py

Files that were once read wrongly are kept beside them, under names of their own.
"""

import bz2
import gzip
import json
import shutil
import zipfile

import h5py
import numpy as np
import pyarrow
from fuzz_tables import COLUMNS, CORPUS
from pyarrow import parquet
from pyarrow.feather import write_feather
from scipy.io import savemat
from scipy.sparse import csc_array
from store_rows import fill

rng = np.random.default_rng(0)
y = np.arange(24) % 3
X = np.round(rng.standard_normal((24, 3)) + 2 * np.eye(3)[y], 2)
KINDS = np.array(["x", "y", "z"])[y]


def text(delimiter=",", end="\n", note="n{}", header=(*COLUMNS, "kind", "note")):
    """Return the table as text."""
    rows = [[*map(str, row), kind] for row, kind in zip(X.tolist(), KINDS, strict=True)]
    cells = [[*row, note.format(i)] for i, row in enumerate(rows)]
    return "".join(delimiter.join(line) + end for line in [header, *cells]).encode()


def csv(folder):
    files = {
        "plain.csv": text(),
        "semicolons.csv": b"\xef\xbb\xbf" + text(";", "\r\n"),
        "tabs.csv": text("\t", "\n\n"),
        "quoted.csv": text(note='"line {}\nand ""more"", here"'),
        "quoted-rows.csv": text(note='"{},2\n3,4"', end="\r"),
        "numbers.csv": text(header=("0", "1", "2", "3", "4")),
        "one-column.csv": b"a\n1\n2\n3\n",
        "zipped.csv.gz": gzip.compress(text(), mtime=0),
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)


def npz(folder):
    np.savez(folder / "plain.npz", X=X, y=y)
    train = np.arange(24) % 2 == 0
    np.savez_compressed(folder / "split.npz", X=X.astype("f4"), y=KINDS, train=train, scale=0.5)
    parts = {"x_train": X.T, "y_train": y, "x_test": X.T, "y_test": y}
    np.savez_compressed(folder / "parts.npz", **parts)
    np.savez(folder / "bytes.npz", X=np.asfortranarray(X), kind=KINDS.astype("S"))


def mat(folder):
    savemat(folder / "plain.mat", {"fea": X, "gnd": y})
    savemat(folder / "packed.mat", {"fea": X, "gnd": y}, do_compression=True)
    savemat(folder / "sparse.mat", {"fea": csc_array(np.where(X > 0.5, X, 0)), "gnd": y})
    savemat(folder / "text.mat", {"fea": X.astype("f4"), "gnd": y, "kind": KINDS})
    parts = {"TrData": X.T, "TtData": X.T, "TrLabel": y, "TtLabel": y}
    savemat(folder / "parts.mat", parts, do_compression=True)
    one_hot = {"featureMat": X.T, "labelMat": np.eye(3)[y].T, "other": {"a": 1}}
    savemat(folder / "one-hot.mat", one_hot)
    with h5py.File(folder / "plain-7.3.mat", "w", userblock_size=512) as file:
        file["fea"], file["gnd"] = X.T, y[None, :]
    matrix = csc_array(np.where(X > 0.5, X, 0))
    with h5py.File(folder / "sparse-7.3.mat", "w") as file:
        group = file.create_group("fea")
        group.attrs["MATLAB_sparse"] = 24
        group["data"], group["ir"], group["jc"] = matrix.data, matrix.indices, matrix.indptr
        file.create_dataset("gnd", data=y[None, :], compression="gzip")


def tables(folder):
    columns = dict(zip(COLUMNS, X.T, strict=True)) | {"kind": KINDS.tolist()}
    notes = {"note": [f"n{i}" for i in range(24)]}
    frame = pyarrow.table(columns | notes)
    parquet.write_table(frame, folder / "plain.parquet", compression="none")
    parquet.write_table(frame, folder / "groups.parquet", row_group_size=7)
    indexed = frame.to_pandas().set_index("note")
    indexed["b"] = indexed["b"].astype("f4")
    indexed["c"] = indexed["c"] > 0
    indexed.to_parquet(folder / "indexed.parquet", compression="gzip")


def feather(folder):
    columns = dict(zip(COLUMNS, X.T, strict=True)) | {"kind": KINDS.tolist()}
    frame = pyarrow.table(columns | {"note": [f"n{i}" for i in range(24)]})
    write_feather(frame, folder / "plain.feather", compression="uncompressed")
    write_feather(frame, folder / "packed.feather", compression="lz4", chunksize=7)
    indexed = frame.to_pandas().astype({"kind": "category", "b": "f4"}).set_index("note")
    indexed.to_feather(folder / "indexed.feather", compression="zstd")


def jsonl(folder):
    rows = [
        {**dict(zip(COLUMNS, row, strict=True)), "kind": kind, "note": f"n{i}"}
        for i, (row, kind) in enumerate(zip(X.tolist(), KINDS.tolist(), strict=True))
    ]
    content = "\n".join(map(json.dumps, rows)).encode()
    (folder / "plain.jsonl").write_bytes(content)
    (folder / "packed.jsonl.bz2").write_bytes(bz2.compress(content))
    with zipfile.ZipFile(folder / "packed.jsonl.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("rows.jsonl", (1980, 1, 1, 0, 0, 0)), content)


def store(folder):
    fill(folder)


def main():
    kinds = {"csv": csv, "npz": npz, "mat": mat, "parquet": tables}
    for name, write in (kinds | {"feather": feather, "jsonl": jsonl}).items():
        (CORPUS / name).mkdir(parents=True, exist_ok=True)
        write(CORPUS / name)
    shutil.rmtree(CORPUS / "store", ignore_errors=True)
    (CORPUS / "store").mkdir()
    store(CORPUS / "store")


if __name__ == "__main__":
    main()
