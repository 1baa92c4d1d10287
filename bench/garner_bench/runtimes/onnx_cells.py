# SPDX-License-Identifier: MIT
"""A cell as an ONNX model of one node."""

import onnx
from onnx import TensorProto, helper

ELEMENTS = {
    "f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "f64": TensorProto.DOUBLE, "bool": TensorProto.BOOL,
    "u8": TensorProto.UINT8, "u16": TensorProto.UINT16, "u32": TensorProto.UINT32, "u64": TensorProto.UINT64,
    "i8": TensorProto.INT8, "i16": TensorProto.INT16, "i32": TensorProto.INT32, "i64": TensorProto.INT64,
    "str": TensorProto.STRING,
}  # fmt: skip
NODE = "gather"  # its name in the model


def supports(cell):
    return "" if cell.dtype in ELEMENTS else f"no {cell.dtype}"


def _as_gather_nd(cell):
    """Gather has no batch_dims in ONNX, GatherND does."""
    return cell.op == "gather_nd" or cell.op == "gather" and cell.batch_dims > 0


def index_shape(cell):
    return cell.indices + (1,) if cell.op == "gather" and _as_gather_nd(cell) else cell.indices


def _node(cell, indices, out, name):
    if _as_gather_nd(cell):
        return helper.make_node("GatherND", ["data", indices], [out], name, batch_dims=cell.batch_dims)
    operator = "Gather" if cell.op == "gather" else "GatherElements"
    return helper.make_node(operator, ["data", indices], [out], name, axis=cell.axis)


def cell_model(cell, copies=1):
    """The model as bytes. GatherND takes i64 alone: narrower indices go through a Cast, as an exporter would write it.
    Of several copies of the node, one gives the model's output; the others' goes nowhere."""
    nodes, indices = [], "indices"
    if _as_gather_nd(cell) and cell.index_dtype != "i64":
        nodes, indices = [helper.make_node("Cast", ["indices"], ["wide"], "cast", to=TensorProto.INT64)], "wide"
    nodes += [_node(cell, indices, f"unused{copy}", f"{NODE}{copy}") for copy in range(1, copies)]
    nodes.append(_node(cell, indices, "out", NODE))
    inputs = [helper.make_tensor_value_info("data", ELEMENTS[cell.dtype], cell.data),
              helper.make_tensor_value_info("indices", ELEMENTS[cell.index_dtype], index_shape(cell))]  # fmt: skip
    out = helper.make_tensor_value_info("out", ELEMENTS[cell.dtype], cell.out)
    graph = helper.make_graph(nodes, "cell", inputs, [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString()
