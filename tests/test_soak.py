"""Some seconds of the soak; `python tests/soak.py` runs for minutes."""

import itertools
import sys

import pytest
import soak

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")


@pytest.fixture(autouse=True)
def threads_as_they_come(monkeypatch):
    """Forget what clusters of processes set for their workers."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)


def test_nothing_grows_drifts_or_stays():
    assert len(soak.soak(5)) == 3


def test_a_changed_result_is_told():
    first = soak.work(0)[1]
    changed = first.copy()
    changed[0, 0] += 1e-3
    with soak.ThreadPoolExecutor(1) as threads:
        expected = {number: soak.work(number)[1] for number in range(4)}
        soak.one_round([threads], expected)
        with pytest.raises(AssertionError, match="Not equal"):
            soak.one_round([threads], expected | {0: changed})


def test_growth_is_told(monkeypatch):
    sizes = itertools.count(0, 10**8)
    monkeypatch.setattr(soak, "resident", lambda process: next(sizes))
    monkeypatch.setattr(soak, "one_round", lambda executors, expected: {1})
    with pytest.raises(AssertionError, match="grew by"):
        soak.soak(0.1)


def test_what_a_fit_leaves_behind_is_told(monkeypatch):
    def round_that_leaves(executors, expected):
        monkeypatch.setenv("LEFT_BEHIND", "1")
        return {1}

    monkeypatch.setattr(soak, "resident", lambda process: 0)
    monkeypatch.setattr(soak, "one_round", round_that_leaves)
    with pytest.raises(AssertionError, match="environment"):
        soak.soak(0.1)
