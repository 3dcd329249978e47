"""How large everything may be, so that the cost of a fit grows with its rows and no faster."""

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

#: Up to so many rows, and so many of one class, all of them are kept and compared.
SMALL_ROWS = 4000
SMALL_CLASS = 250
#: Landmarks: no fewer where there are as many rows, and no more; per feature, and rows for each.
FEWEST, MANY, MOST = 500, 1000, 4000
PER_FEATURE, ROWS_EACH = 7, 3
#: Rows times landmarks squared, which the sums over all rows cost, may come to this.
SUMS_WORK = 6.5e11
#: Rows of the sample times classes times coordinates squared, which the class atoms cost.
ATOMS_WORK = 1e11
#: Coordinates that class atoms have, at the most and at the least.
MOST_COORDINATES, FEWEST_COORDINATES = 400, 30
#: Atoms of a class that are learned where nobody says how many.
MOST_ATOMS = 100
#: Rows of the sample per landmark, and in any case.
SAMPLED, SAMPLED_ALWAYS = 25, 30_000


def is_small(sizes: NDArray) -> bool:
    """Tell whether rows are so few that each may be an atom; ``sizes`` are those of classes."""
    return bool(sizes.sum() <= SMALL_ROWS and sizes.max() <= SMALL_CLASS)


def landmark_count(n_rows: int, n_features: int) -> int:
    """Return how many landmarks so many rows get.

    Seven per feature, since rows of few features lie on a space of few dimensions, but not more
    than a third of the rows, nor than 4000; and 1000 in any case.  Fewer than that, but 500, where
    rows are so many that the sums over them would take too long.
    """
    wanted = max(MANY, min(PER_FEATURE * n_features, n_rows // ROWS_EACH, MOST))
    affordable = max(FEWEST, int(np.sqrt(SUMS_WORK / n_rows)))
    return min(n_rows, wanted, affordable)


def sample_count(n_landmarks: int, n_features: int, itemsize: int) -> int:
    """Return how many rows the sample holds, within the working memory."""
    memory = get_config()["working_memory"] * 2**20
    fitting = int(memory // (itemsize * (n_landmarks + n_features)))
    return max(1, min(max(SAMPLED * n_landmarks, SAMPLED_ALWAYS), fitting))


def coordinate_count(n_classes: int, n_sampled: int, rank: int) -> int:
    """Return how many coordinates the atoms of a class have."""
    wanted = int(np.sqrt(ATOMS_WORK / (n_classes * n_sampled)))
    return min(rank, max(FEWEST_COORDINATES, min(wanted, MOST_COORDINATES)))
