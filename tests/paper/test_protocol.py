import numpy as np
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils import Bunch

from kerndict import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.paper import paper_settings
from kerndict.paper.protocol import (
    DATASETS,
    PUBLISHED,
    TABLES,
    grid_candidates,
    grid_kernels,
    plan,
    published_choice,
)


def test_settings_are_those_of_the_paper():
    idl = paper_settings("ar", "idl-uaksvd")
    assert isinstance(idl, DictionaryClassifier)  # raw features, as published
    assert (idl.n_atoms, idl.n_nonzero_coefs, idl.n_iter, idl.incoherence) == (40, 20, 10, 4.0)
    assert (idl.atom_update, idl.coef_update, idl.init) == ("power", "uaksvd", "random")
    for dataset, sigma, alpha in (("yaleb", 4, 2), ("ar", 8, 4), ("caltech101", 5, 4)):
        rbf = paper_settings(dataset, "ikdl-rbf-aksvd")
        assert isinstance(rbf, Pipeline)
        assert isinstance(rbf[0], Normalizer)
        assert isinstance(rbf[-1], KernelDictionaryClassifier)
        assert (rbf[-1].kernel, rbf[-1].sigma, rbf[-1].incoherence) == ("rbf", sigma, 0.1)
        poly = paper_settings(dataset, "ikdl-poly-uaksvd")[-1]
        assert (poly.kernel, poly.coef0, poly.degree, poly.coef_update) == (
            "poly", alpha, 2, "uaksvd",
        )  # fmt: skip


def test_controls_change_one_thing():
    base = paper_settings("yaleb", "ikdl-rbf-uaksvd")[-1].get_params()
    exact = paper_settings("yaleb", "ikdl-rbf-uaksvd-exact")[-1].get_params()
    untrained = paper_settings("yaleb", "ikdl-rbf-uaksvd-iter0")[-1].get_params()
    assert exact == {**base, "atom_update": "exact"}
    assert untrained == {**base, "n_iter": 0}
    linear = paper_settings("yaleb", "idl-aksvd").get_params()
    assert paper_settings("yaleb", "idl-aksvd-iter0").get_params() == {
        **linear,
        "n_iter": 0,
        "init": "samples",
    }


@pytest.mark.parametrize(
    "bad", [("mnist", "idl-aksvd"), ("yaleb", "ikdl"), ("yaleb", "idl-aksvd-x")]
)
def test_unknown_names_are_named(bad):
    with pytest.raises(ValueError, match="is not known: use "):
        paper_settings(*bad)


def test_plan_holds_every_row_once():
    rows = plan(["yaleb", "caltech101"], list(TABLES), 5)
    assert len(rows) == len(set(rows))
    for table, method in TABLES.items():
        for dataset in ("yaleb", "caltech101"):
            rounds = [
                r.round for r in rows if (r.dataset, r.table, r.method) == (dataset, table, method)
            ]
            assert rounds == [1, 2, 3, 4, 5]
    exact = [r for r in rows if r.dataset == "caltech101" and r.method == "idl-aksvd-exact"]
    assert [row.round for row in exact] == [1]
    peers = [row for row in rows if row.method in ("svc", "linear-svc")]
    assert {(row.table, row.round) for row in peers} == {("", 1)}
    default = [row for row in rows if (row.dataset, row.method) == ("yaleb", "default")]
    assert [(row.table, row.round) for row in default] == [("", k) for k in (1, 2, 3, 4, 5)]


def test_the_default_is_the_classifier_as_it_comes():
    model = paper_settings("ar", "default")
    assert isinstance(model[0], Normalizer)
    assert model[-1].get_params() == KernelDictionaryClassifier().get_params()


def test_every_table_has_its_published_numbers():
    assert set(PUBLISHED) == {(t, d) for t in TABLES for d in ("yaleb", "ar", "caltech101")}
    assert PUBLISHED["I", "caltech101"].fit_seconds == 14332
    assert PUBLISHED["VI", "caltech101"].accuracy == 71.46


def test_splits_follow_the_file_or_the_paper():
    y = np.repeat([0, 1], 40)
    masked = Bunch(data=np.zeros((80, 1)), target=y, train=np.arange(80) % 2 == 0)
    train, _ = DATASETS["ar"].split(masked, 1)
    np.testing.assert_array_equal(train, np.arange(0, 80, 2))
    free = Bunch(data=np.zeros((80, 1)), target=y, train=None)
    sizes = {name: [len(part) for part in DATASETS[name].split(free, 1)] for name in DATASETS}
    assert sizes == {
        "yaleb": [40, 40], "ar": [40, 12], "caltech101": [60, 20], "digits": [40, 40],
    }  # fmt: skip
    assert (DATASETS["ar"].split(free, 1)[0] != DATASETS["ar"].split(free, 2)[0]).any()


def test_the_grid_is_the_papers():
    assert len(grid_kernels("ikdl-rbf-aksvd")) == 8
    assert len(grid_kernels("ikdl-poly-aksvd")) == 8
    assert grid_kernels("idl-aksvd") == [{}]
    candidates = grid_candidates()
    assert [c["n_nonzero_coefs"] for c in candidates][:2] == [[4, 8, 20, 32], [6, 12, 30, 48]]
    assert all(len(c["incoherence"]) == 7 for c in candidates)
    assert published_choice("ar", "ikdl-poly-aksvd") == {
        "n_atoms": 40, "n_nonzero_coefs": 20, "incoherence": 0.1, "coef0": 4, "degree": 2,
    }  # fmt: skip
