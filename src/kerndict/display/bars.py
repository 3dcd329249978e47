"""Features as horizontal bars: of atoms side by side, and of one sample."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerndict.display.common import RUNNER_UP, WINNER, ink, label_text

#: Features of an atom whose names are drawn, and features of a sample, at most.
NAMED, SHOWN = 24, 12
LONGEST = 30  # characters of a name
_WIDE = 0.9  # of the place between two atoms


def draw_atoms(
    ax: Any, atoms: list[NDArray], classes: NDArray, names: Sequence[str]
) -> list[NDArray]:
    """Draw atoms as bars, one per feature, and return the middle of the rows of each class.

    An atom takes one unit of width; its largest bar takes half of that.  The features of a class
    lie below each other, and the classes below each other.
    """
    n_features, middles = len(names), []
    every = -(-n_features // NAMED)
    ticks, words = [], []
    for c, rows in enumerate(atoms):
        places = c * (n_features + 1.5) + np.arange(n_features)
        for k, atom in enumerate(rows):
            scale = np.abs(atom).max() or 1.0
            colours = np.where(atom >= 0, WINNER, RUNNER_UP)
            lengths = _WIDE / 2 * atom / scale
            ax.barh(places, lengths, left=k, height=0.8, color=colours)
            ax.plot([k, k], places[[0, -1]] + [-0.5, 0.5], color="#8a949b", linewidth=0.6)
        middles.append(places.mean())
        ticks += places[::every].tolist()
        words += [label_text(name, LONGEST) for name in names[::every]]
    ax.set_yticks(ticks, words, fontsize="small")
    ax.invert_yaxis()
    ax.set_xlim(-0.55, max(map(len, atoms)) - 0.45)
    for middle, label in zip(middles, classes, strict=True):
        ax.annotate(
            label_text(label),
            (1, middle),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            annotation_clip=False,
        )
    return middles


def draw_weights(ax: Any, names: Sequence[str], values: NDArray, weights: NDArray) -> None:
    """Draw the features of a sample that weigh most, with their values."""
    order = np.argsort(-np.abs(weights), kind="stable")[:SHOWN]
    places = np.arange(len(order))
    colours = np.where(weights[order] >= 0, WINNER, RUNNER_UP)
    ax.barh(places, weights[order], color=colours, height=0.7)
    ax.set_yticks(places, [f"{label_text(names[i], LONGEST)} = {values[i]:.3g}" for i in order])
    ax.invert_yaxis()
    ax.axvline(0, color=ink(), linewidth=0.8)
    ax.spines[["top", "right"]].set_visible(False)
    hidden = len(weights) - len(order)
    ax.set_ylabel(f"feature ({hidden} more)" if hidden else "feature")
