"""``kerndict train``: a table in, a model file out."""

import argparse
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer

from kerndict._limits import check_bytes
from kerndict._words import span
from kerndict.classifiers.summary import human_bytes, summary
from kerndict.cli.common import (
    DATA_HELP,
    UsageError,
    add_command,
    add_drop,
    add_force,
    check_out,
    facts,
)
from kerndict.cli.device import Place, add_device
from kerndict.cli.parameters import (
    Classifier,
    add_parameters,
    given_parameters,
    make_classifier,
    parse_grid,
    spell,
)
from kerndict.cli.search import GRID, search
from kerndict.cli.stream import WHOLE, WHOLE_ROWS, Overview, fit_streamed, overview
from kerndict.persistence import save_named
from kerndict.tables import Batch, open_table

#: A whole number as files spell it: 2, or 2.0 in a column of floats; 02 is a name.
_WHOLE = re.compile(r"(0|-?[1-9][0-9]{0,17})(\.0)?")


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    command = add_command(
        commands,
        "train",
        "learn a model from a table and write it to a file",
        "Learn a model from a table and write it to a file. Rows are scaled to unit length, and "
        "the model does the same to the rows it is given later.",
        [
            "kerndict train flowers.csv --label species --out flowers.safetensors",
            "kerndict train faces.npz --out faces.safetensors --linear --n-atoms 20",
            "kerndict train data.parquet --label -1 --drop id --out model.safetensors --search",
            "kerndict train data.csv --label kind --out model.safetensors --grid sigma=0.5,1,2",
        ],
    )
    command.add_argument("data", metavar="DATA", help=DATA_HELP)
    command.add_argument(
        "--label",
        metavar="COLUMN",
        help="the column of labels, by name or index (-1 is the last); in npz the name of an "
        "array, default y",
    )
    command.add_argument("--out", type=Path, required=True, metavar="MODEL", help="the model file")
    add_force(command)
    add_drop(command)
    add_device(command)
    command.add_argument(
        "--no-normalize", action="store_true", help="take rows as they are, whatever their length"
    )
    command.add_argument(
        "--linear", action="store_true", help="the linear classifier instead of the kernel one"
    )
    tried = ", ".join(f"{name} {'|'.join(map(spell, values))}" for name, values in GRID.items())
    command.add_argument(
        "--search", action="store_true", help=f"tune by cross-validation: {tried}, unless given"
    )
    command.add_argument(
        "--grid",
        type=parse_grid,
        action="append",
        default=[],
        metavar="PARAMETER=V1,V2",
        help="search these values instead; may be repeated for all combinations",
    )
    add_parameters(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    given, candidates = given_parameters(options), _candidates(options)
    for name, values in candidates.items():
        for value in values:
            make_classifier(options.linear, {**given, name: value})

    def make(setting: dict[str, Any]) -> Classifier | Pipeline:
        classifier = make_classifier(options.linear, {**given, **setting})
        return classifier if options.no_normalize else make_pipeline(Normalizer(), classifier)

    make({})
    if options.out.exists() and not options.out.is_file():
        raise OSError(f"--out {options.out} cannot be written: a model is a plain file.")
    check_out(options.out, [options.data], options.force)
    whole = given.get("n_landmarks") == "all"
    at_once = whole or given.get("decision") == "residual" or bool(candidates)
    begin = time.perf_counter()
    read = _read(options, at_once or options.data == "-")
    if isinstance(read, Overview):
        model = make({})
        fit_streamed(options, model, read, lambda labels: as_labels(labels, WHOLE))
        sizes = np.array(list(read.labels.values()))
        return _written(options, model, read.names, sizes, time.perf_counter() - begin)
    X, y, names = read
    whole = whole and not options.linear
    if whole and _kernel_bytes(X) > _memory():
        raise MemoryError(_remedy(X))
    begin = time.perf_counter()
    try:
        chosen = search(make, candidates, X, y, given.get("n_jobs")) if candidates else {}
        model = Place(options.device).fit(make(chosen), X, y)
    except MemoryError as error:
        remedy = _remedy(X) if whole else "Use fewer rows."
        raise MemoryError(f"{error} {remedy}") from error
    sizes = np.unique(y, return_counts=True)[1]
    return _written(options, model, names, sizes, time.perf_counter() - begin)


def _written(
    options: argparse.Namespace,
    model: Classifier | Pipeline,
    names: list[str] | None,
    sizes: NDArray,
    seconds: float,
) -> int:
    """Write the model and say so; ``sizes`` are the rows of each class."""
    save_named(model, options.out, names, options.force)
    print(_report(options, model, sizes, seconds))
    return 0


def _candidates(options: argparse.Namespace) -> dict[str, list[Any]]:
    """Return what to search: nothing, the given grid, or ours without what is given."""
    if options.grid:
        names = [name for name, _ in options.grid]
        for name in names:
            if names.count(name) > 1:
                raise UsageError(f"--grid {name} is given twice: write {name}=V1,V2.")
            if name in vars(options):
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"--grid {name} and {option} are both given: leave out one.")
        return dict(options.grid)
    if not options.search:
        return {}
    ours = {name: values for name, values in GRID.items() if name not in vars(options)}
    if not ours:
        raise UsageError("nothing is left to --search: say by --grid what to try.")
    return ours


def _memory() -> float:
    """Return the bytes of memory of the machine, or infinity where it does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return np.inf


def _kernel_bytes(X: NDArray) -> int:
    return X.itemsize * len(X) ** 2


def _remedy(X: NDArray) -> str:
    size = f"{len(X)} x {len(X)}, {human_bytes(_kernel_bytes(X))}"
    return f"The kernel classifier holds a matrix of {size}: leave out --n-landmarks all."


def _read(
    options: argparse.Namespace, whole: bool
) -> tuple[NDArray, NDArray, list[str] | None] | Overview:
    """Return rows, labels and the names of the features, if they have any.

    Of a table that is too large for that an overview, unless ``whole`` forbids it.
    """
    with open_table(options.data) as table:
        if table.has_columns and options.label is None:
            raise UsageError("--label is needed: the column of labels, by name or index.")
        if options.drop and not table.has_columns:
            raise UsageError("--drop needs a table with columns, csv or parquet.")
        features, _, batches = table.training_rows(options.label, options.drop)
        parts: list[Batch] = []
        taken = n_rows = 0
        for batch in batches:
            parts.append(batch)
            taken += batch.X.nbytes + sum(map(sys.getsizeof, batch.labels or []))
            n_rows += len(batch.X)
            if table.has_columns and not whole and taken > WHOLE and n_rows > WHOLE_ROWS:
                return overview(parts, batches, features)
            if table.has_columns:
                check_bytes(taken, table.limit, f"{table.name}, {n_rows} rows and more,")
    if not parts:
        raise ValueError(f"{table.name} has no rows.")
    labels = [label for part in parts for label in part.labels or []]
    rows = [part.X for part in parts]
    X = rows[0] if len(rows) == 1 else np.concatenate(rows)  # no second copy of all rows
    return X, as_labels(labels, table.limit), features


def as_labels(labels: list[str], limit: int) -> NDArray:
    """Return labels as integers if all of them are written as such, else as strings.

    These may take ``limit`` bytes; each takes as many as the longest.

    >>> as_labels(["2", "10"], 100), as_labels(["2.0", "10.0"], 100), as_labels(["2", "02"], 100)
    (array([ 2, 10]), array([ 2, 10]), array(['2', '02'], dtype='<U2'))
    """
    whole = {label: _WHOLE.fullmatch(label) for label in set(labels)}
    if not all(whole.values()):
        check_bytes(4 * len(labels) * max(map(len, whole)), limit, "the array of labels")
        return np.array(labels)
    return np.array([int(label.partition(".")[0]) for label in labels], np.int64)


def _report(
    options: argparse.Namespace, model: Classifier | Pipeline, sizes: NDArray, seconds: float
) -> str:
    classifier = model[-1] if isinstance(model, Pipeline) else model
    known = summary(classifier)
    few, many = known["atoms_per_class"]
    steps = known["classifier"] if options.no_normalize else f"Normalizer, {known['classifier']}"
    return facts(
        [
            (
                "data",
                f"{sizes.sum()} rows of {known['features']} features in {known['classes']} "
                f"classes of {span(sizes.min(), sizes.max())} rows",
            ),
            ("model", f"{steps}: {known['atoms']} atoms, {span(few, many)} per class"),
            ("time", f"{seconds:.1f} s"),
            ("written", f"{options.out}, {human_bytes(options.out.stat().st_size)}"),
        ]
    )
