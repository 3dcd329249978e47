"""How both classifiers learn."""

import time
import warnings
from abc import abstractmethod
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data
from threadpoolctl import threadpool_limits

from kerndict._validation import (
    check_atoms,
    check_choice,
    check_count,
    check_init_arrays,
    check_real,
)
from kerndict.classifiers.outoffold import RIDGES, choose_rule
from kerndict.classifiers.prediction import DictionaryPredictor
from kerndict.core.collaborative import CollaborativeRule, pseudo_inverse
from kerndict.core.learn import encode, learn
from kerndict.core.problem import Problem
from kerndict.core.start import (
    start_from_arrays,
    start_from_gaussian,
    start_from_pivots,
    start_from_samples,
)
from kerndict.exceptions import SpanWarning

ATOM_UPDATES = ("exact", "power")
COEF_UPDATES = ("aksvd", "uaksvd")
DECISIONS = ("residual", "collaborative")
INITS = {
    "samples": start_from_samples,
    "random": start_from_gaussian,
    "pivoted": start_from_pivots,
}


class BaseDictionaryClassifier(DictionaryPredictor):
    """One dictionary per class; a sample belongs to the class that explains it best."""

    _keep_gram = False  # whether the Gram matrix of all atoms is kept, for the folds

    def __init__(
        self,
        n_atoms: Any = 20,
        n_nonzero_coefs: Any = 5,
        *,
        incoherence: Any = 0.0,
        atom_update: Any = "exact",
        coef_update: Any = "aksvd",
        decision: Any = "residual",
        n_iter: Any = 10,
        init: Any = "samples",
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: Any = 0,
        ridge: Any = "auto",
    ) -> None:
        self.n_atoms = n_atoms
        self.n_nonzero_coefs = n_nonzero_coefs
        self.incoherence = incoherence
        self.atom_update = atom_update
        self.coef_update = coef_update
        self.decision = decision
        self.n_iter = n_iter
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.ridge = ridge

    @abstractmethod
    def _make_problem(
        self, X: NDArray, order: NDArray, sizes: NDArray, rng: np.random.RandomState
    ) -> tuple[Problem, dict[str, Any]]:
        """Group the rows of X by class; return the problem and what is fitted by then."""

    @abstractmethod
    def _store(self, problem: Problem) -> None:
        """Keep the learned atoms and what prediction needs of them."""

    @abstractmethod
    def _rows(self, X: NDArray, rows: NDArray, train: NDArray) -> NDArray:
        """Return some rows of X as a model takes them that was fitted to rows ``train``."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn one dictionary per class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples; float32 is kept, everything else becomes float64.  With
            ``kernel="precomputed"``, the kernel matrix (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Class labels, at least two different ones.

        Returns
        -------
        self : object
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        classes, labels, sizes = np.unique(y, return_inverse=True, return_counts=True)
        if len(classes) < 2:
            raise ValueError(
                f"y holds one class only ({classes[0]}): {type(self).__name__} needs samples "
                "of at least two classes."
            )
        order = np.argsort(labels, kind="stable")
        rng = check_random_state(self.random_state)
        # One thread: products of the size of a class would only wait for a second one, and
        # what is learned must not depend on how many the machine has.
        with threadpool_limits(1, "blas"):
            problem, fitted = self._make_problem(X, order, sizes, rng)
            n_atoms, sparsity = self._sizes(sizes)
            self._start(problem, n_atoms, rng)
            self._warn_if_spanning(problem, sizes, n_atoms, sparsity)
            codes, trace = self._learn(problem, sparsity, rng)

        if hasattr(self, "sigma_"):  # of another kernel
            del self.sigma_
        for name, value in fitted.items():
            setattr(self, name, value)
        self.classes_ = classes
        self._dtype, self._class_sizes = problem.dtype, sizes
        self.n_atoms_, self._sparsity = n_atoms, sparsity
        self._store(problem)
        self.codes_ = [np.ascontiguousarray(X.T, dtype=problem.dtype) for X in codes]
        self.reconstruction_, self.coherence_ = trace[:, 0], trace[:, 1]
        self.n_iter_ = len(trace)
        self._rule: CollaborativeRule | None = None
        self._gram = None
        if self.decision == "collaborative" or self._keep_gram:
            G = problem.full_gram()
            del problem, fitted  # and with them the kernel matrix
            if self._keep_gram:
                self._gram = G
            else:
                with threadpool_limits(1, "blas"):
                    self._fit_rule(X, labels, G, rng)
        return self

    def _fit_rule(
        self, X: NDArray, labels: NDArray, G: NDArray, rng: np.random.RandomState
    ) -> None:
        """Choose the ridge and the weights of the collaborative rule out of fold."""
        ridges = RIDGES if self.ridge == "auto" else (float(self.ridge),)
        self.ridge_, self.rule_weights_, self.rule_offsets_ = choose_rule(
            self._plain, X, labels, ridges, rng
        )
        unknown = self._known_diagonal(X[:1]) is None
        inverse = np.linalg.inv(G + self.ridge_ * np.eye(len(G)))
        self._rule = CollaborativeRule(
            inverse.astype(self._dtype),
            self._grams,
            self.rule_weights_,
            self.rule_offsets_,
            pseudo_inverse(G).astype(self._dtype) if unknown else None,
        )

    def _plain(self) -> Self:
        """Return an unfitted copy with the residual rule, for the folds."""
        copy = clone(self).set_params(decision="residual", verbose=0, random_state=0)
        copy._keep_gram = True
        return copy

    def _sizes(self, sizes: NDArray) -> tuple[NDArray, NDArray]:
        """Return atoms per class and nonzeros per code for classes of the given sizes."""
        if self.n_atoms is None:
            n_atoms = np.minimum(sizes, np.maximum(10, sizes // 2))
        elif isinstance(self.n_atoms, Integral):
            n_atoms = np.full(len(sizes), int(self.n_atoms))
        else:
            n_atoms = np.ceil(self.n_atoms * sizes - 1e-9).astype(np.int64)
        if self.n_nonzero_coefs is None:
            return n_atoms, np.maximum(1, n_atoms // 2)
        return n_atoms, np.full(len(sizes), int(self.n_nonzero_coefs))

    def _check_parameters(self) -> None:
        check_atoms(self.n_atoms)
        if self.n_nonzero_coefs is not None:
            check_count("n_nonzero_coefs", self.n_nonzero_coefs, 1)
        if self.ridge != "auto":
            check_real("ridge", self.ridge, 0, strict=True)
        check_count("n_iter", self.n_iter, 0)
        check_real("incoherence", self.incoherence, 0)
        check_choice("atom_update", self.atom_update, ATOM_UPDATES)
        check_choice("coef_update", self.coef_update, COEF_UPDATES)
        check_choice("decision", self.decision, DECISIONS)
        if isinstance(self.init, str):
            check_choice("init", self.init, tuple(INITS), " or a sequence of arrays, one per class")

    def _start(self, problem: Problem, n_atoms: NDArray, rng: np.random.RandomState) -> None:
        if isinstance(self.init, str):
            INITS[self.init](problem, n_atoms.tolist(), rng)
        else:
            shapes = [(problem.n_rows(i), int(n)) for i, n in enumerate(n_atoms)]
            start_from_arrays(problem, check_init_arrays(self.init, shapes))

    def _warn_if_spanning(
        self, problem: Problem, sizes: NDArray, n_atoms: NDArray, sparsity: NDArray
    ) -> None:
        if self.n_nonzero_coefs is None:  # automatic values are chosen below the rank
            return
        several = np.flatnonzero(sizes > 1).tolist()
        ranks = [problem.rank(i) for i in several]
        reaches = np.minimum(n_atoms, sparsity)[several]
        spanned = int(np.sum(reaches >= ranks))
        if spanned and 2 * spanned >= len(ranks):
            atoms_bind = bool(np.median(n_atoms) < np.median(sparsity))
            name = "n_atoms" if atoms_bind else "n_nonzero_coefs"
            reach = int(np.median(reaches))
            rank = int(np.median(ranks))
            smaller = (
                f"{name} below the rank of the classes (median {rank}), or " if rank > 1 else ""
            )
            warnings.warn(
                f"{name}={reach} reaches the rank of the samples in {spanned} of {len(ranks)} "
                "classes: a code can then span its whole class, and the residual no longer "
                f"depends on the dictionary. Give {smaller}more samples per class.",
                SpanWarning,
                stacklevel=3,
            )

    def _learn(
        self, problem: Problem, sparsity: NDArray, rng: np.random.RandomState
    ) -> tuple[list, NDArray]:
        """Run the iterations; return the codes (n, N_i) and the trace (n_iter, 2)."""
        s = sparsity.tolist()
        codes: list[NDArray] = []
        trace: list[tuple[float, float]] = []
        begin = time.perf_counter()
        for step in learn(
            problem,
            s=s,
            gamma=float(self.incoherence),
            n_iter=int(self.n_iter),
            exact=self.atom_update == "exact",
            uaksvd=self.coef_update == "uaksvd",
            rng=rng,
        ):
            codes = step.codes
            trace.append((step.reconstruction, step.coherence))
            if self.verbose:
                self._report(len(trace), trace[-1], time.perf_counter() - begin)
        if not trace:
            codes = [encode(problem, i, s[i]) for i in range(len(problem.signals))]
        return codes, np.array(trace).reshape(-1, 2)

    def _report(self, done: int, terms: tuple[float, float], seconds: float) -> None:
        left = seconds / done * (self.n_iter - done)
        print(
            f"[{type(self).__name__}] iteration {done}/{self.n_iter}: reconstruction "
            f"{terms[0]:.6g}, coherence {terms[1]:.6g}; {seconds:.1f} s, {left:.1f} s left",
            flush=True,
        )
