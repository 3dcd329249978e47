"""The command line: ``kerndict train | predict | evaluate | inspect | demo | reproduce``."""

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    try:
        from kerndict.cli.app import run  # loads the numerical libraries, which takes a second
    except KeyboardInterrupt:
        return 130
    return run(arguments)
