"""``--scheduler``: train on and predict of folders of parquet files, on a Dask cluster.

The workers read the files, each of them whole, and write their own: they and this command must
see the folders by the same names.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline, make_pipeline

from kerndict._files import written_whole
from kerndict._threads import single_blas_thread
from kerndict.cli.common import UsageError
from kerndict.cli.parameters import Classifier
from kerndict.cli.scoring import Scorer, named_columns
from kerndict.tables import open_table
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


def _files(folder: str) -> list[Path]:
    """Return the parquet files in a folder, in the order of their names."""
    if not Path(folder).is_dir():
        raise UsageError(f"--scheduler needs a folder of parquet files, {folder} is none.")
    found = sorted(Path(folder).glob("*.parquet"))
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
    from sklearn.preprocessing import normalize

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


def train(
    options: argparse.Namespace, model: Classifier | Pipeline
) -> tuple[Classifier | Pipeline, list[str], NDArray]:
    """Fit a model to a folder; return it with its feature names and the sizes of its classes."""
    if options.search or options.grid:
        raise UsageError("--search and --grid need all rows in one place: leave out --scheduler.")
    if options.label is None:
        raise UsageError("--label is needed: the column of labels, by name or index.")
    paths = _files(options.data)
    with _connected(options.scheduler) as client:
        import dask
        import dask.array as da

        from kerndict.dask import DaskDictionaryClassifier, DaskKernelDictionaryClassifier

        with open_table(str(paths[0])) as table:
            names = table.training_rows(options.label, options.drop).features or []
            assert isinstance(table, ColumnTable)
            target = table.columns[find(table, options.label)]
        whole = _is_whole(paths[0], target)
        scaled = not options.no_normalize
        read = dask.delayed(read_part, nout=2)
        X, y = [], []
        for path in paths:
            rows, labels = read(path, options.label, options.drop, names, whole, scaled)
            X.append(da.from_delayed(rows, (np.nan, len(names)), float))
            y.append(da.from_delayed(labels, (np.nan,), int if whole else str))
        classifier = model[-1] if isinstance(model, Pipeline) else model
        kind = DaskDictionaryClassifier if options.linear else DaskKernelDictionaryClassifier
        parameters = classifier.get_params(deep=False)
        there = kind(client=client, **parameters).fit(da.concatenate(X), da.concatenate(y))
    local = there.to_local()
    if isinstance(model, Pipeline):  # the scaler has nothing to learn but the number of features
        local = make_pipeline(model[0].fit(np.zeros((1, len(names)))), local)
    return local, names, there.model_.class_sizes


def _is_whole(path: Path, column: str) -> bool:
    from pyarrow import parquet, types

    return bool(types.is_integer(parquet.read_schema(path).field(column).type))


def predict_part(
    scorer: Scorer, path: Path, out: Path, drop: list[str], copied: list[str], word: str
) -> int:
    """Write what a model says of the rows of one file; return how many there are."""
    import pyarrow as pa
    from pyarrow import parquet

    parts, header = [], []
    with scorer.read(str(path), drop=drop, copied=copied) as (names, batches):
        header = scorer.header(names)
        for batch in batches:
            with single_blas_thread():
                columns = [*batch.copied, *named_columns(scorer, batch, word)]
            parts.append(pa.table([pa.array(column) for column in columns], names=header))
    if not parts:
        return 0
    found = pa.concat_tables(parts)
    with written_whole(out / path.name) as file:
        parquet.write_table(found, file)
    return found.num_rows


def predict(options: argparse.Namespace, scorer: Scorer, word: str) -> int:
    """Label a folder of parquet files into another; return the number of rows."""
    if options.out is None:
        raise UsageError("--scheduler needs --out FOLDER: each file gets one of its name there.")
    if options.safe_csv:
        raise UsageError("--safe-csv is about csv: leave it out with --scheduler.")
    paths = _files(options.data)
    out: Path = options.out.resolve()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise OSError(f"--out {options.out} is there already: give a folder that is new or empty.")
    out.mkdir(parents=True, exist_ok=True)
    with _connected(options.scheduler) as client:
        import dask

        each, model = dask.delayed(predict_part), dask.delayed(scorer, traverse=False)
        parts = [each(model, path, out, options.drop, options.id, word) for path in paths]
        return int(sum(client.gather(client.compute(parts))))
