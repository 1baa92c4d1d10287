# SPDX-License-Identifier: MIT
"""The onnx package's node tests, which examples/node_tests.py writes as folders, and which opsets they are for."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))

from node_tests import SINCE, node_tests, write  # noqa: E402, F401

NEWEST = 28


def allows(case, opset):
    """Whether the operator of a test exists in an opset, with the attributes that it uses."""
    node = case.model.graph.node[0]
    batched = any(a.name == "batch_dims" and a.i != 0 for a in node.attribute)
    return opset >= (12 if batched else SINCE[node.op_type])
