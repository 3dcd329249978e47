"""The oldest supported versions: those that are tested are those that are promised."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PINS = dict(re.findall(r"^(\S+)==(\S+)$", (ROOT / "constraints/oldest.txt").read_text(), re.M))


def promised():
    """Return the lower bound of everything that kerndict and its tests need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    names = ("plot", "reproduce", "mat", "parquet", "dask", "onnx", "test")
    found = [*project["dependencies"], *(each for name in names for each in extras[name])]
    needed = [each for each in map(Requirement, found) if each.name != "kerndict"]
    return {each.name: Version(next(iter(each.specifier)).version) for each in needed}


def test_the_oldest_versions_are_the_lower_bounds():
    bounds = promised()
    assert not set(bounds) - set(PINS)
    for name, bound in bounds.items():
        pinned = Version(PINS[name])
        assert pinned >= bound
        assert pinned.release[: len(bound.release)] == bound.release


def test_the_installed_versions_are_supported():
    for name, bound in promised().items():
        assert Version(version(name)) >= bound
