"""Learning from many rows: landmarks, sums over all rows, and a sample of them.

Training rows are described by their kernel with some of them, the landmarks.  The sums of what
they say (:mod:`~kerndict.landmarks.sums`) grow neither with the rows nor with their square, and a
sample of bounded size (:mod:`~kerndict.landmarks.sample`) settles the rest.
"""

from kerndict.landmarks.learner import Learner
from kerndict.landmarks.size import is_small, landmark_count
from kerndict.landmarks.width import choose_width

__all__ = ["Learner", "choose_width", "is_small", "landmark_count"]
