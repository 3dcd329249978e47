"""Why one sample was decided as it was."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from kerndict._validation import check_count
from kerndict.display.atoms import mosaic
from kerndict.display.bars import draw_weights
from kerndict.display.common import (
    OTHERS,
    RUNNER_UP,
    WINNER,
    check_matplotlib,
    checked_image_shape,
    figure_and_axes,
    full_range,
    ink,
    label_text,
    unwrap,
)
from kerndict.explanation import Explanation
from kerndict.inspection import FeatureExplanation, explain
from kerndict.spaces import PrecomputedSpace

_CLASSES = 8  # bars, at most
_NAMES = ("winner", "runner-up")


class ExplanationDisplay:
    """One sample: the score of each class, and what speaks for the winner and the runner-up.

    That is features, with their weights as :func:`kerndict.explain` has them, or with
    `image_shape` the atoms that both use, as images.

    Scores are probabilities with the collaborative rule, and squared residuals, of which the
    smallest wins, with the residual rule.  For kernel classifiers an image is the weighted
    mean of training samples that :class:`AtomsDisplay` draws.  With ``kernel="precomputed"``,
    which knows neither features nor images, atoms are drawn by their coefficients.

    Parameters
    ----------
    explanation : Explanation
        Of one sample.
    sample : ndarray of shape (n_features,), optional
        The sample, to be drawn as an image.
    images : list of two ndarrays of shape (n_atoms, n_features), optional
        The atoms that winner and runner-up use, in the order of the explanation.
    image_shape : tuple, optional
        (height, width), or (height, width, 3).
    weighted_means : bool
        Whether the images are weighted means of training samples.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The scores.
    axes_ : dict of matplotlib Axes
        ``"scores"``; ``"features"``, or ``"winner"`` and ``"runner-up"``; ``"sample"`` with
        images.
    bars_ : matplotlib BarContainer
        The bars of the scores, best class first.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kerndict import KernelDictionaryClassifier
    >>> from kerndict.display import ExplanationDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelDictionaryClassifier(12, 3, random_state=0).fit(X[10:], y[10:])
    >>> display = ExplanationDisplay.from_estimator(model, X[0], image_shape=(8, 8))
    >>> sorted(display.axes_)
    ['runner-up', 'sample', 'scores', 'winner']
    """

    def __init__(
        self,
        *,
        explanation: Explanation,
        sample: NDArray | None = None,
        images: list[NDArray] | None = None,
        image_shape: tuple[int, ...] | None = None,
        weighted_means: bool = False,
    ) -> None:
        self.explanation = explanation
        self.sample = sample
        self.images = images
        self.image_shape = image_shape
        self.weighted_means = weighted_means

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        *,
        diagonal: ArrayLike | None = None,
        image_shape: tuple[int, ...] | None = None,
        ax: Any = None,
        n_atoms: int = 6,
    ) -> Self:
        """Draw why an estimator decides one sample as it does.

        Parameters
        ----------
        estimator : fitted classifier of this package, or a pipeline or search around it
        X : array-like of shape (n_features,) or (1, n_features)
            The sample.
        diagonal : array-like of shape (1,), optional
            Energies k(y, y), where ``kernel="precomputed"`` needs it; see `class_residuals`.
        image_shape : (height, width) or (height, width, 3), optional
            Draw the sample and the atoms as images instead of features; not for
            ``kernel="precomputed"``.
        ax, n_atoms
            As in :meth:`plot`.

        Returns
        -------
        display : ExplanationDisplay
            It has drawn itself.
        """
        check_matplotlib(cls)
        model, prepared = unwrap(estimator)
        given = np.asarray(X)[None] if np.ndim(X) == 1 else X
        rows = prepared(given)
        if len(rows) != 1:
            raise ValueError(f"X has {len(rows)} rows: give one sample, such as X[:1].")
        display = cls(explanation=explain(estimator, given, diagonal))
        found = display.explanation
        if image_shape is not None:
            if isinstance(model.model_.space, PrecomputedSpace):
                raise ValueError(
                    f"image_shape={image_shape!r} cannot be drawn with kernel='precomputed', which "
                    "keeps no samples: leave it out, and the coefficients are drawn as bars."
                )
            space = model.model_.space
            every = space.atom_rows(model.model_.atoms, None)
            display.sample = np.asarray(rows, dtype=np.float64)[0]
            display.image_shape = checked_image_shape(image_shape, len(display.sample))
            display.images = [
                every[c][atoms[atoms >= 0]]
                for c, atoms in zip(found.top[0], found.atoms[0], strict=True)
            ]
            display.weighted_means = not space.atoms_are_rows
        return display.plot(ax=ax, n_atoms=n_atoms)

    def plot(self, ax: Any = None, *, n_atoms: int = 6) -> Self:
        """Draw the scores and the atoms.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Whose place to take, made by `subplots` or `add_subplot`; by default a new
            figure.
        n_atoms : int, default=6
            Atoms of each class, at most, those with the largest coefficients.  A sample of
            which a class explains nothing uses none, and its panel says so.

        Returns
        -------
        display : ExplanationDisplay
            It has drawn itself.
        """
        check_count("n_atoms", n_atoms, 1)
        figure, ax = figure_and_axes(self, ax, (9.0, 4.2))
        if ax.get_subplotspec() is None:
            raise ValueError("ax is not part of a grid: make it by subplots or add_subplot.")
        ax.set_axis_off()
        with_images = self.images is not None
        self._draw_title(figure)
        if not with_images and getattr(self.explanation, "feature_weights", None) is not None:
            return self._plot_features(figure, ax)
        grid = ax.get_subplotspec().subgridspec(1, 2, width_ratios=[1, 1.8])
        left = grid[0].subgridspec(2, 1, height_ratios=[1, 1.2]) if with_images else grid[0]
        right = grid[1].subgridspec(2, 1)
        self.axes_ = {
            "scores": figure.add_subplot(left[1] if with_images else left),
            "winner": figure.add_subplot(right[0]),
            "runner-up": figure.add_subplot(right[1]),
        }
        if with_images:
            self.axes_["sample"] = figure.add_subplot(left[0])
            self._draw_sample(self.axes_["sample"])
        self._draw_scores(self.axes_["scores"])
        lowest = None
        for rank, (name, colour) in enumerate(zip(_NAMES, (WINNER, RUNNER_UP), strict=True)):
            panel = self.axes_[name]
            if len(self._used(rank, n_atoms)[0]):
                lowest = panel
                draw = self._draw_images if with_images else self._draw_coefficients
                draw(panel, rank, n_atoms, colour)
            else:
                _draw_nothing(panel)
            label = label_text(self.explanation.classes[self.explanation.top[0, rank]])
            panel.set_title(f"{name}: {label}", loc="left", fontsize="medium", color=colour)
        if lowest is not None:
            means = ", drawn as weighted means of training samples" if self.weighted_means else ""
            words = f"atom and its coefficient{means}" if with_images else "atom"
            lowest.set_xlabel(words, fontsize="small" if with_images else None)
        self.figure_, self.ax_ = figure, self.axes_["scores"]
        return self

    def _plot_features(self, figure: Any, ax: Any) -> Self:
        found = self.explanation
        assert isinstance(found, FeatureExplanation)
        assert found.feature_weights is not None
        grid = ax.get_subplotspec().subgridspec(1, 2, width_ratios=[1, 1.4])
        self.axes_ = {"scores": figure.add_subplot(grid[0])}
        self.axes_["features"] = panel = figure.add_subplot(grid[1])
        self._draw_scores(self.axes_["scores"])
        draw_weights(panel, found.feature_names, found.values[0], found.feature_weights[0])
        winner, runner_up = (label_text(label) for label in found.classes[found.top[0]])
        small = {"fontsize": "small"}
        panel.set_title(f"for {winner} →", loc="right", color=WINNER, **small)
        panel.annotate(  # a line above, as both labels may be long
            f"← for {runner_up}",
            (0, 1),
            xycoords="axes fraction",
            xytext=(0, 21),
            textcoords="offset points",
            color=RUNNER_UP,
            **small,
        )
        panel.set_xlabel("weight of the feature")
        self.figure_, self.ax_ = figure, self.axes_["scores"]
        return self

    def _draw_title(self, figure: Any) -> None:
        found = self.explanation
        winner, runner_up = (label_text(label) for label in found.classes[found.top[0]])
        if len(figure.axes) == 1:  # no picture of someone else's
            figure.suptitle(f"Why {winner} and not {runner_up}", fontsize="large")

    def _draw_scores(self, ax: Any) -> None:
        found = self.explanation
        order = np.argsort(-found.scores[0], kind="stable")
        order = np.concatenate([found.top[0], order[~np.isin(order, found.top[0])]])[:_CLASSES]
        values = (found.residuals if found.probabilities is None else found.probabilities)[0][order]
        colours = [WINNER, RUNNER_UP] + [OTHERS] * (len(order) - 2)
        self.bars_ = ax.barh(np.arange(len(order)), values, color=colours, height=0.7)
        ax.set_yticks(np.arange(len(order)), [label_text(label) for label in found.classes[order]])
        ax.invert_yaxis()
        hidden = len(found.classes) - len(order)
        ax.set_ylabel(f"class ({hidden} more)" if hidden else "class")
        if found.probabilities is None:
            ax.set_xlabel("squared residual, the smallest wins")
            ax.set_xlim(left=0)
        else:
            ax.set_xlabel("probability")
            ax.set_xlim(0, 1)
        ax.spines[["top", "right"]].set_visible(False)

    def _draw_coefficients(self, ax: Any, rank: int, n_atoms: int, colour: str) -> None:
        atoms, values = self._used(rank, n_atoms)
        places = np.arange(len(atoms))
        ax.bar(places, values, color=colour, width=0.6)
        ax.set_xticks(places, [str(atom) for atom in atoms])
        ax.set_xlim(-0.6, max(n_atoms, len(atoms)) - 0.4)
        ax.axhline(0, color=ink(), linewidth=0.8)
        # Both classes on one scale: how much each uses its atoms is what tells them apart.
        every = np.concatenate([self._used(each, n_atoms)[1] for each in (0, 1)])
        low, high = min(0, every.min()), max(0, every.max())
        ax.set(ylabel="coefficient", ylim=(low - 0.05 * (high - low), high + 0.05 * (high - low)))
        ax.spines[["top", "right"]].set_visible(False)

    def _draw_images(self, ax: Any, rank: int, n_atoms: int, colour: str) -> None:
        assert self.images is not None
        assert self.image_shape is not None
        atoms, values = self._used(rank, n_atoms)
        columns = max(len(self._used(each, n_atoms)[0]) for each in (0, 1))
        picture, step = mosaic([self.images[rank][:n_atoms]], self.image_shape, columns=columns)
        ax.imshow(picture, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        places = (self.image_shape[1] - 1) / 2 + step[1] * np.arange(len(atoms))
        labels = [f"{atom}\n{value:+.2g}" for atom, value in zip(atoms, values, strict=True)]
        ax.set_xticks(places, labels, fontsize="small")
        ax.set_yticks([])
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)

    def _draw_sample(self, ax: Any) -> None:
        assert self.sample is not None
        assert self.image_shape is not None
        picture = full_range(self.sample.reshape(self.image_shape))
        ax.imshow(picture, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        ax.set_title("sample", fontsize="medium")
        ax.set_axis_off()

    def _used(self, rank: int, n_atoms: int) -> tuple[NDArray, NDArray]:
        atoms = self.explanation.atoms[0, rank][:n_atoms]
        kept = atoms >= 0
        return atoms[kept], self.explanation.coefficients[0, rank][:n_atoms][kept]


def _draw_nothing(ax: Any) -> None:
    ax.text(0.5, 0.5, "no atom is used", ha="center", va="center", transform=ax.transAxes)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
