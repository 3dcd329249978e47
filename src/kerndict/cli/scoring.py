"""A loaded model and the rows it is asked about."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.pipeline import Pipeline

import kerndict
from kerndict._arrays import Array, to_host
from kerndict.cli.common import UsageError
from kerndict.cli.device import Place
from kerndict.cli.parameters import Classifier
from kerndict.explanation import top_two
from kerndict.rules.residual import residuals
from kerndict.tables import Batch, Wanted, open_table
from kerndict.tables.batch import as_text


@dataclass(frozen=True)
class Decisions:
    """Of some rows: the two best classes and their values, all log-probabilities, typicality.

    ``values`` are probabilities, or squared residuals under the residual rule, which has no
    ``log_proba``; None where a precomputed kernel does not tell them.
    """

    top: NDArray
    values: NDArray | None
    log_proba: NDArray | None
    typicality: NDArray | None


class Scorer:
    """A model file, ready to decide.

    Parameters
    ----------
    path : the model file
    reject : the level of typicality below which rows are rejected, or None
    device : where decisions are made
    """

    def __init__(self, path: str, reject: float | None = None, device: str = "cpu") -> None:
        model = kerndict.load(path)
        steps = model.steps if isinstance(model, Pipeline) else [("", model)]
        self._place = Place(device)
        self.classifier: Classifier = steps[-1][1]
        self._scalers = [step for _, step in steps[:-1]]
        self.classes = [as_text(label) for label in self.classifier.classes_.tolist()]
        self.collaborative = self.classifier.model_.rule.has_probabilities
        self._names = getattr(steps[0][1], "feature_names_in_", None)
        for _, step in steps:  # columns are matched here: scikit-learn has nothing to compare
            step.__dict__.pop("feature_names_in_", None)
        self.reject = reject
        if reject is not None and not self.collaborative:
            raise ValueError(
                f"{path} decides by residuals and has no typicality: --reject needs a model "
                "trained with --decision collaborative."
            )
        self.classifier = self.classifier.to(device)

    def decide(self, X: NDArray) -> Decisions:
        """Return the decisions about some rows."""
        for scaler in self._scalers:
            X = scaler.transform(X)
        with self._place.computing():
            return self._decided(self._place.moved(X))

    def _decided(self, X: Array) -> Decisions:
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
        top = top_two(scores)
        return Decisions(
            top,
            None if values is None else np.take_along_axis(values, top, axis=1),
            log_proba,
            None if self.reject is None else to_host(fitted.typicality(rows, classifier.n_jobs)),
        )

    @contextmanager
    def read(
        self,
        path: str,
        label: str | None = None,
        needs_labels: bool = False,
        drop: Sequence[str] = (),
        copied: Sequence[str] = (),
    ) -> Iterator[tuple[list[str], Iterator[Batch]]]:
        """Give the names of copied columns, and the rows of a table in batches.

        Labels are those of `label`, or the only column that is no feature.
        """
        with open_table(path) as table:
            if (drop or copied) and not table.has_columns:
                raise UsageError("--drop and --id need a table with columns, csv or parquet.")
            features = None if self._names is None else self._names.tolist()
            n_features = self.classifier.n_features_in_
            wanted = Wanted(features, n_features, label, needs_labels, drop, copied)
            _, names, batches = table.model_rows(wanted)
            yield names, batches
