# SPDX-License-Identifier: MIT
"""Writes an ONNX model that looks words up, some of them by a table of synonyms: lookup.py FILE.onnx"""

import sys

import onnx
from onnx import TensorProto, helper

WORDS = ["ant", "bee", "cat", "dog"]
SYNONYMS = [[0, 3], [1, 2], [2, 1], [3, 0]]

graph = helper.make_graph(
    [
        helper.make_node("Gather", ["synonyms", "rows"], ["ids"], name="find", axis=0),
        helper.make_node("Gather", ["words", "ids"], ["text"], name="spell", axis=0),
    ],
    "lookup",
    [helper.make_tensor_value_info("rows", TensorProto.INT64, ["count"])],
    [helper.make_tensor_value_info("text", TensorProto.STRING, ["count", 2])],
    [
        helper.make_tensor("synonyms", TensorProto.INT64, [4, 2], [i for row in SYNONYMS for i in row]),
        helper.make_tensor("words", TensorProto.STRING, [4], [word.encode() for word in WORDS]),
    ],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, producer_name="lookup.py")
onnx.checker.check_model(model)
onnx.save(model, sys.argv[1])
