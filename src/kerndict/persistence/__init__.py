"""Models that travel: one safetensors file, read without running anything in it."""

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from kerndict.exceptions import ModelFormatError

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from kerndict.classifiers import DictionaryClassifier, KernelDictionaryClassifier


def save(
    model: "DictionaryClassifier | KernelDictionaryClassifier | Pipeline", path: str | PathLike
) -> None:
    """Write a fitted model to one file.

    The file holds what prediction needs, and no training codes: arrays in safetensors format
    with a header in JSON.  It is written whole or not at all; an older file of that name
    stays until then.

    Parameters
    ----------
    model : DictionaryClassifier, KernelDictionaryClassifier, Pipeline or search
        Fitted.  Before the classifier of a pipeline may stand scalers, encoders, imputers, `PCA`
        and others of scikit-learn, which ``docs/saving.md`` lists, also within a
        `ColumnTransformer` and pipelines; of the pipeline's own options only the names of the
        steps are kept.  A search is kept by its `best_estimator_`.
    path : str or path-like
        Where to; ``.safetensors`` is a good ending.

    Raises
    ------
    ModelFormatError
        The model holds what a file cannot: a callable kernel, arrays as `init`, a generator as
        `random_state`, labels that are neither numbers, booleans nor strings, other steps, for
        which the error names another way.
    sklearn.exceptions.NotFittedError
        The model is not fitted.
    OSError
        The file cannot be written, or one of that name is read-only.

    See Also
    --------
    load : The way back.

    Examples
    --------
    >>> import os, tempfile
    >>> import kerndict
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = kerndict.DictionaryClassifier(random_state=0).fit(X[:500], y[:500])
    >>> path = os.path.join(tempfile.mkdtemp(), "digits.safetensors")
    >>> kerndict.save(model, path)
    >>> bool((kerndict.load(path).predict(X) == model.predict(X)).all())
    True
    """
    save_named(model, path, None)


def save_named(
    model: "DictionaryClassifier | KernelDictionaryClassifier | Pipeline",
    path: str | PathLike,
    feature_names: Sequence[str] | None,
    force: bool = False,
    label: str | None = None,
) -> None:
    """Write a model as :func:`save` does, with names of features that it was not fitted with.

    ``force`` replaces even a file that is read-only; ``label`` is the name of the column of labels.
    """
    from kerndict.persistence.container import write
    from kerndict.persistence.models import decode, encode

    content = encode(model, feature_names)
    decode(*content)  # what is written can be read
    document, arrays = content
    write(path, document if label is None else {**document, "label": label}, arrays, force)


def load(path: str | PathLike) -> Any:
    """Read a model that :func:`save` has written.

    Nothing in the file is executed or unpickled.  The model predicts bit for bit what the
    saved one did, on the same machine and with the same libraries.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    model : DictionaryClassifier, KernelDictionaryClassifier or Pipeline
        Fitted, without `codes_`.

    Raises
    ------
    ModelFormatError
        The file is damaged, is no model of kerndict, or has a newer format.
    OSError
        The file cannot be read.

    See Also
    --------
    save : Writes the file, with an example.
    """
    return load_described(path)[0]


def load_described(path: str | PathLike) -> tuple[Any, dict[str, Any]]:
    """Read a model as :func:`load` does; return it, and what its file says of itself."""
    from kerndict.persistence.container import read
    from kerndict.persistence.models import decode

    try:
        document, arrays = read(path)
        return decode(document, arrays), document
    except ModelFormatError as error:
        raise ModelFormatError(f"{path}: {error}") from error
    except RecursionError:
        raise ModelFormatError(f"{path}: damaged: its header is nested too deeply.") from None
