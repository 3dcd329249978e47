"""Whether a model knows what it does not know."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from kerndict._validation import check_real
from kerndict.display.common import (
    RUNNER_UP,
    WINNER,
    check_matplotlib,
    checked_labels,
    figure_and_axes,
    ink,
    unwrap,
)
from kerndict.inspection import typicality


class TypicalityDisplay:
    """How many known and unknown samples each threshold on the typicality rejects.

    Typicality is uniform on samples of known classes when its p-values are right: their curve
    then follows the dashed one, and a threshold of 0.01 rejects 1 % of them.  The curve of
    samples of unknown classes should be at the top already.

    Parameters
    ----------
    typicality : ndarray of shape (n_samples,)
        As from `typicality`.
    known : ndarray of bool, shape (n_samples,)
        Whether the model has seen the true class of each sample.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        The curves of the ``"unknown"`` and the ``"known"`` samples, where there are any.
    uniform_ : matplotlib Line2D
        The curve of uniform p-values.
    threshold_line_ : matplotlib Line2D
        The threshold.
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kerndict import KernelDictionaryClassifier
    >>> from kerndict.display import TypicalityDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[::2] < 5
    >>> model = KernelDictionaryClassifier(random_state=0).fit(X[::2][few], y[::2][few])
    >>> display = TypicalityDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> list(display.lines_)
    ['unknown', 'known']
    """

    def __init__(self, *, typicality: NDArray, known: NDArray) -> None:
        self.typicality = typicality
        self.known = known

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        threshold: float = 0.01,
        ax: Any = None,
        line_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the typicality of samples as the estimator sees them.

        Parameters
        ----------
        estimator : fitted classifier of this package, or a pipeline or search around it
            With ``decision="collaborative"``.
        X : array-like of shape (n_samples, n_features)
            Samples that were not in the training part.
        y : array-like of shape (n_samples,), optional
            Their true labels; those that are not among `classes_` mark the unknown.  Without
            labels all are taken for known.
        threshold, ax, line_kw
            As in :meth:`plot`.

        Returns
        -------
        display : TypicalityDisplay
            It has drawn itself.
        """
        check_matplotlib(cls)
        model, _ = unwrap(estimator)
        p_values = typicality(estimator, X)
        known = None
        if y is not None:
            known = np.isin(checked_labels("y", y, len(p_values)), model.classes_)
        return cls.from_predictions(p_values, known, threshold=threshold, ax=ax, line_kw=line_kw)

    @classmethod
    def from_predictions(
        cls,
        typicality: ArrayLike,
        known: ArrayLike | None = None,
        *,
        threshold: float = 0.01,
        ax: Any = None,
        line_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw typicalities computed before.

        Parameters
        ----------
        typicality : array-like of shape (n_samples,)
            In (0, 1].
        known : array-like of bool, shape (n_samples,), optional
            Whether the model has seen the true class of each sample; by default of all.
        threshold, ax, line_kw
            As in :meth:`plot`.

        Returns
        -------
        display : TypicalityDisplay
            It has drawn itself.
        """
        check_matplotlib(cls)
        typicality = np.asarray(typicality)
        known = np.ones(typicality.shape, bool) if known is None else np.asarray(known)
        if typicality.ndim != 1 or not typicality.size or known.shape != typicality.shape:
            raise ValueError(
                f"typicality has shape {typicality.shape} and known {known.shape}: give one "
                "number and one mark per sample, for at least one sample."
            )
        if known.dtype != bool:
            raise ValueError(f"known has type {known.dtype}: give True or False per sample.")
        if not np.all((typicality > 0) & (typicality <= 1)):
            raise ValueError("typicality holds values outside (0, 1]: give those of typicality(X).")
        display = cls(typicality=typicality, known=known)
        return display.plot(ax=ax, threshold=threshold, line_kw=line_kw)

    def plot(
        self, ax: Any = None, *, threshold: float = 0.01, line_kw: dict[str, Any] | None = None
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default in a new figure.
        threshold : float, default=0.01
            Samples less typical than this count as rejected in the legend.
        line_kw : dict, optional
            More for both curves, such as ``linewidth``.

        Returns
        -------
        display : TypicalityDisplay
            It has drawn itself.
        """
        if check_real("threshold", threshold, 0, strict=True) >= 1:
            raise ValueError(f"threshold={threshold!r} rejects everything: give one below 1.")
        figure, ax = figure_and_axes(self, ax, (6.4, 4.2))
        from matplotlib.ticker import PercentFormatter, StrMethodFormatter

        lowest = 0.8 * min(self.typicality.min(), threshold / 2)
        grid = np.geomspace(lowest, 1, 200)
        self.lines_ = {}
        for name, chosen, color in (
            ("unknown", ~self.known, RUNNER_UP),
            ("known", self.known, WINNER),
        ):
            if chosen.any():
                values = np.sort(self.typicality[chosen])
                options = {"color": color, "linewidth": 2, **(line_kw or {})}
                self.lines_[name] = _curve(ax, name, values, threshold, options)
        dashes = {"color": "#8a949b", "linestyle": (0, (4, 3)), "linewidth": 1.2}
        (self.uniform_,) = ax.plot(grid, grid, label="known, if uniform", **dashes)
        self.threshold_line_ = ax.axvline(
            threshold, color=ink(), linewidth=1, zorder=1, label=f"threshold {threshold:g}"
        )
        ax.set_xscale("log")
        ax.set(xlim=(lowest, 1), ylim=(0, 1.02))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        ax.yaxis.set_major_formatter(PercentFormatter(1))
        ax.set(xlabel="typicality", ylabel="samples less typical")
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
        ax.legend(**place, ncols=2, frameon=False)
        ax.set_title("Samples that a threshold on typicality rejects", fontsize="medium", pad=42)
        self.figure_, self.ax_ = figure, ax
        return self


def _curve(ax: Any, name: str, values: NDArray, threshold: float, options: dict[str, Any]) -> Any:
    """Draw the share of the sorted values at most as large as each, up to 1."""
    shares = np.arange(len(values) + 1) / len(values)
    rejected = int(np.searchsorted(values, threshold))
    options = {"label": f"{name}: {rejected} of {len(values)} below {threshold:g}", **options}
    steps = np.concatenate([values[:1], values, [1]]), np.append(shares, 1)
    (line,) = ax.plot(*steps, drawstyle="steps-post", **options)
    mark = {"color": line.get_color(), "markersize": 6, "clip_on": False, "zorder": 3}
    ax.plot(threshold, rejected / len(values), "o", **mark)
    return line
