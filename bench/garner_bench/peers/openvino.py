# SPDX-License-Identifier: MIT
"""OpenVINO: a model of one operator, its tensors laid over the shared memory."""

import numpy as np
import openvino
from openvino import opset8

from . import Way

ELEMENTS = {
    "f32": "f32", "f16": "f16", "f64": "f64", "bool": "boolean", "str": "string", "u8": "u8", "u16": "u16",
    "u32": "u32", "u64": "u64", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64",
}  # fmt: skip
_core = openvino.Core()


def version():
    return openvino.__version__.split("-")[0]


def supports(cell):
    return "" if cell.dtype in ELEMENTS else f"no {cell.dtype}"


def _element(name):
    return getattr(openvino.Type, ELEMENTS[name])


def _fitting(cell, data):
    """GatherElements-6 wants equal extents off the axis: a Slice goes first where they are not."""
    if not cell.cut:
        return data
    stop = np.array([part.stop for part in cell.cut], np.int64)
    return opset8.slice(data, np.zeros_like(stop), stop, np.ones_like(stop))


def _model(cell):
    data = opset8.parameter(list(cell.data), _element(cell.dtype))
    indices = opset8.parameter(list(cell.indices), _element(cell.index_dtype))
    if cell.op == "gather":
        node = opset8.gather(data, indices, opset8.constant(np.int64(cell.axis)), cell.batch_dims)
    elif cell.op == "gather_elements":
        node = opset8.gather_elements(_fitting(cell, data), indices, cell.axis)
    else:
        node = opset8.gather_nd(data, indices, cell.batch_dims)
    return openvino.Model([node], [data, indices], "cell")


def _request(cell, threads):
    hints = {"PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1, "INFERENCE_NUM_THREADS": threads,
             "INFERENCE_PRECISION_HINT": "f32"}  # fmt: skip
    return _core.compile_model(_model(cell), "CPU", hints).create_infer_request()


def prepare(cell, inputs, context):
    request = _request(cell, context.threads)
    shared = lambda array: openvino.Tensor(array, shared_memory=True)  # noqa: E731
    request.set_input_tensor(1, shared(inputs.indices))
    if cell.dtype == "str":
        request.set_input_tensor(0, openvino.Tensor(np.array(inputs.strings).reshape(cell.data)))
        fetch = lambda _: request.get_output_tensor(0).str_data.astype(object)  # noqa: E731
    else:
        request.set_input_tensor(0, shared(inputs.data))
        request.set_output_tensor(0, shared(inputs.out))
        fetch = lambda _: inputs.out  # noqa: E731

    def asynchronous():
        request.start_async()
        request.wait()

    ways = [Way("start_async, wait", asynchronous, fetch)]
    if cell.dtype != "str":  # infer would copy the strings into its answer
        ways.append(Way("infer", lambda: request.infer(share_outputs=True), fetch))
    return ways
