"""The paper's figures: residual map, discriminative term, objective, confusion."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kerndict.display import CoherenceDisplay, ObjectiveDisplay, ResidualDisplay
from kerndict.display.common import label_ticks, shades
from kerndict.paper.protocol import DATASETS, FIGURES, N_ATOMS, published_choice

#: Numbers of the residual map and the discriminative map in the paper.
_NUMBERS = {"yaleb": (1, 4), "ar": (2, 5), "caltech101": (3, 6)}

Arrays = dict[str, NDArray]


def draw_all(dataset: str, arrays: Arrays, folder: Path) -> list[tuple[Path, str]]:
    """Draw the figures of one dataset as PNG and SVG; return the SVG files and captions."""
    title = DATASETS[dataset].title
    first, second = _NUMBERS.get(dataset, (None, None))
    gamma = published_choice(dataset, FIGURES)["incoherence"]
    figures: dict[str, tuple[Callable[[Arrays, Axes], Any], str]] = {
        "residuals": (
            _residuals,
            f"{_figure(first)}Squared residuals of the test samples over each class, {title}",
        ),
        "discrimination": (
            _discrimination,
            f"{_figure(second)}Discriminative term ‖A_l' K_il A_i‖² between classes, over the "
            f"number of its entries, {title}",
        ),
        "objective": (
            lambda arrays, axes: _objective(arrays, gamma, axes),
            f"The objective and its terms after each iteration, {title}{rise(arrays, gamma)}",
        ),
        "confusion": (_confusion, f"Confusion matrix in % of each true class, {title}"),
    }
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for name, (draw, caption) in figures.items():
        path = folder / f"{dataset}-{name}.svg"
        # Marks of one figure must not be taken for those of another within one page.
        with rc_context({"svg.hashsalt": path.stem}):
            figure = Figure(figsize=(6.4, 5.6), layout="constrained")
            draw(arrays, figure.subplots())
            figure.savefig(path.with_suffix(".png"), dpi=130)
            figure.patch.set_alpha(0)  # the page is behind it
            figure.savefig(path, metadata={"Date": None})
        drawn.append((path, caption))
    return drawn


def rise(arrays: Arrays, gamma: float) -> str:
    """Return why an objective rises, for one that does."""
    objective = arrays["reconstruction"] + gamma * arrays["coherence"]
    if len(objective) < 2 or objective[-1] <= objective[0]:
        return ""
    return (
        f". It rises, from {objective[0]:.4g} to {objective[-1]:.4g}: the printed step "
        "of the paper moves an atom without asking whether the objective falls; the closed-form "
        "atom, “exact” in the tables, does not raise it"
    )


def _residuals(arrays: Arrays, axes: Axes) -> None:
    """Draw test samples (rows, ordered by class) against classes."""
    shown = ResidualDisplay.from_predictions(
        arrays["labels"],
        arrays["residuals"],
        y_pred=arrays["predicted"],
        classes=_classes(arrays),
        normalize=False,
        ax=axes,
    )
    shown.wrong_.set(markersize=2, markeredgewidth=0)  # of thousands


def _discrimination(arrays: Arrays, axes: Axes) -> None:
    """Draw class against class; the diagonal is left out, of the colour scale too."""
    coherence = arrays["discrimination"] / N_ATOMS**2
    CoherenceDisplay(coherence=coherence, classes=_classes(arrays)).plot(axes)


def _objective(arrays: Arrays, gamma: float, axes: Axes) -> None:
    """Draw the objective and both of its terms over the iterations."""
    terms = {name: arrays[name] for name in ("reconstruction", "coherence")}
    ObjectiveDisplay(**terms, incoherence=gamma).plot(axes)
    axes.set_yscale("log")  # one term may be a hundred times the other
    axes.autoscale(axis="y")
    axes.patch.set_alpha(0)


def _confusion(arrays: Arrays, axes: Axes) -> None:
    """Draw the confusion matrix, rows in percent of the true class."""
    classes = _classes(arrays)
    counts = np.zeros((len(classes), len(classes)))
    np.add.at(counts, (arrays["labels"], arrays["predicted"]), 1)
    shares = 100 * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    image = axes.imshow(
        shares, cmap=shades(reverse=True), interpolation="nearest", vmin=0, vmax=100
    )
    axes.figure.colorbar(image, ax=axes, label="% of the true class")
    for axis in (axes.xaxis, axes.yaxis):
        label_ticks(axis, classes, classes)
    axes.set(xlabel="predicted class", ylabel="true class")


def _classes(arrays: Arrays) -> NDArray:
    return np.arange(len(arrays["discrimination"]))


def _figure(number: int | None) -> str:
    return f"Figure {number} of the paper. " if number else ""
