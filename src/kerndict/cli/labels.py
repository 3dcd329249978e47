"""Labels as they are written, and as the classifiers take them."""

import re

import numpy as np
from numpy.typing import NDArray

from kerndict._limits import check_bytes

#: A whole number as files spell it: 2, or 2.0 in a column of floats; 02 is a name.
_WHOLE = re.compile(r"(0|-?[1-9][0-9]{0,17})(\.0)?")


def as_labels(labels: list[str], limit: int) -> NDArray:
    """Return labels as integers if all of them are written as such, else as strings.

    These may take ``limit`` bytes; each takes as many as the longest.

    >>> as_labels(["2", "10"], 100), as_labels(["2.0", "10.0"], 100), as_labels(["2", "02"], 100)
    (array([ 2, 10]), array([ 2, 10]), array(['2', '02'], dtype='<U2'))
    """
    whole = {label: _WHOLE.fullmatch(label) for label in set(labels)}
    if not all(whole.values()):
        check_bytes(4 * len(labels) * max(map(len, whole)), limit, "the array of labels")
        return np.array(labels)
    return np.array([int(label.partition(".")[0]) for label in labels], np.int64)
