"""How both classifiers learn."""

import copy
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

from kerndict._threads import single_blas_thread
from kerndict._validation import (
    check_atoms,
    check_choice,
    check_count,
    check_init_arrays,
    check_jobs,
    check_real,
)
from kerndict.classifiers.outoffold import N_FOLDS, RIDGES, choose_rule
from kerndict.classifiers.prediction import DictionaryPredictor
from kerndict.classifiers.progress import CallbackSupport, Progress
from kerndict.core.collaborative import (
    CollaborativeRule,
    own_inverses,
    pseudo_inverse,
    ridge_inverse,
)
from kerndict.core.learn import balanced_gamma, encode, learn
from kerndict.core.problem import Problem
from kerndict.core.start import (
    start_from_arrays,
    start_from_gaussian,
    start_from_pivots,
    start_from_samples,
)
from kerndict.exceptions import SpanWarning

INCOHERENCE_SCALES = ("relative", "absolute")
ATOM_UPDATES = ("exact", "power")
COEF_UPDATES = ("aksvd", "uaksvd")
DECISIONS = ("collaborative", "residual")
#: Up to so many atoms a class keeps all it has, by default.
FEW_ATOMS = 15
INITS = {
    "samples": start_from_samples,
    "random": start_from_gaussian,
    "pivoted": start_from_pivots,
}


class BaseDictionaryClassifier(CallbackSupport, DictionaryPredictor):
    """One dictionary per class; a sample belongs to the class that explains it best."""

    _in_fold = False  # keeps the Gram matrix of all atoms for the rule, and no trace
    _gram: NDArray | None

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
    ) -> None:
        self.n_atoms = n_atoms
        self.n_nonzero_coefs = n_nonzero_coefs
        self.incoherence = incoherence
        self.incoherence_scale = incoherence_scale
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
            An error or Ctrl-C leaves it as it was before: fitted to what it was, or not.
        """
        before = self.__dict__.copy()
        try:
            return self._managed(type(self)._fit)(self, X, y)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit(self, X: Any, y: Any) -> Self:
        self._check_parameters()
        collaborative = self.decision == "collaborative"
        progress = Progress(self, N_FOLDS if collaborative else 0, X, y)
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        if not self._in_fold:
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
        with single_blas_thread():
            problem, fitted = self._make_problem(X, order, sizes, rng)
            n_atoms, sparsity = self._sizes(sizes)
            self._start(problem, n_atoms, rng)
            self._warn_if_spanning(problem, sizes, n_atoms, sparsity)
            fitted |= {
                "classes_": classes,
                "n_atoms_": n_atoms,
                "incoherence_": self._gamma(problem, sparsity),
                "_class_sizes": sizes,
                "_sparsity": sparsity,
            }
            with progress.learning():
                codes, trace = self._learn(problem, fitted, rng, progress)

            for name in ("sigma_", "ridge_", "rule_weights_", "rule_offsets_"):
                self.__dict__.pop(name, None)  # of another kernel or rule
            self._keep(problem, fitted, codes, trace)
            if collaborative or self._in_fold:
                G = problem.full_gram()
                del problem, fitted  # and with them the kernel matrix
                if self._in_fold:
                    self._gram = G
                else:
                    self._fit_rule(X, labels, G, rng, progress)
        progress.done()
        return self

    def _keep(self, problem: Problem, fitted: dict[str, Any], codes: list, trace: NDArray) -> None:
        """Become fitted to what has been learned so far, with the residual rule."""
        for name, value in fitted.items():
            setattr(self, name, value)
        self._dtype = problem.dtype
        self._store(problem)
        self.codes_ = [np.ascontiguousarray(X.T, dtype=problem.dtype) for X in codes]
        self.reconstruction_, self.coherence_ = trace[:, 0], trace[:, 1]
        self.n_iter_ = len(trace)
        self._rule: CollaborativeRule | None = None
        self._gram = None

    def _fit_rule(
        self,
        X: NDArray,
        labels: NDArray,
        G: NDArray,
        rng: np.random.RandomState,
        progress: Progress,
    ) -> None:
        """Choose the ridge and the weights of the collaborative rule out of fold."""
        ridges = RIDGES if self.ridge == "auto" else (float(self.ridge),)
        energy_known = self._known_diagonal(X[:1]) is not None
        choice = choose_rule(self._plain, X, labels, ridges, rng, progress.fold, energy_known)
        self.ridge_, self.rule_weights_, self.rule_offsets_, known = choice
        self._rule = CollaborativeRule(
            ridge_inverse(G, self.ridge_, self._dtype),
            self._grams,
            own_inverses(self._grams),
            self.rule_weights_,
            self.rule_offsets_,
            known,
            None if energy_known else pseudo_inverse(G, self._dtype),
        )

    def _plain(self) -> Self:
        """Return an unfitted copy with the residual rule, for the folds."""
        plain = clone(self).set_params(decision="residual", verbose=0, random_state=0)
        if not isinstance(self.init, str):  # its shapes are those of the whole fit
            plain.set_params(init="pivoted")
        plain.__dict__.pop("_skl_callbacks", None)  # those that want to hear of folds are passed on
        plain._in_fold = True
        return plain

    def _sizes(self, sizes: NDArray) -> tuple[NDArray, NDArray]:
        """Return atoms per class and nonzeros per code for classes of the given sizes."""
        if self.n_atoms is None:
            # A fold holds that much less of a class, and of its atoms.
            few = FEW_ATOMS * (N_FOLDS - 1) // N_FOLDS if self._in_fold else FEW_ATOMS
            n_atoms = np.minimum(sizes, np.maximum(few, sizes // 2))
        elif isinstance(self.n_atoms, Integral):
            n_atoms = np.full(len(sizes), int(self.n_atoms))
        else:
            n_atoms = np.maximum(1, np.ceil(self.n_atoms * sizes - 1e-9)).astype(np.int64)
        if self.n_nonzero_coefs is None:
            return n_atoms, np.maximum(1, n_atoms // 2)
        return n_atoms, np.full(len(sizes), int(self.n_nonzero_coefs))

    def _check_parameters(self) -> None:
        check_atoms(self.n_atoms)
        if self.n_nonzero_coefs is not None:
            check_count("n_nonzero_coefs", self.n_nonzero_coefs, 1)
        if not isinstance(self.ridge, str):
            check_real("ridge", self.ridge, 0, strict=True)
        elif self.ridge != "auto":
            raise ValueError(f"ridge={self.ridge!r} is not known: use 'auto' or a number > 0.")
        check_count("n_iter", self.n_iter, 0)
        check_jobs(self.n_jobs)
        check_real("incoherence", self.incoherence, 0)
        check_choice("incoherence_scale", self.incoherence_scale, INCOHERENCE_SCALES)
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
        if self.decision != "residual" or self.n_nonzero_coefs is None:
            return
        several = np.flatnonzero(sizes > 1)
        if self.n_atoms is None:  # nobody chose them
            several = several[n_atoms[several] >= sparsity[several]]
        ranks = [problem.rank(int(i)) for i in several]
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
                stacklevel=5,
            )

    def _gamma(self, problem: Problem, sparsity: NDArray) -> float:
        """Return the absolute weight of the penalty."""
        weight = float(self.incoherence)
        if weight == 0 or self.incoherence_scale == "absolute":
            return weight
        return weight * balanced_gamma(problem, sparsity.tolist())

    def _learn(
        self,
        problem: Problem,
        fitted: dict[str, Any],
        rng: np.random.RandomState,
        progress: Progress,
    ) -> tuple[list, NDArray]:
        """Run the iterations; return the codes (n, N_i) and the trace (n_iter, 2)."""
        s = fitted["_sparsity"].tolist()
        codes: list[NDArray] = []
        trace: list[tuple[float, float]] = []

        def state() -> dict[str, Any]:
            so_far = copy.copy(self)
            so_far._keep(problem, fitted, codes, np.array(trace))
            return so_far.__dict__

        for step in learn(
            problem,
            s=s,
            gamma=fitted["incoherence_"],
            n_iter=int(self.n_iter),
            exact=self.atom_update == "exact",
            uaksvd=self.coef_update == "uaksvd",
            rng=rng,
        ):
            codes = step.codes
            coherence = np.nan if self._in_fold else problem.coherence()  # a trace nobody reads
            trace.append((step.reconstruction, coherence))
            if progress.iteration(*trace[-1], state if self.decision == "residual" else None):
                break
        if not codes:
            codes = [encode(problem, i, s[i]) for i in range(len(problem.signals))]
        return codes, np.array(trace).reshape(-1, 2)
