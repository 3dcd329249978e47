"""``kerndict demo``: a first look."""

import argparse


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    command = commands.add_parser(
        "demo", help="both classifiers and their untrained controls on the digits of scikit-learn"
    )
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from kerndict import demo  # loads more of scikit-learn than the other commands need

    for line in demo.lines():
        print(line, flush=True)
    return 0
