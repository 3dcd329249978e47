"""Incoherent dictionary learning in the feature space of a kernel."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from kerndict._validation import check_choice, check_degree, check_diagonal, check_real
from kerndict.classifiers.base import BaseDictionaryClassifier
from kerndict.classifiers.width import choose_width
from kerndict.core.kernel import NEGATIVE, KernelProblem, NotPositiveSemidefinite
from kerndict.core.problem import Problem
from kerndict.kernels import KERNELS, Kernel, distance_shift


class KernelDictionaryClassifier(BaseDictionaryClassifier):
    """Classification with incoherent kernel dictionary learning (IKDL).

    As :class:`DictionaryClassifier`, in the feature space of a kernel: atoms are
    combinations of the mapped training samples of their class.

    `fit` holds one kernel matrix of all training samples, n_samples², and a few matrices of
    the size of each class; with the collaborative rule, afterwards, a few of the size of all
    atoms.  `predict` computes the kernel in chunks within scikit-learn's ``working_memory``.

    Parameters
    ----------
    n_atoms : int, float or None, default=None
        Atoms per class: a count, which may exceed the number of samples of a class; a share
        of the class in (0, 1], rounded up; or None for half of the class, but at least 15
        or all.
    n_nonzero_coefs : int or None, default=None
        Atoms per code, at most.  More than the atoms, or than the rank of a class, does
        not bind.  None takes half of the atoms.
    incoherence : float, default=0.0
        The weight of the penalty on atoms that resemble those of other classes, Eq. (7).
    incoherence_scale : {"relative", "absolute"}, default="relative"
        ``"relative"``: at 1 the penalty pulls on an atom as hard as its own samples do, on
        average and at the start, whatever the data.  ``"absolute"``: `incoherence` is the γ
        of the paper, which weighs against squared errors.
    atom_update : {"exact", "power"}, default="exact"
        ``"exact"`` solves for each atom in closed form, Eq. (12); ``"power"`` takes the
        step of the printed Algorithm 2, Eq. (18), which can raise the objective.
    coef_update : {"aksvd", "uaksvd"}, default="aksvd"
        Least-squares coefficients, or those of Eq. (19).
    decision : {"collaborative", "residual"}, default="collaborative"
        ``"collaborative"``: a sample is coded over the atoms of all classes by ridge; what
        each class leaves of it, spends on it and would leave on its own is weighed into
        probabilities, with an offset per class.  The ridge, the weights and the offsets are
        fitted out of fold, which costs five more fits.
        ``"residual"``: the class with the smallest residual wins, Eq. (20).
    n_iter : int, default=5
        Passes over all classes.  0 keeps the initial dictionaries, the control of every
        experiment.
    init : {"pivoted", "samples", "random"} or sequence of arrays, default="pivoted"
        The samples that a pivoted Cholesky factorisation takes (greedy, and without chance
        until they span the class), random nonzero samples of the class (beyond the class size,
        random combinations of them), Gaussian dual coefficients, or one array (samples of the
        class, n_atoms) per class in the order of `classes_`, its rows in the order of `X`.
        Atoms are always normalised in feature space.
    random_state : int, RandomState instance or None, default=None
        Draws the initial atoms, the rows behind `sigma_` and, with
        ``atom_update="power"``, the replacements of unused atoms.
    n_jobs : int or None, default=None
        Threads in prediction; the result does not depend on it, but for rounding.
    verbose : int, default=0
        Print the objective and the time left after every iteration, and every fold.
    ridge : float or "auto", default="auto"
        The ridge of the collaborative code, relative to atoms of unit norm; ``"auto"``
        chooses it with the weights of the rule.
    kernel : {"rbf", "poly", "linear", "precomputed"} or callable, default="rbf"
        ``"rbf"`` exp(-‖x-y‖²/2σ²), ``"poly"`` (x'y + coef0)^degree, ``"linear"`` x'y; a
        callable ``k(X, Z)`` returns the matrix (len(X), len(Z)).  With
        ``"precomputed"``, `fit` takes the kernel matrix of the training samples and
        `predict` that of the new samples with them.  Kernels must be positive
        semidefinite.
    sigma : float or None, default=None
        The width σ of ``"rbf"``.  None compares 0.5 to 3 times the median distance between
        training samples by the leave-one-out log-loss of the collaborative rule, on at
        most 600 of them.
    degree : int, default=2
        The degree of ``"poly"``.
    coef0 : float, default=1.0
        The constant of ``"poly"``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    dual_dictionaries_ : list of ndarray of shape (n_samples of the class, n_atoms)
        The atoms of each class as combinations of its training samples, of unit norm
        in feature space.
    X_fit_ : ndarray of shape (n_samples, n_features)
        The training rows grouped by class; None with ``kernel="precomputed"``.
    fit_indices_ : ndarray of shape (n_samples,)
        The rows of `X` that they were.
    sigma_ : float
        The width used, for ``kernel="rbf"``.
    codes_ : list of ndarray of shape (n_samples of the class, n_atoms)
        The codes of the training samples of each class after the last pass.
    reconstruction_, coherence_ : ndarray of shape (n_iter,)
        The two terms of Eq. (7) after each pass, γ not applied; the second sums
        ordered pairs of classes.
    incoherence_ : float
        The absolute weight γ of the penalty.
    n_iter_ : int
        Passes made.
    n_atoms_ : ndarray of shape (n_classes,)
        Atoms of each class.
    ridge_, rule_weights_, rule_offsets_ : float, ndarray (3,), ndarray (n_classes,)
        The ridge, the weights α, β, δ and the offsets of the collaborative rule.
    n_features_in_ : int
        Features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when all are strings.

    See Also
    --------
    DictionaryClassifier : The same without kernels.

    References
    ----------
    D. C. Ilie-Ablachim and B. Dumitrescu, "Classification with Incoherent Kernel
    Dictionary Learning", 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from kerndict import KernelDictionaryClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = KernelDictionaryClassifier(random_state=0).fit(X_train, y_train)
    >>> model.score(X_test, y_test) > 0.95
    True
    """

    def __init__(
        self,
        n_atoms: Any = None,
        n_nonzero_coefs: Any = None,
        *,
        incoherence: Any = 0.0,
        incoherence_scale: Any = "relative",
        atom_update: Any = "exact",
        coef_update: Any = "aksvd",
        decision: Any = "collaborative",
        n_iter: Any = 5,
        init: Any = "pivoted",
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: Any = 0,
        ridge: Any = "auto",
        kernel: Any = "rbf",
        sigma: Any = None,
        degree: Any = 2,
        coef0: Any = 1.0,
    ) -> None:
        super().__init__(
            n_atoms,
            n_nonzero_coefs,
            incoherence=incoherence,
            incoherence_scale=incoherence_scale,
            atom_update=atom_update,
            coef_update=coef_update,
            decision=decision,
            n_iter=n_iter,
            init=init,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            ridge=ridge,
        )
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not callable(self.kernel):
            check_choice("kernel", self.kernel, KERNELS, " or a callable k(X, Z) -> matrix")
        if self.sigma is not None:
            check_real("sigma", self.sigma, 0, strict=True)
        check_degree(self.degree)
        check_real("coef0", self.coef0)

    def _make_problem(
        self, X: NDArray, order: NDArray, sizes: NDArray, rng: np.random.RandomState
    ) -> tuple[Problem, dict[str, Any]]:
        kernel = self._settled_kernel(X, order, sizes, rng)
        fitted: dict[str, Any] = {"_kernel": kernel, "fit_indices_": order}
        if kernel.name == "rbf":
            fitted["sigma_"] = kernel.sigma
        if kernel.name == "precomputed":
            fitted["X_fit_"] = None
            self._check_kernel(X)
            panels = [X[np.ix_(order, part)] for part in np.split(order, np.cumsum(sizes)[:-1])]
        else:
            fitted["X_fit_"] = X = X[order]
            if callable(kernel.name):
                K = kernel.matrix(X, X)
                self._check_kernel(K)
                ends = np.cumsum(sizes).tolist()
                panels = [K[:, end - n : end].copy() for n, end in zip(sizes, ends, strict=True)]
                del K
            else:
                panels = kernel.panels(X, sizes.tolist())
        fitted["_training_diagonal"] = _constant(_diagonal_of(panels))
        try:
            return KernelProblem(panels), fitted
        except NotPositiveSemidefinite as error:
            remedy = {
                "rbf": "The features are too large for sigma: centre or scale them.",
                "poly": "Give coef0 >= 0.",
            }.get(str(self.kernel), "Give a kernel that is, such as X @ X.T or 'rbf'.")
            raise ValueError(
                f"kernel={self.kernel!r} is not positive semidefinite: its block of "
                f"classes_[{error.class_index}] has the eigenvalue {error.eigenvalue:.3g}, the "
                f"largest being {error.largest:.3g}. {remedy}"
            ) from None

    def _settled_kernel(
        self, X: NDArray, order: NDArray, sizes: NDArray, rng: np.random.RandomState
    ) -> Kernel:
        sigma, shift = 1.0, None
        if self.kernel == "rbf":
            if self.sigma is None:
                labels = np.empty(len(X), np.int64)
                labels[order] = np.repeat(np.arange(len(sizes)), sizes)
                sigma = choose_width(X, labels, rng)
            else:
                sigma = float(self.sigma)
            shift = distance_shift(X, sigma)
        return Kernel(self.kernel, sigma, check_degree(self.degree), float(self.coef0), shift)

    def _check_kernel(self, K: NDArray) -> None:
        if K.shape[0] != K.shape[1]:
            raise ValueError(
                "kernel='precomputed' needs the square kernel matrix of the training samples, "
                f"got X of shape {K.shape}: give K(X_train, X_train)."
            )
        blocks = list(gen_batches(len(K), 256))  # no second matrix of the size of K
        worst = max(np.abs(K[rows] - K[:, rows].T).max() for rows in blocks)
        rounding = max(NEGATIVE, np.sqrt(np.finfo(K.dtype).eps))
        if worst > rounding * max(K.max(), -K.min()):
            raise ValueError(
                f"kernel={self.kernel!r} is not symmetric on the training samples: K and its "
                f"transpose differ by up to {worst:.3g}. Give a symmetric, positive semidefinite "
                "kernel."
            )

    def _store(self, problem: Problem) -> None:
        assert isinstance(problem, KernelProblem)
        classes = range(len(problem.signals))
        self.dual_dictionaries_ = [
            np.ascontiguousarray(problem.dictionary(i), problem.dtype) for i in classes
        ]
        grams = (problem.gram(i, A) for i, A in enumerate(self.dual_dictionaries_))
        self._grams = [G.astype(problem.dtype) for G in grams]
        self._centre()

    def _centre(self) -> None:
        """Keep the training rows less the kernel's shift, where it has one."""
        shifted = self._kernel.shift is not None and self.X_fit_ is not None
        self._centred = self._kernel.centred(self.X_fit_) if shifted else None

    def _training_rows(self) -> NDArray:
        """Return the training rows as the kernel takes them."""
        return self.X_fit_ if self._centred is None else self._centred

    def __getstate__(self) -> dict[str, Any]:
        return {name: item for name, item in super().__getstate__().items() if name != "_centred"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_kernel" in self.__dict__:
            self._centre()

    def _check_rows(self, X: ArrayLike) -> NDArray:
        check_is_fitted(self)
        n_train = len(self.fit_indices_)
        if self._kernel.name == "precomputed" and np.shape(X)[1:] != (n_train,):
            raise ValueError(
                f"kernel='precomputed' needs the kernel of the samples with all {n_train} "
                f"training samples, got X of shape {np.shape(X)}: give K(X, X_train)."
            )
        return super()._check_rows(X)

    def _class_blocks(self, X: NDArray) -> Iterator[tuple[NDArray, NDArray, NDArray]]:
        precomputed = self.X_fit_ is None
        if precomputed:
            K = X[:, self.fit_indices_]
        else:
            K = self._kernel.between(self._kernel.centred(X), self._training_rows())
        start = 0
        for A, G in zip(self.dual_dictionaries_, self._grams, strict=True):
            yield K[:, start : start + len(A)], A, G
            start += len(A)

    def _row_bytes(self) -> int:
        copies = 2 if callable(self._kernel.name) else 1
        entries = copies * len(self.fit_indices_) + self._row_entries()
        if self._kernel.shift is not None:
            entries += self.n_features_in_
        return self._dtype.itemsize * entries

    def _known_diagonal(self, X: NDArray) -> NDArray | None:
        if self.X_fit_ is None and self._training_diagonal is None:
            return None
        return self._diagonal(X, None)

    def _rows(self, X: NDArray, rows: NDArray, train: NDArray) -> NDArray:
        return X[np.ix_(rows, train)] if self.kernel == "precomputed" else X[rows]

    def _plain(self) -> Self:
        copy = super()._plain()
        if self._kernel.name == "rbf":
            copy.set_params(sigma=self._kernel.sigma)
        return copy

    def _behind(self, c: int, codes: NDArray) -> tuple[NDArray, NDArray]:
        A = self.dual_dictionaries_[c]
        start = sum(len(B) for B in self.dual_dictionaries_[:c])
        return self.fit_indices_[start : start + len(A)], codes @ A.T

    def _diagonal(self, X: NDArray, diagonal: ArrayLike | None) -> NDArray:
        if diagonal is not None:
            return check_diagonal(diagonal, len(X), X.dtype)
        if self.X_fit_ is not None:
            return self._kernel.diagonal(X)
        if self._training_diagonal is None:
            raise ValueError(
                "kernel='precomputed' with a training diagonal that is not constant: k(y, y) of "
                "new samples is unknown. Give it as diagonal=..., k(y, y) of each row."
            )
        return np.full(len(X), self._training_diagonal, X.dtype)


def _diagonal_of(panels: list[NDArray]) -> NDArray:
    starts = np.cumsum([0] + [panel.shape[1] for panel in panels])
    return np.concatenate([panel[a:].diagonal() for panel, a in zip(panels, starts, strict=False)])


def _constant(diagonal: NDArray) -> float | None:
    """Return the one value of the diagonal, or None when it holds several."""
    spread = diagonal.max() - diagonal.min()
    constant = spread <= 100 * np.finfo(diagonal.dtype).eps * np.abs(diagonal).max()
    return float(diagonal[0]) if constant else None
