"""Where signals live: rows in, correlations with atoms and energies k(y, y) out.

A *space* is a frozen value and part of every fitted model.  A *training set* is what a space is
while a model is learned: the training rows grouped by class, with all that is shared between a
fit and its folds.
"""

from kerndict.spaces.base import Space, TrainingSet
from kerndict.spaces.kernel import ComputedKernel, KernelSpace, PrecomputedSpace
from kerndict.spaces.kernel_training import KernelTrainingSet
from kerndict.spaces.kinds import linear_training_set
from kerndict.spaces.landmarks import LandmarkSpace
from kerndict.spaces.linear import LinearSpace, LinearTrainingSet
from kerndict.spaces.rows import (
    KernelRows,
    LinearRows,
    PrecomputedRows,
    TrainingRows,
    kernel_of_prepared,
)

__all__ = [
    "ComputedKernel",
    "KernelRows",
    "KernelSpace",
    "KernelTrainingSet",
    "LandmarkSpace",
    "LinearRows",
    "LinearSpace",
    "LinearTrainingSet",
    "PrecomputedRows",
    "PrecomputedSpace",
    "Space",
    "TrainingRows",
    "TrainingSet",
    "kernel_of_prepared",
    "linear_training_set",
]
