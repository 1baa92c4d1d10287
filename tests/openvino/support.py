# SPDX-License-Identifier: MIT
"""Models of one gather, in OpenVINO's format and in ONNX, and what they must give, by the formula of the specification.

Elements are codes: whole numbers of the type's bits, so that nothing is lost on the way into a tensor and back.
"""

from dataclasses import dataclass, field

import numpy as np
import openvino as ov

import garner.openvino

TYPES = ("boolean bf16 f16 f32 f64 i4 i8 i16 i32 i64 u1 u2 u3 u4 u6 u8 u16 u32 u64 nf4 f8e4m3 f8e5m2 f8e8m0 f4e2m1 string").split()
BITS = {"boolean": 8, "bf16": 16, "nf4": 4, "f8e4m3": 8, "f8e5m2": 8, "f8e8m0": 8, "f4e2m1": 4}
EXACT = {"INFERENCE_PRECISION_HINT": "f32"}  # elsewhere than on x86-64 the plug-in's default is f16
PORTS = {"boolean": "BOOL", "f16": "FP16", "f32": "FP32", "f64": "FP64"}


def bits_of(name):
    return BITS.get(name) or int(name[1:])


# ---- What must come out ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One operator on given shapes. `index` gives each index of the operator its value."""

    operator: str
    data: tuple
    indices: tuple
    axis: int = 0
    batch_dims: int = 0
    merged: bool = False  # GatherND-5: the batch axes of the result are one
    attributes: dict = field(default_factory=dict, hash=False)

    @property
    def depth(self):
        return self.indices[-1] if self.operator == "GatherND" else 1

    def make_indices(self, rng, negative):
        """Indices of every value that is allowed, negative ones only if so asked."""
        extents = [self.data[self.batch_dims + k] for k in range(self.depth)] if self.operator == "GatherND" else [self.data[self.axis]]
        columns = [rng.integers(-extent if negative else 0, extent, self.indices) for extent in extents]
        if self.operator != "GatherND":
            return columns[0]
        return np.stack([column[..., k] for k, column in enumerate(columns)], axis=-1)

    def positions(self, indices):
        """For each element of the result, the flat position in data that it comes from."""
        count = np.arange(int(np.prod(self.data))).reshape(self.data)
        shape = self.shape()
        found = np.empty(shape, dtype=np.int64)
        for at in np.ndindex(*shape):
            found[at] = count[self.source(at, indices)]
        return found.reshape(self.result_shape())

    def shape(self):
        b, axis, data, indices = self.batch_dims, self.axis, self.data, self.indices
        if self.operator == "GatherElements":
            return indices
        if self.operator == "GatherND":
            return indices[:-1] + data[b + self.depth :]
        return data[:axis] + indices[b:] + data[axis + 1 :]

    def result_shape(self):
        shape, b = self.shape(), self.batch_dims
        return (int(np.prod(shape[:b])), *shape[b:]) if self.merged and b > 1 else shape

    def source(self, at, indices):
        b, axis = self.batch_dims, self.axis
        if self.operator == "GatherElements":
            return at[:axis] + (int(indices[at]),) + at[axis + 1 :]
        if self.operator == "GatherND":
            lead = len(self.indices) - 1
            return at[:b] + tuple(int(i) for i in indices[at[:lead]]) + at[lead:]
        inner = len(self.indices) - b
        return at[:axis] + (int(indices[at[:b] + at[axis : axis + inner]]),) + at[axis + inner :]


# ---- Tensors -----------------------------------------------------------------------------------------------------------


def codes_for(name, count, rng):
    if name == "string":
        return np.array([f"s{i}" * (1 + i % 3) + ("" if i % 4 else " and more than fits in place") for i in range(count)], dtype=object)
    return rng.integers(0, 2 if name == "boolean" else 2 ** bits_of(name), count, dtype=np.uint64)


def pack(name, codes):
    """Codes as the bytes of a tensor. Of the packed types only those that the plug-in lets in: element 0 in the low bits."""
    bits = bits_of(name)
    if bits >= 8:
        return codes.astype(f"<u{bits // 8}").tobytes()
    padded = np.append(codes, np.zeros(-len(codes) % (8 // bits), np.uint64)).reshape(-1, 8 // bits)
    return (padded << (np.arange(8 // bits, dtype=np.uint64) * np.uint64(bits))).sum(axis=1).astype(np.uint8).tobytes()


def type_of(name):
    return getattr(ov.Type, name)


def tensor_of(name, codes, shape):
    if name == "string":
        return ov.Tensor(np.array(codes.tolist()).reshape(shape))
    tensor = ov.Tensor(type_of(name), ov.Shape(shape))
    if len(codes):
        tensor.data.view(np.uint8).reshape(-1)[:] = np.frombuffer(pack(name, codes), np.uint8)
    return tensor


def content_of(name, tensor):
    """A tensor's elements in a form to compare: bytes, or a list of strings."""
    if name == "string":
        return tensor.str_data.reshape(-1).tolist()
    return tensor.data.view(np.uint8).tobytes() if tensor.size else b""


def content_for(name, codes):
    return codes.tolist() if name == "string" else pack(name, codes)


# ---- Models ------------------------------------------------------------------------------------------------------------


def _port(number, name, shape):
    return f'<port id="{number}" precision="{PORTS.get(name, name.upper())}">{"".join(f"<dim>{d}</dim>" for d in shape)}</port>'


def keep_tuples(case, shape, free):
    """A dynamic shape; but without the length of GatherND's tuples the result has no rank, and the plug-in refuses it."""
    return [*free[:-1], shape[-1]] if case.operator == "GatherND" and shape is case.indices else free


def ir_of(case, opset, name, index_name, kind="static"):
    """The model as an .xml text and its .bin."""

    def shaped(shape):
        free = [-1] * len(shape)
        return shape if kind == "static" else keep_tuples(case, shape, free)

    def layer(number, label, what, version, data="", inputs="", outputs=""):
        inputs = inputs and f"<input>{inputs}</input>"
        outputs = outputs and f"<output>{outputs}</output>"
        return f'<layer id="{number}" name="{label}" type="{what}" version="{version}">{data}{inputs}{outputs}</layer>'

    def parameter(number, label, kind_of, shape):
        text = "..." if kind == "dynamic rank" else ",".join(map(str, shaped(shape)))
        return layer(number, label, "Parameter", "opset1", f'<data shape="{text}" element_type="{kind_of}"/>', "", _port(0, kind_of, shaped(shape)))

    inputs = _port(0, name, shaped(case.data)) + _port(1, index_name, shaped(case.indices))
    layers = [parameter(0, "data", name, case.data), parameter(1, "indices", index_name, case.indices)]
    edges = [(0, 0, 3, 0), (1, 0, 3, 1), (3, 3, 4, 0)]
    if case.operator == "Gather":
        layers.append(layer(2, "axis", "Const", "opset1", '<data element_type="i64" shape="" offset="0" size="8"/>', "", _port(0, "i64", ())))
        edges.append((2, 0, 3, 2))
        inputs += _port(2, "i64", ())
    attributes = "".join(f' {key}="{value}"' for key, value in case.attributes.items())
    result = shaped(case.result_shape())
    layers.append(layer(3, "gather", case.operator, opset, f"<data{attributes}/>" if attributes else "", inputs, _port(3, name, result)))
    layers.append(layer(4, "result", "Result", "opset1", "", _port(0, name, result)))
    lines = "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in edges)
    text = f'<?xml version="1.0"?><net name="one" version="11"><layers>{"".join(layers)}</layers><edges>{lines}</edges></net>'
    return text.encode(), np.int64(case.axis).tobytes()


def onnx_of(case, opset, number, index_number, kind="static"):
    """The model as the bytes of an .onnx file; numbers are TensorProto's."""
    from onnx import helper

    def shaped(shape, label):
        if kind == "dynamic rank":
            return None
        return list(shape) if kind == "static" else keep_tuples(case, shape, [f"{label}{i}" for i in range(len(shape))])

    values = [helper.make_tensor_value_info("data", number, shaped(case.data, "d")),
              helper.make_tensor_value_info("indices", index_number, shaped(case.indices, "i")),
              helper.make_tensor_value_info("out", number, shaped(case.result_shape(), "o"))]  # fmt: skip
    node = helper.make_node(case.operator, ["data", "indices"], ["out"], "gather", **case.attributes)
    model = helper.make_model(helper.make_graph([node], "one", values[:2], values[2:]), opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    return model.SerializeToString()


def core_with_garner(**options):
    """A core with the extension, which takes small layers, too, unless told otherwise."""
    core = ov.Core()
    core.add_extension(garner.openvino.library(**{"min_bytes": 0, **options}))
    return core


def layers_of(compiled):
    """Name and type of each layer that the plug-in runs, but for its inputs, outputs and constants."""
    told = [(node.get_friendly_name(), str(node.get_rt_info()["layerType"].value)) for node in compiled.get_runtime_model().get_ordered_ops()]
    return [(name, what) for name, what in told if what not in ("Input", "Output", "Const")]


def assert_ours(compiled, count=1):
    """That the plug-in runs nothing but garner's layers: it has no kernel for them, so it calls them by reference."""
    layers = layers_of(compiled)
    assert [what for _, what in layers] == ["Reference"] * count, f"not only garner's layers: {layers}"


def infer(compiled, *inputs):
    request = compiled.create_infer_request()
    for port, tensor in enumerate(inputs):
        request.set_input_tensor(port, tensor if isinstance(tensor, ov.Tensor) else ov.Tensor(tensor))
    request.infer()
    return request.get_output_tensor(0)
