"""How both classifiers learn from many rows: landmarks instead of all of them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils import gen_batches

from kerndict._arrays import beside, cast, host_dtype, on_host, solve_upper, take
from kerndict._warn import warn_user
from kerndict.classifiers.assembly import assemble
from kerndict.classifiers.progress import Progress
from kerndict.kernels import Kernel
from kerndict.landmarks import (
    ATOM_RIDGES,
    Landmarks,
    Learner,
    Sample,
    draw,
    landmark_count,
    row_keys,
    sample_count,
)
from kerndict.learning import Dictionaries, Settings, learn_dictionaries
from kerndict.model import Model
from kerndict.spaces import LandmarkSpace, linear_training_set

#: Rows at a time, at the most and at the least.
MOST_ROWS, FEWEST_ROWS = 4096, 256
MOST_ROWS_ON_DEVICE = 65_536
#: Rows that the parameters of a kernel are chosen by.
ROWS_LOOKED_AT = 20_000
#: Nonzeros per code where nobody said how many: of atoms that are as many as coordinates, a few.
NONZEROS = 20


class Given(NamedTuple):
    """What a fit has to learn from: rows, and for each its class and weight.

    ``indices`` are their places in what was given to `fit`.
    """

    X: NDArray
    labels: NDArray
    weights: NDArray
    classes: NDArray
    indices: NDArray
    groups: NDArray | None = None

    @property
    def sizes(self) -> NDArray:
        """The rows of each class."""
        return np.bincount(self.labels, minlength=len(self.classes))

    def drawn(self, count: int, rng: np.random.RandomState) -> "Given":
        """Return so many of the rows, some of every class; or all, if there are not more."""
        if count >= len(self.labels):
            return self
        places = draw(self.labels, count, rng)
        return Given(
            take(self.X, places),
            self.labels[places],
            self.weights[places],
            self.classes,
            self.indices[places],
        )


class Options(Protocol):
    """The parameters that learning with landmarks looks at."""

    n_landmarks: int | str | None
    n_nonzero_coefs: int | None
    incoherence: float
    decision: str
    ridge: float | str


def draw_landmarks(
    given: Given, kernel: Kernel, n_landmarks: int | None, rng: np.random.RandomState
) -> Landmarks:
    """Draw landmarks among the rows; as many as the rows ask for, if nobody says."""
    count = landmark_count(*given.X.shape) if n_landmarks is None else n_landmarks
    places = draw(given.labels, min(count, len(given.labels)), rng)
    return Landmarks.from_rows(kernel, take(given.X, places), given.indices[places])


def batches(X: NDArray, n_landmarks: int) -> Iterator[slice]:
    """Return the rows in chunks within the working memory."""
    memory = get_config()["working_memory"] * 2**20
    fitting = int(memory // (4 * 8 * 3 * n_landmarks))
    most = MOST_ROWS if on_host(X) else MOST_ROWS_ON_DEVICE
    return gen_batches(X.shape[0], int(np.clip(fitting, FEWEST_ROWS, most)))


def learn_from_many(
    estimator: Options,
    given: Given,
    kernel: Kernel,
    settings: Settings,
    rng: np.random.RandomState,
    progress: Progress,
) -> Model:
    """Learn a model with landmarks."""
    count = None if isinstance(estimator.n_landmarks, str) else estimator.n_landmarks
    landmarks = draw_landmarks(given, kernel, count, rng)
    if estimator.decision == "residual":
        return _learn_residual(given, landmarks, settings, rng, progress)
    if given.groups is not None:
        warn_user(
            "groups have no effect with landmarks, which leave out single samples: give "
            "n_landmarks='all' to leave out whole groups.",
            UserWarning,
        )
    if settings.incoherence > 0:
        warn_user(
            f"incoherence={estimator.incoherence!r} has no effect with landmarks and "
            "decision='collaborative', where atoms are the principal directions of each class: "
            "give n_landmarks='all' or decision='residual' to learn them with the penalty.",
            UserWarning,
        )
    learner = Learner(landmarks, len(given.classes), rng.randint(2**31 - 1))
    learn_rows(learner, given, progress)
    model = model_of(learner, given.classes, settings, estimator.ridge)
    return replace(model, class_sizes=given.sizes)  # a callback may have stopped before the end


def learn_rows(learner: Learner, given: Given, progress: Progress) -> None:
    """Learn from rows in chunks within the working memory."""
    chunks = list(batches(given.X, learner.landmarks.rows.shape[0]))
    for part in progress.chunks(chunks):
        learner.add(given.X[part, :], given.labels[part], given.weights[part])


def model_of(learner: Learner, classes: NDArray, settings: Settings, ridge: float | str) -> Model:
    """Return the model of all rows that were learned from."""
    sizes = learner.sums.rows
    counts = None if settings.n_atoms is None else settings.counts(sizes)[0]
    learned = learner.learned(counts, ATOM_RIDGES if isinstance(ridge, str) else (float(ridge),))
    n_atoms = np.array([A.shape[1] for A in learned.atoms])
    nonzeros = NONZEROS if settings.n_nonzero_coefs is None else settings.n_nonzero_coefs
    return Model(
        classes=classes,
        space=learned.space,
        n_atoms=n_atoms,
        class_sizes=sizes.copy(),
        sparsity=np.minimum(n_atoms, nonzeros),
        atoms=learned.atoms,
        grams=learned.grams,
        rule=learned.rule,
        incoherence=0.0,
        reconstruction=np.empty(0),
        coherence=np.empty(0),
    )


def _learn_residual(
    given: Given,
    landmarks: Landmarks,
    settings: Settings,
    rng: np.random.RandomState,
    progress: Progress,
) -> Model:
    """Learn dictionaries by the paper's passes, in orthonormal coordinates of the landmarks.

    They are learned from a sample of the rows, of bounded size.
    """
    rows, dtype = landmarks.rows, landmarks.rows.dtype
    seed = rng.randint(2**31 - 1)
    count = sample_count(rows.shape[0], rows.shape[1], host_dtype(dtype).itemsize)
    sample = Sample.empty(count, rows.shape[1], dtype, rows)
    for part in batches(given.X, rows.shape[0]):
        keys = row_keys(seed, part.start, part.stop - part.start)
        sample.add(given.X[part, :], given.labels[part], given.weights[part], keys)
    identity = beside(np.eye(rows.shape[0]), landmarks.factor)
    basis = solve_upper(landmarks.factor, identity)
    order = np.argsort(sample.labels, kind="stable")
    sizes = np.bincount(sample.labels, minlength=len(given.classes))
    Z = landmarks.coordinates(take(sample.X, order), basis)
    training = linear_training_set(Z).from_rows(Z, sizes, sample.weights[order])
    space = LandmarkSpace(
        n_features=rows.shape[1],
        kernel=landmarks.kernel,
        fit_indices=landmarks.indices,
        rows=rows,
        basis=cast(basis, dtype),
        n_coordinates=basis.shape[1],
    )

    def model(so_far: Dictionaries) -> Model:
        atoms, codes = training.unweighted(so_far.atoms, so_far.codes)
        learned = replace(so_far, atoms=atoms, codes=codes)
        return assemble(given.classes, space, given.sizes, learned)

    progress.begin(0)
    with progress.learning(model) as heard:
        return model(learn_dictionaries(training, settings, rng, heard))
