"""``python -m kerndict``."""

import sys

from kerndict.cli import main

if __name__ == "__main__":
    sys.exit(main())
