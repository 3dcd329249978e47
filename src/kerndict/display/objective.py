"""How learning went."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kerndict.display.common import (
    RUNNER_UP,
    WINNER,
    check_matplotlib,
    figure_and_axes,
    ink,
    unwrap,
)
from kerndict.rules import LandmarkRule


class ObjectiveDisplay:
    """The objective, reconstruction + γ·coherence, after each iteration, with its terms.

    Parameters
    ----------
    reconstruction, coherence : ndarray of shape (n_iter,)
        The two terms, γ not applied, as in `reconstruction_` and `coherence_`.
    incoherence : float
        The weight γ.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        The objective, the reconstruction and γ·coherence; the objective alone when γ = 0.
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kerndict import DictionaryClassifier
    >>> from kerndict.display import ObjectiveDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DictionaryClassifier(3, 1, incoherence=0.1, random_state=0).fit(X, y)
    >>> len(ObjectiveDisplay.from_estimator(model).lines_)
    3
    """

    def __init__(self, *, reconstruction: NDArray, coherence: NDArray, incoherence: float) -> None:
        self.reconstruction = reconstruction
        self.coherence = coherence
        self.incoherence = incoherence

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, *, ax: Any = None, line_kw: dict[str, Any] | None = None
    ) -> Self:
        """Draw the objective of a fitted estimator.

        Parameters
        ----------
        estimator : fitted classifier of this package, or a pipeline or search around it
            With at least one iteration.
        ax, line_kw
            As in :meth:`plot`.

        Returns
        -------
        display : ObjectiveDisplay
            It has drawn itself.
        """
        check_matplotlib(cls)
        model, _ = unwrap(estimator)
        if isinstance(model.model_.rule, LandmarkRule):
            raise ValueError(
                "a model with landmarks is not learned by iterations and has no objective to show: "
                "fit with n_landmarks='all' or decision='residual'."
            )
        if not model.n_iter_:
            raise ValueError("n_iter=0 has no objective to show: fit with n_iter >= 1.")
        display = cls(
            reconstruction=model.reconstruction_,
            coherence=model.coherence_,
            incoherence=model.incoherence_,
        )
        return display.plot(ax=ax, line_kw=line_kw)

    def plot(self, ax: Any = None, *, line_kw: dict[str, Any] | None = None) -> Self:
        """Draw the lines.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default in a new figure.
        line_kw : dict, optional
            More for all lines, such as ``linewidth``.

        Returns
        -------
        display : ObjectiveDisplay
            It has drawn itself.
        """
        figure, ax = figure_and_axes(self, ax, (6.4, 3.8))
        from matplotlib.ticker import MaxNLocator

        penalty = self.incoherence * self.coherence
        curves = [(self.reconstruction + penalty, "objective", {"color": ink(), "marker": "o"})]
        if self.incoherence:
            curves += [
                (self.reconstruction, "reconstruction", {"color": WINNER, "marker": "s"}),
                (penalty, f"γ·coherence, γ = {self.incoherence:.3g}", {"color": RUNNER_UP}),
            ]
            curves[-1][2]["marker"] = "^"
        else:
            curves[0] = (curves[0][0], "objective = reconstruction, γ = 0", curves[0][2])
        steps = np.arange(1, len(penalty) + 1)
        self.lines_ = [
            ax.plot(steps, values, label=label, **{"markersize": 4, **style, **(line_kw or {})})[0]
            for values, label, style in curves
        ]
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        ylabel = "objective and its terms" if self.incoherence else "objective"
        ax.set(xlabel="iteration", ylabel=ylabel)
        ax.set_ylim(bottom=0)
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
        ax.set_title("Objective after each iteration", fontsize="medium")
        self.figure_, self.ax_ = figure, ax
        return self
