"""The command line: ``kerndict demo``."""

import argparse
from collections.abc import Sequence

import kerndict
from kerndict import demo


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="kerndict",
        description="Classification with incoherent (kernel) dictionary learning.",
    )
    parser.add_argument("--version", action="version", version=f"kerndict {kerndict.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser(
        "demo", help="both classifiers and their untrained controls on the digits of scikit-learn"
    )
    parser.parse_args(arguments)
    for line in demo.lines():
        print(line, flush=True)
    return 0
