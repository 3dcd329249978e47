"""``kerndict demo``: a first look."""

import argparse

from kerndict import demo


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    command = commands.add_parser(
        "demo", help="both classifiers and their untrained controls on the digits of scikit-learn"
    )
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    for line in demo.lines():
        print(line, flush=True)
    return 0
