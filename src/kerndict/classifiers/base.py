"""How both classifiers learn."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from kerndict._threads import single_blas_thread
from kerndict._validation import check_init_arrays
from kerndict.classifiers.parameters import check_common
from kerndict.classifiers.prediction import DictionaryPredictor
from kerndict.classifiers.progress import CallbackSupport, Progress
from kerndict.core.kernel import NotPositiveSemidefinite
from kerndict.core.start import ZeroAtom
from kerndict.learning import Settings, learn_dictionaries
from kerndict.model import Model, assemble
from kerndict.rules.crossfit import N_FOLDS, RIDGES, choose_rule, collaborative_rule
from kerndict.spaces import Space, TrainingSet


class BaseDictionaryClassifier(CallbackSupport, DictionaryPredictor):
    """One dictionary per class; a sample belongs to the class that explains it best."""

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
    def _training(
        self, X: NDArray, order: NDArray, sizes: NDArray, rng: np.random.RandomState
    ) -> tuple[Space, TrainingSet]:
        """Return the space of the rows of X, and the rows in it, grouped by class."""

    @abstractmethod
    def _init_rows(self, sizes: NDArray) -> list[int]:
        """Return the rows that given initial atoms have, per class."""

    def _not_positive(self, error: NotPositiveSemidefinite) -> ValueError:
        """Return what to tell of a kernel that is not positive semidefinite."""
        raise error

    def check_parameters(self) -> None:
        """Check all parameters, as `fit` does first.

        Raises
        ------
        TypeError, ValueError
            One of them cannot be used; the message names it, its value and the remedy.
        """
        check_common(self)

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
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
            Fitted.  If `fit` ends in an error or by Ctrl-C, the estimator is as it was before the
            call: an earlier fit stays, and without one it is not fitted.
        """
        before = self.__dict__.copy()
        try:
            return self._managed(type(self)._fit)(self, X, y)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        self.check_parameters()
        progress = Progress(self, N_FOLDS if self.decision == "collaborative" else 0, X, y)
        rows, given = validate_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(given)
        classes, labels, sizes = np.unique(given, return_inverse=True, return_counts=True)
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
            self.model_ = self._learned(rows, classes, order, sizes, rng, progress)
        progress.done()
        return self

    def _learned(
        self,
        X: NDArray,
        classes: NDArray,
        order: NDArray,
        sizes: NDArray,
        rng: np.random.RandomState,
        progress: Progress,
    ) -> Model:
        """Learn the dictionaries, and with the collaborative rule its weights out of fold."""
        space, training = self._training(X, order, sizes, rng)
        settings = self._settings(sizes)
        try:
            with progress.learning(lambda so_far: assemble(classes, space, sizes, so_far)) as heard:
                learned = learn_dictionaries(training, settings, rng, heard)
            if self.decision == "residual":
                return assemble(classes, space, sizes, learned)
            ridges = RIDGES if isinstance(self.ridge, str) else (float(self.ridge),)
            choice = choose_rule(
                training, settings, ridges, rng, progress.fold, space.energies_known
            )
        except NotPositiveSemidefinite as error:
            raise self._not_positive(error) from None
        except ZeroAtom as error:
            raise ValueError(
                f"init[{error.class_index}] has a zero atom (column {error.column}) in the metric "
                "of its class: every initial atom must have a positive norm."
            ) from None
        G = training.full_gram(learned.atoms)
        del training  # and with it the kernel matrix
        rule = collaborative_rule(choice, G, learned.grams, space.energies_known)
        return assemble(classes, space, sizes, learned, rule)

    def _settings(self, sizes: NDArray) -> Settings:
        whole = isinstance(self.n_atoms, (int, np.integer))
        n_atoms = self.n_atoms if self.n_atoms is None else float(self.n_atoms)
        given = isinstance(self.init, str)
        settings = Settings(
            n_atoms=int(n_atoms) if whole and n_atoms is not None else n_atoms,
            n_nonzero_coefs=None if self.n_nonzero_coefs is None else int(self.n_nonzero_coefs),
            incoherence=float(self.incoherence),
            relative=self.incoherence_scale == "relative",
            exact=self.atom_update == "exact",
            uaksvd=self.coef_update == "uaksvd",
            n_iter=int(self.n_iter),
            init=str(self.init) if given else "pivoted",
        )
        if given:
            return settings
        counts = settings.counts(sizes)[0].tolist()
        shapes = list(zip(self._init_rows(sizes), counts, strict=True))
        return settings.starting_from(check_init_arrays(self.init, shapes))
