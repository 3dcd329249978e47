"""Models for other runtimes: ONNX, which predicts without kerndict and without Python."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import ModelProto
    from sklearn.pipeline import Pipeline

    from kerndict.classifiers import DictionaryClassifier, KernelDictionaryClassifier

__all__ = ["to_onnx"]


def to_onnx(
    model: "DictionaryClassifier | KernelDictionaryClassifier | Pipeline", dtype: str = "float64"
) -> "ModelProto":
    """Return a fitted model as an ONNX model.

    It has one input, ``X`` (n_samples, n_features), and these outputs:

    - ``label`` (n_samples,): the classes, as strings, integers, floats or booleans;
    - ``scores`` (n_samples, n_classes): as `decision_function`, in the order of `classes_`, but
      with two columns for two classes;
    - ``probabilities`` (n_samples, n_classes) and ``typicality`` (n_samples,): with the
      collaborative rule only.

    The extra ``onnx`` installs what this needs: ``pip install 'kerndict[onnx]'``.

    Parameters
    ----------
    model : DictionaryClassifier, KernelDictionaryClassifier or Pipeline
        Fitted.  A pipeline may hold scalers, projections, imputers and encoders of numbers before
        the classifier.
    dtype : {"float64", "float32"}, default="float64"
        The precision of the input and of all that is computed.  ``"float32"`` halves the file; a
        few labels may differ then.

    Returns
    -------
    onnx_model : onnx.ModelProto
        Its operators are those of ONNX itself, opset 18: onnxruntime 1.14 or newer runs it.  All
        samples of a call are computed at once: give a few thousand at a time.

    Raises
    ------
    ModelFormatError
        A part of the model cannot be exported; the message names it.
    TypeError
        There is no classifier of this package in the model.
    ImportError
        The package onnx is not installed.
    ValueError
        The dtype is not known.

    See Also
    --------
    kerndict.save : The file that kerndict itself reads.

    Examples
    --------
    >>> import onnxruntime
    >>> from sklearn.datasets import load_digits
    >>> from kerndict import KernelDictionaryClassifier
    >>> from kerndict.export import to_onnx
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelDictionaryClassifier(random_state=0).fit(X[:500], y[:500])
    >>> session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    >>> label, = session.run(["label"], {"X": X})
    >>> bool((label == model.predict(X)).all())
    True
    """
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "to_onnx needs the package onnx: pip install 'kerndict[onnx]'."
        ) from error
    from kerndict.export.convert import convert

    return convert(model, dtype)
