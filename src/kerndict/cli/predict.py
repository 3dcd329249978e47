"""``kerndict predict``: a label per row, as rows come in."""

import argparse
import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

import numpy as np

from kerndict._files import text_written_whole
from kerndict.cli.cells import harmless, printable
from kerndict.cli.common import (
    DATA_HELP,
    UsageError,
    add_command,
    add_drop,
    add_force,
    add_reject,
    check_out,
)
from kerndict.cli.device import add_device
from kerndict.cli.scoring import Scorer
from kerndict.tables import Batch


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    command = add_command(
        commands,
        "predict",
        "label the rows of a table",
        "Label the rows of a table. Writes csv with the columns label, probability, runner_up and "
        "runner_up_probability (residuals instead under the residual rule). Columns are found by "
        "their names; others may be there. csv is read as it comes: memory does not grow with the "
        "number of rows.",
        [
            "kerndict predict flowers.safetensors new.csv --out labels.csv",
            "kerndict predict flowers.safetensors new.csv --id plant --reject 0.01",
            "zcat rows.csv.gz | kerndict predict flowers.safetensors - | head",
        ],
    )
    command.add_argument("model", metavar="MODEL", help="a file written by train")
    command.add_argument("data", metavar="DATA", help=DATA_HELP)
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
        "--unknown",
        metavar="WORD",
        help="the label of rejected rows; their best class is the runner-up. Default: unknown",
    )
    command.add_argument(
        "--safe-csv",
        action="store_true",
        help="for spreadsheets: put ' before cells that they would take for formulas, and all "
        "cells in quotes",
    )
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if options.unknown is not None and options.reject is None:
        raise UsageError("--unknown needs --reject LEVEL.")
    if options.out is not None:
        check_out(options.out, [options.model, options.data], options.force)
    scorer = Scorer(options.model, options.reject, options.device)
    word = "unknown" if options.unknown is None else options.unknown
    if options.reject is not None and word in scorer.classes:
        raise UsageError(f"{word!r} is a class of the model: give another --unknown WORD.")
    value = "probability" if scorer.collaborative else "residual"
    header = ["label", value, "runner_up", f"runner_up_{value}"]
    if options.reject is not None:
        header.append("typicality")
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
        writer.writerow(map(dress, [*_distinct_names(copied, header), *header]))
        for batch in batches:
            writer.writerows(map(dress, row) for row in _rows(scorer, batch, word))
            file.flush()
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


def _distinct_names(copied: Sequence[str], header: Sequence[str]) -> list[str]:
    """Return the names of copied columns; those that we write too are marked as the input's.

    >>> _distinct_names(["id", "label"], ["label", "probability"])
    ['id', 'input_label']
    """
    names: list[str] = []
    for name in copied:
        while name in (*header, *names):
            name = f"input_{name}"
        names.append(name)
    return names


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


def _rows(scorer: Scorer, batch: Batch, word: str) -> Iterator[tuple[str, ...]]:
    """Return the cells of all rows; the best class of a rejected row is its runner-up."""
    found = scorer.decide(batch.X)
    names = np.array(scorer.classes, object)
    top, values = found.top, [[""] * len(found.top)] * 2
    if found.values is not None:
        values = [[f"{v:.6g}" for v in part.tolist()] for part in found.values.T]
    columns = [names[top[:, 0]].tolist(), values[0], names[top[:, 1]].tolist(), values[1]]
    if found.typicality is not None:
        for i in np.flatnonzero(found.typicality < scorer.reject).tolist():
            label, value = columns[0][i], columns[1][i]
            for column, cell in zip(columns, (word, "", label, value), strict=True):
                column[i] = cell
        columns.append([f"{p:.6g}" for p in found.typicality.tolist()])
    return zip(*batch.copied, *columns, strict=True)
