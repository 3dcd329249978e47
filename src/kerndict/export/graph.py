"""A graph that grows node by node: each operation returns the name of its result."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike, NDArray
from onnx import helper, numpy_helper

#: The operators as they were in 2022, and the version of the file format that goes with them.
OPSET, IR_VERSION = 18, 8


class Graph:
    """An ONNX graph in one precision.

    Parameters
    ----------
    dtype : of all that is computed
    eps : the rounding of the model: that of its own precision or of ``dtype``, the larger
    """

    def __init__(self, dtype: np.dtype, eps: float) -> None:
        self.dtype = dtype
        self.eps = eps
        self._nodes: list[Any] = []
        self._constants: dict[tuple, str] = {}
        self._arrays: list[Any] = []

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one result."""
        name = f"t{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def reals(self, values: ArrayLike) -> str:
        """Add a constant in the precision of the graph."""
        with np.errstate(over="ignore"):  # what float32 has no room for becomes infinite
            return self.constant(np.asarray(values, np.float64).astype(self.dtype))

    def indices(self, values: ArrayLike) -> str:
        """Add a constant of whole numbers."""
        return self.constant(np.asarray(values, np.int64))

    def constant(self, array: NDArray) -> str:
        """Add a constant, or take an equal one that is there."""
        array = np.ascontiguousarray(array).reshape(array.shape)
        if array.dtype.kind in "OU":
            key: tuple = ("text", array.shape, *array.ravel().tolist())
        else:
            key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            name = self._constants[key] = f"c{len(self._constants)}"
            if array.dtype.kind in "OU":
                text = [str(value).encode() for value in array.ravel()]
                kind = onnx.TensorProto.STRING
                self._arrays.append(helper.make_tensor(name, kind, array.shape, text))
            else:
                self._arrays.append(numpy_helper.from_array(array, name))
        return self._constants[key]

    def cast(self, value: str, dtype: Any = None) -> str:
        """Convert numbers, to the precision of the graph unless told otherwise."""
        wanted = np.dtype(self.dtype if dtype is None else dtype)
        return self.op("Cast", value, to=helper.np_dtype_to_tensor_dtype(wanted))

    def reduce(self, kind: str, value: str, axis: int, keep: bool = False) -> str:
        """Add the sum, the largest or another summary along an axis."""
        return self.op(kind, value, self.indices([axis]), keepdims=int(keep))

    def reshape(self, value: str, *shape: int) -> str:
        """Give another shape; 0 keeps a length, -1 is what is left."""
        return self.op("Reshape", value, self.indices(shape))

    def columns(self, value: str, places: ArrayLike, axis: int = 1) -> str:
        """Take columns, or what lies along another axis."""
        return self.op("Gather", value, self.indices(places), axis=axis)

    def model(self, n_features: int, outputs: dict[str, tuple[str, Any, tuple]]) -> Any:
        """Return all that was added as a model.

        Parameters
        ----------
        n_features : the columns of the input ``X``
        outputs : name, dtype and shape behind the samples, by the name that they get
        """
        for name, (value, _, _) in outputs.items():
            self._nodes.append(helper.make_node("Identity", [value], [name]))
        graph = helper.make_graph(
            self._nodes,
            "kerndict",
            [_value("X", self.dtype, (n_features,))],
            [_value(name, dtype, shape) for name, (_, dtype, shape) in outputs.items()],
            self._arrays,
        )
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


def _value(name: str, dtype: np.dtype | type, shape: Sequence[int]) -> Any:
    text = np.dtype(dtype).kind in "OU"
    kind = onnx.TensorProto.STRING if text else helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, kind, ["n_samples", *shape])
