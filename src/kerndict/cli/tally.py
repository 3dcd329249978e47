"""Measures of a model, summed up over batches of rows."""

from collections import Counter
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerndict.cli.scoring import Decisions

N_BINS = 15


class Tally:
    """Counts and sums over rows; none of them grows with the rows.

    Parameters
    ----------
    classes : the labels of the model
    names : the same as text
    reject : the level of typicality below which rows are rejected, or None
    """

    def __init__(self, classes: NDArray, names: list[str], reject: float | None) -> None:
        self._names, self._reject = names, reject
        self._numeric = classes.dtype.kind in "iuf"
        self._places = {self._key(name): i for i, name in enumerate(names)}
        self._confusion = np.zeros((len(names), len(names)), np.int64)
        self._unseen: Counter[str] = Counter()
        self._log_loss = 0.0
        self._bins = np.zeros((N_BINS, 3))  # rows, right ones, sum of probabilities
        self._kept = self._kept_right = self._unseen_rejected = 0
        self._probabilities = False
        self._undecided = 0

    def _key(self, label: str) -> Any:
        """Return what labels are compared by: 3, 3.0 and 03 are one number."""
        if self._numeric and "_" not in label:
            for kind in (int, float):  # a float would take large integers for one another
                with suppress(ValueError):
                    return kind(label)
        return label

    def add(self, labels: list[str], found: Decisions) -> None:
        """Take up some rows; those that could not be decided on are counted apart."""
        if not found.decided.all():
            self._undecided += int((~found.decided).sum())
            labels = [label for label, kept in zip(labels, found.decided, strict=True) if kept]
            found = found.part(found.decided)
        truth = np.array([self._places.get(self._key(label), -1) for label in labels])
        known, winner = truth >= 0, found.top[:, 0]
        self._unseen.update(
            label for label, place in zip(labels, truth.tolist(), strict=True) if place < 0
        )
        np.add.at(self._confusion, (truth[known], winner[known]), 1)
        right = truth == winner
        if found.log_proba is not None:
            assert found.values is not None
            self._probabilities = True
            self._log_loss -= found.log_proba[known, truth[known]].sum(dtype=np.float64)
            confidence = np.take_along_axis(found.values, found.top[:, :1], axis=1)[:, 0]
            self._add_to_bins(confidence[known], right[known])
        if self._reject is not None:
            assert found.typicality is not None
            kept = found.typicality >= self._reject
            self._kept += int(kept.sum())
            self._kept_right += int((kept & right).sum())
            self._unseen_rejected += int((~kept & ~known).sum())

    def _add_to_bins(self, confidence: NDArray, right: NDArray) -> None:
        places = np.minimum((confidence * N_BINS).astype(np.int64), N_BINS - 1)
        for column, weights in enumerate((None, right, confidence)):
            self._bins[:, column] += np.bincount(places, weights, N_BINS)

    def result(self) -> dict[str, Any]:
        """Return all measures as plain values; None where there is nothing to measure."""
        sizes, right = self._confusion.sum(axis=1), np.diagonal(self._confusion)
        rows, unseen = int(sizes.sum()), sum(self._unseen.values())
        if rows + unseen + self._undecided == 0:
            raise ValueError("the data has no rows.")
        present = np.flatnonzero(sizes)
        recalls = right[present] / sizes[present]
        scored = self._probabilities and rows > 0
        return {
            "rows": rows,
            "accuracy": float(right.sum() / rows) if rows else None,
            "accuracy_per_class": float(recalls.mean()) if rows else None,
            "log_loss": self._log_loss / rows if scored else None,
            "ece": self._calibration_error() if scored else None,
            "classes": [
                {"label": self._names[i], "rows": int(sizes[i]), "accuracy": float(recall)}
                for i, recall in zip(present, recalls, strict=True)
            ],
            "confusions": self._confusions(sizes),
            "unseen": {
                "rows": unseen,
                "classes": sorted(self._unseen),
                "rejected": None if self._reject is None else self._unseen_rejected,
            },
            "undecided": self._undecided,
            "reject": self._rejection(rows + unseen),
        }

    def _calibration_error(self) -> float:
        """Return the mean over rows of |share of right rows - mean probability| of their bin."""
        rows, right, confidence = self._bins.T
        return float(np.abs(right - confidence).sum() / rows.sum())

    def _confusions(self, sizes: NDArray) -> list[dict[str, Any]]:
        """Return the pairs of classes that are confused, worst first."""
        wrong = self._confusion - np.diag(np.diagonal(self._confusion))
        pairs = np.argwhere(wrong)
        order = np.argsort(-wrong[tuple(pairs.T)], kind="stable")
        return [
            {
                "label": self._names[i],
                "taken_for": self._names[j],
                "rows": int(wrong[i, j]),
                "share": float(wrong[i, j] / sizes[i]),
            }
            for i, j in pairs[order].tolist()
        ]

    def _rejection(self, rows: int) -> dict[str, Any] | None:
        if self._reject is None:
            return None
        return {
            "level": self._reject,
            "rows": self._kept,
            "coverage": self._kept / rows,
            "accuracy": self._kept_right / self._kept if self._kept else None,
        }
