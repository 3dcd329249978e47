"""The command line: ``kerndict train | predict | evaluate | inspect | demo | reproduce``."""

import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    if any(str(word).startswith("--device") for word in words):
        os.environ.setdefault("SCIPY_ARRAY_API", "1")  # which SciPy reads when it is imported
    try:
        from kerndict.cli.app import run  # loads the numerical libraries, which takes a second
    except KeyboardInterrupt:
        return 130
    return run(arguments)
