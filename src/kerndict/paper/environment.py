"""Versions, machine and revision, as every result keeps them."""

import platform
import subprocess
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any


@lru_cache(maxsize=1)
def environment() -> dict[str, Any]:
    """Return versions, machine and revision, as every row keeps them."""
    packages = ("kerndict", "numpy", "scipy", "scikit-learn", "numba")
    return {
        "versions": {"python": platform.python_version(), **{p: version(p) for p in packages}},
        "machine": f"{platform.system()} {platform.machine()}, {_processor()}",
        "revision": _revision(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown processor"


def _revision() -> str:
    """Return the revision of the checkout that holds this file, if one does."""
    here = Path(__file__)
    commands = (["ls-files", "--error-unmatch", here.name], ["describe", "--always", "--dirty"])
    try:
        for command in commands:
            git = ["git", "-C", str(here.parent), *command]
            done = subprocess.run(git, capture_output=True, text=True, check=True)
        return done.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "none"
