"""Every Display drawn, and what was drawn compared with the numbers."""

import itertools
import subprocess
import sys
from functools import partial

import conftest
import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from conftest import BOTH, RULES, close, toy
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler, normalize

import kerndict
from kerndict import DictionaryClassifier, KernelDictionaryClassifier, SpanWarning
from kerndict.display import (
    AtomsDisplay,
    CoherenceDisplay,
    ExplanationDisplay,
    ObjectiveDisplay,
    ResidualDisplay,
    TypicalityDisplay,
)
from kerndict.explanation import Explanation
from kerndict.inspection import FeatureExplanation

matplotlib.use("Agg")

X, y = toy(n_classes=4, n_features=12, noise=1.2)
shuffled = np.random.default_rng(5).permutation(len(y))
X, y = X[shuffled], y[shuffled]
names = np.array(["ash", "birch", "cedar", "date"])


make = partial(conftest.make, n_atoms=5)


@pytest.fixture(autouse=True)
def rendered():
    """Render what a test has drawn, and close it."""
    yield
    for number in plt.get_fignums():
        figure = plt.figure(number)
        figure.canvas.draw()
        plt.close(figure)


@pytest.mark.parametrize("decision", RULES)
@pytest.mark.parametrize("kind", BOTH)
def test_residual_map_sorts_samples_and_marks_wrong_winners(kind, decision):
    model = make(kind, decision).fit(X[::2], names[y[::2]])
    shown = ResidualDisplay.from_estimator(model, X, names[y], normalize=False)
    order = np.argsort(y, kind="stable")
    np.testing.assert_array_equal(shown.im_.get_array(), model.explain(X).residuals[order])
    assert shown.y_true.tolist() == names[np.sort(y)].tolist()
    predicted = model.predict(X)[order]
    wrong = np.flatnonzero(predicted != names[np.sort(y)])
    assert 0 < len(wrong) < 40
    np.testing.assert_array_equal(shown.wrong_.get_ydata(), wrong)
    np.testing.assert_array_equal(names[shown.wrong_.get_xdata()], predicted[wrong])
    assert shown.wrong_.get_label() == f"wrong winner: {len(wrong)} of 48"
    assert [tick.get_text() for tick in shown.ax_.get_xticklabels()] == names.tolist()
    assert [tick.get_text() for tick in shown.ax_.get_yticklabels()] == names.tolist()
    assert shown.ax_.get_yticks().tolist() == [5.5, 17.5, 29.5, 41.5]
    assert shown.figure_.axes[1].get_ylabel() == "squared residual"


def test_residual_map_is_relative_to_the_mean_of_each_row():
    residuals = np.array([[1.0, 3.0], [0.0, 0.0], [8.0, 2.0]])
    shown = ResidualDisplay.from_predictions([0, 0, 1], residuals)
    np.testing.assert_array_equal(shown.im_.get_array(), [[0.5, 1.5], [0, 0], [1.6, 0.4]])
    assert len(shown.wrong_.get_xdata()) == 0
    assert shown.figure_.axes[1].get_ylabel() == "squared residual / its mean over the classes"


def test_residual_map_of_classes_the_model_does_not_know():
    residuals = np.array([[1.0, 3.0], [2.0, 1.0], [8.0, 2.0]])
    shown = ResidualDisplay.from_predictions(["a", "z", "b"], residuals, classes=["a", "b"])
    assert [tick.get_text() for tick in shown.ax_.get_yticklabels()] == ["a", "b", "z"]
    assert shown.wrong_.get_ydata().tolist() == [2]
    with pytest.raises(ValueError, match=r"residuals has shape \(3, 2\) for 3 samples and 3"):
        ResidualDisplay.from_predictions(["a", "z", "b"], residuals)


@pytest.mark.parametrize("given", [False, True])
def test_residual_map_with_columns_in_any_order(given):
    residuals = np.array([[1, 2, 3], [2, 9, 3], [4, 5, 1], [7, 6, 8], [3, 1, 2.0]])
    y_true, y_pred = ["a", "b", "z", "c", "b"], ["c", "c", "b", "a", "a"]
    shown = ResidualDisplay.from_predictions(
        y_true, residuals, y_pred=y_pred if given else None, classes=["c", "a", "b"]
    )
    # Rows follow the columns, and what has no column comes last.
    assert [tick.get_text() for tick in shown.ax_.get_xticklabels()] == ["c", "a", "b"]
    assert [tick.get_text() for tick in shown.ax_.get_yticklabels()] == ["c", "a", "b", "z"]
    assert shown.y_true.tolist() == ["c", "a", "b", "b", "z"]
    np.testing.assert_array_equal(shown.residuals, residuals[[3, 0, 1, 4, 2]])
    marks = dict(zip(shown.wrong_.get_ydata(), shown.wrong_.get_xdata(), strict=True))
    assert marks == {0: 1, 1: 0, 2: 0, 3: 1, 4: 2}
    lines = [line.get_ydata()[0] for line in shown.ax_.lines if line is not shown.wrong_]
    assert lines == [0.5, 1.5, 3.5]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y_true": [0, 1]}, r"y_true has shape \(2,\) for 3 samples: give one label per sample"),
        ({"y_true": [[0], [1], [1]]}, r"y_true has shape \(3, 1\) for 3 samples"),
        ({"y_pred": [0, 1]}, r"y_pred has shape \(2,\) for 3 samples: give one label per sample"),
        ({"y_pred": [0, 1, 2]}, "y_pred holds 2, which is not among classes: give"),
        ({"classes": [1, 1]}, "classes holds 1 twice: give each label once"),
        ({"classes": [[0, 1]]}, r"residuals has shape \(3, 2\)"),
        ({"residuals": [1.0, 2.0, 3.0]}, r"residuals has shape \(3,\)"),
        ({"residuals": np.ones((0, 2)), "y_true": [], "classes": [0, 1]}, "at least one of each"),
    ],
)
def test_bad_residual_maps_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ResidualDisplay.from_predictions(
            **{"y_true": [0, 1, 1], "residuals": np.eye(3)[:, :2], **options}
        )


@pytest.mark.parametrize("display", [ResidualDisplay, TypicalityDisplay])
def test_one_label_per_sample_is_wanted(display):
    model = make(DictionaryClassifier, "collaborative").fit(X, y)
    with pytest.raises(ValueError, match=r"^y has shape \(47,\) for 48 samples: give one label"):
        display.from_estimator(model, X, y[1:])


def test_many_classes_get_few_labels_and_long_ones_stand_upright():
    residuals = np.random.default_rng(0).random((100, 100))
    labels = np.array([f"species {i:03}" for i in range(100)])
    shown = ResidualDisplay.from_predictions(labels, residuals)
    texts = shown.ax_.get_xticklabels()
    assert [text.get_text() for text in texts[:2]] == ["species 000", "species 005"]
    assert len(texts) == 20
    assert texts[0].get_rotation() == 90


def test_small_classes_among_large_ones_get_no_labels_on_top_of_others():
    labels = np.repeat(["a", "b", "c", "d"], [60, 1, 1, 58])
    shown = ResidualDisplay.from_predictions(labels, np.ones((120, 4)))
    assert [text.get_text() for text in shown.ax_.get_yticklabels()] == ["a", "b", "d"]


def test_residual_maps_of_different_models_have_the_same_colours():
    residuals = np.array([[1.0, 3.0, 3.0], [0.0, 0.0, 9.0]])
    shown = ResidualDisplay.from_predictions([0, 1], residuals, classes=[0, 1, 2])
    assert shown.im_.get_clim() == (0, 2)
    assert shown.im_.colorbar.extend == "max"  # a row of 9 against a mean of 3
    shown = ResidualDisplay.from_predictions([0], residuals[:1], classes=[0, 1, 2])
    assert shown.im_.get_clim() == (0, 2)
    assert shown.im_.colorbar.extend == "neither"
    assert shown.plot(normalize=False).im_.get_clim() == (0, 3)
    assert shown.plot(im_kw={"vmax": 1}).im_.get_clim() == (0, 1)
    norm = matplotlib.colors.LogNorm(0.1, 10)
    assert shown.plot(im_kw={"norm": norm}).im_.norm is norm


@pytest.mark.parametrize(
    ("label", "text"),
    [
        (7, "7"),
        ("exactly 18 letters", "exactly 18 letters"),
        ("Chrysemys picta marginata", "Chrysemys…arginata"),
        ("$1-$9", r"\$1-\$9"),
    ],
)
def test_labels_as_drawn(label, text):
    shown = CoherenceDisplay(coherence=np.ones((1, 1)), classes=np.array([label])).plot()
    assert [tick.get_text() for tick in shown.ax_.get_yticklabels()] == [text]


@pytest.mark.parametrize("kind", BOTH)
def test_coherence_between_classes(kind):
    options = {"kernel": "linear"} if kind is KernelDictionaryClassifier else {}
    model = make(kind, **options).fit(X, names[y])
    shown = CoherenceDisplay.from_estimator(model)
    if options:
        groups = np.split(X[model.fit_indices_], 4)
        pairs = zip(groups, model.dual_dictionaries_, strict=True)
        D = [group.T @ A for group, A in pairs]
    else:
        D = model.dictionaries_
    for i in range(4):
        for k in range(4):
            squares = (D[i].T @ D[k]) ** 2
            if i == k:
                squares = squares[~np.eye(5, dtype=bool)]
            close(shown.coherence[i, k], squares.mean(), 1e-8)
    drawn = shown.im_.get_array()
    assert drawn.mask.tolist() == np.eye(4, dtype=bool).tolist()
    close(drawn.data[0, 1], shown.coherence[0, 1])
    # The coherence term of the objective sums the same squares over ordered pairs.
    apart = ~np.eye(4, dtype=bool)
    close(shown.coherence[apart].sum() * 25, model.coherence_[-1], 1e-8)


def test_coherence_of_precomputed_kernels_and_in_chunks():
    from sklearn import config_context

    K = rbf_kernel(X, gamma=0.02)
    model = make(KernelDictionaryClassifier, kernel="precomputed").fit(K, y)
    named = make(KernelDictionaryClassifier, sigma=5.0).fit(X, y)
    expected = CoherenceDisplay.from_estimator(named).coherence
    close(CoherenceDisplay.from_estimator(model, K=K).coherence, expected, 1e-7)
    with config_context(working_memory=0.001):  # one row at a time
        close(CoherenceDisplay.from_estimator(named).coherence, expected)
    with pytest.raises(ValueError, match="give the one given to fit as K="):
        CoherenceDisplay.from_estimator(model)
    with pytest.raises(ValueError, match=r"K has shape \(47, 47\)"):
        CoherenceDisplay.from_estimator(model, K=K[1:, 1:])


def test_one_atom_per_class_has_no_coherence_of_its_own():
    model = DictionaryClassifier(n_atoms=1, n_nonzero_coefs=1, n_iter=1, random_state=0).fit(X, y)
    coherence = CoherenceDisplay.from_estimator(model).coherence
    assert np.isnan(np.diagonal(coherence)).all()
    assert np.isfinite(coherence[~np.eye(4, dtype=bool)]).all()


@pytest.mark.parametrize("kind", BOTH)
def test_objective_is_the_sum_of_its_terms(kind):
    model = make(kind, incoherence=0.2, incoherence_scale="absolute").fit(X, y)
    shown = ObjectiveDisplay.from_estimator(model, line_kw={"linewidth": 3})
    total, reconstruction, penalty = (line.get_ydata() for line in shown.lines_)
    np.testing.assert_array_equal(reconstruction, model.reconstruction_)
    np.testing.assert_array_equal(penalty, 0.2 * model.coherence_)
    close(total, reconstruction + penalty)
    assert shown.lines_[0].get_xdata().tolist() == [1, 2, 3]
    assert shown.lines_[0].get_linewidth() == 3
    assert shown.lines_[2].get_label() == "γ·coherence, γ = 0.2"


def test_objective_without_a_penalty_or_without_iterations():
    shown = ObjectiveDisplay.from_estimator(make(DictionaryClassifier, incoherence=0.0).fit(X, y))
    assert [line.get_label() for line in shown.lines_] == ["objective = reconstruction, γ = 0"]
    with pytest.raises(ValueError, match="n_iter=0 has no objective"):
        ObjectiveDisplay.from_estimator(make(DictionaryClassifier, n_iter=0).fit(X, y))


def test_atoms_of_the_linear_classifier():
    model = make(DictionaryClassifier).fit(X, names[y])
    shown = AtomsDisplay.from_estimator(
        model, image_shape=(3, 4), classes=["date", "ash"], n_atoms=2
    )
    assert shown.classes.tolist() == ["date", "ash"]
    drawn = shown.im_.get_array()
    assert drawn.shape == (7, 9)  # one pixel between images
    assert np.isnan(np.ma.filled(drawn, np.nan)[3]).all()
    atom = model.dictionaries_[0][:, 1]
    atom = np.sign(atom.sum()) * atom
    expected = (atom - atom.min()) / np.ptp(atom)
    close(drawn[4:7, 5:9].data, expected.reshape(3, 4))
    assert shown.ax_.get_title() == "Atoms\n2 of 4 classes"
    assert shown.ax_.get_yticks().tolist() == [1, 5]


def test_atoms_of_the_kernel_classifier_are_weighted_means():
    model = make(KernelDictionaryClassifier, sigma=5.0).fit(X, names[y])
    shown = AtomsDisplay.from_estimator(model, image_shape=(3, 4))
    assert shown.ax_.get_title() == "Kernel atoms, as weighted means of training samples"
    group, A = X[y == 2], model.dual_dictionaries_[2]
    image = group.T @ A[:, 3] / np.abs(A[:, 3]).sum()
    close(shown.images[2][3], np.sign(image.sum()) * image)
    K = rbf_kernel(X, gamma=0.02)
    model = make(KernelDictionaryClassifier, kernel="precomputed").fit(K, names[y])
    again = AtomsDisplay.from_estimator(model, image_shape=(3, 4), X=X)
    close(again.images[2], shown.images[2], 1e-6)
    with pytest.raises(ValueError, match="give those behind the kernel matrix as X="):
        AtomsDisplay.from_estimator(model, image_shape=(3, 4))
    with pytest.raises(ValueError, match="give the 48 training samples"):
        AtomsDisplay.from_estimator(model, image_shape=(3, 4), X=X[1:])


def test_colour_images_and_classes_of_different_sizes():
    few = np.r_[np.flatnonzero(y == 0)[:6], np.flatnonzero(y == 1)]
    model = DictionaryClassifier(n_atoms=0.5, n_nonzero_coefs=2, random_state=0).fit(X[few], y[few])
    shown = AtomsDisplay.from_estimator(model, image_shape=(2, 2, 3))
    drawn = shown.im_.get_array()
    assert [len(images) for images in shown.images] == [3, 6]
    assert drawn.shape == (5, 17, 4)
    assert (drawn[:2, 9:, 3] == 0).all()  # nothing where a class has fewer atoms
    assert (drawn[:2, :2, 3] == 1).all()


@pytest.mark.parametrize("shape", [(3, 3), (12,), (3, 2, 2), (2, 3, 2, 1)])
def test_bad_image_shapes_are_refused(shape):
    model = make(DictionaryClassifier).fit(X, y)
    with pytest.raises(ValueError, match="does not hold 12 features"):
        AtomsDisplay.from_estimator(model, image_shape=shape)


@pytest.mark.parametrize("decision", RULES)
@pytest.mark.parametrize("kind", BOTH)
def test_explanation_in_bars(kind, decision):
    model = make(kind, decision).fit(X, names[y])
    found = model.explain(X[3:4])
    shown = ExplanationDisplay(explanation=found).plot()
    order = [text.get_text() for text in shown.ax_.get_yticklabels()]
    assert order[:2] == names[found.top[0]].tolist()
    values = found.residuals if decision == "residual" else found.probabilities
    widths = [bar.get_width() for bar in shown.bars_]
    close(widths, values[0][np.searchsorted(names, order)])
    label = "squared residual, the smallest wins" if decision == "residual" else "probability"
    assert shown.ax_.get_xlabel() == label
    for rank, name in enumerate(["winner", "runner-up"]):
        panel = shown.axes_[name]
        assert panel.get_title(loc="left") == f"{name}: {names[found.top[0, rank]]}"
        heights = [bar.get_height() for bar in panel.containers[0]]
        close(heights, found.coefficients[0, rank])
        numbers = [int(text.get_text()) for text in panel.get_xticklabels()]
        assert numbers == found.atoms[0, rank].tolist()


@pytest.mark.parametrize("kind", BOTH)
def test_explanation_with_images(kind):
    model = make_pipeline(Normalizer(), make(kind)).fit(X, names[y])
    shown = ExplanationDisplay.from_estimator(model, X[3], image_shape=(3, 4))
    close(shown.sample, normalize(X[3:4])[0])
    found = model[-1].explain(normalize(X[3:4]))
    panel = shown.axes_["runner-up"]
    texts = [text.get_text() for text in panel.get_xticklabels()]
    pairs = zip(found.atoms[0, 1], found.coefficients[0, 1], strict=True)
    assert texts == [f"{atom}\n{value:+.2g}" for atom, value in pairs]
    assert ("weighted means" in panel.get_xlabel()) == (kind is KernelDictionaryClassifier)
    if kind is DictionaryClassifier:
        atom = model[-1].dictionaries_[found.top[0, 1]][:, found.atoms[0, 1, 0]]
        tile = panel.images[0].get_array()[:3, :4]
        close(tile.data, ((atom - atom.min()) / np.ptp(atom)).reshape(3, 4))


@pytest.mark.parametrize("image_shape", [None, (3, 4)])
@pytest.mark.parametrize("decision", RULES)
def test_explanation_of_a_sample_that_uses_no_atoms(decision, image_shape):
    model = make(DictionaryClassifier, decision).fit(X, names[y])
    if image_shape is None:
        shown = ExplanationDisplay(explanation=model.explain(np.zeros((1, 12)))).plot()
    else:
        shown = ExplanationDisplay.from_estimator(model, np.zeros(12), image_shape=image_shape)
    for name, label in (("winner", "ash"), ("runner-up", "birch")):
        panel = shown.axes_[name]
        assert [text.get_text() for text in panel.texts] == ["no atom is used"]
        assert panel.get_title(loc="left") == f"{name}: {label}"
        assert not panel.patches
        assert not panel.images
    assert shown.ax_.get_xlim()[0] == 0


@pytest.mark.parametrize("image_shape", [None, (2, 2)])
def test_explanation_where_only_the_runner_up_uses_no_atoms(image_shape):
    rows = np.array([[3.0, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 3], [0, 0, 2, 1]])
    model = DictionaryClassifier(
        2, 2, decision="residual", init="samples", random_state=0, n_iter=0
    )
    with pytest.warns(SpanWarning):
        model.fit(rows, [0, 0, 1, 1])
    if image_shape is None:
        shown = ExplanationDisplay(explanation=model.explain(rows[:1])).plot()
    else:
        shown = ExplanationDisplay.from_estimator(model, rows[0], image_shape=image_shape)
    assert not shown.axes_["winner"].texts
    assert shown.axes_["winner"].get_xlabel().startswith("atom")
    assert [text.get_text() for text in shown.axes_["runner-up"].texts] == ["no atom is used"]


@pytest.mark.parametrize(
    ("n_atoms", "error", "message"),
    [
        (0, ValueError, r"n_atoms=0 is too small: give a whole number >= 1"),
        (-1, ValueError, r"n_atoms=-1 is too small"),
        (2.5, TypeError, r"n_atoms=2.5 is not an integer"),
    ],
)
def test_bad_counts_of_atoms_are_refused(n_atoms, error, message):
    model = make(DictionaryClassifier).fit(X, y)
    shown = ExplanationDisplay.from_estimator(model, X[0])
    with pytest.raises(error, match=message):
        shown.plot(n_atoms=n_atoms)
    with pytest.raises(error, match=message):
        ExplanationDisplay.from_estimator(model, X[0], image_shape=(3, 4), n_atoms=n_atoms)
    with pytest.raises(error, match=message):
        AtomsDisplay.from_estimator(model, image_shape=(3, 4), n_atoms=n_atoms)


@pytest.mark.parametrize(("classes", "held"), [([], "nothing"), ([0, 9], "9"), ("ash", "'ash'")])
def test_atoms_of_classes_that_are_not_there_are_refused(classes, held):
    model = make(DictionaryClassifier).fit(X, y)
    with pytest.raises(ValueError, match=f"classes holds {held}: give labels among classes_"):
        AtomsDisplay.from_estimator(model, image_shape=(3, 4), classes=classes)


def test_explanation_of_precomputed_kernels_has_no_images():
    K = rbf_kernel(X, gamma=0.02)
    model = make(KernelDictionaryClassifier, kernel="precomputed").fit(K, y)
    assert len(ExplanationDisplay.from_estimator(model, K[0]).bars_) == 4
    with pytest.raises(ValueError, match=r"image_shape=\(6, 8\) cannot be drawn with kernel='prec"):
        ExplanationDisplay.from_estimator(model, K[0], image_shape=(6, 8))


def test_explanation_of_many_classes_shows_the_best():
    many, labels = toy(n_classes=12, per_class=6, n_features=20)
    model = DictionaryClassifier(n_atoms=3, n_nonzero_coefs=2, random_state=0).fit(many, labels)
    shown = ExplanationDisplay.from_estimator(model, many[:1])
    assert len(shown.bars_) == 8
    assert shown.ax_.get_ylabel() == "class (4 more)"


def test_explanation_has_both_classes_on_one_scale():
    model = make(DictionaryClassifier, "collaborative").fit(X, names[y])
    shown = ExplanationDisplay(explanation=model.explain(X[3:4])).plot()
    winner, other = (shown.axes_[name] for name in ("winner", "runner-up"))
    assert winner.get_ylim() == other.get_ylim()
    heights = [bar.get_height() for panel in (winner, other) for bar in panel.containers[0]]
    assert winner.get_ylim()[0] < min(heights)
    assert winner.get_ylim()[1] > max(heights)


@pytest.mark.parametrize("kind", BOTH)
def test_explanation_by_features(kind):
    columns = [f"feature {i}" for i in range(12)]
    rows = pd.DataFrame(X, columns=columns)
    model = make_pipeline(StandardScaler(), make(kind, "collaborative")).fit(rows, names[y])
    shown = ExplanationDisplay.from_estimator(model, rows[3:4])
    found = kerndict.explain(model, rows[3:4])
    panel = shown.axes_["features"]
    told = found.features()
    texts = [text.get_text() for text in panel.get_yticklabels()]
    assert [text.split(" = ")[0] for text in texts] == told["feature"].tolist()
    close([bar.get_width() for bar in panel.containers[0]], told["weight"])
    winner, runner_up = names[found.top[0]]
    assert panel.get_title(loc="right") == f"for {winner} →"
    assert [text.get_text() for text in panel.texts] == [f"← for {runner_up}"]
    assert shown.figure_.get_suptitle() == f"Why {winner} and not {runner_up}"


@pytest.mark.parametrize("kind", BOTH)
def test_atoms_as_bars_of_features(kind):
    rows = pd.DataFrame(X, columns=[f"feature {i}" for i in range(12)])
    model = make(kind).fit(rows, names[y])
    shown = AtomsDisplay.from_estimator(model, classes=["date", "ash"], n_atoms=2)
    assert shown.im_ is None
    words = [text.get_text() for text in shown.ax_.get_yticklabels()]
    assert words == [f"feature {i}" for i in range(12)] * 2
    first = [bar.get_width() for bar in shown.ax_.containers[0]]
    close(first, 0.45 * shown.images[0][0] / np.abs(shown.images[0][0]).max())
    assert shown.ax_.get_title(loc="left").endswith("2 of 4 classes")
    assert "classes" not in AtomsDisplay.from_estimator(model).ax_.get_title(loc="left")


def test_explanation_wants_one_sample_and_axes_of_a_grid():
    model = make(DictionaryClassifier).fit(X, y)
    with pytest.raises(ValueError, match="X has 48 rows: give one sample"):
        ExplanationDisplay.from_estimator(model, X)
    loose = plt.figure().add_axes((0, 0, 1, 1))
    with pytest.raises(ValueError, match="ax is not part of a grid"):
        ExplanationDisplay.from_estimator(model, X[0], ax=loose)


@pytest.mark.parametrize("kind", BOTH)
def test_typicality_of_the_known_and_the_unknown(kind):
    seen = y < 3
    model = make(kind, "collaborative").fit(X[seen], names[y[seen]])
    fresh = X + 0.1
    shown = TypicalityDisplay.from_estimator(model, fresh, names[y], threshold=0.2)
    p = model.typicality(fresh)
    np.testing.assert_array_equal(shown.known, seen)
    for name, chosen in (("known", seen), ("unknown", ~seen)):
        line = shown.lines_[name]
        assert line.get_drawstyle() == "steps-post"
        x, share = line.get_data()
        for value in np.unique(p[chosen]):  # the line steps up at a value, to what is not above
            close(share[np.flatnonzero(x == value)[-1]], np.mean(p[chosen] <= value))
        assert (x[-1], share[-1]) == (1, 1)
        below = np.count_nonzero(p[chosen] < 0.2)
        assert line.get_label() == f"{name}: {below} of {chosen.sum()} below 0.2"
    np.testing.assert_array_equal(*shown.uniform_.get_data())
    assert shown.threshold_line_.get_xdata() == [0.2, 0.2]
    marks = [line for line in shown.ax_.lines if line.get_marker() == "o"]
    shares = {mark.get_color(): mark.get_ydata()[0] for mark in marks}
    for name, chosen in (("known", seen), ("unknown", ~seen)):
        close(shares[shown.lines_[name].get_color()], np.mean(p[chosen] < 0.2))


def test_typicality_of_one_kind_only():
    p = [0.3, 0.01, 0.02, 1.0]
    shown = TypicalityDisplay.from_predictions(p, line_kw={"linewidth": 4})
    assert list(shown.lines_) == ["known"]
    line = shown.lines_["known"]
    assert line.get_xdata().tolist() == [0.01, 0.01, 0.02, 0.3, 1, 1]
    assert line.get_ydata().tolist() == [0, 0.25, 0.5, 0.75, 1, 1]
    assert line.get_label() == "known: 0 of 4 below 0.01"  # 0.01 itself is kept
    assert line.get_linewidth() == 4
    shown = TypicalityDisplay.from_predictions(p, np.zeros(4, bool), threshold=0.02)
    assert list(shown.lines_) == ["unknown"]
    assert shown.lines_["unknown"].get_label() == "unknown: 1 of 4 below 0.02"
    assert shown.ax_.get_xlim()[0] == pytest.approx(0.008)


@pytest.mark.parametrize(
    ("p", "known", "threshold", "message"),
    [
        ([0.5, 0.1], [True], 0.01, r"typicality has shape \(2,\) and known \(1,\)"),
        ([], None, 0.01, "at least one sample"),
        ([0.5, 0.1], [1, 0], 0.01, "known has type int64"),
        ([0.5, 1.1], None, 0.01, "outside"),
        ([0.5, np.nan], None, 0.01, "outside"),
        ([0.5], None, 1.0, "threshold=1.0 rejects everything"),
        ([0.5], None, 0.0, "threshold=0.0 is out of range"),
    ],
)
def test_bad_typicalities_are_refused(p, known, threshold, message):
    with pytest.raises(ValueError, match=message):
        TypicalityDisplay.from_predictions(p, known, threshold=threshold)


@pytest.mark.parametrize("later", RULES)
def test_typicality_goes_by_the_rule_that_was_fitted(later):
    model = make(DictionaryClassifier, "residual").fit(X, y).set_params(decision=later)
    with pytest.raises(ValueError, match=r"fitted with decision='residual'.*no typicality: fit it"):
        TypicalityDisplay.from_estimator(model, X, y)
    model = make(DictionaryClassifier, "collaborative").fit(X, y).set_params(decision=later)
    shown = TypicalityDisplay.from_estimator(model, X, y)
    np.testing.assert_array_equal(shown.typicality, model.typicality(X))


CALLS = {
    ResidualDisplay: lambda model, ax: ResidualDisplay.from_estimator(model, X, y, ax=ax),
    CoherenceDisplay: lambda model, ax: CoherenceDisplay.from_estimator(model, ax=ax),
    ObjectiveDisplay: lambda model, ax: ObjectiveDisplay.from_estimator(model, ax=ax),
    AtomsDisplay: lambda model, ax: AtomsDisplay.from_estimator(model, image_shape=(3, 4), ax=ax),
    ExplanationDisplay: lambda model, ax: ExplanationDisplay.from_estimator(model, X[0], ax=ax),
    TypicalityDisplay: lambda model, ax: TypicalityDisplay.from_estimator(model, X, y, ax=ax),
}


LABELS = np.array([f"a class with a long name {c:03}" for c in range(100)])
FAR = np.linspace(0.01, 1, 50)
DRAWN = {
    "residual": lambda: ResidualDisplay.from_predictions(LABELS, np.ones((100, 100))),
    "residual-few": lambda: ResidualDisplay.from_predictions(LABELS[:20], np.ones((20, 20))),
    "coherence": lambda: CoherenceDisplay(coherence=np.ones((100, 100)), classes=LABELS).plot(),
    "coherence-few": lambda: CoherenceDisplay(
        coherence=np.ones((20, 20)), classes=LABELS[:20]
    ).plot(),
    "objective": lambda: ObjectiveDisplay(
        reconstruction=1e7 * FAR, coherence=FAR, incoherence=1e7 / 3
    ).plot(),
    "atoms": lambda: AtomsDisplay(
        images=[np.ones((9, 12))] * 10, classes=LABELS[:10], image_shape=(3, 4)
    ).plot(),
    "atoms-one": lambda: AtomsDisplay(
        images=[np.ones((1, 12))], classes=LABELS[:1], image_shape=(3, 4), weighted_means=True
    ).plot(),
    "atoms-bars": lambda: AtomsDisplay(
        images=[np.ones((9, 30))] * 10,
        classes=LABELS[:10],
        feature_names=[f"a feature with a long name {i:03}" for i in range(30)],
        n_classes=100,
    ).plot(),
    "atoms-bars-one": lambda: AtomsDisplay(
        images=[np.ones((1, 3))], classes=LABELS[:1], weighted_means=True, n_classes=2
    ).plot(),
    "explanation-features": lambda: ExplanationDisplay(
        explanation=FeatureExplanation(
            **vars(explanation()),
            values=-1e-7 * np.ones((1, 30)),
            feature_names=[f"a feature with a long name {i:03}" for i in range(30)],
            feature_weights=1e5 * np.linspace(-1, 1, 30)[None],
        )
    ).plot(),
    "explanation": lambda: ExplanationDisplay(explanation=explanation()).plot(),
    "explanation-images": lambda: ExplanationDisplay(
        explanation=explanation(),
        sample=np.ones(12),
        images=[np.ones((6, 12))] * 2,
        image_shape=(3, 4),
        weighted_means=True,
    ).plot(),
    "typicality": lambda: TypicalityDisplay.from_predictions(FAR, FAR > 0.5),
}


def explanation():
    """Return one of a hundred classes, ten of whose atoms are used."""
    weights = np.linspace(1, -1, 10)
    return Explanation(
        classes=LABELS,
        scores=-np.arange(100.0)[None],
        residuals=1e4 + np.arange(100.0)[None],
        probabilities=None,
        top=np.array([[0, 1]]),
        atoms=np.arange(100, 120).reshape(1, 2, 10),
        coefficients=np.array([[weights, 1e-4 * weights]]),
        training_samples=np.full((1, 2, 5), -1),
        training_weights=np.zeros((1, 2, 5)),
    )


@pytest.mark.parametrize("name", DRAWN)
def test_no_text_leaves_the_figure_or_lies_on_another(name):
    figure = DRAWN[name]().figure_
    figure.canvas.draw()
    boxes = {}
    for text in figure.findobj(matplotlib.text.Text):
        shown = text.get_visible() and text.axes is not None and text.get_text().strip()
        if shown and text.axes.axison:
            boxes[text] = text.get_window_extent()
    inside = figure.bbox.padded(1)  # a pixel of rounding
    for text, box in boxes.items():
        assert inside.contains(*box.min), text
        assert inside.contains(*box.max), text
    for one, other in itertools.combinations(boxes, 2):
        assert not boxes[one].padded(-1).overlaps(boxes[other].padded(-1)), (one, other)


@pytest.mark.parametrize("display", CALLS)
def test_displays_draw_on_given_axes_and_again(display):
    model = make(DictionaryClassifier, "collaborative").fit(X, y)
    figure, axes = plt.subplots(1, 2)
    shown = CALLS[display](model, axes[0])
    assert shown.figure_ is figure
    assert plt.get_fignums() == [figure.number]
    if display is not ExplanationDisplay:
        assert shown.ax_ is axes[0]
    shown.plot()
    assert shown.figure_ is not figure


def drawn(figure):
    """Return all numbers and words of a figure."""
    figure.canvas.draw()
    found = [image.get_array() for image in figure.findobj(matplotlib.image.AxesImage)]
    found += [line.get_xydata() for line in figure.findobj(matplotlib.lines.Line2D)]
    bars = figure.findobj(matplotlib.patches.Rectangle)
    found += [np.array([bar.get_bbox().bounds for bar in bars])]
    texts = figure.findobj(matplotlib.text.Text)
    return found, [text.get_text() for text in texts]


def same(one, other):
    """Assert that two figures show the same."""
    for a, b in zip(drawn(one)[0], drawn(other)[0], strict=True):
        np.testing.assert_array_equal(np.ma.filled(a, np.nan), np.ma.filled(b, np.nan))
    assert drawn(one)[1] == drawn(other)[1]


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("display", CALLS)
def test_loaded_models_are_drawn_as_those_that_were_saved(display, kind, piped, tmp_path):
    model = make(kind, "collaborative", incoherence=0.1)
    model = (make_pipeline(Normalizer(), model) if piped else model).fit(X, y)
    kerndict.save(model, tmp_path / "model.safetensors")
    loaded = kerndict.load(tmp_path / "model.safetensors")
    same(CALLS[display](loaded, None).figure_, CALLS[display](model, None).figure_)


@pytest.mark.parametrize("kind", BOTH)
def test_loaded_models_of_the_residual_rule_are_drawn_or_refused_alike(kind, tmp_path):
    model = make(kind).fit(X, y)
    kerndict.save(model, tmp_path / "model.safetensors")
    loaded = kerndict.load(tmp_path / "model.safetensors")
    for display in (ResidualDisplay, ExplanationDisplay):
        same(CALLS[display](loaded, None).figure_, CALLS[display](model, None).figure_)
    images = [
        ExplanationDisplay.from_estimator(each, X[0], image_shape=(3, 4)).figure_
        for each in (loaded, model)
    ]
    same(*images)
    with pytest.raises(ValueError, match="fitted with decision='residual'"):
        TypicalityDisplay.from_estimator(loaded, X, y)


def test_loaded_models_of_precomputed_kernels_are_drawn_from_what_they_are_given(tmp_path):
    K = rbf_kernel(X, gamma=0.02)
    model = make(KernelDictionaryClassifier, "collaborative", kernel="precomputed").fit(K, y)
    kerndict.save(model, tmp_path / "model.safetensors")
    loaded = kerndict.load(tmp_path / "model.safetensors")
    for draw in (
        lambda each: ResidualDisplay.from_estimator(each, K, y),
        lambda each: CoherenceDisplay.from_estimator(each, K=K),
        lambda each: AtomsDisplay.from_estimator(each, image_shape=(3, 4), X=X),
        lambda each: ExplanationDisplay.from_estimator(each, K[0]),
        lambda each: TypicalityDisplay.from_estimator(each, K, y),
    ):
        same(draw(loaded).figure_, draw(model).figure_)
    with pytest.raises(ValueError, match="give the one given to fit as K="):
        CoherenceDisplay.from_estimator(loaded)
    with pytest.raises(ValueError, match="give those behind the kernel matrix as X="):
        AtomsDisplay.from_estimator(loaded, image_shape=(3, 4))


@pytest.mark.parametrize("display", CALLS)
def test_displays_find_the_classifier_in_searches_and_pipelines(display):
    pipeline = make_pipeline(Normalizer(), make(DictionaryClassifier, "collaborative"))
    search = GridSearchCV(pipeline, {"dictionaryclassifier__n_iter": [1]}, cv=2).fit(X, y)
    shown = CALLS[display](search, None)
    assert isinstance(shown, display)
    with pytest.raises(TypeError, match="holds no kerndict classifier"):
        CALLS[display](GaussianNB().fit(X, y), None)
    with pytest.raises(NotFittedError):
        CALLS[display](make(DictionaryClassifier), None)


@pytest.mark.parametrize("display", CALLS)
def test_without_matplotlib_the_error_names_the_extra(display, monkeypatch):
    model = make(DictionaryClassifier, "collaborative").fit(X, y)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=rf'^{display.__name__} needs .*"kerndict\[plot\]"'):
        CALLS[display](model, None)


def test_importing_displays_does_not_import_matplotlib():
    code = "import sys, kerndict.display; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_lines_follow_a_dark_style():
    with plt.style.context("dark_background"):
        shown = ObjectiveDisplay(
            reconstruction=np.ones(3), coherence=np.ones(3), incoherence=0.0
        ).plot()
        assert matplotlib.colors.to_hex(shown.lines_[0].get_color()) == "#ffffff"
