"""The kernel that a fit works with, and what to tell of one that is none."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kerndict._validation import check_degree
from kerndict.classifiers.many import Given
from kerndict.core.kernel import NotPositiveSemidefinite
from kerndict.kernels import Kernel, distance_shift

KernelParameter = str | Callable[[NDArray, NDArray], ArrayLike]


class KernelParameters(Protocol):
    """What the kernel classifier takes of its kernel."""

    kernel: KernelParameter
    sigma: float | None
    degree: int
    coef0: float


def settled_kernel(
    parameters: KernelParameters,
    given: Given,
    choose_width: Callable[[NDArray, NDArray, np.random.RandomState], float],
    rng: np.random.RandomState,
) -> Kernel:
    """Return the kernel with its parameters: the width, if none is given, is chosen."""
    sigma, shift = 1.0, None
    if parameters.kernel == "rbf":
        if parameters.sigma is None:
            sigma = choose_width(given.X, given.labels, rng)
        else:
            sigma = float(parameters.sigma)
        shift = distance_shift(given.X, sigma)
    degree = check_degree(parameters.degree)
    return Kernel(parameters.kernel, sigma, degree, float(parameters.coef0), shift)


def not_positive(kernel: KernelParameter, error: NotPositiveSemidefinite) -> ValueError:
    """Return what to tell of a kernel that is not positive semidefinite."""
    remedy = {
        "rbf": "The features are too large for sigma: centre or scale them.",
        "poly": "Give coef0 >= 0.",
    }.get(str(kernel), "Give a kernel that is, such as X @ X.T or 'rbf'.")
    return ValueError(
        f"kernel={kernel!r} is not positive semidefinite: its block of "
        f"classes_[{error.class_index}] has the eigenvalue {error.eigenvalue:.3g}, the "
        f"largest being {error.largest:.3g}. {remedy}"
    )
