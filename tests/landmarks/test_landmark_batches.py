"""Learning from batches: `partial_fit`, and models that go on learning."""

import numpy as np
import pytest
from conftest import BOTH, close
from sklearn.base import clone
from sklearn.datasets import make_classification

import kerndict
from kerndict import KernelDictionaryClassifier
from kerndict.cli import stream
from kerndict.landmarks import Learner

X, y = make_classification(2400, 12, n_informative=8, n_classes=3, random_state=0)
X /= X.std(axis=0)
names = np.array(["ash", "birch", "cedar"])
NEW = make_classification(300, 12, n_informative=8, n_classes=3, random_state=1)[0]


def model(kind=KernelDictionaryClassifier, **options):
    width = {} if kind is not KernelDictionaryClassifier else {"sigma": 3.0}
    return kind(n_landmarks=60, random_state=0, **width | options)


def learned(kind, *sizes):
    """Return a classifier that learned from all rows, in batches of these sizes."""
    found, start = model(kind), 0
    for size in sizes:
        found.partial_fit(X[start : start + size], y[start : start + size])
        start += size
    assert start == len(X)
    return found


@pytest.mark.parametrize("kind", BOTH)
def test_one_batch_is_a_fit(kind):
    whole = model(kind).fit(X, y)
    np.testing.assert_array_equal(
        learned(kind, len(X)).decision_function(NEW), whole.decision_function(NEW)
    )


@pytest.mark.parametrize("kind", BOTH)
def test_it_does_not_matter_how_later_rows_are_cut(kind):
    one = learned(kind, 800, 1600)
    other = learned(kind, 800, 1, 299, 1000, 300)
    close(other.decision_function(NEW), one.decision_function(NEW), 1e-8)
    close(other.predict_proba(NEW), one.predict_proba(NEW), 1e-8)
    np.testing.assert_array_equal(other.model_.class_sizes, np.bincount(y))


@pytest.mark.parametrize("kind", BOTH)
def test_a_loaded_model_goes_on_learning(kind, path):
    found = learned(kind, 800, 1600)
    first = model(kind).partial_fit(X[:800], y[:800])
    kerndict.save(first, path)
    loaded = kerndict.load(path)
    np.testing.assert_array_equal(loaded.decision_function(NEW), first.decision_function(NEW))
    loaded.partial_fit(X[800:], y[800:])
    close(loaded.decision_function(NEW), found.decision_function(NEW), 1e-8)


def test_a_damaged_learner_is_refused(path):
    from kerndict.persistence.container import read, write

    kerndict.save(model().partial_fit(X, y), path)
    document, arrays = read(path)
    for name, value in (
        ("0.learner.labels", arrays["0.learner.labels"] + 3),
        ("0.learner.factor", -arrays["0.learner.factor"]),
        ("0.learner.keys", arrays["0.learner.keys"][1:]),
    ):
        write(path, document, arrays | {name: value})
        with pytest.raises(kerndict.ModelFormatError):
            kerndict.load(path)


def test_weights_of_batches_are_those_of_all_rows():
    weights = np.linspace(0.1, 9, len(X))
    scale = {"class_weight": {0: 3.0, 1: 0.5, 2: 1.0}}
    one = model(**scale).partial_fit(X[:800], y[:800], sample_weight=weights[:800])
    one.partial_fit(X[800:], y[800:], sample_weight=weights[800:])
    other = model(**scale).partial_fit(X[:800], y[:800], sample_weight=weights[:800])
    for rows in (np.flatnonzero(y[800:] == 1) + 800, np.flatnonzero(y[800:] != 1) + 800):
        other.partial_fit(X[rows], y[rows], sample_weight=weights[rows])
    close(other.model_.rule.weight, one.model_.rule.weight, 0.1)  # another order, another sample
    close(other.learner_.sums.weight, one.learner_.sums.weight)
    tenth = model(**scale).partial_fit(X[:800], y[:800], sample_weight=weights[:800] / 10)
    tenth.partial_fit(X[800:], y[800:], sample_weight=weights[800:] / 10)
    close(tenth.decision_function(NEW), one.decision_function(NEW), 1e-7)
    whole = model(**scale).fit(X, y, sample_weight=weights)
    at_once = model(**scale).partial_fit(X, y, sample_weight=weights)
    close(at_once.decision_function(NEW), whole.decision_function(NEW), 1e-8)


def test_classes_of_the_first_call_are_those_of_all():
    found = model().partial_fit(X[:500], names[y[:500]], classes=names)
    assert found.classes_.tolist() == names.tolist()
    with pytest.raises(ValueError, match="'oak', which is none of"):
        found.partial_fit(X[:2], ["oak", "ash"])
    with pytest.raises(ValueError, match=r"classes=.* are not those of the first call"):
        found.partial_fit(X[:2], names[y[:2]], classes=["ash", "oak"])
    with pytest.raises(ValueError, match=r"one class only .* classes=\.\.\."):
        model().partial_fit(X[:2], ["ash", "ash"])


def test_what_cannot_learn_from_batches_says_so():
    for options in ({"decision": "residual"}, {"n_landmarks": "all"}, {"kernel": "precomputed"}):
        with pytest.raises(AttributeError) as told:
            model().set_params(**options).partial_fit  # noqa: B018
        ((name, value),) = options.items()
        assert f"{name}={value!r} cannot learn from batches" in str(told.value.__cause__)
    with pytest.raises(ValueError, match="class_weight='balanced' needs all samples"):
        model(class_weight="balanced").partial_fit(X, y)


def test_fit_begins_anew_and_an_error_changes_nothing(monkeypatch):
    found = model().partial_fit(X[:1000], y[:1000])
    before = found.decision_function(NEW)

    def stopped(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "add", stopped)
        with pytest.raises(KeyboardInterrupt):
            found.partial_fit(X[1000:], y[1000:])
    np.testing.assert_array_equal(found.decision_function(NEW), before)
    found.partial_fit(X[1000:], y[1000:])
    assert found.model_.class_sizes.sum() == len(X)
    found.fit(X[:1000], y[:1000])
    assert found.model_.class_sizes.sum() == 1000
    assert not hasattr(found, "learner_")
    assert not hasattr(clone(found), "model_")


def test_rows_that_are_streamed_are_learned_as_all_at_once():
    def batches():
        for start in range(0, len(X), 700):
            yield X[start : start + 700], y[start : start + 700]

    found = model().fit_batches(batches(), X[:900], y[:900], n_samples=len(X))
    expected = learned(KernelDictionaryClassifier, 900, 1500)
    close(found.decision_function(NEW), expected.decision_function(NEW), 1e-8)
    assert not hasattr(found, "learner_")


def test_an_interrupt_while_streaming_writes_nothing(tmp_path, monkeypatch):
    from kerndict.cli import intake, main

    monkeypatch.setattr(intake, "WHOLE", 1000)
    monkeypatch.setattr(intake, "WHOLE_ROWS", 500)
    table = tmp_path / "t.csv"
    rows = [",".join(map(str, [*row, name])) for row, name in zip(X, names[y], strict=True)]
    table.write_text("\n".join([",".join([f"f{k}" for k in range(12)] + ["kind"]), *rows]))

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(stream.Sample, "add", stopped)
    out = tmp_path / "m"
    assert main(["train", str(table), "--label", "kind", "--out", str(out)]) == 130
    assert not out.exists()
