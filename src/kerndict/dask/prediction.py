"""What a fitted model says of Dask collections: collections, chunked like the rows."""

from collections.abc import Sequence
from typing import Any

import dask
import numpy as np
from dask.array.utils import meta_from_array
from numpy.typing import NDArray

from kerndict.dask.chunks import is_frame, whole_rows


def lazily(
    local: Any, method: str, X: Any, dtype: np.dtype, columns: Sequence[Any] | None = None
) -> Any:
    """Return what a method of a fitted classifier gives for every chunk.

    Parameters
    ----------
    local : the classifier
    method : its name
    X : rows, a Dask array or dataframe
    dtype : of the result
    columns : of the result; None where it has one value per row
    """
    rows = whole_rows(X)
    model = dask.delayed(local, traverse=False)
    if is_frame(rows):
        import pandas as pd

        index = rows._meta.index[:0]
        meta: Any = pd.Series([], dtype=dtype, index=index)
        if columns is not None:
            meta = pd.DataFrame({name: pd.Series([], dtype=dtype) for name in columns}, index=index)
        return rows.map_partitions(_of_frame, model, method, meta, meta=meta)
    like = meta_from_array(rows._meta, ndim=1 if columns is None else 2, dtype=dtype)
    shape: dict[str, Any] = {"drop_axis": 1}
    if columns is not None:
        shape = {"chunks": (rows.chunks[0], (len(columns),))}
        like = like.reshape((0, len(columns)))
    return rows.map_blocks(_of_array, model, method, like, dtype=dtype, meta=like, **shape)


def _of_array(X: NDArray, local: Any, method: str, like: NDArray) -> NDArray:
    return getattr(local, method)(X) if len(X) else like


def _of_frame(X: Any, local: Any, method: str, meta: Any) -> Any:
    if not len(X):
        return meta
    found = getattr(local, method)(X)
    if meta.ndim == 1:
        return type(meta)(found, index=X.index, dtype=meta.dtype)
    return type(meta)(found, index=X.index, columns=meta.columns)
