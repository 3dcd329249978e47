"""Orthogonal matching pursuit (OMP), compiled; all that is written for the processor is in here.

This is the door of the room: nothing else in it is meant for others.

==================== ===================================================================
name                 what it computes
==================== ===================================================================
`omp_codes`          sparse codes, as supports and values
`dense_codes`        the same as a dense matrix
`omp_energies`       what a code explains of each signal, without the code
`class_energies`     the same over all classes at once, on a device
`class_codes`        sparse codes of the signals of all classes at once, on a device
`pursuit_numbers`    the numbers that these hold for a signal and a class
`workspace_bytes`    the memory that one pursuit takes beside its input and output
`narrow_gram`        ``M'M`` of a matrix with few columns, faster than BLAS
==================== ===================================================================

Each is there twice: in packed vectors (`kerndict.pursuit.packed`), which lean on the internals of
numba, and in ordinary loops (`kerndict.pursuit.plain`), which do not.  `kerndict.pursuit.choice`
tries the first and takes the second where they do not work.
"""

from kerndict.pursuit.classes import class_codes, class_energies, pursuit_numbers
from kerndict.pursuit.omp import dense_codes, omp_codes, omp_energies
from kerndict.pursuit.products import NARROW, narrow_gram
from kerndict.pursuit.shape import workspace_bytes

__all__ = [
    "NARROW",
    "class_codes",
    "class_energies",
    "dense_codes",
    "narrow_gram",
    "omp_codes",
    "omp_energies",
    "pursuit_numbers",
    "workspace_bytes",
]
