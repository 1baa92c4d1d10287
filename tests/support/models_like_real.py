# SPDX-License-Identifier: MIT
"""Models as exporters write them, small and without meaning: many operators that garner does not run, symbolic
extents, shapes that are computed, and little said of what is in between."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, FLOAT16, INT64 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64


class Maker:
    """Collects nodes; every call gives the names of what the node makes."""

    def __init__(self):
        self.nodes, self.constants, self.infos = [], {}, []

    def constant(self, name, array):
        self.constants[name] = numpy_helper.from_array(np.asarray(array), name)
        return name

    def __call__(self, kind, *inputs, outputs=1, info=None, **attributes):
        name = f"/model/{kind}_{len(self.nodes)}"
        made = [f"{name}_output_{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, made, name, **attributes))
        if info:
            self.infos.append(helper.make_tensor_value_info(made[0], *info))
        return made[0] if outputs == 1 else made

    def save(self, path, name, inputs, outputs, opset=17):
        ports = [[helper.make_tensor_value_info(*port) for port in side] for side in (inputs, outputs)]
        graph = helper.make_graph(self.nodes, name, *ports, list(self.constants.values()), value_info=self.infos)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)


def bert(path, layers=12, width=16):
    """Three embeddings, the arithmetic with shapes of the old exporter, attention; relative positions by GatherElements."""
    m = Maker()
    zero, one, first = m.constant("zero", 0), m.constant("one", 1), m.constant("first", [0])
    shape = m("Shape", "ids")
    sizes = [m("Unsqueeze", m("Gather", shape, at), first) for at in (zero, one)]
    positions = m("Slice", m.constant("positions", np.arange(64)[None]), first, sizes[1], m.constant("second", [1]))
    words = m("Gather", m.constant("words", np.zeros((500, width), "f4")), "ids")
    places = m("Gather", m.constant("places", np.zeros((64, width), "f4")), positions)
    kinds = m("Gather", m.constant("kinds", np.zeros((2, width), "f4")), "types")
    norm, weight = m.constant("norm", np.ones(width, "f4")), m.constant("weight", np.zeros((width, width), "f4"))
    x = m("LayerNormalization", m("Add", m("Add", words, places), kinds), norm)
    for _ in range(layers):
        scores = m("Softmax", m("MatMul", m("MatMul", x, weight), m("Transpose", m("MatMul", x, weight), perm=[0, 2, 1])))
        picked = m("GatherElements", scores, "near", axis=2)
        x = m("LayerNormalization", m("Add", x, m("Relu", m("MatMul", m("MatMul", picked, x), weight))), norm)
    pooled = m("Gather", x, zero, axis=1)
    shaped = m("Reshape", pooled, m("Concat", *sizes, axis=0))
    m.save(path, "bert", [("ids", INT64, ["batch", "length"]), ("types", INT64, ["batch", "length"]), ("near", INT64, ["batch", "length", "length"])],
           [(shaped, FLOAT, None)])


def detector(path, levels=5):
    """A backbone, levels of proposals, boxes whose columns are picked one by one, and a loop; over 300 nodes."""
    m = Maker()
    at = [m.constant(f"at{k}", k) for k in range(4)]
    kernel, top = m.constant("kernel", np.zeros((3, 3, 3, 3), "f4")), m.constant("top", [10])
    x, kept = "image", []
    for level in range(levels):
        for _ in range(8):
            x = m("Relu", m("BatchNormalization", m("Conv", x, kernel), *[m.constant("ones", np.ones(3, "f4"))] * 4))
            x = m("Add", x, m("Sigmoid", m("Mul", x, x)))
        boxes = m("Reshape", m("MaxPool", x, kernel_shape=[2, 2]), m.constant("four", [-1, 4]), info=(FLOAT, [100, 4]))
        left, upper, right, lower = (m("Gather", boxes, k, axis=1) for k in at)
        area = m("Mul", m("Sub", right, left), m("Sub", lower, upper))
        _, best = m("TopK", area, top, outputs=2)
        rows = m("Unsqueeze", best, m.constant("last", [-1]))
        kept.append(m("GatherND", boxes, rows))
        m("NonZero", m("Greater", area, m.constant("tiny", np.float32(0.1))))
    every = m("Concat", *kept, axis=0)
    chosen = m("Reshape", m("NonMaxSuppression", m("Unsqueeze", every, m.constant("front", [0])), m("Reshape", area, m.constant("scores", [1, 1, -1]))),
               m.constant("flat", [-1]))
    count, go, value = helper.make_tensor_value_info("n", INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, []), ("v", FLOAT, None)
    steps = [helper.make_node("Identity", ["go"], ["goes"]), helper.make_node("Relu", ["v"], ["w"])]
    goes, after = helper.make_tensor_value_info("goes", TensorProto.BOOL, []), helper.make_tensor_value_info("w", FLOAT, None)
    body = helper.make_graph(steps, "body", [count, go, helper.make_tensor_value_info(*value)], [goes, after])
    every = m("Loop", m.constant("times", 3), "", every, body=body)
    result = m("Gather", every, chosen)
    m.save(path, "detector", [("image", FLOAT, [1, 3, "height", "width"])], [(result, FLOAT, None)])
    assert len(m.nodes) > 300
