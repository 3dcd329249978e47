"""Every write, sync and rename that fails, one after the other: the old content or the new."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rich")

HERE = Path(__file__).parent
compiler = shutil.which("cc") or shutil.which("gcc")
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or compiler is None, reason="needs Linux and a C compiler"
)


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    path = tmp_path_factory.mktemp("shim") / "failing.so"
    command = [compiler, "-shared", "-fPIC", "-o", path, HERE / "failing.c", "-ldl"]
    subprocess.run(command, check=True)
    return path


def attempts(shim, case, folder):
    """Return what became of every attempt; the last of each kind had nothing to fail."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", HERE / "failing.py", shim, case, folder],
        env={**os.environ, "LD_PRELOAD": str(shim), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    whole = [line for line in found if not line["failed"]]
    assert [line["code"] for line in whole] == [0, 0]
    assert whole[0]["state"] == whole[1]["state"]
    return [line for line in found if line["failed"]], whole[0]["state"]


def check(line, old, new, place):
    """Check one attempt: the old state or the new one, and words that say why and where."""
    assert line["state"] in (old, new), line
    if not line["code"]:  # what failed was not needed any more
        assert line["state"] == new, line
        return
    if line["error"] == "ENOSPC":
        assert re.search("No space left on device|disk is full", line["words"]), line
    assert place in line["words"] or line["words"].strip().endswith("Input/output error"), line


@pytest.mark.parametrize("case", ["save", "train", "predict"])
def test_a_file_is_old_or_new(shim, case, tmp_path):
    old = hashlib.sha256(b"old").hexdigest()
    failed, new = attempts(shim, case, tmp_path)
    assert {line["state"] for line in failed} == {old, new}
    for line in failed:
        check(line, old, new, str(tmp_path / "folder" / "out"))
        assert line["code"] == (line["state"] == old or "out" in line["words"]), line
        assert line["error"] == "ENOSPC" or not line["left"], line


@pytest.mark.parametrize(
    ("case", "old", "new"),
    [
        ("begin", [[], False], [[0.5], True]),
        ("add", [[0.91, 0.92, 0.93], True], [[0.91, 0.92, 0.93, 0.5], True]),
    ],
)
def test_a_store_has_the_new_row_or_not(shim, case, old, new, tmp_path):
    failed, last = attempts(shim, case, tmp_path)
    assert last == new
    assert len(failed) > 40
    for line in failed:
        check(line, old, new, str(tmp_path / "folder"))
