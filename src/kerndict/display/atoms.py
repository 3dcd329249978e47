"""Atoms as images, or as bars of their features."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from kerndict._pipelines import chain
from kerndict._validation import check_count
from kerndict.display.bars import LONGEST, NAMED, draw_atoms
from kerndict.display.common import (
    check_matplotlib,
    checked_image_shape,
    figure_and_axes,
    full_range,
    label_text,
    unwrap,
)
from kerndict.inspection import feature_names

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
    """The atoms of each class as a row of images, or of bars.

    Each image is stretched to the full grey scale.

    Without `image_shape` an atom is drawn as one bar per feature, its longest bar as long as that
    of every other atom.

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
    image_shape : tuple, optional
        (height, width), or (height, width, 3); without it, bars are drawn.
    weighted_means : bool
        Whether the images are weighted means of training samples.
    feature_names : list of str, optional
        For bars; by default ``x0``, ``x1``, ...
    n_classes : int, optional
        How many classes the model has, if more than are drawn; the title says so.

    Attributes
    ----------
    im_ : matplotlib AxesImage or None
        All images in one; None with bars.
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
        image_shape: tuple[int, ...] | None = None,
        weighted_means: bool = False,
        feature_names: Sequence[str] | None = None,
        n_classes: int | None = None,
    ) -> None:
        self.images = images
        self.classes = classes
        self.image_shape = image_shape
        self.weighted_means = weighted_means
        self.feature_names = feature_names
        self.n_classes = n_classes

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        image_shape: tuple[int, ...] | None = None,
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
        image_shape : (height, width) or (height, width, 3), optional
            Of the samples as the classifier itself gets them; without it, atoms are drawn as bars
            of its features.
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
            image_shape=image_shape and checked_image_shape(image_shape, images[0].shape[1]),
            weighted_means=not fitted.space.atoms_are_rows,
            feature_names=_names(estimator, images[0].shape[1]),
            n_classes=len(model.classes_),
        )
        return display.plot(ax=ax, cmap=cmap, im_kw=im_kw)

    def plot(
        self, ax: Any = None, *, cmap: Any = "gray", im_kw: dict[str, Any] | None = None
    ) -> Self:
        """Draw the images, or the bars.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default in a new figure.
        cmap : str or Colormap, default="gray"
            Colours of images.
        im_kw : dict, optional
            More for `imshow`, with images.

        Returns
        -------
        display : AtomsDisplay
            It has drawn itself.
        """
        columns = max(len(rows) for rows in self.images)
        if self.image_shape is None:
            return self._plot_bars(ax, columns)
        picture, step = mosaic(self.images, self.image_shape, columns)
        height, width = self.image_shape[:2]
        words = [label_text(label) for label in self.classes]
        title = self._title()
        wide = 0.08 * max(map(len, words)) + max(0.7 + 0.7 * columns, 0.09 * _longest_line(title))
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

    def _plot_bars(self, ax: Any, columns: int) -> Self:
        n_features = self.images[0].shape[1]
        names = self.feature_names or [f"x{i}" for i in range(n_features)]
        title, shown = self._title(), min(n_features, NAMED)
        wide = 0.09 * max(map(len, (label_text(name, LONGEST) for name in names))) + max(
            1.2 + 0.7 * columns, 3.2
        )
        size = (
            max(wide, 1 + 0.09 * _longest_line(title)),
            1 + 0.2 * (shown + 1) * len(self.images),
        )
        figure, ax = figure_and_axes(self, ax, size)
        self.im_ = None
        draw_atoms(ax, self.images, self.classes, names)
        ax.set_xticks(range(columns))
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        ax.set(xlabel="atom", ylabel="feature")
        ax.set_title(title, fontsize="medium", loc="left")
        self.figure_, self.ax_ = figure, ax
        return self

    def _title(self) -> str:
        kind = "Atoms"
        if self.weighted_means:
            kind = "Kernel atoms, as weighted means of training samples"
        hidden = (self.n_classes or 0) > len(self.classes)
        return f"{kind}\n{len(self.classes)} of {self.n_classes} classes" if hidden else kind


def _longest_line(text: str) -> int:
    return max(map(len, text.splitlines()))


def _names(estimator: BaseEstimator, n_features: int) -> list[str] | None:
    """Return the names of the features, where atoms are combinations of these."""
    names = feature_names(chain(estimator))
    return names if len(names) == n_features else None
