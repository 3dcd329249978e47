"""A fitted classifier within a pipeline or a search, and what stands before it."""

from typing import Any, NamedTuple

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted


class Chain(NamedTuple):
    """A classifier, and the steps that its samples go through first."""

    steps: list[Any]
    classifier: Any

    def transform(self, X: Any) -> Any:
        """Return samples as the classifier takes them."""
        for step in self.steps:
            X = step.transform(X)
        return X


def chosen(model: Any) -> Any:
    """Return the model that a fitted search has chosen, and any other model as it is."""
    while hasattr(model, "cv_results_"):
        if not hasattr(model, "best_estimator_"):
            raise ValueError(
                f"{type(model).__name__} has not kept a model: give it refit=True, the default."
            )
        model = model.best_estimator_
    if hasattr(model, "param_grid") or hasattr(model, "param_distributions"):
        raise NotFittedError(f"this {type(model).__name__} is not fitted: call fit first.")
    return model


def chain(model: Any) -> Chain:
    """Take a fitted classifier of this package out of pipelines and searches, however nested.

    Raises
    ------
    TypeError
        There is none.
    """
    steps, classifier = taken_apart(model)
    if not hasattr(classifier, "class_residuals"):
        raise TypeError(
            f"estimator={model!r} holds no kerndict classifier: give a fitted "
            "DictionaryClassifier or KernelDictionaryClassifier, or a Pipeline or a search "
            "that ends in one."
        )
    check_is_fitted(classifier)
    return Chain(steps, classifier)


def taken_apart(model: Any) -> Chain:
    """Return the last step of pipelines and searches, whatever it is, and those before it.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Normalizer
    >>> found = taken_apart(make_pipeline(Normalizer(), "a classifier"))
    >>> found.steps, found.classifier
    ([Normalizer()], 'a classifier')
    """
    from sklearn.pipeline import Pipeline  # brings rich, which `import kerndict` does without

    steps: list[Any] = []
    model = chosen(model)
    while isinstance(model, Pipeline) and model.steps:
        *before, (_, last) = model.steps
        steps += [step for _, step in before if step is not None and step != "passthrough"]
        model = chosen(last)
    return Chain(steps, model)
