"""How both classifiers learn."""

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import _check_sample_weight

from kerndict._arrays import is_array_api_obj, memory_of_device, take, to_host
from kerndict._threads import single_blas_thread
from kerndict._validation import check_groups, check_init_arrays
from kerndict.classifiers.assembly import assemble
from kerndict.classifiers.batches import LearnsInBatches
from kerndict.classifiers.chosen import choose, options_of
from kerndict.classifiers.many import Given, learn_from_many
from kerndict.classifiers.parameters import check_common
from kerndict.classifiers.place import FEWER, checked, float_types
from kerndict.classifiers.progress import Progress
from kerndict.core.kernel import NotPositiveSemidefinite
from kerndict.core.start import ZeroAtom
from kerndict.kernels import Kernel
from kerndict.landmarks import MOST_ATOMS, is_small
from kerndict.learning import Dictionaries, Settings, learn_dictionaries
from kerndict.model import Model
from kerndict.rules.crossfit import Choice, collaborative_rule
from kerndict.rules.search import Options
from kerndict.spaces import Space, TrainingRows


class BaseDictionaryClassifier(LearnsInBatches):
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
        n_landmarks: int | str | None = None,
        class_weight: dict | str | None = None,
        within_class_whitening: float | None = None,
        square_root: bool | None = None,
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
        self.n_landmarks = n_landmarks
        self.class_weight = class_weight
        self.within_class_whitening = within_class_whitening
        self.square_root = square_root

    @abstractmethod
    def _rows(
        self, given: Given, order: NDArray, weights: NDArray | None, rng: np.random.RandomState
    ) -> TrainingRows:
        """Return the rows grouped by class, from which spaces are made.

        ``order`` groups them, ``weights`` are theirs in that order, None for 1 each.
        """

    def _options(self, given: Given) -> Options:
        """Return what may be chosen of how rows are prepared."""
        return options_of(self, given.X)

    def _takes_landmarks(self, sizes: NDArray) -> bool:
        """Tell whether rows are described by landmarks; ``sizes`` are those of the classes."""
        return self.n_landmarks != "all" and (self.n_landmarks is not None or not is_small(sizes))

    @abstractmethod
    def _landmark_kernel(self, given: Given, rng: np.random.RandomState) -> Kernel:
        """Return the kernel of rows with landmarks."""

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

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn one dictionary per class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples; float32 is kept, everything else becomes float64.  With
            ``kernel="precomputed"``, the kernel matrix (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Class labels, at least two different ones.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample counts; those that count nothing are left out.
        groups : array-like of shape (n_samples,), optional
            What each sample belongs to, such as its speaker or session, where new samples will
            come from other groups.  The folds that settle the rule and the preparation then leave
            out whole groups.  In a pipeline or a search, ask for it by
            ``set_fit_request(groups=True)`` with scikit-learn's metadata routing.

        Returns
        -------
        self : object
            Fitted.  If `fit` ends in an error or by Ctrl-C, the estimator is as it was before the
            call: an earlier fit stays, and without one it is not fitted.
        """
        before = self.__dict__.copy()
        try:
            return self._managed(type(self)._fit)(self, X, y, sample_weight, groups)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        self.check_parameters()
        progress = Progress(self, X, y)
        rows, target = checked(self, X, y, float_types(X))
        weights = even(self._weights(sample_weight, rows, target, np.unique(target)))
        indices = np.flatnonzero(weights)
        belongs = check_groups(groups, len(target))
        if len(indices) < len(target):
            self._check_leaving_out()
            rows, target, weights = take(rows, indices), target[indices], weights[indices]
            belongs = None if belongs is None else belongs[indices]
        classes, labels = np.unique(target, return_inverse=True)
        if len(classes) < 2:
            found = f"one class only ({classes[0]})" if len(classes) else "no class"
            raise ValueError(
                f"y holds {found}: {type(self).__name__} needs samples of at least two classes."
            )
        given = Given(rows, labels, weights, classes, indices, belongs)
        rng = check_random_state(self.random_state)
        many = self._takes_landmarks(given.sizes)
        # One thread, unless large products are asked to use more: those of the size of a class
        # would only wait for a second one, and what is learned must not depend on how many the
        # machine has.
        threads = many and effective_n_jobs(self.n_jobs) > 1
        with memory_of_device(FEWER), nullcontext() if threads else single_blas_thread():
            learn = self._learned_from_many if many else self._learned
            self.model_ = learn(given, rng, progress)
        for name in ("learner_", "batch_classes_"):
            self.__dict__.pop(name, None)
        progress.done()
        return self

    def _weights(
        self, sample_weight: ArrayLike | None, X: NDArray, y: NDArray, classes: NDArray
    ) -> NDArray:
        """Return the weight of every row: its own times that of its class, one of ``classes``."""
        given = to_host(sample_weight) if is_array_api_obj(sample_weight) else sample_weight
        weights = _check_sample_weight(given, y, ensure_non_negative=True).astype(np.float64)
        if self.class_weight is not None:
            of_class = compute_class_weight(
                self.class_weight, classes=classes, y=y if len(y) else classes
            )
            if not (np.isfinite(of_class) & (of_class >= 0)).all():
                raise ValueError(
                    f"class_weight={self.class_weight!r} holds a weight that is negative or not "
                    "finite: give each class a number >= 0."
                )
            weights *= of_class[np.searchsorted(classes, y)]
        return weights

    def _check_leaving_out(self) -> None:
        """Raise a ValueError where rows cannot be left out."""

    def _learned_from_many(
        self, given: Given, rng: np.random.RandomState, progress: Progress
    ) -> Model:
        """Learn with landmarks."""
        if not isinstance(self.init, str):
            raise ValueError(
                "init holds arrays, which fit the samples of each class: with so many samples give "
                "n_landmarks='all', or a word as init."
            )
        settings = self._settings(given.sizes, MOST_ATOMS)
        kernel = self._landmark_kernel(given, rng)
        return learn_from_many(self, given, kernel, settings, rng, progress)

    def _learned(self, given: Given, rng: np.random.RandomState, progress: Progress) -> Model:
        """Learn the dictionaries, and with the collaborative rule its weights out of fold."""
        try:
            space, learned, choice, G = self._trained(given, rng, progress)
        except NotPositiveSemidefinite as error:
            raise self._not_positive(error) from None
        except ZeroAtom as error:
            raise ValueError(
                f"init[{error.class_index}] has a zero atom (column {error.column}) in the metric "
                "of its class: every initial atom must have a positive norm."
            ) from None
        rule = None
        if choice is not None and G is not None:
            rule = collaborative_rule(choice, G, learned.grams, space.energies_known)
        return assemble(given.classes, space, given.sizes, learned, rule)

    def _trained(
        self, given: Given, rng: np.random.RandomState, progress: Progress
    ) -> tuple[Space, Dictionaries, Choice | None, NDArray | None]:
        """Return the space, the dictionaries and, for the collaborative rule, what makes it.

        What the training samples have taken, such as a kernel matrix, is free again then.
        """
        order, sizes = np.argsort(given.labels, kind="stable"), given.sizes
        uneven = None if (given.weights == 1).all() else given.weights[order]
        rows = self._rows(given, order, uneven, rng)
        bounded = self.n_landmarks != "all" and not is_small(sizes)
        settings = self._settings(sizes, MOST_ATOMS if bounded else None)
        belongs = None if given.groups is None else given.groups[order]
        space, training, choice = choose(
            self, self._options(given), rows, belongs, settings, rng, progress
        )

        def unweighted(learned: Dictionaries) -> Dictionaries:
            atoms, codes = training.unweighted(learned.atoms, learned.codes)
            return replace(learned, atoms=atoms, codes=codes)

        with progress.learning(
            lambda so_far: assemble(given.classes, space, sizes, unweighted(so_far))
        ) as heard:
            learned = learn_dictionaries(training, settings, rng, heard)
        G = None if choice is None else training.full_gram(learned.atoms)
        return space, unweighted(learned), choice, G

    def _settings(self, sizes: NDArray, most_atoms: int | None) -> Settings:
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
            most_atoms=most_atoms,
        )
        if given:
            return settings
        counts = settings.counts(sizes)[0].tolist()
        shapes = list(zip(self._init_rows(sizes), counts, strict=True))
        return settings.starting_from(check_init_arrays(self.init, shapes))


def even(weights: NDArray) -> NDArray:
    """Return weights with mean 1 over the rows that count: only their ratios matter."""
    if not weights.any():
        return weights
    weights = weights / weights.max()  # equal ones become exactly 1
    return weights / weights[weights > 0].mean()
