"""The fitted model: a frozen value that scores, leaves residuals, tells typicality, explains.

It is the one list of what a fitted classifier is.  Files, pictures and the attributes of the
estimators come from it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from kerndict._chunks import map_chunks
from kerndict._state import stored
from kerndict.explanation import Explanation, explained_rows, join_rows
from kerndict.learning import Dictionaries
from kerndict.rules import CollaborativeRule, LandmarkRule, ResidualRule
from kerndict.rules.collaborative import largest_loss
from kerndict.rules.residual import residuals
from kerndict.spaces import Space


@dataclass(frozen=True, kw_only=True)
class Model:
    """What prediction needs, and the objective after each pass.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels.
    space : Space
        Where signals live.
    n_atoms, class_sizes, sparsity : ndarray of shape (n_classes,)
        Atoms, training rows and nonzeros per code of each class.
    atoms, grams : list of ndarray
        One array per class, in the coordinates of the space, and their Gram matrices.
    rule : ResidualRule, CollaborativeRule or LandmarkRule
        How a class is decided on.
    incoherence : float
        The absolute weight γ of the penalty.
    reconstruction, coherence : ndarray of shape (n_passes,)
        The two terms of Eq. (3) or (7) after each pass.
    codes : list of ndarray, or None
        Those of the training rows per class; None in a model from a file.
    """

    classes: NDArray
    space: Space
    n_atoms: NDArray = stored("count", "C", sizes="n")
    class_sizes: NDArray = stored("count", "C", sizes="N")
    sparsity: NDArray = stored("count", "C")
    atoms: list[NDArray]
    grams: list[NDArray] = stored("precision", "n_i n_i")
    rule: ResidualRule | CollaborativeRule | LandmarkRule
    incoherence: float = stored("real")
    reconstruction: NDArray = stored("real", "T")
    coherence: NDArray = stored("real", "T")
    codes: list[NDArray] | None = None

    @property
    def dtype(self) -> np.dtype:
        """The precision of the model."""
        return self.grams[0].dtype

    def scores(self, X: NDArray, n_jobs: int | None = None) -> NDArray:
        """Return the score of each row and class; the largest wins.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Checked rows in the precision of the model.
        n_jobs : int, optional
            Threads, as joblib counts them.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes)
            Those within rounding of the largest are made equal to it.
        """
        return np.concatenate(self._map(lambda rows: self._scores(X[rows]), len(X), n_jobs))

    def winners(self, X: NDArray, n_jobs: int | None = None) -> NDArray:
        """Return the place of each row's class among the labels; ties go to the first.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Checked rows in the precision of the model.
        n_jobs : int, optional
            Threads, as joblib counts them.

        Returns
        -------
        places : ndarray of shape (n_samples,)
            Indices into `classes`.
        """
        return np.concatenate(
            self._map(lambda rows: self._scores(X[rows]).argmax(axis=1), len(X), n_jobs)
        )

    def typicality(self, X: NDArray, n_jobs: int | None = None) -> NDArray:
        """Return the p-value of each row's best score; the collaborative rule has them.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Checked rows in the precision of the model.
        n_jobs : int, optional
            Threads, as joblib counts them.

        Returns
        -------
        p_values : ndarray of shape (n_samples,)
            Near 0 for rows unlike all training rows.
        """
        rule = self.rule
        assert not isinstance(rule, ResidualRule)

        def part(rows: slice) -> NDArray:
            correlations = self._correlations(X[rows])
            return rule.typicality(correlations, self.space.energies(X[rows]))

        return np.concatenate(self._map(part, len(X), n_jobs))

    def sets(self, X: NDArray, alpha: float, n_jobs: int | None = None) -> NDArray:
        """Return which classes belong to the set of each row; see `predict_set`.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Checked rows in the precision of the model.
        alpha : float
            The share of sets that may lack the true class.
        n_jobs : int, optional
            Threads, as joblib counts them.

        Returns
        -------
        sets : ndarray of bool, shape (n_samples, n_classes)
            True where a class belongs to the set.
        """
        rule = self.rule
        assert not isinstance(rule, ResidualRule)
        if rule.losses is None:
            raise AttributeError(
                "this model comes from a file that does not keep the log-losses of training "
                "samples held out, which sets are made by: fit it again."
            )
        return -log_softmax(self.scores(X, n_jobs), axis=1) <= largest_loss(rule.losses, alpha)

    def residuals(
        self, X: NDArray, energies: NDArray | None = None, n_jobs: int | None = None
    ) -> NDArray:
        """Return the squared residual of each row over each class, Eq. (21).

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Checked rows in the precision of the model.
        energies : ndarray of shape (n_samples,), optional
            Values k(y, y), where the space does not tell them.
        n_jobs : int, optional
            Threads, as joblib counts them.

        Returns
        -------
        residuals : ndarray of shape (n_samples, n_classes)
            Never negative.
        """
        rule = ResidualRule(self.grams, self.sparsity)

        def part(rows: slice) -> NDArray:
            theirs = self.space.energies(X[rows]) if energies is None else energies[rows]
            assert theirs is not None
            explained = rule.explained(self.space.correlations(X[rows], self.atoms))
            return residuals(explained, theirs)

        return np.concatenate(self._map(part, len(X), n_jobs, pursues=True))

    def explain(
        self, X: NDArray, energies: NDArray | None, n_samples: int, n_jobs: int | None = None
    ) -> Explanation:
        """Return why each row is decided as it is; see `explain` of the classifiers.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Checked rows in the precision of the model.
        energies : ndarray of shape (n_samples,), or None
            Values k(y, y), or None where the rule does without.
        n_samples : int
            Training samples listed for each of two classes, at most.
        n_jobs : int, optional
            Threads, as joblib counts them.

        Returns
        -------
        explanation : Explanation
            Of all rows.
        """
        listed = min(n_samples, int(self.class_sizes.max()))

        def part(rows: slice) -> tuple[NDArray, ...]:
            theirs = None if energies is None else energies[rows]
            return explained_rows(self, X[rows], theirs, listed)

        parts = self._map(part, len(X), n_jobs)
        return join_rows(self.classes, parts, self.rule.has_probabilities)

    def row_bytes(self) -> int:
        """Return the memory that a decision takes per row.

        Returns
        -------
        size : int
            In bytes.
        """
        shared = 4 * int(self.n_atoms.sum()) + 8 * len(self.n_atoms)  # correlations, features
        return self.dtype.itemsize * (shared + self.space.numbers_per_row())

    def settled(self, X: NDArray, scores: NDArray, energies: NDArray | None = None) -> NDArray:
        """Return scores of rows, anew of those whose class the shape of the batch could decide.

        Products round otherwise in every shape.  Where the best classes are so close that this
        could tell, the row is scored alone: so its label is the same in every batch.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Checked rows in the precision of the model.
        scores : ndarray of shape (n_samples, n_classes)
            Theirs, which are changed in place.
        energies : ndarray of shape (n_samples,), optional
            Values k(y, y), where the space does not tell them.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes)
            The same array.
        """
        for t in np.flatnonzero(self.rule.doubtful(scores)):
            theirs = None if energies is None else energies[t : t + 1]
            scores[t] = self._together(np.ascontiguousarray(X[t : t + 1]), theirs)[0]
        return scores

    def _scores(self, X: NDArray) -> NDArray:
        if len(X) == 1:
            return self._together(np.ascontiguousarray(X))
        return self.settled(X, self._together(X))

    def _together(self, X: NDArray, energies: NDArray | None = None) -> NDArray:
        """Return the scores of rows that are multiplied together; energies if they are given."""
        if energies is None and self.rule.has_probabilities:
            energies = self.space.energies(X)
        return self.rule.scores(self._correlations(X), energies)

    def _correlations(self, X: NDArray) -> Iterator[NDArray]:
        """Return the correlations that the rule asks for."""
        return self.space.correlations(X, [*self.atoms, *self.rule.heads])

    def _map(
        self,
        function: Callable[[slice], NDArray] | Callable[[slice], tuple[NDArray, ...]],
        n_rows: int,
        n_jobs: int | None,
        pursues: bool = False,
    ) -> list:
        fixed = 0
        if pursues or self.rule.pursues:
            fixed = ResidualRule(self.grams, self.sparsity).work_bytes()
        return map_chunks(
            function, n_rows, row_bytes=self.row_bytes(), fixed_bytes=fixed, n_jobs=n_jobs
        )


def assemble(
    classes: NDArray,
    space: Space,
    class_sizes: NDArray,
    learned: Dictionaries,
    rule: CollaborativeRule | LandmarkRule | None = None,
) -> Model:
    """Return the model of what was learned; without a rule, with the residual rule."""
    return Model(
        classes=classes,
        space=space,
        n_atoms=np.array([A.shape[1] for A in learned.atoms]),
        class_sizes=class_sizes,
        sparsity=learned.sparsity,
        atoms=learned.atoms,
        grams=learned.grams,
        rule=ResidualRule(learned.grams, learned.sparsity) if rule is None else rule,
        incoherence=learned.gamma,
        reconstruction=learned.reconstruction,
        coherence=learned.coherence,
        codes=learned.codes,
    )
