"""Learning from many rows: landmarks, sums over all rows, and a sample of them.

Training rows are described by their kernel with some of them, the landmarks.  The sums of what
they say (:mod:`~kerndict.landmarks.sums`) grow neither with the rows nor with their square, and a
sample of bounded size (:mod:`~kerndict.landmarks.sample`) settles the rest.
"""

from kerndict.landmarks.draw import Landmarks, draw
from kerndict.landmarks.learner import Learned, Learner
from kerndict.landmarks.sample import Sample, row_keys, sure_limits
from kerndict.landmarks.settle import ATOM_RIDGES
from kerndict.landmarks.size import MOST_ATOMS, SMALL_ROWS, is_small, landmark_count, sample_count
from kerndict.landmarks.sums import Sums
from kerndict.landmarks.width import choose_width

__all__ = [
    "ATOM_RIDGES",
    "MOST_ATOMS",
    "SMALL_ROWS",
    "Landmarks",
    "Learned",
    "Learner",
    "Sample",
    "Sums",
    "choose_width",
    "draw",
    "is_small",
    "landmark_count",
    "row_keys",
    "sample_count",
    "sure_limits",
]
