"""The fitted model: a frozen value, and the one list of what a fitted classifier is.

Files, pictures and the attributes of the estimators come from it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kerndict._arrays import Array, host_dtype, moved, namespace, on_host
from kerndict._chunks import map_chunks, map_on_device
from kerndict._state import stored
from kerndict.explanation import Explanation, explained_rows, join_rows
from kerndict.rules import CollaborativeRule, LandmarkRule, ResidualRule
from kerndict.rules.collaborative import largest_loss
from kerndict.rules.residual import residuals
from kerndict.rules.weights import log_shares
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
        """The precision of the model, in the words of its namespace."""
        return self.grams[0].dtype

    def converted(self, convert: Callable[[Array], Array]) -> "Model":
        """Return the model with every array that decisions are made with converted.

        Parameters
        ----------
        convert : callable
            Of an array, returns it elsewhere.

        Returns
        -------
        model : Model
            Another one.
        """
        parts = [self.space, self.atoms, self.grams, self.rule, self.codes]
        space, atoms, grams, rule, codes = moved(parts, convert)
        return replace(self, space=space, atoms=atoms, grams=grams, rule=rule, codes=codes)

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
        return namespace(X).concat(self._map(lambda rows: self._scores(X[rows, :]), X, n_jobs))

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
        xp = namespace(X)
        return xp.concat(
            self._map(lambda rows: xp.argmax(self._scores(X[rows, :]), axis=1), X, n_jobs)
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
            correlations = self._correlations(X[rows, :])
            return rule.typicality(correlations, self.space.energies(X[rows, :]))

        return namespace(X).concat(self._map(part, X, n_jobs))

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
        return -log_shares(self.scores(X, n_jobs)) <= largest_loss(rule.losses, alpha)

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
            theirs = self.space.energies(X[rows, :]) if energies is None else energies[rows]
            assert theirs is not None
            explained = rule.explained(self.space.correlations(X[rows, :], self.atoms))
            return residuals(explained, theirs)

        return namespace(X).concat(self._map(part, X, n_jobs, pursues=True))

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

        parts = self._map(part, X, n_jobs)
        return join_rows(self.classes, parts, self.rule.has_probabilities)

    def row_bytes(self, pursues: bool = False) -> int:
        """Return the memory that a decision takes per row.

        Parameters
        ----------
        pursues : bool, default=False
            Whether it codes rows by OMP, whatever the rule.

        Returns
        -------
        size : int
            In bytes.
        """
        numbers = self.space.numbers_per_row()
        if not on_host(self.grams[0]):
            rows = 0 if self.space.atoms_are_rows else max(A.shape[0] for A in self.atoms)
            pursues = pursues or self.rule.pursues
            numbers += ResidualRule(self.grams, self.sparsity).numbers_per_row(rows, pursues)
        shared = 4 * int(self.n_atoms.sum()) + 8 * len(self.n_atoms)  # correlations, features
        return host_dtype(self.dtype).itemsize * (shared + numbers)

    def settled(self, X: NDArray, scores: NDArray, energies: NDArray | None = None) -> NDArray:
        """Return scores of rows, anew of those whose class the shape of the batch could decide.

        Where the best classes are that close a row is scored alone: its label is then the same.

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
        if not on_host(X):  # where rows one by one would take longer than all of them together
            return self._together(X)
        if len(X) == 1:
            return self._together(np.ascontiguousarray(X))
        return self.settled(X, self._together(X))

    def _together(self, X: NDArray, energies: NDArray | None = None) -> NDArray:
        if energies is None and self.rule.has_probabilities:
            energies = self.space.energies(X)
        return self.rule.scores(self._correlations(X), energies)

    def _correlations(self, X: NDArray) -> Iterator[NDArray]:
        return self.space.correlations(X, [*self.atoms, *self.rule.heads])

    def _map(
        self,
        function: Callable[[slice], NDArray] | Callable[[slice], tuple[NDArray, ...]],
        X: NDArray,
        n_jobs: int | None,
        pursues: bool = False,
    ) -> list:
        sizes = {"n_rows": X.shape[0], "row_bytes": self.row_bytes(pursues)}
        if not on_host(X):
            return map_on_device(function, **sizes)
        coder = ResidualRule(self.grams, self.sparsity)
        fixed = coder.work_bytes() if pursues or self.rule.pursues else 0
        return map_chunks(function, **sizes, fixed_bytes=fixed, n_jobs=n_jobs)
