"""What all Displays share."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from kerndict._pipelines import chain
from kerndict.classifiers.prediction import DictionaryPredictor

#: The winner and the runner-up, wherever both are drawn.
WINNER, RUNNER_UP, OTHERS = "#1f6f8b", "#d98032", "#b8c1c8"

#: From small to large: dark to light, of the same family.
_SHADES = ("#0c3441", WINNER, "#86bccb", "#f3f6f7")

_LABEL = 18  # characters of a label that are drawn, at most
_TICKS = 20  # labels along an axis, at most


def check_matplotlib(caller: object) -> None:
    """Say what to install when matplotlib is missing; ``caller`` is a Display or its class."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        name = getattr(caller, "__name__", type(caller).__name__)
        raise ImportError(f'{name} needs matplotlib: pip install "kerndict[plot]"') from error


def figure_and_axes(
    display: object, ax: Any, size: tuple[float, float], *, square: bool = False
) -> tuple[Any, Any]:
    """Return the figure and the axes to draw on, new ones unless given.

    ``square`` is for pictures with pixels of one shape, around which the layout must close up.
    """
    check_matplotlib(display)
    import matplotlib.pyplot as plt

    if ax is not None:
        return ax.figure, ax
    figure, ax = plt.subplots(figsize=size, layout="compressed" if square else "constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    return figure, ax


def unwrap(
    estimator: BaseEstimator,
) -> tuple[DictionaryPredictor, Callable[[ArrayLike], Any]]:
    """Return the classifier within pipelines and searches, and what is done to X before it."""
    found = chain(estimator)
    return found.classifier, found.transform


def shades(reverse: bool = False) -> Any:
    """Return the colours of all maps: what is small is dark, or light if ``reverse``."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = _SHADES[::-1] if reverse else _SHADES
    return LinearSegmentedColormap.from_list("kerndict", colours)


def ink() -> Any:
    """Return the colour of words, which follows the style."""
    from matplotlib import rcParams

    return rcParams["text.color"]


def label_text(label: Any, longest: int = _LABEL) -> str:
    """Return a label as drawn: a long one without its middle, dollars without mathematics."""
    text = str(label)
    if len(text) > longest:
        text = f"{text[: longest // 2]}…{text[-(longest // 2 - 1) :]}"
    return text.replace("$", r"\$")


def label_ticks(axis: Any, positions: NDArray, labels: Sequence[Any] | NDArray) -> None:
    """Label positions that are far enough apart; long labels below an axis stand upright."""
    low, high = axis.get_view_interval()
    apart = 0.7 * abs(high - low) / _TICKS
    kept: list[int] = []
    for i in range(0, len(positions), -(-len(positions) // _TICKS)):
        if not kept or positions[i] - positions[kept[-1]] >= apart:
            kept.append(i)
    words = [label_text(labels[i]) for i in kept]
    axis.set_ticks(positions[kept], words)
    if axis.axis_name == "x" and sum(map(len, words)) > 45:
        axis.set_tick_params(rotation=90)


def checked_labels(name: str, labels: ArrayLike, n_samples: int) -> NDArray:
    """Return one label per sample."""
    array = np.asarray(labels)
    if array.shape != (n_samples,):
        raise ValueError(
            f"{name} has shape {array.shape} for {n_samples} samples: give one label per sample, "
            f"shape ({n_samples},)."
        )
    return array


def checked_image_shape(image_shape: Any, n_features: int) -> tuple[int, ...]:
    """Return the shape of the images that rows are."""
    shape = tuple(int(size) for size in image_shape)
    if len(shape) not in (2, 3) or np.prod(shape) != n_features or shape[2:] not in ((), (3,)):
        raise ValueError(
            f"image_shape={image_shape!r} does not hold {n_features} features: give (height, "
            "width) or (height, width, 3) with that product."
        )
    return shape


def full_range(image: NDArray) -> NDArray:
    """Return an image whose values fill [0, 1]; a constant one is 0.5."""
    low, high = float(np.min(image)), float(np.max(image))
    return (image - low) / (high - low) if high > low else np.full(image.shape, 0.5)
