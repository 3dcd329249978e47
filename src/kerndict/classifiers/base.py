"""What both classifiers share: fit, the walk over rows in chunks, the residual rule."""

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from kerndict._validation import check_choice, check_count, check_init_arrays, check_real
from kerndict.core.decide import class_energies, residuals, settle_ties
from kerndict.core.learn import encode, learn
from kerndict.core.problem import Problem
from kerndict.core.start import start_from_arrays, start_from_gaussian, start_from_samples
from kerndict.exceptions import SpanWarning

ATOM_UPDATES = ("exact", "power")
COEF_UPDATES = ("aksvd", "uaksvd")
DECISIONS = ("residual",)
INITS = {"samples": start_from_samples, "random": start_from_gaussian}

_CHUNK_ROWS = 2048


class BaseDictionaryClassifier(ClassifierMixin, BaseEstimator, ABC):
    """One dictionary per class; a sample belongs to the class that explains it best."""

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

    @abstractmethod
    def _make_problem(
        self, X: NDArray, order: NDArray, sizes: NDArray, rng: np.random.RandomState
    ) -> tuple[Problem, dict[str, Any]]:
        """Group the rows of X by class; return the problem and what is fitted by then."""

    @abstractmethod
    def _store(self, problem: Problem) -> None:
        """Keep the learned atoms and what prediction needs of them."""

    @abstractmethod
    def _class_blocks(self, X: NDArray) -> Iterator[tuple[NDArray, NDArray, NDArray]]:
        """Yield per class what :func:`kerndict.core.decide.class_energies` takes."""

    @abstractmethod
    def _row_bytes(self) -> int:
        """Return the memory that prediction takes per row."""

    @abstractmethod
    def _diagonal(self, X: NDArray, diagonal: ArrayLike | None) -> NDArray:
        """Return k(y, y) of every row of X."""

    # ------------------------------------------------------------------------ fit

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
            self._start(problem, rng)
            self._warn_if_spanning(problem, sizes)
            codes, trace = self._learn(problem, rng)

        if hasattr(self, "sigma_"):  # of another kernel
            del self.sigma_
        for name, value in {**fitted, "_sparsity": int(self.n_nonzero_coefs)}.items():
            setattr(self, name, value)
        self.classes_ = classes
        self._store(problem)
        self.codes_ = [np.ascontiguousarray(X.T, dtype=problem.dtype) for X in codes]
        self.reconstruction_, self.coherence_ = trace[:, 0], trace[:, 1]
        self.n_iter_ = len(trace)
        return self

    def _check_parameters(self) -> None:
        check_count("n_atoms", self.n_atoms, 1)
        check_count("n_nonzero_coefs", self.n_nonzero_coefs, 1)
        check_count("n_iter", self.n_iter, 0)
        check_real("incoherence", self.incoherence, 0)
        check_choice("atom_update", self.atom_update, ATOM_UPDATES)
        check_choice("coef_update", self.coef_update, COEF_UPDATES)
        check_choice("decision", self.decision, DECISIONS)
        if isinstance(self.init, str):
            check_choice("init", self.init, tuple(INITS), " or a sequence of arrays, one per class")

    def _start(self, problem: Problem, rng: np.random.RandomState) -> None:
        n = int(self.n_atoms)
        if isinstance(self.init, str):
            INITS[self.init](problem, n, rng)
        else:
            shapes = [(problem.n_rows(i), n) for i in range(len(problem.signals))]
            start_from_arrays(problem, check_init_arrays(self.init, shapes))

    def _warn_if_spanning(self, problem: Problem, sizes: Sequence[int] | NDArray) -> None:
        reach = min(self.n_atoms, self.n_nonzero_coefs)
        ranks = [problem.rank(i) for i, size in enumerate(sizes) if size > 1]
        spanned = sum(reach >= rank for rank in ranks)
        if spanned and 2 * spanned >= len(ranks):
            name = "n_atoms" if self.n_atoms < self.n_nonzero_coefs else "n_nonzero_coefs"
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

    def _learn(self, problem: Problem, rng: np.random.RandomState) -> tuple[list, NDArray]:
        """Run the iterations; return the codes (n, N_i) and the trace (n_iter, 2)."""
        s = int(self.n_nonzero_coefs)
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
            codes = [encode(problem, i, s) for i in range(len(problem.signals))]
        return codes, np.array(trace).reshape(-1, 2)

    def _report(self, done: int, terms: tuple[float, float], seconds: float) -> None:
        left = seconds / done * (self.n_iter - done)
        print(
            f"[{type(self).__name__}] iteration {done}/{self.n_iter}: reconstruction "
            f"{terms[0]:.6g}, coherence {terms[1]:.6g}; {seconds:.1f} s, {left:.1f} s left",
            flush=True,
        )

    # -------------------------------------------------------------------- predict

    def _check_rows(self, X: ArrayLike) -> NDArray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=[self._dtype], reset=False)

    @property
    def _dtype(self) -> np.dtype:
        return self.codes_[0].dtype

    def _energies(self, X: NDArray) -> NDArray:
        """Return k(y, y) minus the squared residual, rows in chunks, chunks in threads."""
        threads = effective_n_jobs(self.n_jobs)
        parallel = Parallel(n_jobs=threads, prefer="threads", require="sharedmem")
        memory = get_config()["working_memory"] * 2**20
        fitting = int(memory // (threads * self._row_bytes()))
        rows = max(1, min(fitting, _CHUNK_ROWS, -(-len(X) // threads)))
        with threadpool_limits(1 if threads > 1 else None, "blas"):
            parts = parallel(
                delayed(self._chunk_energies)(X[rows_]) for rows_ in gen_batches(len(X), rows)
            )
        return np.concatenate(parts)

    def _chunk_energies(self, X: NDArray) -> NDArray:
        blocks = self._class_blocks(X)
        return class_energies(blocks, len(X), len(self.classes_), self._sparsity)

    def class_residuals(self, X: ArrayLike, diagonal: ArrayLike | None = None) -> NDArray:
        """Return the squared residual of each sample over each class, Eq. (21).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; with ``kernel="precomputed"``, their kernel with the training
            samples, (n_samples, n_train), in the order given to `fit`.
        diagonal : array-like of shape (n_samples,), optional
            k(y, y) of each sample, for ``kernel="precomputed"`` when the diagonal of
            the training kernel is not constant; otherwise it is known.

        Returns
        -------
        residuals : ndarray of shape (n_samples, n_classes)
            Never negative; what is below ``100 eps k(y, y)`` is exactly 0.
        """
        X = self._check_rows(X)
        return residuals(self._energies(X), self._diagonal(X, diagonal))

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return how much of each sample each class explains.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; with ``kernel="precomputed"``, their kernel with the training
            samples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            k(y, y) minus the squared residual; for two classes, the second minus the
            first.  Scores that differ by rounding only are made equal.
        """
        scores = settle_ties(self._energies(self._check_rows(X)))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the class with the smallest residual, Eqs. (2) and (20).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; with ``kernel="precomputed"``, their kernel with the training
            samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Ties go to the first class.
        """
        scores = self.decision_function(X)
        winners = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[winners]
