"""Machine code on disk: never stale, never in the way."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kerndict

NOWHERE = "/dev/null/home"
#: Prints a number that a helper in another file decides, and whether its code came from disk.
ASK = """
from kerndict.core.asking import ask
print(ask(), sum(ask.stats.cache_hits.values()))
"""
FILES = {
    "asking.py": """
from kerndict._jit import compiled
from kerndict.core.between import answer

@compiled()
def ask():
    return answer()
""",
    "between.py": """
from kerndict._jit import part
from kerndict.core import (
    constants,
)
from kerndict.core.helper import one

NUMBER = constants.NUMBER

@part()
def answer():
    return NUMBER * one()
""",
    "helper.py": """
from kerndict._jit import part

@part()
def one():
    return 1
""",
    "constants.py": "NUMBER = 5\n",
    "reading.py": """
from kerndict._jit import compiled

@compiled()
def read(x, i):
    return x[i]
""",
}


@pytest.fixture
def package(tmp_path):
    """Return a copy of the package with five more modules, and nothing compiled."""
    copy = tmp_path / "site" / "kerndict"
    shutil.copytree(Path(kerndict.__file__).parent, copy, ignore=shutil.ignore_patterns("__pyc*"))
    for name, text in FILES.items():
        (copy / "core" / name).write_text(text)
    return copy


def python(package, code, *, home=None, check=True, **variables):
    """Run code on the copy of the package; return the process."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "PYTHONPATH", "KERNDICT_LOOPS")
    }
    home = home or package.parent.parent / "home"
    environment |= {"PYTHONPATH": str(package.parent), "HOME": str(home), **variables}
    return subprocess.run(
        [sys.executable, "-W", "always", "-c", code],
        capture_output=True,
        text=True,
        check=check,
        env=environment,
    )


def ask(package, **options):
    run = python(package, ASK, **options)
    assert not run.stderr, run.stderr
    number, hits = run.stdout.split()
    return int(number), int(hits)


def kept(folder):
    return sorted(folder.rglob("*.code"))


def forbid(folder):
    """Put a file where a folder would have to be made; not even root can write below it."""
    if folder.is_dir():
        shutil.rmtree(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.touch()


def test_code_is_compiled_once(package):
    assert ask(package) == (5, 0)
    assert len(kept(package)) == 1
    assert kept(package)[0].parent == package / "core" / "__pycache__"
    assert ask(package) == (5, 1)


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [("helper.py", "return 1", "return 2", 10), ("constants.py", "NUMBER = 5", "NUMBER = 7", 7)],
)
def test_a_change_in_a_helper_is_noticed(package, name, old, new, expected):
    assert ask(package) == (5, 0)
    file = package / "core" / name
    before = file.stat()
    file.write_text(file.read_text().replace(old, new))
    for compiled in package.rglob("*.pyc"):  # Python itself goes by size and time
        compiled.unlink()
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # as from a wheel
    assert ask(package) == (expected, 0)
    assert ask(package) == (expected, 1)
    assert len(kept(package)) == 1  # nothing old is left behind


def test_a_change_elsewhere_compiles_nothing(package):
    ask(package)
    (package / "core" / "unrelated.py").write_text("NUMBER = 6\n")
    (package / "kernels.py").write_text((package / "kernels.py").read_text() + "\n")
    assert ask(package) == (5, 1)


def test_the_pursuit_is_compiled_anew_when_its_vectors_change(package):
    code = """
import numpy as np
from kerndict.pursuit import omp_energies
print(omp_energies(np.array([[3.0, 4.0]]), np.eye(2), 2))
from kerndict.pursuit.packed import loops
print(sum(loops.energies.stats.cache_hits.values()))
"""
    vectors = package / "pursuit" / "packed" / "vectors.py"
    for hits in (0, 1):
        assert python(package, code).stdout.split() == ["[25.]", str(hits)]
    vectors.write_text(vectors.read_text() + "# changed\n")
    for hits in (0, 1):
        assert python(package, code).stdout.split() == ["[25.]", str(hits)]


def test_code_that_checks_bounds_is_kept_apart(package):
    read = "import numpy as np; from kerndict.core.reading import read; read(np.zeros(2), {})"
    python(package, read.format(1))
    run = python(package, read.format(2), check=False, NUMBA_BOUNDSCHECK="1")
    assert "IndexError: index is out of bounds" in run.stderr
    assert len(kept(package)) == 2


def test_numba_cache_dir_is_respected(package, tmp_path):
    assert ask(package, NUMBA_CACHE_DIR=str(tmp_path / "mine")) == (5, 0)
    assert len(kept(tmp_path / "mine")) == 1
    assert not kept(package)
    assert ask(package, NUMBA_CACHE_DIR=str(tmp_path / "mine")) == (5, 1)


def test_the_home_takes_what_the_package_does_not(package, tmp_path):
    forbid(package / "core" / "__pycache__")
    assert ask(package) == (5, 0)
    assert len(kept(tmp_path / "home" / ".cache" / "kerndict")) == 1
    assert ask(package) == (5, 1)


def test_what_was_compiled_at_installation_is_used_where_nothing_can_be_written(package):
    ask(package)
    refuse = """
import kerndict._jit_cache

def refuse(path):
    raise PermissionError(13, "read-only", str(path))

kerndict._jit_cache.written_whole = refuse
"""
    run = python(package, refuse + ASK)
    assert (run.stdout.split(), run.stderr) == (["5", "1"], "")
    (package / "core" / "helper.py").write_text(FILES["helper.py"] + "# changed")
    run = python(package, refuse + ASK)
    assert run.stdout.split() == ["5", "0"]
    assert "no folder for it can be written to" in run.stderr


@pytest.mark.parametrize("variables", [{}, {"NUMBA_CACHE_DIR": "/dev/null/cache"}])
def test_no_writable_folder_is_one_warning_and_no_error(package, variables):
    forbid(package / "core" / "__pycache__")
    run = python(package, ASK, home=NOWHERE, **variables)
    assert run.stdout.split() == ["5", "0"]
    assert run.stderr.count("Set NUMBA_CACHE_DIR to a folder") == 1
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize("command", ["--help", "train --help"])
def test_help_needs_no_writable_folder(package, command):
    for folder in ("core", "pursuit", "pursuit/packed"):
        forbid(package / folder / "__pycache__")
    code = f"import sys; from kerndict.cli import main; sys.exit(main({command.split()}))"
    run = python(package, code, home=NOWHERE)
    assert "usage: kerndict" in run.stdout
    assert not run.stderr


@pytest.mark.parametrize("damage", ["cut", "flip"])
def test_damaged_code_is_named_and_made_anew(package, damage):
    ask(package)
    (file,) = kept(package)
    content = bytearray(file.read_bytes())
    if damage == "cut":
        del content[-100:]
    else:
        content[len(content) // 2] ^= 1
    file.write_bytes(content)
    run = python(package, ASK)
    assert run.stdout.split() == ["5", "0"]
    assert f"{file}, compiled code, is damaged and made anew" in run.stderr
    assert ask(package) == (5, 1)
