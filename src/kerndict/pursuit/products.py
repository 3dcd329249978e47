"""The product ``M'M`` of a matrix with few columns."""

import numpy as np
from numpy.typing import NDArray

from kerndict.pursuit.choice import loops

#: Up to so many columns :func:`narrow_gram` is faster than BLAS, which is made for wider ones and
#: reaches half of the processor's speed here.
NARROW = 64


def narrow_gram(M: NDArray) -> NDArray:
    """Return ``M'M`` of a matrix in double precision with few columns, `NARROW` at most."""
    if not M.size:
        return np.zeros((M.shape[1], M.shape[1]))
    return loops("gram", M.dtype)(np.ascontiguousarray(M))
