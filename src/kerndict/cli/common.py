"""What the commands share: usage errors, arguments, plain tables."""

import argparse
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from kerndict._files import is_read_only
from kerndict.cli.cells import printable

_DATA_HELP = (
    "csv or JSON lines, compressed or not, parquet, feather, npz or mat; several files, or a "
    "pattern such as 'day-*.csv', are one table; - reads text from standard input"
)


#: The commands in the order of the help, each with what it does.
SUMMARIES = {
    "train": "learn a model from a table and write it to a file",
    "predict": "label the rows of a table",
    "evaluate": "accuracy and calibration of a model on labelled rows",
    "inspect": "what a model file holds",
    "export": "write a model as ONNX, for programs without kerndict",
    "demo": "both classifiers and their untrained controls on the digits of scikit-learn",
    "reproduce": "rerun the paper's tables and figures, with controls, into one report",
}


class UsageError(Exception):
    """The command line is at fault: exit code 2."""


def add_command(
    commands: Any, name: str, description: str, examples: Sequence[str]
) -> argparse.ArgumentParser:
    """Add a command whose help ends in examples."""
    return commands.add_parser(
        name,
        help=SUMMARIES[name],
        description=textwrap.fill(description, 80),
        epilog="\n".join(["examples:", *(f"  {example}" for example in examples)]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def add_data(command: argparse.ArgumentParser) -> None:
    """Add the files of a table."""
    command.add_argument("data", metavar="DATA", nargs="+", help=_DATA_HELP)


def add_drop(command: Any) -> None:
    """Add the option for columns that are no features."""
    command.add_argument(
        "--drop",
        action="append",
        default=[],
        metavar="COLUMN",
        help="a column that is no feature, by name or index; a,b for several, or repeated",
    )


def add_reject(command: argparse.ArgumentParser) -> None:
    """Add the option for samples of no known class."""
    command.add_argument(
        "--reject",
        type=number_between(0, 1),
        metavar="LEVEL",
        help="reject rows whose typicality is below LEVEL: about that share of the rows of known "
        "classes, and of others those that the model can tell from them",
    )


def add_force(command: argparse.ArgumentParser) -> None:
    """Add the option to replace what is read-only."""
    command.add_argument(
        "--force", action="store_true", help="replace --out even if it is read-only"
    )


def check_out(path: Path, inputs: Sequence[str], force: bool) -> None:
    """Find out before the work that a file could not be written after it, or is an input."""
    for name in inputs:
        if path.is_file() and _is_same(path, name):
            words = "what comes from standard input" if name == "-" else f"{name}, which is read"
            raise UsageError(f"--out {path} would replace {words}: give another file.")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise OSError(f"--out {path} cannot be written: there is no folder {path.parent}. Make it.")
    if path.is_dir():
        raise OSError(f"--out {path} cannot be written: it is a folder. Give a file in it.")
    if not os.access(folder, os.W_OK):
        raise OSError(
            f"--out {path} cannot be written: the folder {path.parent} is not yours to write to. "
            "Give a file in another."
        )
    if is_read_only(path) and not force:
        raise OSError(f"--out {path} is read-only: give --force to replace it, or another file.")


def _is_same(path: Path, name: str) -> bool:
    """Tell whether a path leads to an input: a path, or ``-`` for standard input."""
    try:
        if name == "-":
            return sys.stdin is not None and os.path.samestat(
                path.stat(), os.fstat(sys.stdin.fileno())
            )
        return path.samefile(name)
    except (OSError, ValueError):  # one of them is not there, or has no descriptor
        return False


def whole_number(minimum: int) -> Callable[[str], int]:
    """Return a parser of whole numbers."""

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < minimum:
            raise argparse.ArgumentTypeError(f"{text} is not a whole number >= {minimum}")
        return int(text)

    return parse


def number_between(low: float, high: float) -> Callable[[str], float]:
    """Return a parser of numbers in a closed interval."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text} is not a number from {low:g} to {high:g}")
        return value

    return parse


def facts(pairs: Iterable[tuple[str, str]], indent: int = 0) -> str:
    """Return names and values in two columns; on a terminal long values are wrapped.

    Values begin at ``indent``, or further to the right if a name is too long for that.
    """
    listed = [(printable(name), printable(value)) for name, value in pairs]
    indent = max(indent, max(len(name) for name, _ in listed) + 2)
    lines = [f"{name:<{indent}}{value}" for name, value in listed]
    if sys.stdout is not None and sys.stdout.isatty():
        width = max(shutil.get_terminal_size().columns, indent + 20)
        wrapper = textwrap.TextWrapper(
            width, subsequent_indent=" " * indent, break_on_hyphens=False
        )
        lines = [wrapper.fill(line) for line in lines]
    return "\n".join(lines)


def grid(header: Sequence[str], rows: Iterable[Sequence[str]], right: bool = True) -> str:
    """Return a table in aligned columns, the first to the left and the others to the right.

    Without ``right`` all are to the left.
    """
    lines = [[printable(cell) for cell in line] for line in (header, *rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 or not right else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
