"""Errors about where arrays are, scikit-learn's own checks, the command line, and memory."""

import sys

import numpy as np
import pytest
import sklearn
from conftest import BOTH, RULES, make, toy
from sklearn.utils import estimator_checks

from kerndict import KernelDictionaryClassifier
from kerndict._arrays import to_host


@pytest.mark.skipif(
    not hasattr(estimator_checks, "check_array_api_mixed_inputs"),
    reason="scikit-learn is older than 1.9",
)
@pytest.mark.filterwarnings("ignore::kerndict.SpanWarning")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", BOTH)
class TestScikitLearn:
    @pytest.mark.parametrize("namespace", ["numpy", "array_api_strict", "torch"])
    def test_input(self, kind, rule, namespace):
        from sklearn.utils._array_api import yield_namespace_device_dtype_combinations

        if namespace != "numpy":
            pytest.importorskip(namespace)
        for name, device, dtype in yield_namespace_device_dtype_combinations():
            if name == namespace and device not in ("cuda", "mps", "xpu"):
                estimator_checks.check_array_api_input(
                    kind.__name__,
                    kind(decision=rule),
                    name,
                    device,
                    dtype,
                    check_sample_weight=True,
                )

    def test_mixed(self, kind, rule):
        from sklearn.utils._array_api import yield_mixed_namespace_input_permutations

        pytest.importorskip("torch")
        for other, X, _ in yield_mixed_namespace_input_permutations():
            if (other.xp, X.device) == ("array_api_strict", "cpu"):
                estimator_checks.check_array_api_mixed_inputs(
                    kind.__name__, kind(decision=rule), X_ns_and_device=X, other_ns_and_device=other
                )

    def test_same(self, kind, rule):
        pytest.importorskip("array_api_strict")
        estimator_checks.check_array_api_same_namespace(
            kind.__name__, kind(decision=rule), "array_api_strict"
        )


def test_two_places(there):
    X, y = toy()
    model = make(KernelDictionaryClassifier).fit(X, y)
    for kind, rows in ((model, there(X)), (model.to(there.like), X)):
        with pytest.raises(ValueError, match=r"predict\(\) must use the same namespace"):
            kind.predict(rows)


def test_rows_that_the_host_cannot_look_into():
    strict = pytest.importorskip("array_api_strict")
    X, y = toy()
    elsewhere = strict.asarray(X, device=strict.Device("device1"))
    with pytest.raises(ValueError, match="array_api_dispatch=True"):
        make(KernelDictionaryClassifier).fit(elsewhere, y)


def test_devices_that_there_are_not(monkeypatch):
    model = make(KernelDictionaryClassifier).fit(*toy())
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match="device='gpu' cannot be used"):
        model.to("gpu")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="needs torch"):
        model.to("cuda")


def test_no_memory(there, monkeypatch):
    class OutOfMemoryError(RuntimeError):
        pass

    def fail(*_):
        raise OutOfMemoryError

    X, y = toy()
    model = make(KernelDictionaryClassifier).fit(X, y).to(there.like)
    monkeypatch.setattr(type(model.model_.space), "correlations", fail)
    with pytest.raises(MemoryError, match="working_memory"):
        model.predict(there(X))


def test_scikit_learn_moves_models(there):
    array_api = pytest.importorskip("sklearn.utils._array_api")
    if not hasattr(array_api, "move_estimator_to"):
        pytest.skip("scikit-learn is older than 1.9")
    X, y = toy()
    model = make(KernelDictionaryClassifier, "collaborative").fit(X, y)
    xp, _, device = array_api.get_namespace_and_device(there(X))
    moved = array_api.move_estimator_to(model, xp, device)
    np.testing.assert_array_equal(to_host(moved.predict(there(X))), model.predict(X))


@pytest.mark.parametrize("linear", [[], ["--linear"]])
def test_commands(linear, tmp_path, capsys):
    pytest.importorskip("torch")
    from flowers import call, table, write

    rows = table()
    data, model = write(tmp_path / "train.csv", rows), tmp_path / "model"
    options = ["--label", "species", "--random-state", "0", *linear]
    found = []
    for device in ("cpu", "cpu:0"):  # the second is torch on the host
        assert call("train", data, *options, "--out", model, "--device", device) == 0
        capsys.readouterr()
        assert call("predict", model, data, "--drop", "species", "--device", device) == 0
        found.append([line.split(",")[:1] for line in capsys.readouterr().out.splitlines()])
    assert found[0] == found[1]
    assert call("predict", model, data, "--device", "gpu") == 1
    assert "device='gpu' cannot be used" in capsys.readouterr().err


@pytest.mark.cuda
def test_memory_does_not_grow_with_the_rows():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200_000, 20)).astype(np.float32)
    y = rng.integers(0, 3, len(X))
    X[:, :3] += 3 * np.eye(3, dtype=np.float32)[y]

    def batches(count):
        for start in range(0, count, 5000):
            part = slice(start, start + 5000)
            yield torch.asarray(X[part], device="cuda"), y[part]

    peaks = []
    with sklearn.config_context(array_api_dispatch=True, working_memory=64):
        drawn = torch.asarray(X[:5000], device="cuda")
        for count in (40_000, 200_000):  # both more than the sample that a fit holds
            model = KernelDictionaryClassifier(n_landmarks=500, sigma=5.0, random_state=0)
            torch.cuda.reset_peak_memory_stats()
            model.fit_batches(batches(count), drawn, y[:5000], n_samples=20_000)
            peaks.append(torch.cuda.max_memory_allocated())
            whole = torch.asarray(X[:count], device="cuda")
            torch.cuda.synchronize()
            before = torch.cuda.memory_allocated()
            torch.cuda.reset_peak_memory_stats()
            model.predict(whole)
            peaks.append(torch.cuda.max_memory_allocated() - before - 16 * count)
            del whole
    assert peaks[2] <= 1.1 * peaks[0] + 2**20
    assert peaks[3] <= 1.1 * peaks[1] + 2**20
