"""The command as people use it: whole, killed, resumed, twice at once."""

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils import Bunch

from kerndict import cli
from kerndict.paper import grid, sources
from kerndict.paper.protocol import Row
from kerndict.paper.run import missing_rows
from kerndict.paper.store import COLUMNS, Store, StoreError

pytest.importorskip("rich")
pytest.importorskip("matplotlib")

COMMAND = [sys.executable, "-m", "kerndict", "reproduce", "--tables", "I", "IV", "--rounds", "2"]
TIMES = {
    "fit_seconds",
    "predict_seconds",
    "kernel_fit_seconds",
    "kernel_predict_seconds",
    "details",
}


def results(folder):
    """Return what must not depend on how the run went, and check that rows are unique."""
    with (folder / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    keys = [(r["dataset"], r["table"], r["method"], r["round"]) for r in rows]
    assert len(keys) == len(set(keys))
    return {
        key: {name: value for name, value in row.items() if name not in TIMES}
        for key, row in zip(keys, rows, strict=True)
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    done = subprocess.run([*COMMAND, "--out", folder], capture_output=True, text=True, check=True)
    return folder, done.stdout


def test_rows_have_all_columns(undisturbed):
    folder, _ = undisturbed
    with (folder / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    methods = {row["method"] for row in rows}
    assert {"idl-aksvd", "idl-aksvd-exact", "idl-aksvd-iter0"} <= methods
    assert {"ikdl-rbf-uaksvd", "ikdl-rbf-uaksvd-iter30", "svc", "linear-svc"} <= methods
    for row in rows:
        assert 0.8 < float(row["accuracy"]) <= 1
        assert 0.8 < float(row["accuracy_per_class"]) <= 1
        assert float(row["fit_seconds"]) > 0
        details = json.loads(row["details"])
        assert {"versions", "machine", "revision", "settings"} <= set(details)
        default = row["method"] == "default"
        kernel = default or row["method"].startswith("ikdl")
        assert (float(row["kernel_fit_seconds"]) > 0) == kernel
        assert (row["table"] == "") == (default or "svc" in row["method"])


def test_plain_lines_tables_verdicts_and_the_report(undisturbed):
    folder, output = undisturbed
    lines = output.splitlines()
    assert "[1/24] digits table I idl-aksvd round 1:" in lines[0]
    assert "left" in lines[0]
    for words in ("Table I, accuracy", "Table IV, seconds", "“Increasing the sparsity level"):
        assert words in output
    assert lines[-1] == f"report: {(folder / 'report.html').resolve()}"
    names = ("residuals", "discrimination", "objective", "confusion")
    for name in names:
        for suffix in ("png", "svg"):
            assert (folder / "figures" / f"digits-{name}.{suffix}").stat().st_size > 5000


def test_a_finished_run_repeats_nothing(undisturbed):
    folder, _ = undisturbed
    before = (folder / "results.csv").read_text()
    done = subprocess.run([*COMMAND, "--out", folder], capture_output=True, text=True, check=True)
    assert "24 of 24 rows are there already" in done.stdout
    assert (folder / "results.csv").read_text() == before


def test_killed_runs_go_on_where_they_were(undisturbed, tmp_path):
    chance = random.Random(0)
    for _ in range(5):
        run = subprocess.Popen(
            [*COMMAND, "--out", tmp_path], stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        for _ in range(chance.randint(1, 4)):  # rows, then some moment within the next one
            assert run.stdout.readline()
        time.sleep(0.2 * chance.random())
        assert run.poll() is None
        os.killpg(run.pid, signal.SIGKILL)
        run.stdout.close()
        assert run.wait() == -signal.SIGKILL
    with Store(tmp_path) as store:
        kept = store.results()
    assert 3 <= len(kept) < 24
    done = subprocess.run([*COMMAND, "--out", tmp_path], capture_output=True, text=True, check=True)
    assert f"{len(kept)} of 24 rows are there already" in done.stdout
    assert results(tmp_path) == results(undisturbed[0])
    with Store(tmp_path) as store:  # what was finished was not computed again
        assert all(store.results()[row] == result for row, result in kept.items())


def test_parallel_rows_are_the_same_rows(undisturbed, tmp_path):
    subprocess.run([*COMMAND, "--out", tmp_path, "--jobs", "2", "--quiet"], check=True)
    assert results(tmp_path) == results(undisturbed[0])


def test_a_second_process_is_refused(tmp_path, capsys):
    with Store(tmp_path):
        code = "import sys; from kerndict.cli import main; sys.exit(main(sys.argv[1:]))"
        done = subprocess.run(
            [sys.executable, "-c", code, "reproduce", "--out", tmp_path],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 1
        assert "is in use by another run" in done.stderr
        assert "Traceback" not in done.stderr
        with pytest.raises(StoreError, match="in use by another run"):
            Store(tmp_path)
    with Store(tmp_path) as store:  # the lock goes with its holder
        assert store.rows() == []


def test_an_interrupt_ends_quietly_and_keeps_what_is_finished(tmp_path):
    run = subprocess.Popen(
        [*COMMAND, "--out", tmp_path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    for _ in range(3):
        run.stdout.readline()
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate()
    assert run.returncode == 130
    assert "what is finished is kept" in errors
    assert "Traceback" not in errors
    with Store(tmp_path) as store:
        assert len(store.rows()) >= 3


def test_other_data_in_the_same_folder_is_refused(tmp_path, monkeypatch, capsys):
    arguments = ["reproduce", "--out", str(tmp_path), "--tables", "IV", "--rounds", "1"]
    digits = sources.load_dataset("digits", None)
    changed = Bunch(data=digits.data + 1, target=digits.target, train=None)
    with Store(tmp_path) as store:
        store.keep_fact("data digits", sources.fingerprint(changed))
    assert cli.main(arguments) == 1
    assert "holds results of other digits features" in capsys.readouterr().err


def test_data_comes_from_a_folder(tmp_path, capsys):
    rng = np.random.default_rng(0)
    centres = 3 * rng.standard_normal((3, 60))
    y = np.repeat([0, 1, 2], 40)
    X = centres[y] + rng.standard_normal((120, 60))
    np.savez(tmp_path / "arface.npz", X=X.astype(np.float32), y=y)
    assert sources.load_dataset("ar", tmp_path).data.dtype == np.float64  # as the paper computes
    out = tmp_path / "out"
    arguments = ["--data", str(tmp_path), "--dataset", "ar", "--out", str(out), "--rounds", "1"]
    assert cli.main(["reproduce", *arguments, "--tables", "I", "III", "--quiet"]) == 0
    rows = results(out)
    assert len(rows) == 9
    assert capsys.readouterr().out.strip() == f"report: {(out / 'report.html').resolve()}"
    html = (out / "report.html").read_text()
    assert "93.42" in html  # the paper's number beside ours


def test_bad_arguments(tmp_path, capsys):
    assert cli.main(["reproduce", "--data", str(tmp_path / "nowhere")]) == 1
    assert "is not a folder" in capsys.readouterr().err
    for bad in (["--rounds", "0"], ["--tables", "VII"], ["--dataset", "mnist"], ["--jobs", "x"]):
        with pytest.raises(SystemExit) as info:
            cli.main(["reproduce", *bad])
        assert info.value.code == 2


def test_grid_rows_are_kept_and_shown_beside_the_papers_choice(tmp_path, monkeypatch, capsys):
    small = [{"n_atoms": [10, 20], "n_nonzero_coefs": [4], "incoherence": [0.01, 0.1]}]
    monkeypatch.setattr(grid, "grid_candidates", lambda: small)
    monkeypatch.setattr(grid, "grid_kernels", lambda method: [{"sigma": 1.0}, {"sigma": 4.0}])
    arguments = ["--out", str(tmp_path), "--tables", "IV", "--rounds", "1", "--grid"]
    assert cli.main(["reproduce", *arguments]) == 0
    output = capsys.readouterr().out
    assert "grid 1/2: digits ikdl-rbf-uaksvd" in output
    assert "grid 2/2: digits ikdl-rbf-uaksvd" in output
    assert "beside the paper's choice" in output
    with Store(tmp_path) as store:
        kept = store.grid()
        assert [row["parameters"]["sigma"] for row in kept] == [1.0, 4.0]
        assert all(0.9 < row["score"] <= 1 and row["details"]["versions"] for row in kept)
    assert cli.main(["reproduce", *arguments]) == 0  # nothing is searched twice
    assert "grid 1/" not in capsys.readouterr().out


RESULT = dict.fromkeys(COLUMNS[4:10], 0.5) | {"details": {"spans": False}}


def test_rows_are_kept_once_with_their_arrays(tmp_path):
    row = Row("digits", "I", "idl-aksvd", 1)
    with Store(tmp_path) as store:
        for _ in range(2):
            store.add(row, RESULT, {"a": np.ones(3)})
        assert list(store.results()) == [row]
        assert store.arrays("digits")["a"].sum() == 3
        assert store.fact("name") is None
        for value in ("first", "second"):
            store.keep_fact("name", value)
        assert store.fact("name") == "first"


def test_a_kill_between_a_row_and_its_line_loses_nothing(tmp_path, monkeypatch):
    row = Row("digits", "I", "idl-aksvd", 1)
    with Store(tmp_path) as store:
        monkeypatch.setattr(Store, "write_csv", lambda self: None)
        store.add(row, RESULT, None)
        monkeypatch.undo()
    assert results(tmp_path) == {}
    with Store(tmp_path):
        assert len(results(tmp_path)) == 1


def test_lost_or_damaged_arrays_are_computed_again(tmp_path):
    row = Row("digits", "IV", "ikdl-rbf-uaksvd", 1)
    with Store(tmp_path) as store:
        assert missing_rows(store, [row]) == [row]
        store.add(row, RESULT, {"a": np.ones(3)})
        assert missing_rows(store, [row]) == []
        store.arrays_path("digits").write_bytes(b"damaged")
        assert missing_rows(store, [row]) == [row]
        store.arrays_path("digits").unlink()
        assert missing_rows(store, [row]) == [row]


def test_unusable_stores_are_explained(tmp_path, capsys):
    (tmp_path / "results.sqlite").write_bytes(b"something else entirely" * 100)
    assert cli.main(["reproduce", "--out", str(tmp_path)]) == 1
    assert "results.sqlite cannot be used: file is not a database" in capsys.readouterr().err
    other = tmp_path / "other"
    (other / "results.sqlite").mkdir(parents=True)
    assert cli.main(["reproduce", "--out", str(other)]) == 1
    assert "cannot be used" in capsys.readouterr().err


def children(process):
    """Return the processes that a process has started."""
    listed = Path(f"/proc/{process}/task/{process}/children")
    return listed.read_text().split() if listed.exists() else []


@pytest.mark.skipif(sys.platform != "linux", reason="reads processes from /proc")
@pytest.mark.parametrize("moment", [0.0, 0.3, 1.0, 2.0, "a row"])
def test_workers_end_with_a_parent_that_was_killed(tmp_path, moment):
    run = subprocess.Popen(
        [*COMMAND, "--out", tmp_path, "--jobs", "2"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while len(children(run.pid)) < 3:  # two workers, and what cleans up after them
        time.sleep(0.01)
    if moment == "a row":
        assert run.stdout.readline()
    else:
        time.sleep(moment)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    run.stdout.close()
    for _ in range(600):  # on a busy machine a worker loads libraries for long before it looks
        try:
            os.killpg(run.pid, 0)  # is anyone of the group left?
        except ProcessLookupError:
            break
        time.sleep(0.2)
    else:
        os.killpg(run.pid, signal.SIGKILL)
        pytest.fail("workers outlived their parent by two minutes")


def test_repeated_names_are_one(tmp_path):
    arguments = ["--out", str(tmp_path), "--rounds", "1", "--quiet"]
    names = ["--tables", "I", "I", "--dataset", "digits", "digits"]
    assert cli.main(["reproduce", *arguments, *names]) == 0
    assert len(results(tmp_path)) == 6


def test_another_split_is_other_data(tmp_path):
    y = np.repeat([0, 1], 10)
    data = Bunch(data=np.ones((20, 2)), target=y, train=np.arange(20) % 2 == 0)
    prints = {sources.fingerprint(data)}
    prints.add(sources.fingerprint(Bunch(**{**data, "train": np.arange(20) % 3 == 0})))
    prints.add(sources.fingerprint(Bunch(**{**data, "train": None})))
    assert len(prints) == 3
