"""The options that say what the columns of a table are, and how they are scaled."""

import argparse

from kerndict.cli.common import UsageError, add_drop
from kerndict.tabular.front import SCALES


def add_preparation(command: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = command.add_argument_group(
        "columns of a table", "Columns are given by name or index; several as a,b or one by one."
    )
    add_drop(group)
    for name, words in (
        ("number", "a column of numbers: what is none is a gap"),
        ("category", "a column of names, however many there are, such as a zip code"),
        ("text", "a column of text, which is described by its words"),
    ):
        group.add_argument(f"--{name}", action="append", default=[], metavar="COLUMN", help=words)
    group.add_argument(
        "--scale",
        choices=SCALES,
        help="columns to mean 0 and deviation 1, or rows to unit length; default: what loses less "
        "out of fold, and columns where not all of them are numbers without gaps",
    )
    group.add_argument(
        "--raw",
        action="store_true",
        help="take all columns as they are: numbers without gaps, not scaled",
    )


def check_preparation(options: argparse.Namespace) -> None:
    """Check that no two options contradict each other."""
    asked: dict[str, str] = {}
    for option in ("drop", "number", "category", "text"):
        for word in getattr(options, option):
            if options.raw and option != "drop":
                raise UsageError(f"--raw takes columns as they are: leave out --{option} {word}.")
            for name in {word, *word.split(",")}:
                other = asked.setdefault(name, option)
                if other != option:
                    raise UsageError(f"--{option} {name} and --{other} {name}: leave out one.")
    if options.raw and options.scale:
        raise UsageError(f"--raw takes columns as they are: leave out --scale {options.scale}.")
