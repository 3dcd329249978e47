"""Algorithms 1 and 2 for devices: all classes at once, in arrays of any namespace.

Without the penalty no class asks what the others do, and one call updates the atoms of all of
them; with it they take turns, as on the host.  Matrices of classes that differ in size are padded
with zeros.

========== =========================================================================
letter     shape
========== =========================================================================
R          (C, N, r), the signals of all classes as rows, in coordinates as on the host
D          (C, n, r), the atoms as rows
X          (C, N, n), the codes
E          (C, N, r), the error R - X D
========== =========================================================================
"""

from kerndict.core.batched.kernel import BatchedKernelProblem
from kerndict.core.batched.learn import balanced_gamma, encode, learn
from kerndict.core.batched.linear import BatchedLinearProblem
from kerndict.core.batched.problem import BatchedProblem

__all__ = [
    "BatchedKernelProblem",
    "BatchedLinearProblem",
    "BatchedProblem",
    "balanced_gamma",
    "encode",
    "learn",
]
