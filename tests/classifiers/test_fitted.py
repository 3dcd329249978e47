"""What fit leaves behind, and what every combination of options must keep."""

import itertools
import warnings

import numpy as np
import pytest
from conftest import BOTH, TOLERANCE, close, toy

from kerndict import DictionaryClassifier, KernelDictionaryClassifier, SpanWarning
from kerndict.kernels import Kernel, median_distance
from kerndict.rules.width import WIDTHS

X, y = toy()


def atoms(model):
    linear = isinstance(model, DictionaryClassifier)
    return model.dictionaries_ if linear else model.dual_dictionaries_


def norms(model):
    """Return the squared norms of all atoms in the metric."""
    if isinstance(model, DictionaryClassifier):
        return np.concatenate([np.sum(D.astype(float) ** 2, axis=0) for D in model.dictionaries_])
    K = model.model_.space.kernel.matrix(model.X_fit_.astype(float), model.X_fit_.astype(float))
    squares, start = [], 0
    for A in model.dual_dictionaries_:
        block = K[start : start + len(A), start : start + len(A)]
        squares.append(np.sum(A * (block @ A), axis=0))
        start += len(A)
    return np.concatenate(squares)


def width(classifier):
    return {"sigma": 5.0} if classifier is KernelDictionaryClassifier else {}


def initial_arrays(classifier, n):
    rng = np.random.default_rng(5)
    rows = X.shape[1] if classifier is DictionaryClassifier else 12
    return [rng.standard_normal((rows, n)) for _ in range(3)]


@pytest.mark.parametrize("classifier", BOTH)
@pytest.mark.parametrize(
    ("atom_update", "coef_update", "init", "incoherence"),
    list(
        itertools.product(
            ["exact", "power"], ["aksvd", "uaksvd"], ["samples", "random", "arrays"], [0.0, 0.2]
        )
    ),
)
def test_any_combination_works(classifier, atom_update, coef_update, init, incoherence):
    options = {
        "atom_update": atom_update,
        "coef_update": coef_update,
        "init": initial_arrays(classifier, 7) if init == "arrays" else init,
        "incoherence": incoherence,
    }
    model = classifier(7, 2, n_iter=3, random_state=0, **options).fit(X, y)
    close(norms(model), np.ones(21), 1e-8)
    assert model.n_iter_ == 3
    assert model.reconstruction_.shape == model.coherence_.shape == (3,)
    assert all(np.isfinite(D).all() for D in atoms(model))
    assert all(((C != 0).sum(axis=1) <= 2).all() for C in model.codes_)


@pytest.mark.parametrize("classifier", BOTH)
def test_shapes(classifier):
    sizes = [4, 12, 9]
    keep = np.concatenate([np.flatnonzero(y == i)[:size] for i, size in enumerate(sizes)])
    keep = np.random.default_rng(0).permutation(keep)
    model = classifier(7, 2, random_state=0).fit(X[keep], y[keep])
    assert model.classes_.tolist() == [0, 1, 2]
    assert [C.shape for C in model.codes_] == [(size, 7) for size in sizes]
    if classifier is DictionaryClassifier:
        assert [D.shape for D in model.dictionaries_] == [(10, 7)] * 3
    else:
        assert [A.shape for A in model.dual_dictionaries_] == [(size, 7) for size in sizes]
        np.testing.assert_array_equal(model.X_fit_, X[keep][model.fit_indices_])
        np.testing.assert_array_equal(y[keep][model.fit_indices_], np.repeat([0, 1, 2], sizes))
        assert all(np.diff(part).min() > 0 for part in np.split(model.fit_indices_, [4, 16]))
    assert model.class_residuals(X).shape == model.decision_function(X).shape == (36, 3)
    assert model.n_features_in_ == 10


@pytest.mark.parametrize("classifier", BOTH)
def test_terms_are_those_of_the_fitted_arrays(classifier):
    model = classifier(7, 3, incoherence=0.1, n_iter=4, random_state=0).fit(X, y)
    if classifier is DictionaryClassifier:
        D, R = model.dictionaries_, [X[y == i].T for i in range(3)]
    else:
        K = model.model_.space.kernel.matrix(model.X_fit_, model.X_fit_)
        w, V = np.linalg.eigh(K)
        R = np.split(np.sqrt(np.maximum(w, 0))[:, None] * V.T, 3, axis=1)
        D = [r @ A for r, A in zip(R, model.dual_dictionaries_, strict=True)]
    errors = [np.linalg.norm(r - d @ C.T) ** 2 for r, d, C in zip(R, D, model.codes_, strict=True)]
    pairs = [(i, k) for i in range(3) for k in range(3) if i != k]
    coherence = sum(np.linalg.norm(D[i].T @ D[k]) ** 2 for i, k in pairs)
    assert np.isclose(model.reconstruction_[-1], sum(errors), rtol=1e-8)
    assert np.isclose(model.coherence_[-1], coherence, rtol=1e-8)


@pytest.mark.parametrize("classifier", BOTH)
def test_exact_fits_lower_the_objective_where_the_penalty_is_the_whole_story(classifier):
    options = {"incoherence_scale": "absolute", "init": "samples", "random_state": 0}
    options |= width(classifier)
    first, last = (classifier(7, 3, incoherence=5.0, n_iter=n, **options).fit(X, y) for n in (1, 8))
    free = classifier(7, 3, n_iter=8, **options).fit(X, y)
    assert last.coherence_[-1] < first.coherence_[0]
    assert last.coherence_[-1] < free.coherence_[-1]
    assert free.reconstruction_[-1] < free.reconstruction_[0]


@pytest.mark.parametrize("classifier", BOTH)
@pytest.mark.parametrize("init", ["samples", "random"])
def test_no_iterations_keep_the_initial_dictionaries(classifier, init):
    model = classifier(5, 2, n_iter=0, init=init, random_state=3).fit(X, y)
    assert model.n_iter_ == len(model.reconstruction_) == len(model.coherence_) == 0
    again = classifier(5, 2, n_iter=0, init=atoms(model)).fit(X, y)
    for one, other in zip(atoms(model), atoms(again), strict=True):
        close(one, other, 1e-12)
    close(norms(model), np.ones(15))
    assert all((C != 0).any() for C in model.codes_)
    if init == "samples" and classifier is DictionaryClassifier:
        signals = X / np.linalg.norm(X, axis=1, keepdims=True)
        for i, D in enumerate(model.dictionaries_):
            cosines = signals[y == i] @ D
            chosen = cosines.argmax(axis=0)
            assert len(set(chosen)) == 5
            close(cosines.max(axis=0), np.ones(5))
    if init == "samples" and classifier is KernelDictionaryClassifier:
        for A in model.dual_dictionaries_:
            assert ((A != 0).sum(axis=0) == 1).all()
            assert ((A != 0).sum(axis=1) <= 1).all()


@pytest.mark.parametrize("classifier", BOTH)
def test_more_atoms_than_samples(classifier):
    model = classifier(30, 2, n_iter=0, random_state=0).fit(X, y)
    close(norms(model), np.ones(90))
    distinct = np.linalg.matrix_rank(np.abs(np.corrcoef(atoms(model)[0].T)) > 1 - 1e-9)
    assert distinct == 30
    assert classifier(30, 2, n_iter=5, random_state=0).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("classifier", BOTH)
@pytest.mark.filterwarnings("ignore::kerndict.SpanWarning")
def test_sparsity_beyond_atoms_and_rank_does_not_bind(classifier):
    wide = classifier(5, 50, random_state=0).fit(X[:, :4], y)
    same = classifier(5, 5, random_state=0).fit(X[:, :4], y)
    np.testing.assert_array_equal(wide.class_residuals(X[:, :4]), same.class_residuals(X[:, :4]))


@pytest.mark.parametrize("classifier", BOTH)
def test_float32_stays_float32_and_close(classifier):
    options = {"n_atoms": 7, "n_nonzero_coefs": 2, "incoherence": 0.1, "random_state": 0}
    options |= width(classifier)
    wide = classifier(**options).fit(X, y)
    narrow = classifier(**options).fit(X.astype(np.float32), y)
    assert all(D.dtype == np.float32 for D in atoms(narrow) + narrow.codes_)
    for function in ("class_residuals", "decision_function"):
        values = getattr(narrow, function)(X.astype(np.float32))
        assert values.dtype == np.float32
        close(values, getattr(wide, function)(X), 50 * TOLERANCE[np.float32])
    np.testing.assert_array_equal(narrow.predict(X), wide.predict(X))


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_linear_fits_keep_their_supports_at_any_scale(scale):
    for atom_update in ("exact", "power"):
        options = {"n_atoms": 7, "n_nonzero_coefs": 3, "random_state": 0}
        model = DictionaryClassifier(**options, atom_update=atom_update).fit(X, y)
        scaled = DictionaryClassifier(**options, atom_update=atom_update).fit(X * scale, y)
        for one, other in zip(model.codes_, scaled.codes_, strict=True):
            np.testing.assert_array_equal(one != 0, other != 0)
            close(other / scale, one)
        np.testing.assert_array_equal(model.predict(X), scaled.predict(X * scale))


@pytest.mark.parametrize("scale", [1e-60, 1e60])
@pytest.mark.filterwarnings("ignore::kerndict.SpanWarning")
def test_scale_does_not_choose_among_twins_and_perfect_signals(scale):
    # More atoms than samples, and every sample twice: ties at rounding level everywhere.
    data, labels = np.vstack([X, X]), np.r_[y, y]
    for n_atoms, s in ((40, 5), (12, 4)):
        for n_iter in (0, 10):
            options = {"n_iter": n_iter, "init": "samples", "random_state": 0}
            options |= {"within_class_whitening": 0, "square_root": False}  # twins stay twins
            model = DictionaryClassifier(n_atoms, s, **options).fit(data, labels)
            scaled = DictionaryClassifier(n_atoms, s, **options).fit(data * scale, labels)
            for one, other in zip(model.codes_, scaled.codes_, strict=True):
                np.testing.assert_array_equal(one != 0, other != 0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weak", [1e-2, 1e-5])
def test_a_weak_sample_is_a_sample(weak, dtype):
    rng = np.random.default_rng(0)
    data = rng.standard_normal((30, 40)).astype(dtype)
    labels = np.repeat([0, 1], 15)
    data[0] *= dtype(weak)
    for n_iter in (0, 3):
        options = {"n_iter": n_iter, "random_state": 0}
        linear = DictionaryClassifier(15, 4, **options).fit(data, labels)
        kernel = KernelDictionaryClassifier(15, 4, kernel="linear", **options).fit(data, labels)
        tolerance = 1e-3 if dtype == np.float32 else 1e-8
        close(norms(kernel), np.ones(30), tolerance)
        probe = rng.standard_normal((50, 40)).astype(dtype)
        probe[0] = data[0] / weak
        close(kernel.class_residuals(probe), linear.class_residuals(probe), 5 * tolerance)


def test_initial_atoms_that_cancel_are_zero_atoms():
    data, labels = np.vstack([X, X]), np.r_[y, y]
    init = [np.random.default_rng(i).standard_normal((24, 3)) for i in range(3)]
    init[2][:, 1] = 0
    init[2][[0, 12], 1] = 1, -1  # a sample minus its copy
    with pytest.raises(ValueError, match=r"init\[2\] has a zero atom \(column 1\)"):
        KernelDictionaryClassifier(3, 2, init=init).fit(data, labels)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_initial_atoms_of_any_scale_are_normalised(scale):
    init = [np.random.default_rng(i).standard_normal((10, 3)) * scale for i in range(3)]
    model = DictionaryClassifier(3, 2, init=init, n_iter=0).fit(X, y)
    close(norms(model), np.ones(9))


@pytest.mark.parametrize(
    ("dtype", "offset", "tolerance"), [(np.float64, 1e7, 1e-12), (np.float32, 1e3, 2e-6)]
)
def test_the_origin_does_not_matter_to_the_rbf_kernel(dtype, offset, tolerance):
    shifted = (X + offset).astype(dtype)
    back = shifted.astype(np.float64) - offset  # exactly what is left of X
    median = median_distance(back, np.random.RandomState(0))
    near = KernelDictionaryClassifier(6, 2, n_iter=0, sigma=median, random_state=0).fit(back, y)
    far = KernelDictionaryClassifier(6, 2, n_iter=0, sigma=median, random_state=0).fit(shifted, y)
    assert np.isclose(median_distance(shifted, np.random.RandomState(0)), median, rtol=1e-12)
    close(far.class_residuals(shifted), near.class_residuals(back), tolerance)


def test_what_is_fitted_does_not_change_with_parameters():
    model = KernelDictionaryClassifier(6, 2, random_state=0).fit(X, y)
    expected = model.class_residuals(X)
    model.set_params(n_nonzero_coefs=5, kernel="linear", sigma=9.0)
    np.testing.assert_array_equal(model.class_residuals(X), expected)
    assert not hasattr(model.fit(X, y), "sigma_")


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", lambda A, B: np.exp(A @ B.T / 50)])
def test_kernels_fit_and_their_residuals_are_equation_21(kernel):
    model = KernelDictionaryClassifier(6, 2, kernel=kernel, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    settled = Kernel(kernel, getattr(model, "sigma_", 1.0), 2, 1.0)
    residuals = model.class_residuals(X[:5])
    K = settled.matrix(X[:5], model.X_fit_)
    for i, A in enumerate(model.dual_dictionaries_):
        place = slice(12 * i, 12 * i + 12)
        K_i = settled.matrix(model.X_fit_[place], model.X_fit_[place])
        G, B = A.T @ K_i @ A, K[:, place] @ A
        for t in range(5):
            best = min(
                settled.diagonal(X[t : t + 1])[0]
                - B[t, list(S)] @ np.linalg.solve(G[np.ix_(S, S)], B[t, list(S)])
                for S in itertools.combinations(range(6), 2)
            )
            assert residuals[t, i] >= best - 1e-9
            first = np.abs(B[t]).argmax()
            assert residuals[t, i] <= settled.diagonal(X[t : t + 1])[0] - B[t, first] ** 2 + 1e-9


def test_sigma_is_chosen_or_as_given():
    from scipy.spatial.distance import pdist

    model = KernelDictionaryClassifier(6, 2).fit(X, y)
    assert np.isclose(model.sigma_ / np.median(pdist(X)), WIDTHS).any()
    assert KernelDictionaryClassifier(6, 2, sigma=3).fit(X, y).sigma_ == 3.0
    assert not hasattr(KernelDictionaryClassifier(6, 2, kernel="linear").fit(X, y), "sigma_")


def test_span_warning_counts_classes_and_says_what_to_do():
    rule = {"decision": "residual"}
    with pytest.warns(SpanWarning, match=r"n_nonzero_coefs=10 .* 3 of 3 classes.*below the rank"):
        DictionaryClassifier(12, 10, **rule).fit(X, y)
    with pytest.warns(SpanWarning, match="n_atoms=10 reaches"):
        DictionaryClassifier(10, 12, **rule).fit(X, y)
    with pytest.warns(SpanWarning):  # a kernel sees the 12 samples of a class
        KernelDictionaryClassifier(20, 12, **rule).fit(X, y)
    alone = np.r_[y, 7, 8]  # classes of one sample do not count
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DictionaryClassifier(12, 9, **rule).fit(X, y)
        KernelDictionaryClassifier(20, 11, **rule).fit(X, y)
        KernelDictionaryClassifier(20, 5, **rule).fit(np.vstack([X, X[:2] + 1]), alone)
        DictionaryClassifier(12, 10).fit(X, y)  # the collaborative rule does not mind
        DictionaryClassifier(None, 30, **rule).fit(X, y)  # nobody chose the atoms


def test_verbose_prints_progress(capsys):
    KernelDictionaryClassifier(6, 2, n_iter=3, decision="residual", verbose=1).fit(X, y)
    lines = [line for line in capsys.readouterr().out.splitlines() if "compiled" not in line]
    assert len(lines) == 3
    assert "iteration 3/3: reconstruction" in lines[2]
    assert "0.0 s left" in lines[2]
    KernelDictionaryClassifier(6, 2, n_iter=3).fit(X, y)
    assert capsys.readouterr().out == ""
