"""Which class explains which sample."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from kerndict.display.common import (
    check_matplotlib,
    checked_labels,
    figure_and_axes,
    label_ticks,
    shades,
    unwrap,
)

WRONG = "#e8590c"


class ResidualDisplay:
    """Map of the residuals of samples (rows, sorted by true class) over classes (columns).

    Rows follow the order of the columns, samples of classes without a column last: a good model
    has a dark diagonal, and what else is dark can be mistaken.  Samples whose predicted class is
    wrong are marked at the class that won.

    Parameters
    ----------
    residuals : ndarray of shape (n_samples, n_classes)
        Squared residuals, the rows of each true class together.
    y_true : ndarray of shape (n_samples,)
        The labels of the rows.
    y_pred : ndarray of shape (n_samples,)
        The class that won.
    classes : ndarray of shape (n_classes,)
        The labels of the columns.

    Attributes
    ----------
    im_ : matplotlib AxesImage
        The map.
    wrong_ : matplotlib Line2D
        The marks of wrong predictions.
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kerndict import KernelDictionaryClassifier
    >>> from kerndict.display import ResidualDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelDictionaryClassifier(5, 2, random_state=0).fit(X, y)
    >>> display = ResidualDisplay.from_estimator(model, X, y)
    >>> display.residuals.shape
    (150, 3)
    """

    def __init__(
        self, *, residuals: NDArray, y_true: NDArray, y_pred: NDArray, classes: NDArray
    ) -> None:
        self.residuals = residuals
        self.y_true = y_true
        self.y_pred = y_pred
        self.classes = classes

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike,
        *,
        diagonal: ArrayLike | None = None,
        normalize: bool = True,
        ax: Any = None,
        cmap: Any = None,
        im_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the residuals of samples as the estimator sees them.

        Parameters
        ----------
        estimator : fitted classifier of this package, or a pipeline or search around it
        X, y : array-like
            Samples and their true labels.
        diagonal : array-like of shape (n_samples,), optional
            Energies k(y, y), where ``kernel="precomputed"`` needs it; see `class_residuals`.
        normalize, ax, cmap, im_kw
            As in :meth:`plot`.

        Returns
        -------
        display : ResidualDisplay
            It has drawn itself.
        """
        check_matplotlib(cls)
        model, prepared = unwrap(estimator)
        found = model.explain(prepared(X), diagonal=diagonal)
        winners = found.classes[found.top[:, 0]]
        return cls.from_predictions(
            checked_labels("y", y, len(winners)),
            found.residuals,
            y_pred=winners,
            classes=found.classes,
            normalize=normalize,
            ax=ax,
            cmap=cmap,
            im_kw=im_kw,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        residuals: ArrayLike,
        *,
        y_pred: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        normalize: bool = True,
        ax: Any = None,
        cmap: Any = None,
        im_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw residuals computed before.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels, in any order; labels that are no class of the model may be among
            them.
        residuals : array-like of shape (n_samples, n_classes)
            As from `class_residuals`.
        y_pred : array-like of shape (n_samples,), optional
            The class that won; by default the one with the smallest residual.
        classes : array-like of shape (n_classes,), optional
            The labels of the columns, in any order; by default the sorted labels of `y_true`.
        normalize, ax, cmap, im_kw
            As in :meth:`plot`.

        Returns
        -------
        display : ResidualDisplay
            It has drawn itself.
        """
        check_matplotlib(cls)
        residuals = np.asarray(residuals)
        y_true = checked_labels("y_true", y_true, len(np.atleast_1d(residuals)))
        classes = np.unique(y_true) if classes is None else np.asarray(classes)
        if residuals.shape != (len(y_true), *classes.shape) or not residuals.size:
            raise ValueError(
                f"residuals has shape {residuals.shape} for {len(y_true)} samples and "
                f"{classes.size} classes: give one row per label of y_true and one column per "
                "label of classes, at least one of each."
            )
        labels, counts = np.unique(classes, return_counts=True)
        if counts.max() > 1:
            twice = labels.tolist()[counts.argmax()]
            raise ValueError(
                f"classes holds {twice!r} twice: give each label once, in the order of the columns."
            )
        if y_pred is None:
            y_pred = classes[residuals.argmin(axis=1)]
        y_pred = checked_labels("y_pred", y_pred, len(y_true))
        strange = y_pred[_places(y_pred, classes) == len(classes)].tolist()
        if strange:
            raise ValueError(
                f"y_pred holds {strange[0]!r}, which is not among classes: give the label of the "
                "column that won."
            )
        order = np.lexsort((np.unique(y_true, return_inverse=True)[1], _places(y_true, classes)))
        display = cls(
            residuals=residuals[order], y_true=y_true[order], y_pred=y_pred[order], classes=classes
        )
        return display.plot(ax=ax, normalize=normalize, cmap=cmap, im_kw=im_kw)

    def plot(
        self,
        ax: Any = None,
        *,
        normalize: bool = True,
        cmap: Any = None,
        im_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default in a new figure.
        normalize : bool, default=True
            Draw each row relative to its mean: what is decided is decided within a row, and
            some samples are hard for every class.  Colours span 0 to 2 then, for any model.
        cmap : str or Colormap, optional
            Colours, small residuals first; by default these are dark.
        im_kw : dict, optional
            More for `imshow`, such as ``vmin`` and ``vmax``.

        Returns
        -------
        display : ResidualDisplay
            It has drawn itself.
        """
        figure, ax = figure_and_axes(self, ax, (6.4, 6.0))
        options = {
            "aspect": "auto",
            "interpolation": "nearest",
            "cmap": shades() if cmap is None else cmap,
        }
        values, words, limits = self.residuals, "squared residual", {"vmin": 0}
        if normalize:
            means = values.mean(axis=1, keepdims=True)
            values = values / np.where(means > 0, means, 1)
            words += " / its mean over the classes"
            limits["vmax"] = 2
        im_kw = im_kw or {}
        if "norm" not in im_kw:
            options |= limits
        self.im_ = ax.imshow(values, **options | im_kw)
        more = values.max() > self.im_.norm.vmax
        figure.colorbar(self.im_, ax=ax, label=words, extend="max" if more else "neither")

        starts = np.flatnonzero(np.append(True, self.y_true[1:] != self.y_true[:-1]))
        for start in starts[1:]:
            ax.axhline(start - 0.5, color="white", linewidth=0.4, alpha=0.6)
        counts = np.diff(starts, append=len(self.y_true))
        label_ticks(ax.yaxis, starts + (counts - 1) / 2, self.y_true[starts])
        label_ticks(ax.xaxis, np.arange(len(self.classes)), self.classes)

        wrong = np.flatnonzero(self.y_pred != self.y_true)
        columns = _places(self.y_pred[wrong], self.classes)
        (self.wrong_,) = ax.plot(
            columns,
            wrong,
            linestyle="none",
            marker="o",
            markersize=4,
            markerfacecolor=WRONG,
            markeredgecolor="white",
            markeredgewidth=0.5,
            label=f"wrong winner: {len(wrong)} of {len(self.y_true)}",
        )
        ax.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1),
            frameon=False,
            borderaxespad=0.2,
            handletextpad=0,
        )
        ax.set(xlabel="class of the dictionary", ylabel="samples, sorted by true class")
        ax.set_title("What each class leaves unexplained", fontsize="medium", pad=22)
        self.figure_, self.ax_ = figure, ax
        return self


def _places(labels: NDArray, classes: NDArray) -> NDArray:
    """Return the column of each label, or one past the last where it has none."""
    columns = {label: i for i, label in enumerate(classes.tolist())}
    return np.array([columns.get(label, len(classes)) for label in labels.tolist()], np.int64)
