"""``--scheduler``: train on and predict of folders of parquet files, on a Dask cluster.

The workers read the files, each of them whole, and write their own: they and this command must
see the folders by the same names.
"""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer, normalize

from kerndict._files import written_whole
from kerndict._threads import single_blas_thread
from kerndict._words import span
from kerndict.cli.common import UsageError, check_out
from kerndict.cli.parameters import Classifier
from kerndict.cli.scoring import Scorer, distinct_names
from kerndict.persistence import save_named
from kerndict.tables import Batch, open_table
from kerndict.tables.columns import ColumnTable, find


def add_scheduler(command: argparse.ArgumentParser, result: str) -> None:
    """Add the option for a cluster; ``result`` says what comes of a folder."""
    command.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help=f"of a Dask cluster, such as tcp://host:8786; DATA is a folder of parquet files then, "
        f"which all workers see, and {result}",
    )


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """Give the client of a cluster."""
    import_module("kerndict.dask")  # which says what to install
    from distributed import Client

    try:
        client = Client(address)
    except (OSError, ValueError) as error:
        raise OSError(f"--scheduler {address}: no Dask scheduler answers there.") from error
    with client:
        yield client


def _files(options: argparse.Namespace) -> list[Path]:
    """Return the parquet files in a folder, in the order of their names."""
    folder = Path(options.data[0])
    if len(options.data) > 1 or not folder.is_dir():
        raise UsageError(
            f"--scheduler needs one folder of parquet files, {' '.join(options.data)} is none."
        )
    found = sorted(folder.glob("*.parquet"))
    if not found:
        raise ValueError(f"{folder} holds no file *.parquet.")
    return [path.resolve() for path in found]


def read_part(
    path: Path, label: str, drop: list[str], names: list[str], whole: bool, scaled: bool
) -> tuple[NDArray, NDArray]:
    """Return the rows and labels of one file.

    Parameters
    ----------
    path : of the file
    label, drop : columns, see ``kerndict train``
    names : the features that every file must have
    whole : whether labels are whole numbers
    scaled : whether rows are scaled to unit length
    """
    with open_table(str(path)) as table:
        features, _, batches = table.training_rows(label, drop)
        if features != names:
            raise ValueError(
                f"{path.name} has other columns than the first file: {features}, not {names}."
            )
        parts = list(batches)
    if not parts:
        return np.empty((0, len(names))), np.empty(0, int)
    X = np.concatenate([part.X for part in parts])
    labels = np.array([cell for part in parts for cell in part.labels or []])
    return normalize(X, copy=False) if scaled else X, labels.astype(int) if whole else labels


def train(options: argparse.Namespace, classifier: Classifier) -> Classifier | Pipeline:
    """Fit a classifier to a folder, and write it to a file."""
    _check(options)
    check_out(options.out, [], options.force)
    paths = _files(options)
    with _connected(options.scheduler) as client:
        import dask
        import dask.array as da

        from kerndict.dask import DaskDictionaryClassifier, DaskKernelDictionaryClassifier

        names, label, whole = _columns(paths[0], options)
        read, scaled = dask.delayed(read_part, nout=2), not options.raw
        X, y = [], []
        for path in paths:
            rows, labels = read(path, options.label, options.drop, names, whole, scaled)
            X.append(da.from_delayed(rows, (np.nan, len(names)), float))
            y.append(da.from_delayed(labels, (np.nan,), int if whole else str))
        kind = DaskDictionaryClassifier if options.linear else DaskKernelDictionaryClassifier
        there = kind(client=client, **classifier.get_params(deep=False))
        there.fit(da.concatenate(X), da.concatenate(y))
    local, sizes = there.to_local(), there.model_.class_sizes
    print(
        f"data     {sizes.sum()} rows of {len(names)} features in {len(sizes)} classes of "
        f"{span(sizes.min(), sizes.max())} rows, in {len(paths)} files"
    )
    if scaled:  # the scaler has nothing to learn but the number of features
        local = make_pipeline(Normalizer().fit(np.zeros((1, len(names)))), local)
    save_named(local, options.out, names, options.force, label)
    return local


def _check(options: argparse.Namespace) -> None:
    """Check that nothing is asked for that needs all rows in one place."""
    _check_device(options)
    if options.search or options.grid:
        raise UsageError("--search and --grid need all rows in one place: leave out --scheduler.")
    for option in ("number", "category", "text"):
        if getattr(options, option):
            raise UsageError(
                f"--{option} does not go with --scheduler, where all columns are numbers without "
                "gaps: prepare the files, or --drop the column."
            )
    if options.scale == "columns":
        raise UsageError("--scale columns does not go with --scheduler: scale rows, or give --raw.")
    if options.label is None:
        raise UsageError("--label is needed: the column of labels, by name or index.")


def _columns(path: Path, options: argparse.Namespace) -> tuple[list[str], str, bool]:
    """Return the features and the label of a file, and whether labels are whole numbers."""
    from pyarrow import parquet, types

    with open_table(str(path)) as table:
        assert isinstance(table, ColumnTable)
        names = table.training_rows(options.label, options.drop).features or []
        label = table.columns[find(table, options.label)]
    return names, label, bool(types.is_integer(parquet.read_schema(path).field(label).type))


def predict_part(
    scorer: Scorer,
    path: Path,
    out: Path,
    header: list[str],
    cells: Callable[[Scorer, Batch], Iterator[tuple[str, ...]]],
    drop: list[str],
    copied: list[str],
) -> int:
    """Write what a model says of the rows of one file; return how many there are."""
    import pyarrow as pa
    from pyarrow import parquet

    with (
        scorer.read([str(path)], drop=drop, copied=copied) as (names, batches),
        single_blas_thread(),
    ):
        rows = [row for batch in batches for row in cells(scorer, batch)]
    if not rows:
        return 0
    every = [*distinct_names(names, header), *header]
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    for place in range(len(names), len(every)):
        if not _is_text(every[place]):
            column = [float(cell) if cell else None for cell in columns[place].to_pylist()]
            columns[place] = pa.array(column, pa.float64())
    with written_whole(out / path.name) as file:
        parquet.write_table(pa.table(columns, names=every), file)
    return len(rows)


def _is_text(name: str) -> bool:
    """Tell whether a column that is written holds classes, and no numbers."""
    return name in ("label", "runner_up", "set") or name.startswith("label_")


def _check_device(options: argparse.Namespace) -> None:
    """Check that the device is the host: arrays of others do not travel between machines."""
    if options.device != "cpu":
        raise UsageError(
            f"--device {options.device} does not go with --scheduler, whose machines compute on "
            "their hosts: leave out one."
        )


def predict(
    options: argparse.Namespace,
    scorer: Scorer,
    header: list[str],
    cells: Callable[[Scorer, Batch], Iterator[tuple[str, ...]]],
) -> int:
    """Label a folder of parquet files into another; return the number of rows."""
    if options.out is None:
        raise UsageError("--scheduler needs --out FOLDER: each file gets one of its name there.")
    _check_device(options)
    if options.safe_csv:
        raise UsageError("--safe-csv is about csv: leave it out with --scheduler.")
    paths = _files(options)
    out: Path = options.out.resolve()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise OSError(f"--out {options.out} is there already: give a folder that is new or empty.")
    with _connected(options.scheduler) as client:
        import dask

        out.mkdir(parents=True, exist_ok=True)
        each = dask.delayed(predict_part)
        model, written = (dask.delayed(value, traverse=False) for value in (scorer, cells))
        parts = [
            each(model, path, out, header, written, options.drop, options.id) for path in paths
        ]
        return int(sum(client.gather(client.compute(parts))))
