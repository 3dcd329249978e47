"""Draw the pictures in tests/display/baseline, which tests/display/test_pictures.py compares with.

python tests/make_baselines.py

Run it when a display is meant to look different, and look at what it has drawn.  The data are made
up here, so that no picture depends on the last digits of a fit, and words are left out, which other
versions of matplotlib and of its fonts draw differently; the other tests read them.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import style
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.text import Text

from kerndict.display import (
    AtomsDisplay,
    CoherenceDisplay,
    ExplanationDisplay,
    ObjectiveDisplay,
    ResidualDisplay,
    TypicalityDisplay,
)
from kerndict.explanation import Explanation

FOLDER = Path(__file__).parent / "display" / "baseline"
SIZE, DPI = (3, 2), 60
CLASSES = np.array(["ash", "birch", "cedar", "date"])


def displays(wrong=False):
    """Return a display of each kind by name; of wrong data, each misleads in one thing only."""
    swapped = [0, 2, 1, 3] if wrong else [0, 1, 2, 3]  # two classes or atoms
    labels = np.repeat(np.arange(4), [6, 3, 5, 4])
    rows = np.arange(len(labels))[:, None]
    rest = 1 + 0.5 * np.sin(1.7 * rows + 2.3 * np.arange(4) ** 2)
    rest[rows[:, 0], labels] *= 0.2
    winners = rest.argmin(axis=1)
    winners[[3, 10]] = 3, 0

    pairs = np.array([[0.5, 0.1, 0.3, 0.2], [0.1, 0.4, 0.7, 0.4], [0.3, 0.7, 0.6, 0.2]])
    coherence = np.vstack([pairs, [0.2, 0.4, 0.2, 0.5]])

    terms = 9 / np.arange(1, 7), 2 + 4 / np.arange(1, 7) ** 2
    reconstruction, penalty = terms[::-1] if wrong else terms

    waves = np.arange(1, 5)[:, None] * np.linspace(0, 3, 20) ** 2
    images = [np.sin(waves)[swapped], np.cos(waves)[:3]]
    found = Explanation(
        classes=CLASSES,
        scores=np.array([[1.0, 3.0, 2.0, 0.0]]),
        residuals=np.array([[3.0, 1.0, 2.0, 4.0]]),
        probabilities=None,
        top=np.array([[1, 2]]),
        atoms=np.array([[[3, 0, 1, 2], [2, 1, 0, -1]]]),
        coefficients=np.array([[[0.9, -0.5, 0.4, 0.2], [0.3, 0.2, -0.1, 0]]])[:, :: 1 - 2 * wrong],
        training_samples=np.full((1, 2, 5), -1),
        training_weights=np.zeros((1, 2, 5)),
    )
    typicality, known = np.linspace(0.05, 1, 40) ** 2, np.arange(40) % 3 > 0
    typicality[~known] /= 20
    return {
        "residual": ResidualDisplay(
            residuals=rest[:, swapped],
            y_true=CLASSES[labels],
            y_pred=CLASSES[winners],
            classes=CLASSES,
        ),
        "coherence": CoherenceDisplay(
            coherence=coherence[np.ix_(swapped, swapped)], classes=CLASSES
        ),
        "objective": ObjectiveDisplay(
            reconstruction=reconstruction, coherence=penalty / 2, incoherence=2.0
        ),
        "atoms": AtomsDisplay(images=images, classes=CLASSES[:2], image_shape=(4, 5)),
        "explanation": ExplanationDisplay(explanation=found),
        "explanation-images": ExplanationDisplay(
            explanation=found, sample=np.sin(waves[3]), images=images, image_shape=(4, 5)
        ),
        "typicality": TypicalityDisplay(typicality=typicality, known=known ^ wrong),
    }


def render(display, path):
    """Draw a display without words into a PNG file."""
    with style.context("default"):
        figure, ax = plt.subplots(figsize=SIZE, dpi=DPI)
        display.plot(ax=ax)
        figure.canvas.draw()  # ticks and places are there from now on
        for image in figure.findobj(AxesImage):
            _fit_pixels(image, figure)
        for legend in figure.findobj(Legend):
            legend.remove()
        for text in figure.findobj(Text):
            text.set_visible(False)
        figure.savefig(path, dpi=DPI, metadata={"Software": None})
        plt.close(figure)


def _fit_pixels(image, figure):
    """Make each cell of an image a whole number of pixels, which all versions draw alike."""
    box, cells = image.axes.get_window_extent(), np.array(image.get_array().shape[1::-1])
    each = np.floor(box.size / cells)
    if image.axes.get_aspect() != "auto":
        each[:] = each.min()
    corner, size = np.round(box.min) / figure.bbox.size, each * cells / figure.bbox.size
    image.axes.set_position([*corner, *size])


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, display in displays().items():
        render(display, FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()
