"""How large everything may be, so that the cost of a fit grows with its rows and no faster."""

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

#: Up to so many rows, and so many of one class, all of them are kept and compared.
SMALL_ROWS = 4000
SMALL_CLASS = 250
#: Landmarks: no fewer where there are as many rows, and no more.
FEWEST, MOST = 500, 4000
#: Rows times landmarks squared, which the sums over all rows cost, may come to this.
SUMS_WORK = 5e11
#: Rows of the sample times classes times coordinates squared, which the class atoms cost.
ATOMS_WORK = 1e11
#: Coordinates that class atoms have, at the most and at the least.
MOST_COORDINATES, FEWEST_COORDINATES = 500, 30
#: Rows of the sample per landmark.
SAMPLED = 30


def is_small(sizes: NDArray) -> bool:
    """Tell whether rows are so few that each may be an atom; ``sizes`` are those of classes."""
    return bool(sizes.sum() <= SMALL_ROWS and sizes.max() <= SMALL_CLASS)


def landmark_count(n_rows: int, n_features: int) -> int:
    """Return how many landmarks so many rows get.

    Ten per feature, at least 1000: rows of few features lie on a space of few dimensions.  Fewer
    where rows are so many that the sums would take too long, but 500 of them.
    """
    wanted = min(max(1000, 10 * n_features), MOST, int(np.sqrt(SUMS_WORK / n_rows)))
    return min(n_rows, max(FEWEST, wanted))


def sample_count(n_landmarks: int, n_features: int, itemsize: int) -> int:
    """Return how many rows the sample holds, within the working memory."""
    memory = get_config()["working_memory"] * 2**20
    fitting = int(memory // (itemsize * (n_landmarks + n_features)))
    return max(1, min(SAMPLED * max(n_landmarks, FEWEST), fitting))


def coordinate_count(n_classes: int, n_sampled: int, rank: int) -> int:
    """Return how many coordinates the atoms of a class have."""
    wanted = int(np.sqrt(ATOMS_WORK / (n_classes * n_sampled)))
    return min(rank, max(FEWEST_COORDINATES, min(wanted, MOST_COORDINATES)))
