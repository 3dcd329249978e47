"""``--device``: where `train` and `predict` compute."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray
from sklearn import config_context
from sklearn.pipeline import Pipeline

from kerndict._arrays import Array, on_host
from kerndict.classifiers.place import move, place_of


def add_device(command: argparse.ArgumentParser) -> None:
    """Add the option for the device."""
    command.add_argument(
        "--device",
        default="cpu",
        metavar="NAME",
        help="where to compute: a device of torch, such as cuda. Default: cpu",
    )


class Place:
    """A device by its name; what is before and behind the classifier stays on the host."""

    def __init__(self, name: str) -> None:
        self._there: Array = place_of(name)

    def moved(self, X: NDArray) -> Array:
        """Return rows where they are computed with."""
        return X if on_host(self._there) else move(X, self._there)

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Let scikit-learn take arrays of the device inside the block."""
        if on_host(self._there):
            yield
        else:
            with config_context(array_api_dispatch=True):
                yield

    def fit(self, model: Any, X: NDArray, y: NDArray) -> Any:
        """Return a model fitted there; the steps of a pipeline before its last on the host."""
        if on_host(self._there):
            return model.fit(X, y)
        last = model
        if isinstance(model, Pipeline):
            X, last = model[:-1].fit_transform(X, y), model[-1]
        with self.computing():
            last.fit(self.moved(X), y)
        return model
