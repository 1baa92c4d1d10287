# SPDX-License-Identifier: MIT
"""A cell as an OpenVINO model of one operator."""

import numpy as np
import openvino
from openvino import opset8

ELEMENTS = {
    "f32": "f32", "f16": "f16", "f64": "f64", "bool": "boolean", "str": "string", "u8": "u8", "u16": "u16",
    "u32": "u32", "u64": "u64", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64",
}  # fmt: skip
NODE = "gather"  # its name in the model
FITTING = "fit"  # the name of what makes data fit, where something must


def supports(cell):
    return "" if cell.dtype in ELEMENTS else f"no {cell.dtype}"


def _parameter(name, shape, dtype):
    made = opset8.parameter(list(shape), getattr(openvino.Type, ELEMENTS[dtype]), name)
    made.output(0).set_names({name})
    return made


def _fitting(cell, data):
    """GatherElements-6 wants equal extents off the axis: a StridedSlice goes first where they are not. A Slice is lost
    when the model is compiled."""
    if not cell.cut:
        return data
    stops = [part.stop for part in cell.cut]
    zeros, ones = [0] * len(stops), [1] * len(stops)
    bounds = (opset8.constant(np.array(bound, np.int64)) for bound in (zeros, stops, ones))
    return opset8.strided_slice(data, *bounds, zeros, zeros, [], [], [], name=FITTING)


def cell_model(cell):
    data = _parameter("data", cell.data, cell.dtype)
    indices = _parameter("indices", cell.indices, cell.index_dtype)
    if cell.op == "gather":
        node = opset8.gather(data, indices, opset8.constant(np.int64(cell.axis)), cell.batch_dims)
    elif cell.op == "gather_elements":
        node = opset8.gather_elements(_fitting(cell, data), indices, cell.axis)
    else:
        node = opset8.gather_nd(data, indices, cell.batch_dims)
    node.set_friendly_name(NODE)
    node.output(0).set_names({"out"})
    return openvino.Model([node], [data, indices], "cell")
