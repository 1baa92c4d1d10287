# SPDX-License-Identifier: MIT
"""Models of one node, and sessions that tell who runs it."""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

import garner.onnxruntime

OURS, THEIRS = "GarnerExecutionProvider", "CPUExecutionProvider"
GATHERS = ("Gather", "GatherElements", "GatherND")
BF16 = TensorProto.BFLOAT16
NUMPY = {
    TensorProto.FLOAT: "f4", TensorProto.UINT8: "u1", TensorProto.INT8: "i1", TensorProto.UINT16: "u2",
    TensorProto.INT16: "i2", TensorProto.INT32: "i4", TensorProto.INT64: "i8", TensorProto.STRING: "O",
    TensorProto.BOOL: "?", TensorProto.FLOAT16: "f2", TensorProto.DOUBLE: "f8", TensorProto.UINT32: "u4",
    TensorProto.UINT64: "u8", TensorProto.COMPLEX64: "c8", TensorProto.COMPLEX128: "c16",
}  # fmt: skip


def model_of(nodes, inputs, outputs, opset=13, initializers=()):
    """A model's bytes. Inputs and outputs: name -> (type, shape or None)."""
    def infos(table):
        return [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in table.items()]

    graph = helper.make_graph(nodes, "g", infos(inputs), infos(outputs), list(initializers))
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()


def one_node(operator, dtype, index_dtype=TensorProto.INT64, opset=13, shapes=(None, None), **attributes):
    """Inputs x and i, output y. No array of NumPy's is bf16: there, what comes in and goes out is f32."""
    node = helper.make_node(operator, ["x", "i"], ["y"], name="n", **attributes)
    if dtype == BF16:
        node.input[0], node.output[0] = "narrow", "gathered"
        nodes = [helper.make_node("Cast", ["x"], ["narrow"], to=BF16), node,
                 helper.make_node("Cast", ["gathered"], ["y"], to=TensorProto.FLOAT)]  # fmt: skip
        dtype = TensorProto.FLOAT
    else:
        nodes = [node]
    return model_of(nodes, {"x": (dtype, shapes[0]), "i": (index_dtype, shapes[1])}, {"y": (dtype, None)}, opset)


def options_of(threads=1):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    return options


def with_garner(model, threads=1, **provider_options):
    return onnxruntime.InferenceSession(model, garner.onnxruntime.session_options(options_of(threads), **provider_options))


def without(model, threads=1):
    return onnxruntime.InferenceSession(model, options_of(threads), providers=[THEIRS])


def providers(session):
    """Who runs the gathers: a list of names, one for each node, subgraphs' too."""
    return [
        part.ep_name
        for part in session.get_provider_graph_assignment_info()
        for node in part.get_nodes()
        if node.op_type in GATHERS
    ]


def same_bits(got, want):
    assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, got.shape, want.dtype, want.shape)
    if want.dtype == object:
        assert got.tolist() == want.tolist()
    else:
        assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(want).tobytes()
