"""Incoherent dictionary learning in the feature space of a kernel."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kerndict._validation import check_choice, check_degree, check_real
from kerndict.classifiers.attributes import KernelAttributes
from kerndict.classifiers.base import BaseDictionaryClassifier
from kerndict.classifiers.chosen import options_of
from kerndict.classifiers.many import ROWS_LOOKED_AT, Given
from kerndict.classifiers.settled import kernel_rows, landmark_kernel, not_positive
from kerndict.core.kernel import NotPositiveSemidefinite
from kerndict.kernels import KERNELS, Kernel
from kerndict.rules.search import Options
from kerndict.spaces import (
    PrecomputedRows,
    TrainingRows,
)
from kerndict.spaces.kernel_training import check_symmetric


class KernelDictionaryClassifier(KernelAttributes, BaseDictionaryClassifier):
    """Classification with incoherent kernel dictionary learning (IKDL).

    As :class:`DictionaryClassifier`, in the feature space of a kernel: atoms are
    combinations of the mapped training samples of their class.

    `fit` holds one kernel matrix of all training samples, or from some thousands of them on their
    kernel with landmarks, a chunk at a time; see `n_landmarks`.  `predict` computes the kernel in
    chunks within scikit-learn's ``working_memory``.

    Parameters
    ----------
    n_atoms : int, float or None, default=None
        Atoms per class: a count, which may exceed the number of samples of a class; a share
        of the class in (0, 1], rounded up; or None for half of the class, but at least 15
        or all, and with landmarks what explains the class, up to 400.
    n_nonzero_coefs : int or None, default=None
        Atoms per code, at most.  More than the atoms, or than the rank of a class, does
        not bind.  None takes half of the atoms.
    incoherence : float, default=0.0
        The weight of the penalty on atoms that resemble those of other classes, Eq. (7).
    incoherence_scale : {"relative", "absolute"}, default="relative"
        ``"relative"``: at 1 the penalty weighs as much as an atom's own samples do, on
        average and at the start, whatever the data.  ``"absolute"``: `incoherence` is the γ
        of the paper, which weighs against squared errors.
    atom_update : {"exact", "power"}, default="exact"
        ``"exact"`` solves for each atom in closed form, Eq. (12); ``"power"`` takes the
        step of the printed Algorithm 2, Eq. (18), which can raise the objective.
    coef_update : {"aksvd", "uaksvd"}, default="aksvd"
        Least-squares coefficients, or those of Eq. (19).
    decision : {"collaborative", "residual"}, default="collaborative"
        ``"collaborative"``: a sample is coded over the atoms of all classes at once, by ridge
        regression.  For each class three numbers are compared: the error when only its part of
        that code is used, the squared size of that part, and the error when it codes the
        sample alone.  Their weights, an offset per class and the ridge are fitted to training
        samples left out of five folds, and give probabilities.
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
        Threads in prediction; from 2 on a fit with landmarks lets matrix products use the threads
        that BLAS has.  The result does not depend on it, but for rounding.
    verbose : int, default=0
        Print the objective and the time left after every iteration, and every fold.
    ridge : float or "auto", default="auto"
        The ridge of the collaborative code, relative to atoms of unit norm; ``"auto"``
        chooses it with the weights of the rule.
    n_landmarks : int, "all" or None, default=None
        Training samples that all others are described by, so that the cost of a fit grows with
        the samples and no faster.  None takes all samples as they are up to 4000 of them with at
        most 250 in a class, and beyond that as many landmarks as the data ask for, 500 to 4000;
        ``"all"`` never takes landmarks.
    class_weight : dict, "balanced" or None, default=None
        How much the samples of each class count; ``"balanced"`` lets all classes count the same.
    within_class_whitening : float or None, default=None
        How much directions are made small in which samples of a class differ: with E the rows
        less the means of their classes and ``t = |E|² / n_features``, a row x becomes
        ``(I + within_class_whitening E'E / t)^-1/2 x``, of length 1 where all rows have it.  None
        takes 0, 0.1, 0.5 or 3, by samples left out (0 with landmarks or the residual rule).
    square_root : bool or None, default=None
        Whether the square root of each number is taken first.  None chooses where none is negative.
    kernel : {"rbf", "poly", "linear", "precomputed"} or callable, default="rbf"
        ``"rbf"`` exp(-‖x-y‖²/2σ²), ``"poly"`` (x'y + coef0)^degree, ``"linear"`` x'y; a
        callable ``k(X, Z)`` returns the matrix (len(X), len(Z)).  With
        ``"precomputed"``, `fit` takes the kernel matrix of the training samples and
        `predict` that of the new samples with them.  Kernels must be positive
        semidefinite.
    sigma : float or None, default=None
        The width σ of ``"rbf"``.  None compares 0.5 to 3 times the median distance between
        training samples by the leave-one-out log-loss of the collaborative rule, on at
        most 600 of them (with landmarks, 0.5 to 5 times on 3000).
    degree : int, default=2
        The degree of ``"poly"``.
    coef0 : float, default=1.0
        The constant of ``"poly"``.

    Attributes
    ----------
    model_ : kerndict.model.Model
        The fitted model, a frozen value: where samples live, the atoms, the rule.  All
        attributes below come from it.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    dual_dictionaries_ : list of ndarray of shape (n_samples of the class, n_atoms)
        The atoms of each class as combinations of its training samples, of unit norm
        in feature space.
    X_fit_ : ndarray of shape (n_samples, n_features)
        The training rows grouped by class, or the landmarks; None with ``"precomputed"``.
    fit_indices_ : ndarray of shape (n_samples,)
        The rows of `X` that they were.
    sigma_ : float
        The width used, for ``kernel="rbf"``.
    codes_ : list of ndarray of shape (n_samples of the class, n_atoms)
        The codes of the training samples of each class after the last pass; of a sample of
        them with landmarks and the residual rule, and none with landmarks otherwise.
    reconstruction_, coherence_ : ndarray of shape (n_iter,)
        The two terms of Eq. (7) after each pass, γ not applied; the second sums
        ordered pairs of classes.
    incoherence_ : float
        The absolute weight γ of the penalty.
    n_iter_, n_atoms_ : int, ndarray of shape (n_classes,)
        Passes made, and atoms of each class.
    within_class_whitening_, square_root_ : float, bool
        How rows are prepared.
    n_landmarks_ : int
        Training samples that the model describes others by; all of them without landmarks.
    ridge_, rule_weights_, rule_offsets_ : float, ndarray (3,), ndarray (n_classes,)
        The ridge, the weights α, β, δ (with landmarks δ alone) and the offsets of the rule.
    n_features_in_ : int
        Features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
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
        n_atoms: int | float | None = None,
        n_nonzero_coefs: int | None = None,
        *,
        incoherence: float = 0.0,
        incoherence_scale: str = "relative",
        atom_update: str = "exact",
        coef_update: str = "aksvd",
        decision: str = "collaborative",
        n_iter: int = 5,
        init: str | Sequence[ArrayLike] = "pivoted",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        ridge: float | str = "auto",
        n_landmarks: int | str | None = None,
        class_weight: dict | str | None = None,
        within_class_whitening: float | None = None,
        square_root: bool | None = None,
        kernel: str | Callable[[NDArray, NDArray], ArrayLike] = "rbf",
        sigma: float | None = None,
        degree: int = 2,
        coef0: float = 1.0,
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
            n_landmarks=n_landmarks,
            class_weight=class_weight,
            within_class_whitening=within_class_whitening,
            square_root=square_root,
        )
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def check_parameters(self) -> None:
        """Check all parameters, as `fit` does first."""
        super().check_parameters()
        if not callable(self.kernel):
            check_choice("kernel", self.kernel, KERNELS, " or a callable k(X, Z) -> matrix")
        if self.sigma is not None:
            check_real("sigma", self.sigma, 0, strict=True)
        check_degree(self.degree)
        check_real("coef0", self.coef0)
        if self.kernel == "precomputed" and (self.within_class_whitening or self.square_root):
            name = "within_class_whitening" if self.within_class_whitening else "square_root"
            raise ValueError(
                f"{name}={getattr(self, name)!r} needs the samples, which kernel='precomputed' "
                f"does not give: use {name}=None, or another kernel."
            )
        if self.kernel == "precomputed" and self.n_landmarks not in (None, "all"):
            raise ValueError(
                f"n_landmarks={self.n_landmarks!r} needs the samples, which kernel='precomputed' "
                "does not give: use n_landmarks='all', or another kernel."
            )

    def _rows(
        self, given: Given, order: NDArray, weights: NDArray | None, rng: np.random.RandomState
    ) -> TrainingRows:
        if self.kernel == "precomputed":
            check_symmetric(self.kernel, given.X)
            return PrecomputedRows(X=given.X, sizes=given.sizes, weights=weights, indices=order)
        return kernel_rows(self, self._options(given), given, order, weights, rng)

    def _options(self, given: Given) -> Options:
        # Kernel values cannot be prepared, and a kernel of one's own takes what it wants.
        comparable = not callable(self.kernel) and self.kernel != "precomputed"
        return options_of(self, given.X, comparable)

    def _takes_landmarks(self, sizes: NDArray) -> bool:
        return self.kernel != "precomputed" and super()._takes_landmarks(sizes)

    def _landmark_kernel(self, given: Given, rng: np.random.RandomState) -> Kernel:
        few = given.drawn(ROWS_LOOKED_AT, rng)
        return landmark_kernel(self, self._options(few).least, few, rng)

    def _check_leaving_out(self) -> None:
        if self.kernel == "precomputed":
            raise ValueError(
                "sample_weight or class_weight is 0 for some samples, which cannot be left out of "
                "a precomputed kernel: leave out their rows and columns."
            )

    def _init_rows(self, sizes: NDArray) -> list[int]:
        return sizes.tolist()

    def _not_positive(self, error: NotPositiveSemidefinite) -> ValueError:
        return not_positive(self.kernel, error)
