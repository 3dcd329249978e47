import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

# scikit-learn asks for this where it takes arrays other than NumPy's; SciPy reads it once.
if tuple(map(int, version("scikit-learn").split(".")[:2])) >= (1, 8):
    os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np
import pytest
from hypothesis import settings
from places import there as there

from kerndict import DictionaryClassifier, KernelDictionaryClassifier

settings.register_profile("kerndict", deadline=None, derandomize=True)
settings.load_profile("kerndict")

#: Relative tolerance between two ways to compute the same thing, by precision.
TOLERANCE = {np.float64: 1e-9, np.float32: 2e-4}

BOTH = [DictionaryClassifier, KernelDictionaryClassifier]
RULES = ["residual", "collaborative"]

# A shell starts what runs in the background with Ctrl-C ignored, and commands inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def data_folder():
    folder = os.environ.get("KERNDICT_DATA")
    if not folder:
        pytest.skip("set KERNDICT_DATA to the folder of feature files to run this test")
    return Path(folder)


@pytest.fixture(scope="session")
def browser():
    """Return an installed Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = ("chromium", "chromium-browser", "google-chrome")
    executable = next(filter(None, map(shutil.which, names)), None)
    if executable is None:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as engine:
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        options += ["--disable-component-update", "--disable-sync", "--no-first-run"]
        browser = engine.chromium.launch(executable_path=executable, args=options)
        yield browser
        browser.close()


@pytest.fixture
def path(tmp_path):
    """Return where a model may be saved."""
    return tmp_path / "model.safetensors"


@pytest.fixture(scope="session")
def flowers(tmp_path_factory):
    """Return the paths of a training table, a test table, and two models of the first."""
    from flowers import SMALL, call, table, write  # the command line, for those who ask for it

    folder = tmp_path_factory.mktemp("flowers")
    rows = table()
    paths = SimpleNamespace(
        folder=folder,
        train=write(folder / "train.csv", rows[::2]),
        test=write(folder / "test.csv", rows[1::2]),
        model=folder / "flowers.safetensors",
        residual=folder / "residual.safetensors",
    )
    options = ["--label", "species", *SMALL]
    assert call("train", paths.train, *options, "--out", paths.model) == 0
    residual = ["--decision", "residual", "--n-nonzero-coefs", "2", "--linear"]
    options = [*options[:8], *residual]
    assert call("train", paths.train, *options, "--out", paths.residual) == 0
    return paths


@pytest.fixture(scope="session")
def dask_client():
    """Return the client of a cluster of two worker processes on this machine."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            memory_limit=0,
            silence_logs="ERROR",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def use_loops(kind):
    """Let pursuits run on ``packed`` vectors or in ``plain`` loops."""
    from kerndict.pursuit.choice import loops

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNDICT_LOOPS", kind)
        loops.cache_clear()
        yield
    loops.cache_clear()


def run_python(code):
    """Run code in a process of its own; return what it prints."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def make(kind, decision="residual", **options):
    """Return a small classifier of that kind, which is learned fast."""
    small = {"n_atoms": 6, "n_nonzero_coefs": 2, "n_iter": 3, "init": "samples", "random_state": 0}
    return kind(decision=decision, **small | options)


def unit(D):
    """Return D with columns of unit norm."""
    return D / np.linalg.norm(D, axis=0)


def close(actual, expected, tolerance=TOLERANCE[np.float64]):
    """Assert that arrays agree relative to the largest expected entry."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    scale = np.abs(expected).max(initial=0)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * scale)


def toy(n_classes=3, per_class=12, n_features=10, noise=0.3, seed=0):
    """Return classes near subspaces of three dimensions, as rows, and their labels."""
    rng = np.random.default_rng(seed)
    X = []
    for _ in range(n_classes):
        basis = rng.standard_normal((3, n_features))
        X.append(rng.standard_normal((per_class, 3)) @ basis)
    X = np.vstack(X) + noise * rng.standard_normal((n_classes * per_class, n_features))
    return X, np.repeat(np.arange(n_classes), per_class)


def kernel_matrix_of(K, sizes):
    """Return a matrix as the core takes it: in blocks of classes."""
    from kerndict.core.blocks import KernelMatrix

    starts = np.cumsum([0, *sizes])
    panels = (K[a:, a:b] for a, b in pairwise(starts))
    return KernelMatrix.from_panels(panels, sizes, K.dtype)
