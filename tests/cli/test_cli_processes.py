"""Commands as processes: pipes, signals, a million rows."""

import os
import shlex
import signal
import subprocess
import sys

import pytest
from flowers import COMMAND, SMALL, call, records, spawn, table, write

import kerndict
from kerndict import cli

ROWS = table()
GRID = "n_atoms=" + ",".join(["8", "9"] * 500)

#: Runs a command and tells the largest memory its process ever held, in KiB.
MEASURED = """
import sys
from kerndict.cli import main
code = main(sys.argv[1:])
(line,) = (line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(line.split()[1], file=sys.stderr)
sys.exit(code)
"""


def test_models_and_rows_go_through_pipes(flowers, tmp_path):
    text = flowers.train.read_text()
    arguments = ["--label", "species", "--out", tmp_path / "m", *SMALL]
    done = spawn("train", "-", *arguments, input=text)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert (tmp_path / "m").read_bytes() == flowers.model.read_bytes()
    done = spawn("predict", tmp_path / "m", "-", input="\ufeff" + text)
    assert done.returncode == 0, done.stderr
    assert len(records(done.stdout)) == 75


def test_errors_are_one_line_and_debug_shows_where(flowers):
    done = spawn("predict", flowers.model, "-", input="a,b\n1,2\n")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("kerndict: standard input lacks 4 of the 4 columns")
    assert done.stderr.count("\n") == 1
    done = spawn("predict", flowers.model, "-", "--debug", input="a,b\n1,2\n")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "select_for_model" in done.stderr


def test_bad_usage_ends_with_2(flowers):
    done = spawn("predict", flowers.model, "--reject", "often")
    assert done.returncode == 2
    assert done.stderr.startswith("usage: kerndict predict")


def test_a_closed_pipe_ends_quietly(flowers, tmp_path):
    data = write(tmp_path / "d.csv", ROWS * 400)
    run = subprocess.Popen(
        [*COMMAND, "predict", flowers.model, data], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert run.stdout.readline().startswith(b"label,")
    run.stdout.close()
    assert run.stderr.read() == b""
    run.stderr.close()
    assert run.wait() == 141


def test_an_interrupt_ends_a_prediction_quietly(flowers):
    run = subprocess.Popen(
        [*COMMAND, "predict", flowers.model, "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    head, body = flowers.train.read_text().split("\n", 1)
    run.stdin.write(head + "\n" + body * 120)  # more than a batch
    run.stdin.flush()
    assert run.stdout.readline().startswith("label,")  # it works, and waits for more
    run.send_signal(signal.SIGINT)
    errors = run.stderr.read()
    assert run.wait() == 130
    assert errors == ""
    for pipe in (run.stdin, run.stdout, run.stderr):
        pipe.close()


def test_an_interrupt_while_libraries_load_ends_quietly(monkeypatch):
    class Interrupt:
        def find_spec(self, name, *_):
            if name == "kerndict.cli.app":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "kerndict.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupt(), *sys.meta_path])
    assert cli.main(["--version"]) == 130


def test_an_interrupt_leaves_the_old_model(flowers, tmp_path):
    old = flowers.model.read_bytes()
    out = tmp_path / "model"
    out.write_bytes(old)
    run = subprocess.Popen(
        [
            *COMMAND,
            *("train", flowers.train, "--label", "species", "--out", out),
            *("--verbose", "--scale", "rows", "--decision", "residual", "--n-iter", "1000000"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = iter(run.stdout.readline, "")
    assert any("iteration 1/1000000" in line for line in lines)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate()
    assert run.returncode == 130
    assert errors == ""
    assert os.listdir(tmp_path) == ["model"]
    assert out.read_bytes() == old


def test_an_interrupt_ends_a_search_quietly(flowers, tmp_path):
    run = subprocess.Popen(
        [
            *COMMAND,
            *("train", flowers.train, "--label", "species", "--out", tmp_path / "m"),
            *("--n-jobs", "2", "--sigma", "0.3", "--n-iter", "3", "--grid", GRID),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert run.stderr.readline().startswith("[1/1000] n_atoms=")
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does: workers get it too
    output, errors = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "search:" not in output  # which is said with the result
    assert [line for line in errors.splitlines() if not line.startswith("[")] == []  # progress
    assert not list(tmp_path.iterdir())


def test_closed_streams(flowers, tmp_path):
    """The shell's ``>&-`` and ``<&-``."""

    def shell(line):
        words = [*COMMAND, *map(str, line[:-1])]
        command = " ".join(map(shlex.quote, words)) + f" {line[-1]}"
        done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False)
        return done.returncode, done.stderr

    out = tmp_path / "m"
    arguments = ["train", flowers.train, "--label", "species", "--out", out, *SMALL]
    assert shell([*arguments, ">&-"]) == (0, "")
    assert out.read_bytes() == flowers.model.read_bytes()
    words = "kerndict: standard output is closed: give --out FILE.\n"
    assert shell(["predict", flowers.model, flowers.test, ">&-"]) == (1, words)
    assert shell(["predict", flowers.model, "nowhere", f"2>&- >{tmp_path / 'labels'}"]) == (1, "")
    assert (tmp_path / "labels").read_text() == ""
    words = "kerndict: standard input is closed: give the path of a file.\n"
    assert shell(["predict", flowers.model, "-", "<&-"]) == (1, words)


def test_output_is_in_utf_8_everywhere(flowers, tmp_path):
    rows = [[*row[:4], f"{row[4]} é"] for row in ROWS]
    data = write(tmp_path / "d.csv", rows)
    assert call("train", data, "--label", "species", "--out", tmp_path / "m", *SMALL) == 0
    ascii = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = spawn("predict", tmp_path / "m", data, env=ascii, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert {row["label"] for row in records(done.stdout)} == {row[4] for row in rows}
    for command in (["inspect", tmp_path / "m"], ["evaluate", tmp_path / "m", data]):
        done = spawn(*command, env=ascii, encoding="utf-8")
        assert done.returncode == 0, done.stderr
        assert "setosa \\xe9" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process from /proc")
def test_a_million_rows_in_constant_memory(tmp_path):
    rows = [[f"{a / 10:g}", f"{b / 10:g}", "ab"[a > b]] for a in range(1, 21) for b in range(1, 51)]
    header = ["x", "y", "kind"]
    few = write(tmp_path / "few.csv", rows, header)
    training = write(tmp_path / "train.csv", rows[::29], header)
    arguments = ["--label", "kind", "--out", tmp_path / "m", *SMALL]
    assert call("train", training, *arguments) == 0
    head, body = few.read_text().split("\n", 1)
    with (tmp_path / "many.csv").open("w") as file:
        file.write(head + "\n")
        file.writelines(body for _ in range(1000))

    peaks = []
    for name in ("few", "many"):
        command = ["predict", tmp_path / "m", tmp_path / f"{name}.csv", "--out", tmp_path / "out"]
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, *command], capture_output=True, text=True, check=True
        )
        peaks.append(int(done.stderr))
    with (tmp_path / "out").open() as file:
        lines = [line for _, line in zip(range(1001), file, strict=False)]
        assert sum(1 for _ in file) == 1_000_000 - 1000
    loaded = kerndict.load(tmp_path / "m")
    loaded[0].__dict__.pop("feature_names_in_")
    expected = loaded.predict([[float(x), float(y)] for x, y, _ in rows])
    assert [line.split(",")[0] for line in lines[1:]] == expected.tolist()
    # As text the rows alone would take 300 MiB; a batch takes a few.
    assert peaks[1] - peaks[0] < 40_000, peaks
