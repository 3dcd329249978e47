"""What `fit` tells while it works: scikit-learn's callbacks, and words with ``verbose``.

The tasks, as callbacks see them:

    fit                          with the collaborative rule:  fit
      iteration 0 ... n_iter-1                                   learn
                                                                   iteration 0 ... n_iter-1
                                                                 fold 0 ... 4, a fit each
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from typing import Any, Self

from sklearn.utils.metaestimators import available_if

from kerndict.core.sweep import sweep


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

    def propagate_callback_context(self, _: Any) -> AbstractContextManager[None]:
        return nullcontext()


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
            return lambda *args: method(*args)  # one frame deeper, as with callbacks
        from sklearn.callback import with_callbacks

        return with_callbacks(method)


class Progress:
    """The tasks of one `fit`.

    Parameters
    ----------
    model : the classifier that is fitted
    n_folds : fits that follow the first, for the collaborative rule
    X, y : what `fit` was given
    """

    def __init__(self, model: Any, n_folds: int, X: Any, y: Any) -> None:
        self._model, self._data = model, {"X": X, "y": y}
        self._n_iter, self._n_folds = int(model.n_iter), n_folds
        self._iterations = self._folds = 0
        self._fit = model._root_task(1 + n_folds if n_folds else self._n_iter)
        self._fit.call_on_fit_task_begin(estimator=model, **self._data)
        self._learn = self._fit
        self._begin = self._begin_folds = time.perf_counter()
        if model.verbose and not sweep.signatures:
            print(
                f"[{type(model).__name__}] loading compiled code; the first fit on a machine "
                "compiles it, some ten seconds",
                flush=True,
            )

    @contextmanager
    def learning(self) -> Iterator[None]:
        """Surround the iterations of the model itself."""
        if self._n_folds:
            self._learn = self._fit.subcontext(task_name="learn", max_subtasks=self._n_iter)
            self._learn.call_on_fit_task_begin(estimator=self._model, **self._data)
        self._next_iteration()
        yield
        if self._n_folds:
            self._learn.call_on_fit_task_end(estimator=self._model, **self._data)
        self._begin_folds = time.perf_counter()

    def iteration(
        self, reconstruction: float, coherence: float, state: Callable[[], dict] | None
    ) -> bool:
        """Tell that an iteration is done; return whether a callback asks to stop.

        ``state`` returns what would be fitted if this iteration were the last.
        """
        self._iterations += 1
        if self._model.verbose:
            seconds = time.perf_counter() - self._begin
            whole = seconds / self._iterations * self._n_iter
            self._say(
                f"iteration {self._iterations}/{self._n_iter}: reconstruction "
                f"{reconstruction:.6g}, coherence {coherence:.6g}",
                seconds,
                whole * (1 + self._n_folds) - seconds,
            )
        stop = self._task.call_on_fit_task_end(
            estimator=self._model, reconstruction_attributes=state, **self._data
        )
        if not stop:
            self._next_iteration()
        return stop

    def _next_iteration(self) -> None:
        if self._iterations < self._n_iter:
            self._task = self._learn.subcontext(task_name="iteration")
            self._task.call_on_fit_task_begin(estimator=self._model, **self._data)

    @contextmanager
    def fold(self, copy: Any) -> Iterator[None]:
        """Surround the fit of one fold's model."""
        task = self._fit.subcontext(task_name="fold")
        with task.propagate_callback_context(copy):
            task.call_on_fit_task_begin(estimator=self._model, **self._data)
            yield
            task.call_on_fit_task_end(estimator=self._model, **self._data)
        self._folds += 1
        if self._model.verbose:
            now = time.perf_counter()
            left = (now - self._begin_folds) / self._folds * (self._n_folds - self._folds)
            words = f"fold {self._folds}/{self._n_folds} of the collaborative rule"
            self._say(words, now - self._begin, left)

    def done(self) -> None:
        """Tell that the model is fitted."""
        model = self._model
        self._fit.call_on_fit_task_end(
            estimator=model, reconstruction_attributes=lambda: dict(vars(model)), **self._data
        )

    def _say(self, words: str, seconds: float, left: float) -> None:
        name = type(self._model).__name__
        print(f"[{name}] {words}; {seconds:.1f} s, about {left:.1f} s left", flush=True)
