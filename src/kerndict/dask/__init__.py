"""The classifiers on Dask collections: the fit goes to where the rows are.

The landmarks path needs sums over all rows and a sample of them.  The workers of a cluster add
them up chunk by chunk (:mod:`~kerndict.dask.lanes`), the rest fits one machine.  It needs the
extra ``dask``.
"""

try:
    import dask.array  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        "kerndict.dask needs Dask with arrays and its distributed scheduler: install them, "
        "pip install 'kerndict[dask]'."
    ) from error

from kerndict.dask.estimators import DaskDictionaryClassifier, DaskKernelDictionaryClassifier

__all__ = ["DaskDictionaryClassifier", "DaskKernelDictionaryClassifier"]
