"""Callbacks, words, and a clean state when `fit` is interrupted."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from conftest import BOTH, RULES, make, run_python, toy
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.fixes import parse_version

from kerndict import DictionaryClassifier, KernelDictionaryClassifier, SpanWarning, learning
from kerndict.classifiers import place, progress
from kerndict.rules import crossfit

X, y = toy()
callbacks = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"), reason="scikit-learn < 1.9"
)


def interrupt(monkeypatch, module, name, after):
    """Let the named function raise KeyboardInterrupt on its call number ``after``."""
    original, calls = getattr(module, name), []

    def raising(*args, **kwargs):
        calls.append(name)
        if len(calls) >= after:
            raise KeyboardInterrupt
        return original(*args, **kwargs)

    monkeypatch.setattr(module, name, raising)


class Recorder:
    """A callback that remembers tasks, and stops when told to."""

    max_propagation_depth = None

    def __init__(self, stop_after=None):
        self.events, self.stop_after, self.estimators = [], stop_after, []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
        self.events.append(("end", context.task_name))
        if fitted_estimator is not None:
            self.estimators.append((context.task_name, fitted_estimator, X))
        ends = self.events.count(("end", "iteration"))
        return self.stop_after is not None and ends >= self.stop_after


@callbacks
@pytest.mark.parametrize("kind", BOTH)
def test_callbacks_hear_of_every_iteration(kind):
    heard = Recorder()
    model = make(kind).set_callbacks(heard).fit(X, y)
    iteration = [("begin", "iteration"), ("end", "iteration")]
    assert heard.events == [
        "setup",
        ("begin", "fit"),
        *iteration * 3,
        ("end", "fit"),
        "teardown",
    ]
    names, estimators, _ = zip(*heard.estimators, strict=True)
    assert names == ("iteration",) * 3 + ("fit",)
    for done, estimator in enumerate(estimators[:3], start=1):
        alone = make(kind, n_iter=done).fit(X, y)
        np.testing.assert_array_equal(estimator.decision_function(X), alone.decision_function(X))
        assert estimator.n_iter_ == done
    np.testing.assert_array_equal(estimators[3].predict(X), model.predict(X))


@callbacks
@pytest.mark.parametrize("kind", BOTH)
def test_callbacks_hear_of_folds_and_their_iterations(kind):
    heard = Recorder()
    settings = {"decision": "collaborative", "within_class_whitening": 0}
    plain = make(kind, **settings).fit(X, y)
    model = make(kind, **settings).set_callbacks(heard).fit(X, y)
    tasks = [event[1] for event in heard.events if event[0] == "begin"]
    passes = ["iteration"] * 3
    assert tasks == ["fit", *["fold", *passes] * 5, "learn", *passes]
    assert [name for name, *_ in heard.estimators if name == "learn"] == []
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))


@callbacks
def test_a_callback_can_stop_learning():
    model = make(KernelDictionaryClassifier).set_callbacks(Recorder(stop_after=2)).fit(X, y)
    assert model.n_iter_ == 2
    alone = make(KernelDictionaryClassifier, n_iter=2).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))


@callbacks
def test_the_warning_points_at_the_call_of_fit_with_callbacks_too():
    model = make(DictionaryClassifier).set_params(n_atoms=12, n_nonzero_coefs=12)
    with pytest.warns(SpanWarning) as caught:
        model.set_callbacks(Recorder()).fit(X, y)
    assert caught[0].filename == __file__


@callbacks
@pytest.mark.parametrize("decision", RULES)
def test_scikit_learns_progress_bar(decision, capsys):
    from sklearn.callback import ProgressBar

    pipeline = make_pipeline(Normalizer(), make(KernelDictionaryClassifier, decision))
    with warnings.catch_warnings():  # Normalizer hears no callbacks
        warnings.filterwarnings("ignore", message="The estimator Normalizer does not support")
        pipeline.set_callbacks(ProgressBar()).fit(X, y)
    shown = capsys.readouterr().out
    assert "KernelDictionaryClassifier - fit" in shown
    assert ("KernelDictionaryClassifier - learn" in shown) == (decision == "collaborative")
    assert "100%" in shown
    assert pipeline.score(X, y) > 0.9


@callbacks
def test_scikit_learns_scoring_monitor_with_named_features():
    from sklearn.callback import ScoringMonitor

    monitor = ScoringMonitor(scoring="accuracy")
    frame = pd.DataFrame(X, columns=[f"feature {i}" for i in range(X.shape[1])])
    model = make(DictionaryClassifier).set_callbacks(monitor).fit(frame, y)
    log = monitor.get_logs().data_as_pandas
    assert log["task_name"].tolist() == ["fit"] + ["iteration"] * 3
    assert log["accuracy"].iloc[-1] == model.score(frame, y)


@callbacks
@pytest.mark.parametrize("kind", BOTH)
def test_callbacks_are_torn_down_when_fit_is_interrupted(kind, monkeypatch):
    heard = Recorder()
    model = make(kind).set_callbacks(heard)
    before = dict(vars(model))
    interrupt(monkeypatch, learning, "learn", 1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert heard.events == ["setup", ("begin", "fit"), ("begin", "iteration"), "teardown"]
    assert vars(model) == before


POINTS = {
    "start": (place, "check_classification_targets", 1),
    "learn": (learning, "learn", 1),
    "second fold": (crossfit, "ridge_path", 2),
    "weights": (crossfit, "fit_weights", 1),
    "inverse": (crossfit, "CollaborativeRule", 1),
}


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("point", POINTS)
def test_ctrl_c_leaves_nothing_fitted(kind, point, monkeypatch):
    model = make(kind, "collaborative")
    before = dict(vars(model))
    interrupt(monkeypatch, *POINTS[point])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert vars(model) == before
    with pytest.raises(sklearn.exceptions.NotFittedError):
        model.predict(X)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("point", POINTS)
def test_ctrl_c_leaves_the_earlier_model(kind, point, monkeypatch):
    model = make(kind, "collaborative").fit(X, y)
    expected, before = model.predict_proba(X), dict(vars(model))
    interrupt(monkeypatch, *POINTS[point])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :7], np.array(["a", "b", "c"])[y])
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_an_error_leaves_the_earlier_model():
    model = make(DictionaryClassifier).fit(X, y)
    with pytest.raises(ValueError, match="one class only"):
        model.fit(X[:, :4], np.zeros(len(y)))
    assert model.n_features_in_ == 10
    assert model.score(X, y) > 0.9


def test_verbose_tells_of_folds_and_the_time_left(capsys):
    settings = {"decision": "collaborative", "within_class_whitening": 0, "verbose": 1}
    make(KernelDictionaryClassifier, **settings).fit(X, y)
    lines = [line for line in capsys.readouterr().out.splitlines() if "compiled" not in line]
    assert len(lines) == 3 + crossfit.N_FOLDS
    pattern = r"\[KernelDictionaryClassifier\] (.*); [\d.]+ s, about ([\d.]+) s left"
    words, left = zip(*(re.fullmatch(pattern, line).groups() for line in lines), strict=True)
    assert words[0] == "fold 1/5 of the collaborative rule"
    assert words[5].startswith("iteration 1/3: reconstruction ")
    assert float(left[-1]) == 0


def test_the_warning_points_at_the_call_of_fit():
    with pytest.warns(SpanWarning) as caught:
        make(DictionaryClassifier).set_params(n_atoms=12, n_nonzero_coefs=12).fit(X, y)
    assert caught[0].filename == __file__


def test_callbacks_of_scikit_learn_are_asked_for_where_it_is_too_old(monkeypatch):
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    model = make(DictionaryClassifier)
    assert not hasattr(model, "set_callbacks")
    assert make_pipeline(Normalizer(), model).fit(X, y).score(X, y) > 0.9


def test_verbose_says_that_code_is_compiled_once_per_process():
    code = """
import numpy as np
from kerndict import DictionaryClassifier
X, y = np.eye(8), np.repeat([0, 1], 4)
for _ in range(2):
    DictionaryClassifier(2, 1, n_iter=1, decision="residual", verbose=1).fit(X, y)
"""
    lines = run_python(code).splitlines()
    assert "loading compiled code" in lines[0]
    assert sum("compiled" in line for line in lines) == 1
    assert len(lines) == 3
