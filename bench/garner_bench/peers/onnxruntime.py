# SPDX-License-Identifier: MIT
"""ONNX Runtime: a model of one node, its inputs and its output bound to the shared memory."""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from . import Way

ELEMENTS = {
    "f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "f64": TensorProto.DOUBLE, "bool": TensorProto.BOOL,
    "u8": TensorProto.UINT8, "u16": TensorProto.UINT16, "u32": TensorProto.UINT32, "u64": TensorProto.UINT64,
    "i8": TensorProto.INT8, "i16": TensorProto.INT16, "i32": TensorProto.INT32, "i64": TensorProto.INT64,
    "str": TensorProto.STRING,
}  # fmt: skip


def version():
    return onnxruntime.__version__


def supports(cell):
    return "" if cell.dtype in ELEMENTS else f"no {cell.dtype}"


def _node(cell, indices):
    """The node, and the shape of its indices: Gather has no batch_dims in ONNX, GatherND does."""
    inputs = ["data", indices]
    if cell.op == "gather" and not cell.batch_dims:
        return helper.make_node("Gather", inputs, ["out"], axis=cell.axis), cell.indices
    if cell.op == "gather_elements":
        return helper.make_node("GatherElements", inputs, ["out"], axis=cell.axis), cell.indices
    shape = cell.indices + (1,) if cell.op == "gather" else cell.indices
    return helper.make_node("GatherND", inputs, ["out"], batch_dims=cell.batch_dims), shape


def _model(cell):
    """GatherND takes i64 alone: narrower indices go through a Cast, as an exporter would write it."""
    node, shape = _node(cell, "indices")
    nodes = [node]
    if node.op_type == "GatherND" and cell.index_dtype != "i64":
        node, shape = _node(cell, "wide")
        nodes = [helper.make_node("Cast", ["indices"], ["wide"], to=TensorProto.INT64), node]
    data = helper.make_tensor_value_info("data", ELEMENTS[cell.dtype], cell.data)
    indices = helper.make_tensor_value_info("indices", ELEMENTS[cell.index_dtype], shape)
    out = helper.make_tensor_value_info("out", ELEMENTS[cell.dtype], cell.out)
    graph = helper.make_graph(nodes, "cell", [data, indices], [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString(), shape


def _session(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _bind(session, inputs, shape):
    binding = session.io_binding()
    arrays = {"data": inputs.data, "indices": inputs.indices.reshape(shape)}
    for name, array in arrays.items():
        binding.bind_input(name, "cpu", 0, array.dtype.type, array.shape, array.ctypes.data)
    out = inputs.out
    binding.bind_output("out", "cpu", 0, out.dtype.type, out.shape, out.ctypes.data)
    return binding


def prepare(cell, inputs, context):
    model, shape = _model(cell)
    session = _session(model, context.threads)
    if cell.dtype == "str":
        feeds = {"data": np.array(inputs.strings, object).reshape(cell.data), "indices": inputs.indices.reshape(shape)}
        return [Way("run", lambda: session.run(["out"], feeds)[0])]
    binding = _bind(session, inputs, shape)
    run = session._sess.run_with_iobinding  # what session.run_with_iobinding calls, less a Python frame
    bound = binding._iobinding
    return [Way("run_with_iobinding", lambda: run(bound, None), lambda _: inputs.out)]
