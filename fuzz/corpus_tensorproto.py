# SPDX-License-Identifier: MIT
"""Small TensorProtos, whole and slightly broken: python fuzz/corpus_tensorproto.py FOLDER"""

import pathlib
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper

FIELDS = {1: "float_data", 7: "int64_data", 11: "double_data", 13: "uint64_data", 14: "float_data"}


def tensors():
    """One of each type and field."""
    for dtype in range(1, 27):
        if dtype == 8:
            yield helper.make_tensor("s", 8, [3], [b"a", b"", b"long" * 9])
            continue
        size = len(numpy.atleast_1d(numpy.zeros(4, helper.tensor_dtype_to_np_dtype(dtype))).tobytes())
        yield TensorProto(name="r", dims=[4], data_type=dtype, raw_data=bytes(range(size)))
        typed = TensorProto(name="t", dims=[2, 2], data_type=dtype)
        getattr(typed, FIELDS.get(dtype, "int32_data")).extend([1] * (8 if dtype in (14, 15) else 4))
        yield typed
    yield numpy_helper.from_array(numpy.zeros((2, 0, 3), "f4"), "empty")
    external = TensorProto(name="e", dims=[1], data_type=1, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "w.bin"), ("offset", "0"), ("length", "4")):
        external.external_data.add(key=key, value=value)
    yield external


def variants(content):
    yield content
    yield content[: len(content) // 2]
    yield content + b"\x00"
    yield content + b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
    yield content + b"\x0b\x0c"


def main():
    folder = pathlib.Path(sys.argv[1])
    files = [variant for tensor in tensors() for variant in variants(tensor.SerializeToString())]
    for number, content in enumerate(files):
        (folder / str(number)).write_bytes(content)


if __name__ == "__main__":
    main()
