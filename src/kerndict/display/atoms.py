"""Atoms as images."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from kerndict._validation import check_count
from kerndict.display.common import (
    check_matplotlib,
    checked_image_shape,
    figure_and_axes,
    full_range,
    label_text,
    unwrap,
)

_GAP = 0.12  # between images, in widths of an image


def _turned(rows: NDArray) -> NDArray:
    """Return atoms, which have no sign of their own, so that they sum to something positive."""
    return np.where(rows.sum(axis=1, keepdims=True) < 0, -rows, rows)


def mosaic(
    images: list[NDArray], image_shape: tuple[int, ...], columns: int
) -> tuple[NDArray, NDArray]:
    """Return rows of images in one, nothing between them, and the steps from one to the next."""
    height, width, *colours = image_shape
    gap = max(1, round(_GAP * width))
    step = np.array([height + gap, width + gap])
    shape = (len(images) * step[0] - gap, columns * step[1] - gap)
    # Nothing: NaN in one channel, or alpha 0 beside three.
    whole = np.zeros((*shape, 4)) if colours else np.full(shape, np.nan)
    for r, rows in enumerate(images):
        for k, image in enumerate(rows):
            top, left = step * (r, k)
            tile = whole[top : top + height, left : left + width]
            if colours:
                tile[..., 3] = 1
                tile = tile[..., :3]
            tile[:] = full_range(image.reshape(image_shape))
    return whole, step


class AtomsDisplay:
    """The atoms of each class as a row of images, each stretched to the full grey scale.

    The atoms of a kernel classifier are no images: they live in the feature space of the
    kernel.  Drawn for them is the mean of the training samples of the class, weighted by the
    atom's dual coefficients, and the title says so.  Atoms have no sign of their own;
    they are turned so that they sum to something positive.

    Parameters
    ----------
    images : list of ndarray of shape (n_atoms, n_features)
        The atoms of each class to draw.
    classes : ndarray of shape (n_classes,)
        Their labels.
    image_shape : tuple
        (height, width), or (height, width, 3).
    weighted_means : bool
        Whether the images are weighted means of training samples.

    Attributes
    ----------
    im_ : matplotlib AxesImage
        All images in one.
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kerndict import DictionaryClassifier
    >>> from kerndict.display import AtomsDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> model = DictionaryClassifier(12, 3, random_state=0).fit(X, y)
    >>> display = AtomsDisplay.from_estimator(model, image_shape=(8, 8), classes=[3, 8])
    >>> [len(images) for images in display.images]
    [10, 10]
    """

    def __init__(
        self,
        *,
        images: list[NDArray],
        classes: NDArray,
        image_shape: tuple[int, ...],
        weighted_means: bool = False,
    ) -> None:
        self.images = images
        self.classes = classes
        self.image_shape = image_shape
        self.weighted_means = weighted_means

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        image_shape: tuple[int, ...],
        classes: ArrayLike | None = None,
        n_atoms: int = 10,
        X: ArrayLike | None = None,
        ax: Any = None,
        cmap: Any = "gray",
        im_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the first atoms of some classes of a fitted estimator.

        Parameters
        ----------
        estimator : fitted classifier of this package, or a pipeline or search around it
        image_shape : (height, width) or (height, width, 3)
            Of the samples as the classifier itself gets them.
        classes : array-like of labels, optional
            Which; by default the first ten.
        n_atoms : int, default=10
            How many of each, at most.
        X : array-like, optional
            The training samples, for ``kernel="precomputed"``.
        ax, cmap, im_kw
            As in :meth:`plot`.

        Returns
        -------
        display : AtomsDisplay
            It has drawn itself.
        """
        check_matplotlib(cls)
        check_count("n_atoms", n_atoms, 1)
        model, prepared = unwrap(estimator)
        fitted = model.model_
        images = fitted.space.atom_rows(
            fitted.atoms, None if X is None else np.asarray(prepared(X))
        )
        labels = model.classes_[:10] if classes is None else np.atleast_1d(np.asarray(classes))
        unknown = labels[~np.isin(labels, model.classes_)].tolist()
        if unknown or not labels.size:
            held = repr(unknown[0]) if unknown else "nothing"
            raise ValueError(f"classes holds {held}: give labels among classes_.")
        display = cls(
            images=[_turned(images[c][:n_atoms]) for c in np.searchsorted(model.classes_, labels)],
            classes=labels,
            image_shape=checked_image_shape(image_shape, images[0].shape[1]),
            weighted_means=not fitted.space.atoms_are_rows,
        )
        return display.plot(ax=ax, cmap=cmap, im_kw=im_kw)

    def plot(
        self, ax: Any = None, *, cmap: Any = "gray", im_kw: dict[str, Any] | None = None
    ) -> Self:
        """Draw the images.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default in a new figure.
        cmap : str or Colormap, default="gray"
            Colours.
        im_kw : dict, optional
            More for `imshow`.

        Returns
        -------
        display : AtomsDisplay
            It has drawn itself.
        """
        columns = max(len(rows) for rows in self.images)
        picture, step = mosaic(self.images, self.image_shape, columns)
        height, width = self.image_shape[:2]
        words = [label_text(label) for label in self.classes]
        title = "kernel atoms, as weighted means of training samples" if self.weighted_means else ""
        wide = 0.08 * max(map(len, words)) + max(0.7 + 0.7 * columns, 0.09 * len(title))
        size = (wide, 0.9 + 0.7 * len(self.images) * height / width)
        figure, ax = figure_and_axes(self, ax, size, square=True)
        options = {"interpolation": "nearest", "cmap": cmap, "vmin": 0, "vmax": 1, **(im_kw or {})}
        self.im_ = ax.imshow(picture, **options)
        middle = (np.array([height, width]) - 1) / 2
        ax.set_xticks(middle[1] + step[1] * np.arange(columns), range(columns))
        ax.set_yticks(middle[0] + step[0] * np.arange(len(self.images)), words)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        ax.set(xlabel="atom", ylabel="class")
        ax.set_title(title, fontsize="medium")
        self.figure_, self.ax_ = figure, ax
        return self
