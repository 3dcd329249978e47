"""Incoherent dictionary learning, linear."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import take
from kerndict.classifiers.base import BaseDictionaryClassifier
from kerndict.classifiers.many import ROWS_LOOKED_AT, Given
from kerndict.kernels import Kernel
from kerndict.preparation import learned_preparation
from kerndict.spaces import LandmarkSpace, LinearRows, LinearSpace


class DictionaryClassifier(BaseDictionaryClassifier):
    """Classification with incoherent dictionary learning (IDL), linear.

    Every class learns a dictionary that represents its samples by few atoms; a penalty
    can keep the dictionaries of different classes apart.  A sample belongs to the class
    whose atoms explain it best.

    The model is linear through the origin: it tells directions apart, not positions.
    It suits many features (faces, spectra, histograms) and cannot separate blobs in two
    features, where two atoms of any class represent everything; use
    :class:`KernelDictionaryClassifier` there.

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
        The weight of the penalty on atoms that resemble those of other classes, Eq. (3).
    incoherence_scale : {"relative", "absolute"}, default="relative"
        ``"relative"``: at 1 the penalty weighs as much as an atom's own samples do, on
        average and at the start, whatever the data.  ``"absolute"``: `incoherence` is the γ
        of the paper, which weighs against squared errors.
    atom_update : {"exact", "power"}, default="exact"
        ``"exact"`` solves for each atom in closed form, Eq. (12); ``"power"`` takes the
        step of the printed Algorithm 1, Eq. (5), which can raise the objective.
    coef_update : {"aksvd", "uaksvd"}, default="aksvd"
        Least-squares coefficients, or those of Eq. (19).
    decision : {"collaborative", "residual"}, default="collaborative"
        ``"collaborative"``: a sample is coded over the atoms of all classes at once, by ridge
        regression.  For each class three numbers are compared: the error when only its part of
        that code is used, the squared size of that part, and the error when it codes the
        sample alone.  Their weights, an offset per class and the ridge are fitted to training
        samples left out of five folds, and give probabilities.
        ``"residual"``: the class with the smallest residual wins, Eq. (2).
    n_iter : int, default=5
        Passes over all classes.  0 keeps the initial dictionaries, the control of every
        experiment.
    init : {"pivoted", "samples", "random"} or sequence of arrays, default="pivoted"
        The samples that a pivoted Cholesky factorisation takes (greedy, and without chance
        until they span the class), random nonzero samples of the class (beyond the class size,
        random combinations of them), Gaussian atoms, or one array (n_features, n_atoms) per
        class in the order of `classes_`.  Atoms are always normalised.
    random_state : int, RandomState instance or None, default=None
        Deals the folds of the collaborative rule, draws initial atoms, and with
        ``atom_update="power"`` the replacements of unused ones.
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
        ``"all"`` never takes landmarks, nor does ``decision="residual"``.
    class_weight : dict, "balanced" or None, default=None
        How much the samples of each class count; ``"balanced"`` lets all classes count the same.
    within_class_whitening : float or None, default=None
        How much directions are made small in which samples of a class differ: with E the rows
        less the means of their classes and ``t = |E|² / n_features``, a row x becomes
        ``(I + within_class_whitening E'E / t)^-1/2 x``, of length 1 where all rows have it.  None
        takes 0, 0.1, 0.5 or 3, by samples left out (0 with landmarks or the residual rule).
    square_root : bool or None, default=None
        Whether the square root of each number is taken first.  None chooses where none is negative.

    Attributes
    ----------
    model_ : kerndict.model.Model
        The fitted model, a frozen value: where samples live, the atoms, the rule.  All
        attributes below come from it.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    dictionaries_ : list of ndarray of shape (n_features, n_atoms)
        The atoms of each class, unit columns.
    fit_indices_ : ndarray of shape (n_samples,)
        The rows of `X` grouped by class, in the order of `codes_`; or those of the landmarks.
    codes_ : list of ndarray of shape (n_samples of the class, n_atoms)
        The codes of the training samples of each class after the last pass; none with landmarks.
    reconstruction_, coherence_ : ndarray of shape (n_iter,)
        The two terms of Eq. (3) after each pass, γ not applied; the second sums
        ordered pairs of classes.
    incoherence_ : float
        The absolute weight γ of the penalty.
    n_iter_ : int
        Passes made.
    n_atoms_ : ndarray of shape (n_classes,)
        Atoms of each class.
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
    KernelDictionaryClassifier : The same with kernels.

    References
    ----------
    D. C. Ilie-Ablachim and B. Dumitrescu, "Classification with Incoherent Kernel
    Dictionary Learning", 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from kerndict import DictionaryClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = DictionaryClassifier(random_state=0).fit(X_train, y_train)
    >>> model.score(X_test, y_test) > 0.95
    True
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    @property
    def dictionaries_(self) -> list[NDArray]:
        """The atoms of each class, unit columns."""
        space, atoms = self.model_.space, self.model_.atoms
        if isinstance(space, LandmarkSpace):
            return [space.kernel.centred(space.rows).T @ space.dual(A) for A in atoms]
        return atoms

    def _rows(
        self, given: Given, order: NDArray, weights: NDArray | None, rng: np.random.RandomState
    ) -> LinearRows:
        LinearSpace(n_features=given.X.shape[1]).check(given.X)
        return LinearRows(
            X=take(given.X, order),
            sizes=given.sizes,
            weights=weights,
            indices=given.indices[order],
        )

    def _takes_landmarks(self, sizes: NDArray) -> bool:
        # The residual rule learns from features as they are, at a cost that grows with the rows.
        return self.decision == "collaborative" and super()._takes_landmarks(sizes)

    def _landmark_kernel(self, given: Given, rng: np.random.RandomState) -> Kernel:
        LinearSpace(n_features=given.X.shape[1]).check(given.X)
        few = given.drawn(ROWS_LOOKED_AT, rng)
        recipe = self._options(few).least
        return Kernel(
            "linear", preparation=learned_preparation(recipe, few.X, few.labels, few.weights)
        )

    def _init_rows(self, sizes: NDArray) -> list[int]:
        return [self.n_features_in_] * len(sizes)
