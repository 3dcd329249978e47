"""Files that are written whole: nothing else is destroyed, nothing is left, nothing shows early."""

import errno
import os
import stat
import subprocess
import sys

import pytest

from kerndict._files import text_written_whole, written_whole

posix = pytest.mark.skipif(os.name != "posix", reason="permissions and locks of POSIX")


def left(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith(".kerndict-")]


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o444])
def test_a_partial_file_has_the_mode_of_its_target_from_the_start(tmp_path, mode):
    target = tmp_path / "target"
    target.write_bytes(b"old")
    target.chmod(mode)
    with written_whole(target, force=True) as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == mode
        file.write(b"new")
    assert stat.S_IMODE(target.stat().st_mode) == mode
    assert target.read_bytes() == b"new"


@posix
def test_a_read_only_file_is_replaced_by_force_only(tmp_path):
    target = tmp_path / "target"
    target.write_bytes(b"old")
    target.chmod(0o400)
    with pytest.raises(PermissionError, match="target is read-only"), written_whole(target):
        pytest.fail("the work has begun")
    assert target.read_bytes() == b"old"
    with written_whole(target, force=True) as file:
        file.write(b"new")
    assert target.read_bytes() == b"new"


KILLED = """
import os, signal, sys
from kerndict._files import written_whole
with written_whole(sys.argv[1]) as file:
    file.write(b"half of it")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@posix
def test_what_a_kill_has_left_is_swept_up(tmp_path):
    target = tmp_path / "target"
    assert subprocess.run([sys.executable, "-c", KILLED, target], check=False).returncode == -9
    assert len(left(tmp_path)) == 1
    (tmp_path / ".kerndict-notes").write_text("of somebody else")
    with written_whole(tmp_path / "other") as file:
        assert len(left(tmp_path)) == 2  # the notes, and what is being written
        with written_whole(target) as second:  # which is not swept up
            second.write(b"new")
        file.write(b"whole")
    assert left(tmp_path) == [".kerndict-notes"]
    assert (tmp_path / "other").read_bytes() == b"whole"
    assert target.read_bytes() == b"new"


@posix
def test_what_only_looks_left_behind_stays(tmp_path):
    os.mkfifo(tmp_path / ".kerndict-pipe.partial")
    (tmp_path / ".kerndict-folder.partial").mkdir()
    (tmp_path / ".kerndict-link.partial").symlink_to(tmp_path / "precious")
    (tmp_path / "precious").write_bytes(b"precious")
    with written_whole(tmp_path / "target") as file:
        file.write(b"new")
    assert len(left(tmp_path)) == 3
    assert (tmp_path / "precious").read_bytes() == b"precious"


@posix
def test_what_is_swept_up_before_it_is_locked_is_begun_anew(tmp_path, monkeypatch):
    from kerndict import _files

    lock, swept = _files._lock, []

    def slow(descriptor):
        if not swept:
            (name,) = left(tmp_path)
            (tmp_path / name).unlink()
            swept.append(name)
        return lock(descriptor)

    monkeypatch.setattr(_files, "_lock", slow)
    with written_whole(tmp_path / "target") as file:
        file.write(b"new")
    assert (tmp_path / "target").read_bytes() == b"new"
    assert left(tmp_path) == []


def test_a_full_disk_names_the_file(tmp_path):
    with pytest.raises(OSError, match="target") as caught, written_whole(tmp_path / "target"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(tmp_path / "target")


def test_text_keeps_its_line_ends(tmp_path):
    with text_written_whole(tmp_path / "target") as file:
        file.write("é\r\nb\n")
    assert (tmp_path / "target").read_bytes() == "é\r\nb\n".encode()


def test_an_error_in_text_leaves_nothing(tmp_path):
    with pytest.raises(UnicodeEncodeError), text_written_whole(tmp_path / "target") as file:
        file.write("a" * 100_000 + "\ud800")
    assert list(tmp_path.iterdir()) == []
