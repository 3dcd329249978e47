"""What `explain` says, against the definitions."""

import sys
from functools import partial

import conftest
import numpy as np
import pytest
from conftest import BOTH, RULES, close, toy
from sklearn import config_context
from sklearn.linear_model import orthogonal_mp
from sklearn.metrics.pairwise import rbf_kernel

from kerndict import DictionaryClassifier, KernelDictionaryClassifier

X, y = toy(n_classes=4, noise=0.6)
shuffled = np.random.default_rng(3).permutation(len(y))
X, y = X[shuffled], y[shuffled]
names = np.array(["ash", "birch", "cedar", "date"])
new = toy(n_classes=4, noise=0.6, seed=1)[0]


make = partial(conftest.make, n_nonzero_coefs=3)


@pytest.fixture(scope="module", params=[(kind, rule) for kind in BOTH for rule in RULES])
def model(request):
    return make(*request.param).fit(X, names[y])


def test_scores_and_winners_are_those_of_the_model(model):
    found = model.explain(new)
    np.testing.assert_array_equal(found.scores, model.decision_function(new))
    np.testing.assert_array_equal(found.classes[found.top[:, 0]], model.predict(new))
    rest = found.scores.copy()
    rest[np.arange(len(new)), found.top[:, 0]] = -np.inf
    np.testing.assert_array_equal(found.top[:, 1], rest.argmax(axis=1))
    if model.decision == "residual":
        assert found.probabilities is None
        np.testing.assert_array_equal(found.residuals, model.class_residuals(new))
    else:
        close(found.probabilities, model.predict_proba(new))


def test_residual_rule_gives_the_sparse_code_of_each_class():
    model = make(DictionaryClassifier, "residual").fit(X, y)
    found = model.explain(new)
    for row in range(len(new)):
        for rank in range(2):
            D = model.dictionaries_[found.top[row, rank]]
            expected = orthogonal_mp(D, new[row], n_nonzero_coefs=3)
            atoms, coefficients = found.atoms[row, rank], found.coefficients[row, rank]
            assert sorted(atoms) == np.flatnonzero(expected).tolist()
            close(coefficients, expected[atoms])
            assert (np.diff(np.abs(coefficients)) <= 0).all()
            rest = np.sum((new[row] - D[:, atoms] @ coefficients) ** 2)
            close(found.residuals[row, found.top[row, rank]], rest)


def test_collaborative_rule_gives_the_largest_coefficients_of_the_ridge_code():
    model = make(DictionaryClassifier, "collaborative").fit(X, y)
    found = model.explain(new)
    D = np.hstack(model.dictionaries_)
    codes = np.linalg.solve(D.T @ D + model.ridge_ * np.eye(24), D.T @ new.T).T
    for row in range(len(new)):
        parts = codes[row].reshape(4, 6)
        rest = [
            np.sum((new[row] - D @ x) ** 2) for D, x in zip(model.dictionaries_, parts, strict=True)
        ]
        close(found.residuals[row], rest)
        for rank in range(2):
            own = parts[found.top[row, rank]]
            largest = np.argsort(-np.abs(own))[:3]
            np.testing.assert_array_equal(found.atoms[row, rank], largest)
            close(found.coefficients[row, rank], own[largest])


@pytest.mark.parametrize("decision", RULES)
def test_kernel_weights_rebuild_the_approximation_from_training_samples(decision):
    model = make(KernelDictionaryClassifier, decision, kernel="linear").fit(X, y)
    found = model.explain(new, n_samples=12)  # all of the class
    samples, weights = found.training_samples, found.training_weights
    for rank in range(2):
        np.testing.assert_array_equal(y[samples[:, rank]], found.top[:, [rank]] + np.zeros(12, int))
        rebuilt = np.einsum("nt,ntf->nf", weights[:, rank], X[samples[:, rank]])
        rest = np.sum((new - rebuilt) ** 2, axis=1)
        expected = np.take_along_axis(found.residuals, found.top[:, [rank]], axis=1)[:, 0]
        close(rest, expected, 1e-8)
    assert (np.diff(np.abs(weights), axis=2) <= 0).all()


def test_linear_weights_are_cosines_between_codes():
    model = make(DictionaryClassifier, "residual").fit(X, y)
    found = model.explain(X)
    place = {row: k for k, row in enumerate(model.fit_indices_)}
    codes = np.vstack(model.codes_)
    np.testing.assert_array_equal(y[model.fit_indices_], np.sort(y))
    for row in range(len(X)):
        own = np.zeros(6)
        own[found.atoms[row, 0]] = found.coefficients[row, 0]
        for sample, weight in zip(
            found.training_samples[row, 0], found.training_weights[row, 0], strict=True
        ):
            assert y[sample] == found.top[row, 0]
            theirs = codes[place[sample]]
            close(weight, own @ theirs / np.linalg.norm(own) / np.linalg.norm(theirs))
    # A training sample that is recognised stands behind its own code.
    right = found.top[:, 0] == y
    assert (
        np.mean(np.any(found.training_samples[:, 0] == np.arange(48)[:, None], axis=1)[right]) > 0.9
    )


@pytest.mark.parametrize("decision", RULES)
def test_precomputed_kernels(decision):
    as_they_are = {"within_class_whitening": 0, "square_root": False}
    named = make(KernelDictionaryClassifier, decision, sigma=5.0, **as_they_are).fit(X, y)
    gamma = 1 / 50
    model = make(KernelDictionaryClassifier, decision, kernel="precomputed")
    model.fit(rbf_kernel(X, gamma=gamma), y)
    found, expected = model.explain(rbf_kernel(new, X, gamma=gamma)), named.explain(new)
    close(found.residuals, expected.residuals, 1e-7)
    np.testing.assert_array_equal(found.training_samples, expected.training_samples)


def test_unknown_diagonals_are_asked_for_where_they_matter():
    K = X @ X.T
    model = make(KernelDictionaryClassifier, "residual", kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match="Give it as diagonal="):
        model.explain(K)
    found = model.explain(K, diagonal=np.diagonal(K))
    close(found.residuals, model.class_residuals(K, diagonal=np.diagonal(K)))
    model = make(KernelDictionaryClassifier, "collaborative", kernel="precomputed").fit(K, y)
    found = model.explain(K)
    np.testing.assert_array_equal(found.scores, model.decision_function(K))
    # The atoms span the features here, so that nothing is lost by the projection.
    close(found.residuals, model.explain(K, diagonal=np.diagonal(K)).residuals, 1e-6)


def test_chunks_threads_and_precision_do_not_matter(model):
    expected = model.explain(new)
    with config_context(working_memory=1e-3):
        chunked = model.set_params(n_jobs=2).explain(new)
    model.set_params(n_jobs=None)
    np.testing.assert_array_equal(chunked.atoms, expected.atoms)
    close(chunked.coefficients, expected.coefficients)
    single = type(model)(**model.get_params()).fit(X.astype(np.float32), names[y])
    found = single.explain(new.astype(np.float32))
    assert found.scores.dtype == found.coefficients.dtype == np.float32
    assert found.residuals.dtype == found.training_weights.dtype == np.float32
    np.testing.assert_array_equal(found.scores, single.decision_function(new.astype(np.float32)))


@pytest.mark.parametrize("decision", RULES)
@pytest.mark.parametrize(
    ("kind", "options"), [(BOTH[0], {}), (BOTH[1], {"kernel": "linear"}), (BOTH[1], {})]
)
def test_a_zero_row_uses_nothing_where_it_is_zero_in_the_feature_space(kind, options, decision):
    found = make(kind, decision, **options).fit(X, y).explain(np.zeros((1, 10)))
    if kind is KernelDictionaryClassifier and not options:  # k(0, 0) = 1: a sample like others
        assert (found.atoms >= 0).all()
        assert (found.training_samples >= 0).all()
        return
    assert (found.atoms == -1).all()
    assert (found.training_samples == -1).all()
    for array in (found.coefficients, found.training_weights, found.residuals):
        assert not array.any()
    np.testing.assert_array_equal(found.top, [[0, 1]])


@pytest.mark.filterwarnings("ignore::kerndict.SpanWarning")
def test_small_classes_and_short_codes_are_padded():
    two = np.flatnonzero(y < 2)
    few = np.r_[two[y[two] == 0][:2], two[y[two] == 1]]
    model = make(KernelDictionaryClassifier, "residual", sigma=5.0).fit(X[few], y[few])
    found = model.explain(X[few], n_samples=4)
    first = found.top == 0
    assert (found.training_samples[first][:, 2:] == -1).all()
    assert (found.training_weights[first][:, 2:] == 0).all()
    assert (found.training_samples[~first] >= 0).all()
    assert found.scores.shape == (14, 2)


@pytest.mark.filterwarnings("ignore::kerndict.SpanWarning")
@pytest.mark.parametrize("kind", BOTH)
def test_no_more_training_samples_are_listed_than_the_largest_class_has(kind):
    few = np.r_[np.flatnonzero(y == 0)[:4], np.flatnonzero(y == 1)[:7]]
    model = make(kind, "residual").fit(X[few], y[few])
    found, whole = model.explain(new[:24], n_samples=10**9), model.explain(new[:24], n_samples=7)
    assert found.training_samples.shape == found.training_weights.shape == (24, 2, 7)
    np.testing.assert_array_equal(found.training_samples, whole.training_samples)
    np.testing.assert_array_equal(found.training_weights, whole.training_weights)
    for c, size in enumerate((4, 7)):
        listed = found.training_samples[found.top == c]
        assert (listed[:, size:] == -1).all()
        assert (y[few][listed[listed >= 0]] == c).all()


def test_frames_have_one_row_per_sample_and_class(model):
    found = model.explain(new[:5])
    frame = found.to_frame()
    assert len(frame) == 20
    assert ("probability" in frame) == (model.decision == "collaborative")
    first = frame[frame["rank"] == 1]
    assert first["class"].tolist() == model.predict(new[:5]).tolist()
    assert frame[frame["rank"] == 2]["class"].tolist() == names[found.top[:, 1]].tolist()
    assert frame.groupby("sample")["score"].is_monotonic_decreasing.all()
    assert first["atoms"].tolist() == found.atoms[:, 0].tolist()
    assert first["training_samples"].tolist() == found.training_samples[:, 0].tolist()
    assert all(atoms == [] for atoms in frame[frame["rank"] > 2]["atoms"])
    long = frame[frame["rank"] <= 2].explode(["atoms", "coefficients"])
    assert len(long) == 30
    one = frame.loc[(frame["sample"] == 3) & (frame["class"] == "cedar"), "residual"].item()
    assert one == found.residuals[3, 2]


def test_without_pandas_the_error_says_so(model, monkeypatch):
    found = model.explain(new[:1])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        found.to_frame()


def test_bad_requests_are_refused(model):
    with pytest.raises(ValueError, match="n_samples"):
        model.explain(new, n_samples=0)
    with pytest.raises(TypeError, match=r"n_samples=2.5 is not an integer"):
        model.explain(new, n_samples=2.5)
    with pytest.raises(ValueError, match="features"):
        model.explain(new[:, :4])
