"""What a classifier within a pipeline or a search says of samples, as the pipeline takes them."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from kerndict._pipelines import Chain, chain
from kerndict.classifiers.summary import summary
from kerndict.explanation import Explanation
from kerndict.feature_weights import feature_weights

__all__ = ["FeatureExplanation", "class_residuals", "explain", "summary", "typicality"]


@dataclass(frozen=True)
class FeatureExplanation(Explanation):
    """What :func:`explain` returns: an explanation that also tells about features.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        The samples as the classifier itself gets them, behind the steps of the pipeline.
    feature_names : list of str
        The names of these features; ``x0``, ``x1``, ... where there are no names.
    feature_weights : ndarray of shape (n_samples, n_features) or None
        How much each feature speaks for the winner and against the runner-up.  Without a kernel:
        the squared residual of the feature over the runner-up, minus that over the winner; they
        sum to the difference of the two residuals.  With a kernel: how much the winner's score
        minus that of the runner-up changes with the feature on the way from the mean of the
        training rows that the model keeps to the sample; they sum to about the whole change.
        None with ``kernel="precomputed"``.
    """

    values: NDArray
    feature_names: list[str]
    feature_weights: NDArray | None

    def features(self, sample: int = 0) -> Any:
        """Return the features of one sample as a pandas DataFrame, what tells most first.

        Parameters
        ----------
        sample : int, default=0
            Which.

        Returns
        -------
        frame : DataFrame
            ``feature``, ``value`` and ``weight``; see `feature_weights`.
        """
        import pandas as pd

        if self.feature_weights is None:
            raise ValueError(
                "kernel='precomputed' knows no features: there are no weights of them."
            )
        weights = self.feature_weights[sample]
        order = np.argsort(-np.abs(weights), kind="stable")
        names = np.array(self.feature_names, object)[order]
        return pd.DataFrame(
            {"feature": names, "value": self.values[sample][order], "weight": weights[order]}
        )

    def neighbours(self, X: Any, sample: int = 0) -> Any:
        """Return the training rows behind the decision on one sample as a pandas DataFrame.

        Parameters
        ----------
        X : array-like of shape (n_train, n_columns)
            The rows given to `fit`, as they were given: a DataFrame keeps its columns.
        sample : int, default=0
            Which sample.

        Returns
        -------
        frame : DataFrame
            The columns of `X`; before them ``class``, the winner or the runner-up, and ``weight``,
            how much the row stands behind it.  The index is the place of the row in `X`.
        """
        import pandas as pd

        places, weights = self.training_samples[sample], self.training_weights[sample]
        kept = places >= 0
        rows = pd.DataFrame(X).iloc[places[kept]]
        labels = np.repeat(self.classes[self.top[sample]], kept.sum(axis=1))
        rows = rows.set_axis(places[kept], axis=0)
        found = pd.DataFrame({"class": labels, "weight": weights[kept]}, index=rows.index)
        return pd.concat([found, rows], axis=1)


def explain(
    model: Any, X: ArrayLike, diagonal: ArrayLike | None = None, n_samples: int = 5
) -> FeatureExplanation:
    """Return why a fitted model decides as it does, by classes, training rows and features.

    Parameters
    ----------
    model : classifier of this package, or a pipeline or search that ends in one
        Fitted.
    X : array-like of shape (n_samples, n_columns)
        Samples as the model takes them.  With a kernel, each takes as long as the scores of 16
        samples per feature.
    diagonal : array-like of shape (n_samples,), optional
        Energies k(y, y), where ``kernel="precomputed"`` needs it; see `class_residuals`.
    n_samples : int, default=5
        Training samples listed for the winner and the runner-up, at most.

    Returns
    -------
    explanation : FeatureExplanation
        Of all samples.

    Examples
    --------
    >>> import kerndict
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), kerndict.DictionaryClassifier(random_state=0))
    >>> found = kerndict.explain(model.fit(X, y), X[:1])
    >>> found.features()["feature"][0]
    'sepal width (cm)'
    >>> list(found.neighbours(X).columns[:3])
    ['class', 'weight', 'sepal length (cm)']
    """
    found = chain(model)
    rows = found.transform(X)
    if issparse(rows):  # what is left of a row is dense
        rows = rows.toarray()
    classifier = found.classifier
    plain = classifier.explain(rows, diagonal=diagonal, n_samples=n_samples)
    values = classifier.check_rows(rows)
    return FeatureExplanation(
        **{field.name: getattr(plain, field.name) for field in fields(plain)},
        values=values,
        feature_names=feature_names(found),
        feature_weights=feature_weights(classifier.model_, values, plain.top),
    )


def feature_names(found: Chain) -> list[str]:
    """Return the names of the features of a classifier behind its steps."""
    names = None
    for step in found.steps:
        try:
            names = step.get_feature_names_out(names)
        except (AttributeError, ValueError):  # it knows none, or was fitted without
            names = None
    names = getattr(found.classifier, "feature_names_in_", names)
    n_features = found.classifier.n_features_in_
    if names is None or len(names) != n_features:
        return [f"x{i}" for i in range(n_features)]
    return [str(name) for name in names]


def typicality(model: Any, X: ArrayLike) -> NDArray:
    """Return how typical each sample is of the class that a fitted model gives it, in [0, 1].

    Parameters
    ----------
    model : classifier of this package, or a pipeline or search that ends in one
        Fitted, with ``decision="collaborative"``.
    X : array-like of shape (n_samples, n_columns)
        Samples as the model takes them.

    Returns
    -------
    p_values : ndarray of shape (n_samples,)
        Near 0 on samples of unknown classes; see the method of the classifiers.

    Examples
    --------
    >>> import kerndict
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), kerndict.DictionaryClassifier(random_state=0))
    >>> kerndict.typicality(model.fit(X, y), X[:3]).shape
    (3,)
    """
    found = chain(model)
    if not found.classifier.model_.rule.has_probabilities:  # whatever `decision` is set to since
        raise ValueError(
            "this model was fitted with decision='residual', which has no typicality: fit it "
            "with decision='collaborative'."
        )
    return found.classifier.typicality(found.transform(X))


def class_residuals(model: Any, X: ArrayLike, diagonal: ArrayLike | None = None) -> NDArray:
    """Return the squared residual of each sample over each class of a fitted model.

    Parameters
    ----------
    model : classifier of this package, or a pipeline or search that ends in one
        Fitted.
    X : array-like of shape (n_samples, n_columns)
        Samples as the model takes them.
    diagonal : array-like of shape (n_samples,), optional
        Energies k(y, y), where ``kernel="precomputed"`` needs it; as of the classifiers.

    Returns
    -------
    residuals : ndarray of shape (n_samples, n_classes)
        Never negative.

    Examples
    --------
    >>> import kerndict
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Normalizer
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(Normalizer(), kerndict.DictionaryClassifier(5, 2, random_state=0))
    >>> kerndict.class_residuals(model.fit(X, y), X[:4]).shape
    (4, 3)
    """
    found = chain(model)
    return found.classifier.class_residuals(found.transform(X), diagonal)
