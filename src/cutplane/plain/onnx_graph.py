"""Nodes of an ONNX graph, written as calls: each gives the name of its result."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

# Old enough for every runtime of the last years; the newest operators here are of opset 13.
OPSET, IR_VERSION = 17, 8
_TYPES = {"f": TensorProto.DOUBLE, "i": TensorProto.INT64, "b": TensorProto.BOOL, "s": TensorProto.STRING}

_INPUTS = {"float": TensorProto.FLOAT, "double": TensorProto.DOUBLE, "letters": TensorProto.INT64}


class Graph:
    """A graph of one input X, computing in double precision.

    Parameters
    ----------
    width : int
        Columns of X.
    kind : str
        "float" or "double" for X in single or in double precision, "letters" for whole numbers.
    """

    def __init__(self, width: int, kind: str) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._input = helper.make_tensor_value_info("X", _INPUTS[kind], ["n", width])
        self.X = self.op("Cast", "X", to=TensorProto.DOUBLE) if kind == "float" else "X"

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """A node of one result."""
        name = f"{kind}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def numbers(self, values: object) -> str:
        """Numbers in double precision that do not change."""
        return self._constant(np.asarray(values, np.float64))

    def integers(self, values: object) -> str:
        """Whole numbers that do not change."""
        return self._constant(np.asarray(values, np.int64))

    def labels(self, labels: NDArray[Any]) -> str:
        """Labels that do not change, all of one type."""
        return self._constant(onnx_labels(labels))

    def _constant(self, array: NDArray[Any]) -> str:
        name = f"constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(array, name))
        return name

    def sum(self, values: str, axis: int) -> str:
        """Sums along an axis, which stays with length 1."""
        return self.op("ReduceSum", values, self.integers([axis]), keepdims=1)

    def top(self, values: str, count: int) -> str:
        """The highest of each row, from the highest on."""
        name = f"TopK_{len(self._nodes)}"
        places = f"{name}_places"  # the second result, which nobody needs
        self._nodes.append(
            helper.make_node("TopK", [values, self.integers([count])], [name, places], name=name, axis=1)
        )
        return name

    def codes(self, truth: str) -> str:
        """0 and 1 as numbers in double precision."""
        return self.op("Cast", truth, to=TensorProto.DOUBLE)

    def indices(self, values: str) -> str:
        """As whole numbers."""
        return self.op("Cast", values, to=TensorProto.INT64)

    def column(self, values: str) -> str:
        """Of shape (n, 1), as an array of shape (n,)."""
        return self.op("Squeeze", values, self.integers([1]))

    def slice(self, values: str, axis: int, begin: int, end: int) -> str:
        """Entries from `begin` up to `end` along an axis."""
        return self.op("Slice", values, self.integers([begin]), self.integers([end]), self.integers([axis]))

    def output(self, name: str, values: str, kind: str, width: int | None = None) -> None:
        """Hand a result over under a name: a column or `width` of them; `kind` is f, i, b or s, as `_TYPES` has it."""
        self._nodes.append(helper.make_node("Identity", [values], [name], name=name))
        shape: list[str | int | None] = ["n"] if width is None else ["n", width]
        self._outputs.append(helper.make_tensor_value_info(name, _TYPES[kind], shape))

    def model(self, name: str, metadata: dict[str, str]) -> onnx.ModelProto:
        """The whole graph, checked."""
        graph = helper.make_graph(self._nodes, name, [self._input], self._outputs, self._constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="cutplane")
        model.ir_version = IR_VERSION
        helper.set_model_props(model, metadata)
        onnx.checker.check_model(model)
        return model


def onnx_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels in a type that ONNX has; `ValueError` where there is none."""
    if labels.dtype.kind in "iu":
        return labels.astype(np.int64)
    if labels.dtype.kind == "b":
        return labels
    if labels.dtype.kind == "f":
        return labels.astype(np.float64)
    values = labels.tolist()
    if not all(isinstance(label, str) for label in values):
        raise ValueError("ONNX has no labels of several types; numbers, booleans or text alone can be exported.")
    return np.array(values, dtype=object)
