# SPDX-License-Identifier: MIT
"""Writes a model as exporters do, of which garner runs the gathers alone: python reader.py reader.onnx

A sentence's words and their places are looked up, four layers mix them, and the first word's row is the answer.
Needs the onnx package.
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH, LAYERS = 64, 4

constants = {
    "words": np.zeros((5000, WIDTH), np.float32),
    "places": np.zeros((512, WIDTH), np.float32),
    "weight": np.zeros((WIDTH, WIDTH), np.float32),
    "numbers": np.arange(512),
    "zero": np.array([0]),
    "second": np.array(1),
    "first": np.array(0),
}
nodes = [
    helper.make_node("Shape", ["ids"], ["shape"]),
    helper.make_node("Gather", ["shape", "second"], ["length"], "how_long"),
    helper.make_node("Unsqueeze", ["length", "zero"], ["end"]),
    helper.make_node("Slice", ["numbers", "zero", "end"], ["counted"]),
    helper.make_node("Gather", ["words", "ids"], ["meant"], "look_up"),
    helper.make_node("Gather", ["places", "counted"], ["placed"], "place"),
    helper.make_node("Add", ["meant", "placed"], ["x0"]),
]
for k in range(LAYERS):
    nodes += [
        helper.make_node("MatMul", [f"x{k}", "weight"], [f"y{k}"]),
        helper.make_node("GatherElements", [f"y{k}", "partners"], [f"z{k}"], f"mix{k}", axis=1),
        helper.make_node("Add", [f"x{k}", f"z{k}"], [f"x{k + 1}"]),
    ]
nodes.append(helper.make_node("Gather", [f"x{LAYERS}", "first"], ["answer"], "answer", axis=1))

inputs = [
    helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "length"]),
    helper.make_tensor_value_info("partners", TensorProto.INT64, ["batch", "length", WIDTH]),
]
outputs = [helper.make_tensor_value_info("answer", TensorProto.FLOAT, ["batch", WIDTH])]
tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
graph = helper.make_graph(nodes, "reader", inputs, outputs, tensors)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])
