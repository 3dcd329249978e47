"""Models with landmarks where data or parameters are unusual."""

import tracemalloc
from contextlib import nullcontext

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import sklearn
from conftest import BOTH, close, toy
from sklearn.utils.fixes import parse_version

from kerndict import DictionaryClassifier, KernelDictionaryClassifier, SpanWarning, load, save
from kerndict.classifiers import many
from kerndict.display import (
    AtomsDisplay,
    CoherenceDisplay,
    ExplanationDisplay,
    ObjectiveDisplay,
    ResidualDisplay,
    TypicalityDisplay,
)
from kerndict.landmarks import choose_width
from kerndict.spaces import LandmarkSpace

matplotlib.use("Agg")

X, y = toy(per_class=100, noise=1.0)
shuffled = np.random.default_rng(3).permutation(len(y))
X, y = X[shuffled], y[shuffled]


def rbf(**options):
    return KernelDictionaryClassifier(
        **{"sigma": 4.0, "random_state": 0, "n_landmarks": 30, **options}
    )


def linear(**options):
    return DictionaryClassifier(**{"random_state": 0, "n_landmarks": 30, **options})


RESIDUAL = {"decision": "residual", "n_atoms": 5, "n_nonzero_coefs": 2}
MAKERS = [linear, rbf]


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("value", "error", "said"),
    [
        (0, ValueError, "n_landmarks=0 is too small: give a whole number >= 2"),
        (1.5, TypeError, "n_landmarks=1.5 is not an integer: give a whole number >= 2"),
        (True, TypeError, "n_landmarks=True is not an integer: give a whole number >= 2"),
        ("some", ValueError, "n_landmarks='some' is not known: use 'all', a whole number"),
    ],
)
def test_errors_name_the_number_of_landmarks_and_the_remedy(kind, value, error, said):
    with pytest.raises(error, match=said):
        kind(n_landmarks=value).fit(X, y)


def test_landmarks_need_more_than_a_matrix():
    K = X @ X.T
    with pytest.raises(ValueError, match=r"n_landmarks=30 needs the samples.*n_landmarks='all'"):
        rbf(kernel="precomputed").fit(K, y)
    model = rbf(kernel="precomputed", n_landmarks=None, n_atoms=5, n_iter=1)
    assert not isinstance(model.fit(K, y).model_.space, LandmarkSpace)


@pytest.mark.parametrize("maker", MAKERS)
def test_initial_atoms_do_not_go_with_landmarks(maker):
    arrays = [np.ones((10, 5))] * 3
    with pytest.raises(ValueError, match=r"init holds arrays.*n_landmarks='all', or a word"):
        maker(init=arrays, n_atoms=5).fit(X, y)


@pytest.mark.parametrize("maker", MAKERS)
def test_incoherence_without_effect_is_told(maker):
    with pytest.warns(UserWarning, match=r"incoherence=0.5 has no effect with landmarks"):
        maker(incoherence=0.5).fit(X, y)


def test_incoherence_has_an_effect_with_the_residual_rule():
    free, apart = (rbf(**RESIDUAL, incoherence=g).fit(X, y) for g in (0.0, 2.0))
    assert apart.incoherence_ > 0
    assert apart.coherence_[-1] < free.coherence_[-1]


@pytest.mark.parametrize("maker", MAKERS)
def test_a_large_class_beside_a_small_one(maker):
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.standard_normal((2000, 4)), rng.standard_normal((5, 4)) * 0.1 + 4])
    labels = np.repeat(["many", "few"], [2000, 5])
    model = maker(n_landmarks=60).fit(rows, labels)
    np.testing.assert_array_equal(model.model_.class_sizes, [5, 2000])
    np.testing.assert_array_equal(model.predict(rows[-5:]), ["few"] * 5)
    assert (model.predict(rows[:2000]) == "many").mean() > 0.97


@pytest.mark.parametrize("options", [{}, RESIDUAL], ids=["collaborative", "residual"])
def test_classes_without_landmarks(options):
    rows, labels = toy(n_classes=6, per_class=60, noise=0.5)
    model = rbf(n_landmarks=3, **options).fit(rows, labels)
    assert len(set(labels[model.fit_indices_])) == 3
    assert model.predict(rows).shape == (360,)
    assert np.isfinite(model.decision_function(rows)).all()
    far = rows + 1000 * labels[:, None]
    with pytest.warns(SpanWarning) if options else nullcontext():
        model.fit(far, labels)
    assert np.isfinite(model.decision_function(far)).all()


def test_more_classes_than_rows_to_compare_widths_by():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(100), 2)
    rows = rng.standard_normal((100, 3))[labels] + 0.01 * rng.standard_normal((200, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kerndict.landmarks.width.ROWS", 60)
        patch.setattr("kerndict.landmarks.width.LANDMARKS", 20)
        assert choose_width(rows, labels, np.random.RandomState(0))[1] > 0


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("options", [{}, RESIDUAL], ids=["collaborative", "residual"])
def test_rows_of_zeros(maker, options):
    rows = X.copy()
    rows[::9] = 0
    more = {"kernel": "linear"} if maker is rbf else {}
    model = maker(**options, **more).fit(rows, y)
    some = np.vstack([rows[:5], np.zeros((2, 10))])
    assert np.isfinite(model.decision_function(some)).all()
    assert model.score(rows[rows.any(axis=1)], y[rows.any(axis=1)]) > 0.6
    if not options:
        np.testing.assert_allclose(model.predict_proba(some)[-2:], 1 / 3)
        np.testing.assert_array_equal(model.typicality(some)[-2:], model.typicality(some).min())


@pytest.mark.parametrize("maker", MAKERS)
def test_a_class_of_zeros(maker, path):
    rows = np.where(y[:, None] == 1, 0, X)
    more = {"kernel": "linear"} if maker is rbf else {}
    model = maker(**more).fit(rows, y)
    assert model.score(rows[y != 1], y[y != 1]) > 0.6
    assert np.isfinite(model.explain(rows).residuals).all()
    save(model, path)
    np.testing.assert_array_equal(load(path).predict_proba(rows), model.predict_proba(rows))


def test_nothing_but_zeros_is_an_error():
    with pytest.raises(ValueError, match="kernel='linear' is zero on all landmarks"):
        linear().fit(np.zeros_like(X), y)


@pytest.mark.parametrize("maker", MAKERS)
def test_rows_that_are_all_the_same(maker):
    model = maker().fit(np.ones_like(X), y)
    assert model.n_landmarks_ == 1
    np.testing.assert_allclose(model.predict_proba(X[:1] * 0 + 1), 1 / 3, atol=0.05)


@pytest.mark.parametrize("maker", MAKERS)
def test_fewer_distinct_rows_than_landmarks(maker):
    rows, labels = np.tile(X[:12], (20, 1)), np.tile(y[:12], 20)
    model = maker(n_landmarks=100).fit(rows, labels)
    assert model.n_landmarks_ <= 12
    assert model.score(rows, labels) > 0.9


def test_the_residual_rule_learns_without_a_matrix_of_all_rows():
    n = 6000
    rows, labels = toy(n_classes=3, per_class=n // 3, noise=1.0)
    model = KernelDictionaryClassifier(
        decision="residual", n_atoms=5, n_iter=1, n_landmarks=200, sigma=4.0, random_state=0
    )
    tracemalloc.start()
    try:
        model.fit(rows, labels)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * n * n / 2
    assert model.score(rows[::10], labels[::10]) > 0.7


@pytest.mark.parametrize("maker", MAKERS)
def test_a_file_mapped_into_memory_gives_the_same_model(maker, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model, found = maker().fit(X, y), maker().fit(mapped, y)
    np.testing.assert_array_equal(found.predict_proba(mapped), model.predict_proba(X))
    np.testing.assert_array_equal(found.fit_indices_, model.fit_indices_)


@pytest.mark.parametrize("options", [{}, RESIDUAL], ids=["collaborative", "residual"])
@pytest.mark.parametrize("maker", MAKERS)
def test_displays_draw_models_with_landmarks(maker, options):
    model = maker(**options).fit(X, y)
    try:
        AtomsDisplay.from_estimator(model, image_shape=(2, 5), n_atoms=3)
        CoherenceDisplay.from_estimator(model)
        ExplanationDisplay.from_estimator(model, X[:1], image_shape=(2, 5))
        ResidualDisplay.from_estimator(model, X, y)
        if options:
            ObjectiveDisplay.from_estimator(model)
        else:
            TypicalityDisplay.from_estimator(model, X, y)
            with pytest.raises(ValueError, match="a model with landmarks is not learned by"):
                ObjectiveDisplay.from_estimator(model)
        for number in plt.get_fignums():
            plt.figure(number).canvas.draw()
    finally:
        plt.close("all")


def test_training_codes_are_those_of_the_residual_rule_only():
    with pytest.raises(AttributeError, match="a model with landmarks has no training codes"):
        _ = rbf().fit(X, y).codes_
    assert [len(codes) for codes in rbf(**RESIDUAL).fit(X, y).codes_] == [100] * 3


@pytest.mark.parametrize("maker", MAKERS)
def test_ctrl_c_while_rows_are_summed_up_leaves_the_earlier_model(maker, monkeypatch):
    model = maker().fit(X, y)
    expected, before = model.predict_proba(X), dict(vars(model))
    original, calls = many.Learner.add, []

    def interrupted(*args):
        calls.append(args)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return original(*args)

    monkeypatch.setattr(many.Learner, "add", interrupted)
    monkeypatch.setattr(many, "MOST_ROWS", 100)
    monkeypatch.setattr(many, "FEWEST_ROWS", 100)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :7], np.array(["a", "b", "c"])[y])
    assert len(calls) == 2
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_verbose_tells_of_the_rows(capsys):
    rbf(verbose=1).fit(X, y)
    assert "300 of 300 samples summed up" in capsys.readouterr().out


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"), reason="scikit-learn < 1.9"
)
def test_a_callback_may_stop_before_all_classes_were_seen(monkeypatch, path):
    class Stop:
        max_propagation_depth = None

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            return context.task_name == "chunk"

    monkeypatch.setattr(many, "MOST_ROWS", 150)
    monkeypatch.setattr(many, "FEWEST_ROWS", 150)
    order = np.argsort(y)
    model = rbf().set_callbacks(Stop()).fit(X[order], y[order])
    assert set(model.predict(X)) <= {0, 1, 2}
    save(model, path)
    close(load(path).predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("options", [{}, RESIDUAL], ids=["collaborative", "residual"])
@pytest.mark.parametrize(
    "kernel",
    [{"kernel": "poly", "coef0": -3.0, "degree": 3}, {"kernel": lambda A, B: np.tanh(A @ B.T - 1)}],
    ids=["poly", "callable"],
)
def test_kernels_that_are_not_positive_semidefinite_are_refused(kernel, options):
    with pytest.raises(ValueError, match="is not positive semidefinite on the landmarks"):
        rbf(n_landmarks=60, **kernel, **options).fit(X, y)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1.0, 1e3, 1e12])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_rows_of_any_size_have_landmarks(kernel, scale, dtype):
    spread = np.array([1, 1, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5, 0])
    sizes = np.abs(np.random.default_rng(0).standard_cauchy((len(X), 1)))
    rows = (scale * X * spread * sizes).astype(dtype)
    if kernel == "poly":
        rows = rows / np.abs(rows).max() * 10
    width = float(np.abs(rows).max())
    rbf(kernel=kernel, sigma=width, n_landmarks=300).fit(rows, y).predict_proba(rows)
