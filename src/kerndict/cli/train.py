"""``kerndict train``: a table in, a model file out."""

import argparse
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline, make_pipeline

from kerndict._words import span
from kerndict.classifiers.summary import human_bytes, summary
from kerndict.cli import cluster
from kerndict.cli.common import (
    UsageError,
    add_command,
    add_data,
    add_force,
    check_out,
    facts,
    grid,
)
from kerndict.cli.device import Place, add_device
from kerndict.cli.intake import Intake, described, held_by, take_in
from kerndict.cli.labels import as_labels
from kerndict.cli.parameters import (
    Classifier,
    add_parameters,
    given_parameters,
    make_classifier,
    parse_grid,
    spell,
)
from kerndict.cli.prepare import add_preparation, check_preparation
from kerndict.cli.search import GRID, search
from kerndict.cli.stream import WHOLE, fit_streamed
from kerndict.cli.work import kernel_bytes, warn_if_long, work
from kerndict.landmarks import landmark_count
from kerndict.persistence import save_named
from kerndict.tables import Cells, Rows, Source
from kerndict.tabular import (
    Role,
    choose_scale,
    expected_seconds,
    front_end,
    is_plain,
    name_columns,
)

#: Columns of names in what is printed.
_INDENT = 9


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    command = add_command(
        commands,
        "train",
        "Learn a model from a table and write it to a file. Columns may be numbers, text, dates, "
        "and have gaps: what becomes of each is said, and part of the model.",
        [
            "kerndict train flowers.csv --label species --out flowers.safetensors",
            "kerndict train faces.npz --out faces.safetensors --linear --n-atoms 20",
            "kerndict train data.parquet --label -1 --drop id --out model.safetensors --search",
            "kerndict train data.csv --label kind --out model.safetensors --grid sigma=0.5,1,2",
        ],
    )
    add_data(command)
    command.add_argument(
        "--label",
        metavar="COLUMN",
        help="the column of labels, by name or index (-1 is the last); in npz the name of an "
        "array, default y",
    )
    command.add_argument("--out", type=Path, required=True, metavar="MODEL", help="the model file")
    add_force(command)
    add_device(command)
    add_preparation(command)
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
    cluster.add_scheduler(command, "rows are learned from where they are read")
    add_parameters(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    check_preparation(options)
    given, candidates = given_parameters(options), _candidates(options)
    for name, values in candidates.items():
        for value in values:
            make_classifier(options.linear, {**given, name: value})
    classifier = make_classifier(options.linear, given)
    if options.out.exists() and not options.out.is_file():
        raise OSError(f"--out {options.out} cannot be written: a model is a plain file.")
    begin = time.perf_counter()
    if options.scheduler is not None:
        print(_report(options, cluster.train(options, classifier), time.perf_counter() - begin))
        return 0
    source = Source(options.data, again=True)
    check_out(options.out, source.names, options.force)
    whole = given.get("n_landmarks") == "all"
    taken = take_in(options, source)
    if whole and not options.linear and kernel_bytes(taken.X) > _memory():
        raise MemoryError(_remedy(taken.X))
    y = as_labels(taken.labels, taken.limit)
    sizes = np.unique(y, return_counts=True)[1]
    if taken.overview is not None:
        sizes = np.array(list(taken.overview.labels.values()))
    _say_data(taken, sizes)

    def make(setting: dict[str, Any], scale: str) -> Classifier | Pipeline:
        classifier = make_classifier(options.linear, {**given, **setting})
        if options.raw:
            return classifier
        return make_pipeline(*front_end(taken.used, scale, len(taken.X)), classifier)

    try:
        scale = _scale(options, taken, y, int(sizes.sum()), lambda scale: make({}, scale))
        model = _fitted(options, source, taken, y, candidates, lambda found: make(found, scale))
    except MemoryError as error:
        raise MemoryError(f"{error} {_way_out(options, taken)}") from error
    if isinstance(model, Pipeline) and taken.names is not None:
        name_columns(model[0], taken.names)
    save_named(model, options.out, taken.names, options.force, taken.label)
    print(_report(options, model, time.perf_counter() - begin))
    return 0


def _say_data(taken: Intake, sizes: NDArray) -> None:
    """Print what was read, and what becomes of each column."""
    words = (
        f"{sizes.sum()} rows of {len(taken.used)} features in {len(sizes)} classes of "
        f"{span(sizes.min(), sizes.max())} rows"
    )
    print(facts([("data", words)], _INDENT), flush=True)
    if taken.names is not None and any(column.words for column in taken.columns):
        print(
            grid(["column", "what it is", "taken"], described(taken.columns), right=False),
            flush=True,
        )


def _scale(
    options: argparse.Namespace,
    taken: Intake,
    y: NDArray,
    n_rows: int,
    make: Callable[[str], Classifier | Pipeline],
) -> str:
    """Return whether rows or columns are scaled, and say so."""
    if options.raw:
        print(facts([("scaling", "none")], _INDENT))
        return ""
    scale, words = options.scale, ""
    if scale is None and not is_plain(taken.used):
        scale = "columns"
    if scale is None:
        given = given_parameters(options)
        threads = given.get("n_jobs")
        found = work(
            lambda: choose_scale(make, ("rows", "columns"), taken.X, y, threads),
            bool(given.get("verbose")),
        )
        scale = found[0].scale if found else "rows"
        if found:
            best, other = found
            kind = "log-loss" if best.is_log else "errors"
            warn_if_long(expected_seconds(best, n_rows))
            words = f": {kind} {best.loss:.4f} out of fold, {other.scale} {other.loss:.4f}"
    print(facts([("scaling", f"{scale}{words}")], _INDENT), flush=True)
    return scale


def _fitted(
    options: argparse.Namespace,
    source: Source,
    taken: Intake,
    y: NDArray,
    candidates: dict[str, list[Any]],
    make: Callable[[dict[str, Any]], Classifier | Pipeline],
) -> Classifier | Pipeline:
    """Return a fitted model: of all rows at once, or of a second pass over the table."""
    given, place = given_parameters(options), Place(options.device)
    quiet = bool(given.get("verbose"))
    if taken.overview is None:
        n_jobs = given.get("n_jobs")
        model = make(search(make, candidates, taken.X, y, n_jobs) if candidates else {})
        return work(lambda: place.fit(model, taken.X, y), quiet)
    model, seen = make({}), taken.overview

    @contextmanager
    def rows() -> Iterator[Rows]:
        out = [column.name for column in taken.columns if column.role is Role.OUT]
        with source.open() as table:
            yield table.training_rows(options.label, options.drop + out, taken.cells, Cells.STRICT)

    work(lambda: fit_streamed(model, seen, rows, lambda y: as_labels(y, WHOLE), place), quiet)
    return model


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


def _way_out(options: argparse.Namespace, taken: Intake) -> str:
    """Return what to change in this very command, so that it takes less memory."""
    given = given_parameters(options)
    if given.get("n_landmarks") == "all":
        return "Leave out --n-landmarks all." if options.linear else _remedy(taken.X)
    if taken.overview is None and taken.names is None:
        return "Save the rows as csv or parquet, which are read a batch at a time."
    held = held_by(options)
    if held:
        return f"Leave out {held}: the table is then read a batch at a time."
    width = 2 * len(taken.used)
    fewer = (given.get("n_landmarks") or landmark_count(max(len(taken.X), width), width)) // 2
    return f"Give fewer landmarks, --n-landmarks {max(2, fewer)}, or leave out columns by --drop."


def _remedy(X: NDArray) -> str:
    size = f"{len(X)} x {len(X)}, {human_bytes(kernel_bytes(X))}"
    return f"The kernel classifier holds a matrix of {size}: leave out --n-landmarks all."


def _report(options: argparse.Namespace, model: Classifier | Pipeline, seconds: float) -> str:
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    known = summary(steps[-1])
    few, many = known["atoms_per_class"]
    names = ", ".join(type(step).__name__ for step in steps)
    return facts(
        [
            ("model", f"{names}: {known['atoms']} atoms, {span(few, many)} per class"),
            ("time", f"{seconds:.1f} s"),
            ("written", f"{options.out}, {human_bytes(options.out.stat().st_size)}"),
        ],
        _INDENT,
    )
