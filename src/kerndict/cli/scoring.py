"""A loaded model and the rows it is asked about."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.pipeline import Pipeline

from kerndict._arrays import Array, to_host
from kerndict._warn import warn_user
from kerndict.cli.common import UsageError
from kerndict.cli.device import Place
from kerndict.cli.parameters import Classifier
from kerndict.persistence import load_described
from kerndict.rules.residual import residuals
from kerndict.tables import Batch, Wanted, open_table
from kerndict.tables.batch import as_text
from kerndict.tabular import fills_gaps, name_columns, read_as


@dataclass(frozen=True)
class Decisions:
    """Of some rows: the two best classes and their values, all log-probabilities, typicality, sets.

    ``top`` are classes, the best first; ``values`` are those of all classes: probabilities, or
    squared residuals under the residual rule, which has no ``log_proba``; None where a precomputed
    kernel does not tell them.  ``decided`` is False for rows with gaps that the model cannot fill:
    all else says nothing about them.
    """

    top: NDArray
    values: NDArray | None
    log_proba: NDArray | None
    typicality: NDArray | None
    sets: NDArray | None
    decided: NDArray

    def part(self, rows: NDArray) -> "Decisions":
        """Return the decisions about some of the rows."""
        return Decisions(
            self.top[rows],
            None if self.values is None else self.values[rows],
            None if self.log_proba is None else self.log_proba[rows],
            None if self.typicality is None else self.typicality[rows],
            None if self.sets is None else self.sets[rows],
            self.decided[rows],
        )


class Scorer:
    """A model file, ready to decide.

    Parameters
    ----------
    path : the model file
    reject : the level of typicality below which rows are rejected, or None
    top : how many of the best classes are wanted
    alpha : the share of rows whose class may be missing in their set, None for no sets
    device : where decisions are made
    """

    def __init__(
        self,
        path: str,
        reject: float | None = None,
        top: int = 2,
        alpha: float | None = None,
        device: str = "cpu",
    ) -> None:
        model, document = load_described(path)
        label = document.get("label")
        self._label: str | None = label if isinstance(label, str) else None
        steps = model.steps if isinstance(model, Pipeline) else [("", model)]
        self._place = Place(device)
        self.classifier: Classifier = steps[-1][1]
        self._scalers = [step for _, step in steps[:-1]]
        self.classes = [as_text(label) for label in self.classifier.classes_.tolist()]
        self.collaborative = self.classifier.model_.rule.has_probabilities
        first = steps[0][1]
        names = getattr(first, "feature_names_in_", None)
        self._names: list[str] | None = None if names is None else names.tolist()
        self._n_features: int = getattr(first, "n_features_in_", self.classifier.n_features_in_)
        self._cells = read_as(first, self._n_features, self._names)
        self._fills = fills_gaps(first)
        self._top = min(top, len(self.classes))
        self.undecided = 0
        for _, step in steps:  # columns are matched here: scikit-learn has nothing to compare
            name_columns(step, None)
        self.reject, self.alpha = reject, alpha
        if alpha is not None and not self.collaborative:
            raise ValueError(
                f"{path} decides by residuals and has no sets of classes: --sets needs a model "
                "trained with --decision collaborative."
            )
        if reject is not None and not self.collaborative:
            raise ValueError(
                f"{path} decides by residuals and has no typicality: --reject needs a model "
                "trained with --decision collaborative."
            )
        self.classifier = self.classifier.to(device)

    def decide(self, X: NDArray) -> Decisions:
        """Return the decisions about some rows."""
        decided = np.ones(len(X), bool)
        if X.dtype != object and not self._fills:
            X, decided = _without_gaps(X)
        for scaler in self._scalers:
            X = scaler.transform(X)
        X, filled = _without_gaps(X)
        decided &= filled
        self.undecided += int(len(decided) - decided.sum())
        with self._place.computing():
            return self._decided(self._place.moved(X), decided)

    def _decided(self, X: Array, decided: NDArray) -> Decisions:
        classifier = self.classifier
        rows, fitted = classifier.check_rows(X), classifier.model_
        scores = to_host(fitted.scores(rows, classifier.n_jobs))
        log_proba, values = None, None
        if self.collaborative:
            log_proba = log_softmax(scores, axis=1)
            values = np.exp(log_proba)
        else:
            energies = fitted.space.energies(rows)
            if energies is not None:
                values = residuals(scores, to_host(energies))
        sets = None
        if self.alpha is not None:
            sets = to_host(fitted.sets(rows, self.alpha, classifier.n_jobs))
        return Decisions(
            np.argsort(-scores, axis=1, kind="stable")[:, : self._top],
            values,
            log_proba,
            None if self.reject is None else to_host(fitted.typicality(rows, classifier.n_jobs)),
            sets,
            decided,
        )

    def warn(self) -> None:
        """Tell of rows that could not be decided on."""
        if self.undecided:
            rows = "1 row has" if self.undecided == 1 else f"{self.undecided} rows have"
            warn_user(
                f"{rows} gaps in columns without any in training, and no label: fill them in.",
                UserWarning,
            )

    @contextmanager
    def read(
        self,
        names: Sequence[str],
        label: str | None = None,
        needs_labels: bool = False,
        drop: Sequence[str] = (),
        copied: Sequence[str] = (),
    ) -> Iterator[tuple[list[str], Iterator[Batch]]]:
        """Give the names of copied columns, and the rows of a table in batches.

        Labels are those of `label`, of the column that held them in training, or of the only one
        that is no feature.
        """
        with open_table(*names) as table:
            if (drop or copied) and not table.has_columns:
                raise UsageError("--drop and --id need a table with columns, csv or parquet.")
            wanted = Wanted(
                self._names,
                self._n_features,
                label,
                needs_labels,
                drop,
                copied,
                self._cells,
                self._label,
            )
            _, headers, batches = table.model_rows(wanted)
            yield headers, batches


def _without_gaps(X: NDArray) -> tuple[NDArray, NDArray]:
    """Return rows with zeros in place of those with gaps, and which have none."""
    whole = ~np.isnan(X).any(axis=1)
    return (X, whole) if whole.all() else (np.where(whole[:, None], X, 0), whole)


def distinct_names(copied: Sequence[str], header: Sequence[str]) -> list[str]:
    """Return the names of copied columns; those that we write too are marked as the input's.

    >>> distinct_names(["id", "label"], ["label", "probability"])
    ['id', 'input_label']
    """
    names: list[str] = []
    for name in copied:
        while name in (*header, *names):
            name = f"input_{name}"
        names.append(name)
    return names
