"""The paper's figures: residual map, discriminative term, objective, confusion."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from kerndict.paper.protocol import DATASETS

#: Numbers of the residual map and the discriminative map in the paper.
_NUMBERS = {"yaleb": (1, 4), "ar": (2, 5), "caltech101": (3, 6)}


def draw_all(dataset: str, arrays: dict[str, NDArray], folder: Path) -> list[tuple[Path, str]]:
    """Draw the figures of one dataset as PNG and SVG; return the PNG files and captions."""
    title = DATASETS[dataset].title
    first, second = _NUMBERS.get(dataset, (None, None))
    figures = {
        "residuals": (
            residual_map(arrays["residuals"], arrays["labels"]),
            f"{_figure(first)}Squared residuals of the test samples over each class, {title}",
        ),
        "discrimination": (
            discrimination_map(arrays["discrimination"]),
            f"{_figure(second)}Discriminative term ‖A_l' K_il A_i‖² between classes, {title}",
        ),
        "objective": (
            objective(arrays["reconstruction"], arrays["coherence"]),
            f"Both terms of the objective after each iteration, {title}",
        ),
        "confusion": (
            confusion(arrays["labels"], arrays["predicted"], len(arrays["discrimination"])),
            f"Confusion matrix in % of each true class, {title}",
        ),
    }
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for name, (figure, caption) in figures.items():
        path = folder / f"{dataset}-{name}.png"
        figure.savefig(path, dpi=130)
        figure.savefig(path.with_suffix(".svg"))
        drawn.append((path, caption))
    return drawn


def residual_map(residuals: NDArray, labels: NDArray) -> Any:
    """Draw test samples (rows, ordered by class) against classes."""
    figure, axes = _canvas(6.4, 6.0)
    image = axes.imshow(residuals, aspect="auto", cmap="viridis", interpolation="nearest")
    figure.colorbar(image, ax=axes, label="squared residual")
    axes.set_xlabel("class of the dictionary")
    axes.set_ylabel("test samples, ordered by class")
    starts = np.searchsorted(labels, np.arange(residuals.shape[1]))
    every = max(1, residuals.shape[1] // 10)
    axes.set_yticks(starts[::every], [f"class {i}" for i in range(residuals.shape[1])[::every]])
    _class_ticks(axes.xaxis, residuals.shape[1])
    return figure


def discrimination_map(terms: NDArray) -> Any:
    """Draw class against class; the diagonal is left out, of the colour scale too."""
    figure, axes = _canvas(6.4, 5.4)
    apart = np.ma.masked_array(terms, np.eye(len(terms), dtype=bool))
    image = axes.imshow(apart, cmap="viridis", interpolation="nearest")
    figure.colorbar(image, ax=axes, label="‖A_l' K_il A_i‖²")
    axes.set_xlabel("class i")
    axes.set_ylabel("class l")
    _class_ticks(axes.xaxis, len(terms))
    _class_ticks(axes.yaxis, len(terms))
    return figure


def objective(reconstruction: NDArray, coherence: NDArray) -> Any:
    """Draw both terms over the iterations, each with its own scale."""
    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, term, title in zip(
        panels, (reconstruction, coherence), ("reconstruction", "coherence"), strict=True
    ):
        axes.plot(np.arange(1, len(term) + 1), term, marker="o", color="#31688e")
        axes.set_title(title)
        axes.set_xlabel("iteration")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(alpha=0.3)
    return figure


def confusion(labels: NDArray, predicted: NDArray, n_classes: int) -> Any:
    """Draw the confusion matrix, rows in percent of the true class."""
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (labels, predicted), 1)
    shares = 100 * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    figure, axes = _canvas(6.4, 5.4)
    image = axes.imshow(shares, cmap="cividis", interpolation="nearest", vmin=0, vmax=100)
    figure.colorbar(image, ax=axes, label="% of the true class")
    axes.set_xlabel("predicted class")
    axes.set_ylabel("true class")
    _class_ticks(axes.xaxis, n_classes)
    _class_ticks(axes.yaxis, n_classes)
    return figure


def _canvas(width: float, height: float) -> tuple[Any, Any]:
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def _class_ticks(axis: Any, n_classes: int) -> None:
    """Label about ten classes, however many there are."""
    step = max(1, round(n_classes / 10))
    axis.set_ticks(np.arange(0, n_classes, step))


def _figure(number: int | None) -> str:
    return f"Figure {number} of the paper. " if number else ""
