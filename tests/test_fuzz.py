"""Some hundreds of damaged files of every kind; `python tests/fuzz.py` reads thousands."""

import random
import tracemalloc

import pytest

pytest.importorskip("resource")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")
pytest.importorskip("h5py")

import fuzz_tables
from fuzz import KINDS, fuzz
from fuzz_tables import CORPUS, WAYS

from kerndict.containers import mat

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # what is damaged may overflow, and forks have threads
    pytest.mark.skipif(not hasattr(mat.os, "fork"), reason="this system does not fork"),
]


@pytest.fixture
def target(request, tmp_path, monkeypatch):
    monkeypatch.setenv("KERNDICT_MAX_BYTES", "")  # the targets change both
    monkeypatch.setattr(mat, "_start", mat._start)
    tracemalloc.start()
    yield KINDS[request.param](tmp_path)
    tracemalloc.stop()


@pytest.mark.parametrize("target", KINDS, indirect=True)
def test_damaged_files_give_results_or_errors(target):
    outcomes = {outcome for _, outcome, _ in fuzz(target, 300, seed=0)}
    assert len(outcomes) > 1  # neither are all of them refused, nor all taken


@pytest.mark.parametrize("target", WAYS, indirect=True)
def test_files_of_the_corpus(target):
    files = {path.read_bytes(): path.name for path in (CORPUS / target.kind).iterdir()}
    taken = set()
    for data in target.seeds:
        for number in range(12):
            outcome = target.judge(data, target.command(random.Random(number)))
            if outcome != "error":
                taken.add(files[data])
    refused = {
        "numbers.csv",
        "one-column.csv",
        "crash-histogram.parquet",
        "no-text.npz",
        "name-of-lines.mat",
    }
    assert set(files.values()) - taken <= refused


@pytest.mark.parametrize("target", ["csv"], indirect=True)
def test_what_must_not_be_is_told(target, monkeypatch):
    def run(words, code):
        def call(*_):
            print(words, file=fuzz_tables.sys.stderr)
            return code

        monkeypatch.setattr(fuzz_tables, "call", call)
        target.judge(b"a,b\n1,2\n", ["predict"])

    for words, code in (("kerndict: internal error, KeyError", 1), ("Traceback", 1), ("", -11)):
        with pytest.raises(AssertionError):
            run(words, code)
    with pytest.raises(AssertionError, match="0 lines for 2"):
        run("", 0)
