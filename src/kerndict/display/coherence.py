"""How far apart the dictionaries of different classes are."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from kerndict.coherence import mean_coherence, squared_correlations
from kerndict.display.common import check_matplotlib, figure_and_axes, label_ticks, shades, unwrap


class CoherenceDisplay:
    """Matrix of the mean squared correlation between the atoms of two classes.

    Atoms have unit norm, in feature space for kernels, so that 0 is orthogonal and 1 the
    same up to sign.  The penalty `incoherence` presses on what is off the diagonal; the
    diagonal, between different atoms of one class, is kept in `coherence` but not drawn.

    Parameters
    ----------
    coherence : ndarray of shape (n_classes, n_classes)
        Symmetric.
    classes : ndarray of shape (n_classes,)
        The labels.

    Attributes
    ----------
    im_ : matplotlib AxesImage
        The matrix.
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kerndict import DictionaryClassifier
    >>> from kerndict.display import CoherenceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DictionaryClassifier(3, 1, random_state=0).fit(X, y)
    >>> display = CoherenceDisplay.from_estimator(model)
    >>> display.coherence.shape
    (3, 3)
    """

    def __init__(self, *, coherence: NDArray, classes: NDArray) -> None:
        self.coherence = coherence
        self.classes = classes

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        K: ArrayLike | None = None,
        ax: Any = None,
        cmap: Any = None,
        im_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the coherence between the classes of a fitted estimator.

        Parameters
        ----------
        estimator : fitted classifier of this package, or a pipeline or search around it
            For kernels, the kernel between the training samples is computed anew, in
            chunks within scikit-learn's ``working_memory``.
        K : array-like of shape (n_train, n_train), optional
            With ``kernel="precomputed"``, the kernel matrix given to `fit`.
        ax, cmap, im_kw
            As in :meth:`plot`.

        Returns
        -------
        display : CoherenceDisplay
            It has drawn itself.
        """
        check_matplotlib(cls)
        model, _ = unwrap(estimator)
        given = K if K is None else check_array(K, dtype=[np.float64, np.float32], input_name="K")
        fitted = model.model_
        coherence = mean_coherence(squared_correlations(fitted, given), fitted)
        return cls(coherence=coherence, classes=model.classes_).plot(ax=ax, cmap=cmap, im_kw=im_kw)

    def plot(
        self, ax: Any = None, *, cmap: Any = None, im_kw: dict[str, Any] | None = None
    ) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default in a new figure.
        cmap : str or Colormap, optional
            Colours; by default large correlations are dark.
        im_kw : dict, optional
            More for `imshow`, such as ``vmin`` and ``vmax``.

        Returns
        -------
        display : CoherenceDisplay
            It has drawn itself.
        """
        figure, ax = figure_and_axes(self, ax, (6.0, 5.0), square=True)
        own = np.eye(len(self.classes), dtype=bool)
        options = {
            "interpolation": "nearest",
            "cmap": shades(reverse=True) if cmap is None else cmap,
            **(im_kw or {}),
        }
        self.im_ = ax.imshow(np.ma.masked_array(self.coherence, own), **options)
        ax.set_facecolor("#d9d9d9")
        figure.colorbar(self.im_, ax=ax, label="mean squared correlation between atoms")
        for axis in (ax.xaxis, ax.yaxis):
            label_ticks(axis, np.arange(len(self.classes)), self.classes)
        ax.set(xlabel="class", ylabel="class")
        ax.set_title("How alike the atoms of two classes are", fontsize="medium")
        self.figure_, self.ax_ = figure, ax
        return self
