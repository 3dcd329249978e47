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
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
