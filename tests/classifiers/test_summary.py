"""Facts about fitted models, in numbers and in HTML."""

import json
import re

import pytest
from conftest import close, make, toy
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from kerndict import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.classifiers.summary import human_bytes, summary

X, y = toy()


def test_facts_of_both_classifiers():
    linear = make(DictionaryClassifier, incoherence=0.5).fit(X, y)
    facts = summary(linear)
    assert {name: facts[name] for name in ("classifier", "kernel", "decision")} == {
        "classifier": "DictionaryClassifier",
        "kernel": None,
        "decision": "residual",
    }
    assert facts["classes"] == 3
    assert facts["features"] == 10
    assert facts["atoms"] == 18
    assert facts["atoms_per_class"] == (6, 6)
    assert facts["iterations"] == 3
    close(facts["objective"], facts["reconstruction"] + linear.incoherence_ * facts["coherence"])
    assert json.loads(json.dumps(facts))["nonzeros"] == [2, 2]
    assert summary(make(KernelDictionaryClassifier).fit(X, y))["kernel"] == "rbf"


def test_a_callable_kernel_is_named():
    def cosine(A, B):
        return A @ B.T

    assert summary(make(KernelDictionaryClassifier, kernel=cosine).fit(X, y))["kernel"] == "cosine"


def test_bytes_count_every_array_once():
    model = make(DictionaryClassifier).fit(X, y)
    arrays = [
        *model.dictionaries_,
        *model.model_.grams,
        *model.codes_,
        model.classes_,
        model.fit_indices_,
        model.n_atoms_,
        model.model_.sparsity,
        model.model_.class_sizes,
    ]
    trace = 2 * 3 * 8
    assert summary(model)["bytes"] == sum(array.nbytes for array in arrays) + trace
    rule = make(DictionaryClassifier, decision="collaborative").fit(X, y)
    # both inverses, weights, offsets, scores and losses out of fold; the blocks are Gram matrices
    numbers = 18 * 18 + 3 * 6 * 6 + 3 + 3 + 2 * len(rule.model_.rule.held_out)
    assert summary(rule)["bytes"] == summary(model)["bytes"] + 8 * numbers


def test_without_iterations_there_is_no_objective():
    model = make(DictionaryClassifier, n_iter=0).fit(X, y)
    assert summary(model)["objective"] is None
    words = '<div class="caption">3 classes · 18 atoms · [0-9.]+ kB</div>'
    assert re.search(words, model._repr_html_())


def test_bytes_for_people():
    values = [0, 999, 1000, 12_345, 1_000_000, 5e9, 7e12]
    expected = ["0 B", "999 B", "1.0 kB", "12.3 kB", "1.0 MB", "5.0 GB", "7000.0 GB"]
    assert [human_bytes(value) for value in values] == expected


@pytest.mark.parametrize("kind", [DictionaryClassifier, KernelDictionaryClassifier])
def test_html_shows_the_facts_alone_and_in_pipelines(kind):
    model = make(kind).fit(X, y)
    facts = summary(model)
    words = (
        f'<div class="caption">3 classes · 18 atoms · {human_bytes(facts["bytes"])} · '
        f"objective {facts['objective']:.4g}</div>"
    )
    assert words in model._repr_html_()
    assert words in model._repr_mimebundle_()["text/html"]
    pipeline = make_pipeline(Normalizer(), make(kind))
    unfitted = pipeline._repr_html_()
    assert kind.__name__ in unfitted
    assert "atoms ·" not in unfitted
    assert "classes · 18 atoms" in pipeline.fit(X, y)._repr_html_()
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
    assert repr(model).startswith(kind.__name__)
