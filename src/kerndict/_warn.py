"""Warnings that point at the line of the user's own code."""

import sys
import warnings
from types import FrameType

#: Packages whose lines are not the user's: this one, and what may stand between.
_PASSED_OVER = ("kerndict", "sklearn", "joblib", "numba")


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn about the nearest line that is outside this package and those it stands on."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and _is_passed_over(frame):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_passed_over(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__", "")
    return name.partition(".")[0] in _PASSED_OVER
