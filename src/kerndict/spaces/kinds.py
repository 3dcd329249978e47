"""Which kind of training set takes rows: those of NumPy are learned from by compiled loops."""

from kerndict._arrays import Array, on_host
from kerndict.spaces.device_training import DeviceKernelTrainingSet, DeviceLinearTrainingSet
from kerndict.spaces.kernel_training import KernelTrainingSet
from kerndict.spaces.linear import LinearTrainingSet


def kernel_training_set(X: Array) -> type[KernelTrainingSet] | type[DeviceKernelTrainingSet]:
    """Return the kind for rows, or kernel matrices, in the space of a kernel."""
    return KernelTrainingSet if on_host(X) else DeviceKernelTrainingSet


def linear_training_set(X: Array) -> type[LinearTrainingSet] | type[DeviceLinearTrainingSet]:
    """Return the kind for rows in the space of features."""
    return LinearTrainingSet if on_host(X) else DeviceLinearTrainingSet
