"""The kernel that a fit works with, and what to tell of one that is none."""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kerndict import landmarks
from kerndict._arrays import take
from kerndict._validation import check_degree
from kerndict.classifiers.many import Given
from kerndict.core.kernel import NotPositiveSemidefinite
from kerndict.kernels import Kernel, distance_shift
from kerndict.preparation import Recipe, learned_preparation, square_root
from kerndict.rules.search import Options
from kerndict.rules.width import choose_width
from kerndict.spaces import KernelRows, kernel_of_prepared

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
    choose_width: Callable[[NDArray, NDArray, np.random.RandomState], tuple[float, float]],
    rng: np.random.RandomState,
) -> tuple[Kernel, float | None]:
    """Return the kernel with its parameters: the width, if none is given, is chosen.

    Also returned is the width in median distances, None where it was given or there is none.
    """
    sigma, shift, multiple = 1.0, None, None
    if parameters.kernel == "rbf":
        if parameters.sigma is None:
            multiple, median = choose_width(given.X, given.labels, rng)
            sigma = multiple * median
        else:
            sigma = float(parameters.sigma)
        shift = distance_shift(given.X, sigma)
    degree = check_degree(parameters.degree)
    return Kernel(parameters.kernel, sigma, degree, float(parameters.coef0), shift), multiple


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


def kernel_rows(
    parameters: KernelParameters,
    options: Options,
    given: Given,
    order: NDArray,
    weights: NDArray | None,
    rng: np.random.RandomState,
) -> KernelRows:
    """Return the rows of a kernel that can be computed, grouped by class.

    ``order`` groups them, ``weights`` are theirs in that order.
    """
    kernel, multiple = settled_kernel(parameters, given, choose_width, rng)
    multiples = None
    if multiple is not None:
        multiples = multiple, multiple
        if options.square_root is not False:
            rooted, chance = square_root(given.X), np.random.RandomState(0)
            multiples = multiple, choose_width(rooted, given.labels, chance)[0]
    return KernelRows(
        X=take(given.X, order),
        sizes=given.sizes,
        weights=weights,
        indices=given.indices[order],
        kernel=kernel,
        multiples=multiples,
    )


def landmark_kernel(
    parameters: KernelParameters, recipe: Recipe, few: Given, rng: np.random.RandomState
) -> Kernel:
    """Return the kernel of rows with landmarks, by some of the rows."""
    kernel, multiple = settled_kernel(parameters, few, landmarks.choose_width, rng)
    preparation = learned_preparation(recipe, few.X, few.labels, few.weights)
    if preparation is not None:
        kernel = kernel_of_prepared(kernel, preparation(few.X), multiple)
    return replace(kernel, preparation=preparation)
