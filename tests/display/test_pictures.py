"""Every Display as a picture, compared by content with one that has been looked at."""

import matplotlib
import pytest
from make_baselines import FOLDER, displays, render
from matplotlib.testing.compare import compare_images

matplotlib.use("Agg")

RENEW = "If it is meant to look different: python tests/make_baselines.py"
#: Root mean square of the differences, in shades of 256.  It is 0 with matplotlib 3.8 to 3.11;
#: one mark in the wrong column is 3.9, the wrong pictures below are 15 and more.
TOLERANCE = 1


def difference(name, display, folder):
    """Return None, or how a display differs from its baseline."""
    path = folder / f"{name}.png"
    render(display, path)
    return compare_images(str(FOLDER / path.name), str(path), TOLERANCE)


@pytest.mark.parametrize("name", displays())
def test_displays_look_as_they_did(name, tmp_path):
    message = difference(name, displays()[name], tmp_path)
    assert message is None, f"{message}\n{RENEW}"


@pytest.mark.parametrize("name", displays())
def test_a_wrong_picture_is_told(name, tmp_path):
    assert difference(name, displays(wrong=True)[name], tmp_path) is not None


def test_one_mark_in_the_wrong_column_is_told(tmp_path):
    display = displays()["residual"]
    first = (display.y_pred != display.y_true).argmax()
    display.y_pred[first] = "cedar"
    assert difference("residual", display, tmp_path) is not None


def test_there_is_no_baseline_without_its_display():
    assert {path.stem for path in FOLDER.iterdir()} == set(displays())
