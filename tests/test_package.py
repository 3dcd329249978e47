"""The package as a whole: imports, command line, the accuracy of the paper."""

import numpy as np
import pytest
from conftest import run_python
from sklearn.preprocessing import normalize

import kerndict
from kerndict import cli, paper_settings


def test_import_brings_nothing_heavy():
    shown = "print(sorted({m.split('.')[0] for m in sys.modules}))"
    assert "numpy" not in eval(run_python(f"import sys, kerndict, kerndict.cli; {shown}"))
    modules = eval(
        run_python(f"import sys; from kerndict import DictionaryClassifier, load; {shown}")
    )
    assert "numba" in modules
    paper = "print([name for name in sys.modules if name.startswith('kerndict.paper')])"
    assert (
        run_python(f"import sys; from kerndict import KernelDictionaryClassifier; {paper}")
        == "[]\n"
    )
    assert not {"matplotlib", "torch", "rich", "pooch", "safetensors"} & set(modules)


def test_public_names():
    for name in kerndict.__all__:
        assert getattr(kerndict, name).__doc__
        assert name in dir(kerndict)
    with pytest.raises(AttributeError, match="no attribute 'KSVD'"):
        kerndict.KSVD  # noqa: B018
    assert run_python("import kerndict; print(kerndict.__version__)").strip() == "0.1.0"


def test_demo_prints_both_classifiers_and_their_controls(capsys):
    assert cli.main(["demo"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = {line[:28].strip(): float(line[28:].split()[0]) for line in lines if "%" in line}
    kinds = ("Dictionary", "KernelDictionary")
    variants = ("", ", 10 atoms", ", untrained", ", residual")
    assert list(rows) == [kind + variant for kind in kinds for variant in variants]
    assert all(80 < accuracy <= 100 for accuracy in rows.values())
    assert rows["KernelDictionary"] > rows["KernelDictionary, residual"]
    for kind in kinds:
        assert rows[f"{kind}, 10 atoms"] > rows[f"{kind}, untrained"]


@pytest.mark.parametrize(("n_iter", "low", "high"), [(10, 93.0, 95.0), (0, 93.5, 95.5)])
def test_the_papers_settings_give_the_papers_accuracy(data_folder, n_iter, low, high):
    data = np.load(data_folder / "yaleb.npz")
    X, y, train = normalize(data["X"]), data["y"], data["train"]
    scores = []
    for seed in range(5):
        model = paper_settings("yaleb", "ikdl-rbf-uaksvd")
        model[-1].set_params(n_iter=n_iter, random_state=seed)
        model.fit(X[train], y[train])
        scores.append(100 * model.score(X[~train], y[~train]))
    assert low <= np.mean(scores) <= high
