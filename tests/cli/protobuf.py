# SPDX-License-Identifier: MIT
"""Protobuf by hand, for files that no library would write, and models made by the onnx package."""

import onnx
from onnx import TensorProto, helper, numpy_helper


def varint(value):
    value &= 2**64 - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + bytes(content)


def model(nodes, inputs=(), outputs=("y",), initializers=(), opset=21, **more):
    """A model of f32 tensors; inputs and outputs are names or ValueInfoProtos."""

    def info(value):
        return helper.make_tensor_value_info(value, TensorProto.FLOAT, None) if isinstance(value, str) else value

    graph = helper.make_graph(list(nodes), "g", [info(i) for i in inputs], [info(o) for o in outputs],
                              initializer=list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], **more)


def value(name, dtype, shape=None):
    return helper.make_tensor_value_info(name, dtype, shape)


def passing(tensor, opset=28):
    """A model whose output y is a constant, through Identity."""
    named = TensorProto()
    named.CopyFrom(tensor)
    named.name = "w"
    return model([helper.make_node("Identity", ["w"], ["y"], name="i")], (),
                 [value("y", tensor.data_type)], [named], opset)


def gathering(tensor, indices, axis=0, opset=21):
    """A model that gathers from a constant named w."""
    node = helper.make_node("Gather", ["w", "i"], ["y"], name="g", axis=axis)
    return model([node], (), [value("y", tensor.data_type)],
                 [tensor, numpy_helper.from_array(indices, "i")], opset)


def save(proto, path):
    path.write_bytes(proto.SerializeToString())
    return path


__all__ = ["onnx", "TensorProto", "helper", "numpy_helper", "varint", "number", "block", "model", "value",
           "passing", "gathering", "save"]
