"""What `fit` tells while it works: scikit-learn's callbacks, and words with ``verbose``.

The tasks, as callbacks see them:

    fit                          with the collaborative rule:  fit
      iteration 0 ... n_iter-1                                   fold 0 ... 4, or to 9
                                                                   iteration 0 ... n_iter-1
                                                                 learn
                                                                   iteration 0 ... n_iter-1

    with landmarks:  fit
                       chunk 0 ... of the rows
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from kerndict.classifiers.span import warn_if_spanning
from kerndict.core.batched import BatchedProblem
from kerndict.core.problem import Problem
from kerndict.core.sweep import sweep
from kerndict.learning import Dictionaries, Listener
from kerndict.model import Model

if TYPE_CHECKING:
    from kerndict.classifiers.base import BaseDictionaryClassifier

#: Seconds between two lines about chunks.
SAY_EVERY = 2.0
#: A fold takes so many times what learning takes: its features for every ridge come to it.
FOLD = 2.0
#: The share of a fit that is done when all its passes are.
LAST = 0.9
_watcher: ContextVar[Callable[[str, float], None] | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(by: Callable[[str, float], None]) -> Iterator[None]:
    """Let ``by`` hear how far the fits in the block are: in words, and as a share of each."""
    token = _watcher.set(by)
    try:
        yield
    finally:
        _watcher.reset(token)


def tell(words: str, share: float) -> None:
    """Tell whoever watches how far a fit is."""
    watcher()(words, share)


def watcher() -> Callable[[str, float], None]:
    """Return who watches: perhaps nobody."""
    return _watcher.get() or unwatched


def unwatched(words: str, share: float) -> None:
    """Watch nothing."""


def _callbacks_exist(_: Any) -> bool:
    if find_spec("sklearn.callback") is None:
        raise AttributeError("set_callbacks needs scikit-learn >= 1.9: use verbose=1.")
    return True


class _NoTask:
    """Takes the place of a callback context where nobody listens."""

    def subcontext(self, **_: Any) -> Self:
        return self

    def call_on_fit_task_begin(self, **_: Any) -> None:
        pass

    def call_on_fit_task_end(self, **_: Any) -> bool:
        return False


class CallbackSupport:
    """scikit-learn's ``CallbackSupportMixin``, imported when somebody listens.

    Its import brings rich, which `import kerndict` does without.
    """

    @available_if(_callbacks_exist)
    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set callbacks that hear how `fit` gets on; needs scikit-learn >= 1.9.

        Parameters
        ----------
        *callbacks : callback instances
            Such as `sklearn.callback.ProgressBar`; none removes those set before.

        Returns
        -------
        self : object
            The estimator itself.
        """
        from sklearn.callback import CallbackSupportMixin

        return CallbackSupportMixin.set_callbacks(self, *callbacks)

    def _has_listeners(self) -> bool:
        return hasattr(self, "_skl_callbacks") or hasattr(self, "_parent_callback_ctx")

    def _root_task(self, max_subtasks: int) -> Any:
        if not self._has_listeners():
            return _NoTask()
        from sklearn.callback import CallbackSupportMixin

        return CallbackSupportMixin._init_callback_context(self, max_subtasks=max_subtasks)

    def _managed(self, method: Callable) -> Callable:
        """Return the unbound method, run so that callbacks are always torn down."""
        if not self._has_listeners():
            return method
        from sklearn.callback import with_callbacks

        return with_callbacks(method)


class Progress:
    """The tasks of one `fit`.

    Parameters
    ----------
    model : the classifier that is fitted
    X, y : what `fit` was given
    """

    def __init__(self, model: "BaseDictionaryClassifier", X: ArrayLike, y: ArrayLike) -> None:
        self.model, self.data = model, {"X": X, "y": y}
        self.n_iter, self.n_folds = int(model.n_iter), 0
        self._folds = 0
        self._begin = self._begin_folds = self.begin_learning = time.perf_counter()
        tell("comparing rows with each other", 0)
        if model.verbose and not sweep.signatures:
            print(
                f"[{type(model).__name__}] loading compiled code; the first fit on a machine "
                "compiles it, some ten seconds",
                flush=True,
            )

    def begin(self, n_folds: int) -> None:
        """Tell that learning begins, with ``n_folds`` fits for the collaborative rule."""
        self.n_folds, self._begin_folds = n_folds, time.perf_counter()
        self._started(1 + n_folds if n_folds else self.n_iter)

    def _started(self, n_tasks: int) -> None:
        self._fit = self.model._root_task(n_tasks)
        self._fit.call_on_fit_task_begin(estimator=self.model, **self.data)

    def chunks(self, parts: Sequence[slice]) -> Iterator[slice]:
        """Yield the rows chunk by chunk, each as a task; with ``verbose``, say how far they are."""
        self._started(len(parts))
        begin = said = time.perf_counter()
        for number, part in enumerate(parts, 1):
            task = self._fit.subcontext(task_name="chunk")
            task.call_on_fit_task_begin(estimator=self.model, **self.data)
            tell("summing up rows", LAST * (number - 1) / len(parts))
            yield part
            if task.call_on_fit_task_end(estimator=self.model, **self.data):
                return
            now = time.perf_counter()
            if self.model.verbose and (now - said > SAY_EVERY or number == len(parts)):
                said = now
                left = (now - begin) / number * (len(parts) - number)
                self.say(f"{part.stop} of {parts[-1].stop} samples summed up", left)
        tell("settling the model", LAST)

    @contextmanager
    def learning(self, assembled: Callable[[Dictionaries], Model]) -> Iterator[Listener]:
        """Surround the learning of the model itself; give whoever listens to it.

        ``assembled`` returns the model of what is learned so far.
        """
        task = self._fit
        if self.n_folds:
            task = self._fit.subcontext(task_name="learn", max_subtasks=self.n_iter)
            task.call_on_fit_task_begin(estimator=self.model, **self.data)
        yield _Learning(self, task, assembled)
        if self.n_folds:
            task.call_on_fit_task_end(estimator=self.model, **self.data)

    @contextmanager
    def fold(self) -> Iterator[Listener]:
        """Surround the learning of one fold; give whoever listens to it."""
        task = self._fit.subcontext(task_name="fold", max_subtasks=self.n_iter)
        task.call_on_fit_task_begin(estimator=self.model, **self.data)
        yield _Iterations(self, task)
        task.call_on_fit_task_end(estimator=self.model, **self.data)
        self._folds += 1
        tell("calibrating", self.share(0))
        if self.model.verbose:
            seconds = time.perf_counter() - self._begin_folds
            words = f"fold {self._folds}/{self.n_folds} of the collaborative rule"
            self.say(words, seconds / self._folds * (self.n_folds - self._folds))

    def done(self) -> None:
        """Tell that the model is fitted."""
        model = self.model
        self._fit.call_on_fit_task_end(
            estimator=model, reconstruction_attributes=lambda: dict(vars(model)), **self.data
        )

    def share(self, done: int) -> float:
        """Return the share of the work that is done, with so many passes of the model itself."""
        learned = done / self.n_iter if self.n_iter else 1.0
        return LAST * (learned + FOLD * self._folds) / (1 + FOLD * self.n_folds)

    def seconds(self) -> float:
        """Return the time since `fit` began."""
        return time.perf_counter() - self._begin

    def say(self, words: str, left: float) -> None:
        """Print how far `fit` is, and the seconds left."""
        name = type(self.model).__name__
        print(f"[{name}] {words}; {self.seconds():.1f} s, about {left:.1f} s left", flush=True)


class _Iterations(Listener):
    """Hears of the passes within a task, and tells callbacks."""

    def __init__(self, progress: Progress, task: Any) -> None:
        self._progress, self._task, self._done = progress, task, 0

    def started(
        self, problem: Problem | BatchedProblem, n_atoms: NDArray, sparsity: NDArray
    ) -> None:
        self._next()

    def iteration(self, so_far: Callable[[], Dictionaries], terms: tuple[float, float]) -> bool:
        self._done += 1
        stop = self._iteration.call_on_fit_task_end(
            estimator=self._progress.model,
            reconstruction_attributes=self._attributes(so_far),
            **self._progress.data,
        )
        if not stop:
            self._next()
        return stop

    def _attributes(self, so_far: Callable[[], Dictionaries]) -> Callable[[], dict] | None:
        """Return what returns the attributes of the estimator if this pass were the last."""
        return None

    def _next(self) -> None:
        if self._done < self._progress.n_iter:
            self._iteration = self._task.subcontext(task_name="iteration")
            self._iteration.call_on_fit_task_begin(
                estimator=self._progress.model, **self._progress.data
            )


class _Learning(_Iterations):
    """Hears of the passes of the model itself: warns, prints, and tells callbacks."""

    wants_coherence = True

    def __init__(
        self, progress: Progress, task: Any, assembled: Callable[[Dictionaries], Model]
    ) -> None:
        super().__init__(progress, task)
        self._assembled = assembled

    def started(
        self, problem: Problem | BatchedProblem, n_atoms: NDArray, sparsity: NDArray
    ) -> None:
        model = self._progress.model
        if model.decision == "residual" and model.n_nonzero_coefs is not None:
            warn_if_spanning(problem, n_atoms, sparsity, atoms_given=model.n_atoms is not None)
        self._progress.begin_learning = time.perf_counter()
        super().started(problem, n_atoms, sparsity)

    def iteration(self, so_far: Callable[[], Dictionaries], terms: tuple[float, float]) -> bool:
        progress = self._progress
        done = self._done + 1
        tell("learning", progress.share(done))
        if progress.model.verbose:
            seconds = time.perf_counter() - progress.begin_learning
            progress.say(
                f"iteration {done}/{progress.n_iter}: reconstruction {terms[0]:.6g}, "
                f"coherence {terms[1]:.6g}",
                seconds / done * (progress.n_iter - done),
            )
        return super().iteration(so_far, terms)

    def _attributes(self, so_far: Callable[[], Dictionaries]) -> Callable[[], dict] | None:
        model = self._progress.model
        if model.decision != "residual":
            return None
        return lambda: {**vars(model), "model_": self._assembled(so_far())}
