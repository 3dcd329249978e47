"""``kerndict predict``: a label per row, as rows come in."""

import argparse
import csv
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from kerndict._files import text_written_whole
from kerndict.cli import cluster
from kerndict.cli.cells import harmless, printable
from kerndict.cli.common import (
    UsageError,
    add_command,
    add_data,
    add_drop,
    add_force,
    add_reject,
    check_out,
    number_between,
    whole_number,
)
from kerndict.cli.device import add_device
from kerndict.cli.scoring import Scorer, distinct_names
from kerndict.tables import Batch, Source


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    command = add_command(
        commands,
        "predict",
        "Label the rows of a table. Writes csv with the columns label, probability, runner_up and "
        "runner_up_probability (residuals instead under the residual rule). Columns are found by "
        "their names; others may be there. csv is read as it comes: memory does not grow with the "
        "number of rows. A row with a gap that the model cannot fill has no label.",
        [
            "kerndict predict flowers.safetensors new.csv --out labels.csv",
            "kerndict predict flowers.safetensors new.csv --id plant --reject 0.01",
            "kerndict predict flowers.safetensors new.csv --sets 0.1",
            "zcat rows.csv.gz | kerndict predict flowers.safetensors - | head",
        ],
    )
    command.add_argument("model", metavar="MODEL", help="a file written by train")
    add_data(command)
    command.add_argument(
        "--out", type=Path, metavar="FILE", help="write here instead of to standard output"
    )
    add_force(command)
    command.add_argument(
        "--id",
        action="append",
        default=[],
        metavar="COLUMN",
        help="a column to copy to the output, by name or index; may be repeated",
    )
    add_drop(command)
    add_device(command)
    add_reject(command)
    command.add_argument(
        "--sets",
        type=number_between(0, 1),
        metavar="ALPHA",
        help="add the column set: the classes that a row may belong to, with | between them. The "
        "true class is missing in about a share ALPHA of the rows",
    )
    command.add_argument(
        "--unknown",
        metavar="WORD",
        help="the label of rejected rows; their best class is the runner-up. Default: unknown",
    )
    command.add_argument(
        "--top",
        type=whole_number(1),
        metavar="K",
        help="write the K best classes, as label_2, probability_2 and so on",
    )
    command.add_argument(
        "--proba",
        action="store_true",
        help="write the probabilities of all classes, too, as probability_CLASS",
    )
    command.add_argument(
        "--safe-csv",
        action="store_true",
        help="for spreadsheets: put ' before cells that they would take for formulas, and all "
        "cells in quotes",
    )
    cluster.add_scheduler(command, "--out is a folder, with a parquet file for each")
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if options.unknown is not None and options.reject is None:
        raise UsageError("--unknown needs --reject LEVEL.")
    if options.out is not None and options.scheduler is None:
        check_out(options.out, [options.model, *Source(options.data).names], options.force)
    if options.sets is not None and not 0 < options.sets < 1:
        raise UsageError(f"--sets {options.sets:g} is out of range: give a number in (0, 1).")
    scorer = Scorer(options.model, options.reject, options.top or 2, options.sets, options.device)
    if options.proba and not scorer.collaborative:
        raise ValueError(
            f"{options.model} decides by residuals and has no probabilities: --proba needs a model "
            "trained with --decision collaborative."
        )
    if options.sets is not None and any("|" in name for name in scorer.classes):
        raise UsageError("--sets writes | between classes, and a class of the model holds one.")
    word = "unknown" if options.unknown is None else options.unknown
    if options.reject is not None and word in scorer.classes:
        raise UsageError(f"{word!r} is a class of the model: give another --unknown WORD.")
    header = _header(scorer, options)
    if options.scheduler is not None:
        cells = partial(_rows, word=word, proba=options.proba)
        n_rows = cluster.predict(options, scorer, header, cells)
        print(f"{n_rows} rows labelled, in a file in {options.out} for each in {options.data[0]}")
        return 0
    with (
        scorer.read(options.data, drop=options.drop, copied=options.id) as (copied, batches),
        _opened(options.out, options.force) as file,
    ):
        writer = csv.writer(
            file,
            lineterminator="\n",
            quoting=csv.QUOTE_ALL if options.safe_csv else csv.QUOTE_MINIMAL,
        )
        dress = _dress(options.safe_csv, file)
        writer.writerow(map(dress, [*distinct_names(copied, header), *header]))
        for batch in batches:
            rows = _rows(scorer, batch, word, options.proba)
            writer.writerows(map(dress, row) for row in rows)
            file.flush()
    scorer.warn()
    return 0


def _dress(safe: bool, file: TextIO) -> Callable[[str], str]:
    """Return what is done to every cell: a terminal obeys some, a spreadsheet others."""
    dresses = [harmless] if safe else []
    if file.isatty():
        dresses.append(printable)

    def dress(cell: str) -> str:
        for each in dresses:
            cell = each(cell)
        return cell

    return dress if dresses else str


@contextmanager
def _opened(path: Path | None, force: bool) -> Iterator[TextIO]:
    """Open standard output, a plain file that is written whole, or something else."""
    if path is None:
        if sys.stdout is None:
            raise OSError("standard output is closed: give --out FILE.")
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", errors="strict")  # as csv is read
        yield sys.stdout
    elif path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="") as file:
            yield file
    else:
        with text_written_whole(path, force) as file:
            yield file


def _header(scorer: Scorer, options: argparse.Namespace) -> list[str]:
    """Return the names of the columns that are written."""
    value = "probability" if scorer.collaborative else "residual"
    if options.top is None:
        header = ["label", value, "runner_up", f"runner_up_{value}"]
    else:
        header = ["label", value]
        for place in range(2, min(options.top, len(scorer.classes)) + 1):
            header += [f"label_{place}", f"{value}_{place}"]
    if options.reject is not None:
        header.append("typicality")
    if options.sets is not None:
        header.append("set")
    if options.proba:
        header += [f"probability_{name}" for name in scorer.classes]
    return header


def _rows(scorer: Scorer, batch: Batch, word: str, proba: bool) -> Iterator[tuple[str, ...]]:
    """Return the cells of all rows; the best class of a rejected row is its runner-up."""
    found = scorer.decide(batch.X)
    names = np.array(scorer.classes, object)
    columns: list[list[str]] = []
    for place in found.top.T:
        columns.append(names[place].tolist())
        if found.values is None:
            columns.append([""] * len(place))
        else:
            columns.append(_written(np.take_along_axis(found.values, place[:, None], 1)[:, 0]))
    if found.typicality is not None:
        for i in np.flatnonzero(found.typicality < scorer.reject).tolist():
            shifted = [word, "", *(column[i] for column in columns[:-2])]
            for column, cell in zip(columns, shifted, strict=True):
                column[i] = cell
        columns.append(_written(found.typicality))
    if found.sets is not None:
        columns.append(["|".join(names[row].tolist()) for row in found.sets])
    if proba:
        assert found.values is not None
        columns += [_written(column) for column in found.values.T]
    for i in np.flatnonzero(~found.decided).tolist():
        for column in columns:
            column[i] = ""
    return zip(*batch.copied, *columns, strict=True)


def _written(values: NDArray) -> list[str]:
    return [f"{value:.6g}" for value in values.tolist()]
