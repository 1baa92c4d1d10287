# SPDX-License-Identifier: MIT
"""Cases as OpenVINO IR: every opset, constants in the .bin, Convert, the axis of a Gather as a constant or an input."""

import struct
from xml.sax.saxutils import quoteattr

import numpy as np

FORMAT = "ir"
PASSES_ON = False
CONVERSIONS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32")
EQUAL = True  # indices of GatherElements have data's extents but on the axis
NEGATIVE = 0.3
# What the CPU plugin keeps: it computes 64-bit types and u32 in i32 and f32, and f16 and bf16 in f32.
PLAIN = {"f64": (-(2**20), 2**20), "f16": (-200, 200), "bf16": (-200, 200), "i64": (-(2**31), 2**31), "u64": (0, 2**31), "u32": (0, 2**31)}
FLUSHES = True  # the CPU plugin makes zeros of denormal f32
ELEMENT = {"bool": "boolean", "str": "string"}
PORT = {"bool": "BOOL", "str": "STRING", "f64": "FP64", "f32": "FP32", "f16": "FP16"}
OPSETS = {
    ("Gather", "openvino-1"): range(1, 7), ("Gather", "openvino-7"): (7,), ("Gather", "openvino-8"): range(8, 17),
    ("GatherElements", "openvino-6"): range(6, 17), ("GatherND", "openvino-5"): range(5, 8), ("GatherND", "openvino-8"): range(8, 17),
}  # fmt: skip
TYPES = ("f32", "f32", "f64", "f16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool", "bf16", "str")


def traits(rng):
    return {"version": 10 if rng.random() < 0.1 else 11, "gap": int(rng.choice((0, 0, 1, 64))), "opsets": rng.integers(0, 99, 40).tolist()}


def operators(traits):
    return list(OPSETS)


def types(traits):
    return TYPES


def index_types(operator, version):
    return ("i32", "i64") if operator == "GatherElements" else ("i32", "i64", "i32", "u8", "i8", "i16", "u16", "u32")


def sources(dtype, is_empty):
    return "input", "constant"


def axis_is_input(node):
    return node.operator == "Gather"


def tells_width(indices):
    """Whether a model states how long the tuples of GatherND are, as the CPU plugin wants it."""
    if indices.source == "node":
        return indices.is_fixed
    return indices.source == "constant" or bool(indices.shape) and isinstance(indices.shape[-1], int)


def doubts(node):
    """Where OpenVINO departs from the specifications, alone, and with garner in what it keeps for itself."""
    data, indices = node.inputs
    rank = data.array.ndim
    is_gather = node.operator == "Gather"
    if data.dtype == "str" and (not is_gather or indices.dtype not in ("i32", "i64")):
        return {"alone"}  # it has none
    if node.version == "openvino-1" and node.batch_dims:
        return {"alone", "inside"}  # an attribute that the version does not have is not read
    extent = data.array.shape[node.axis % rank] if is_gather and rank else 0
    is_outside = ((indices.array < -extent) | (indices.array >= extent)).any()
    is_shape = is_gather and rank == 1 and data.dtype in ("i32", "i64") and data.source == "node" and indices.is_fixed
    if is_gather and rank == 1 and is_outside and data.dtype not in ("f32", "f64", "f16"):
        return {"alone", "inside", "dangerous"} if is_shape else {"alone", "dangerous"}  # memory of others
    if is_gather and (goes_wrong_on_x86(node) or is_taken_for_data(node, extent)):
        return {"alone", "dangerous"}
    if is_gather and node.version == "openvino-8":
        return set()
    if node.out.array is not None and not (indices.array < 0).any():
        return set()
    if is_gather:  # a negative index is zeros; garner leaves arithmetic with shapes to the runtime
        return {"alone", "inside"} if is_shape else {"alone"}
    return {"alone", "dangerous"}  # memory of others


def goes_wrong_on_x86(node):
    """Its Gather divides by the number of indices and of elements; with a single batch it takes memory of others."""
    data, indices = (value.array for value in node.inputs)
    batch = node.batch_dims + (indices.ndim if node.batch_dims < 0 else 0)
    return not data.size or not indices.size or batch > 0 and np.prod(data.shape[:batch]) == 1


def is_taken_for_data(node, extent):
    """Its transformations find nothing to gather where constant indices are 0, 1, 2, ..., in however many batches, and where
    there is one element, whatever the indices are."""
    indices = node.inputs[1].array
    if extent == 1:
        return bool(((indices < -1) | (indices > 0)).any())
    return node.batch_dims != 0 and indices.size == extent and (indices.reshape(-1) == np.arange(extent)).all()


# ---- Files -----------------------------------------------------------------------------------------


def dims(shape):
    return ",".join("?" if not isinstance(n, int) else str(n) for n in shape) if shape is not None else "..."


def bytes_of(value):
    """As they lie in the .bin. Strings: how many there are, where each begins and the last one ends, and their characters."""
    if value.dtype != "str":
        return np.ascontiguousarray(value.array).tobytes()
    words = [word.encode() for word in value.array.reshape(-1)]
    ends = np.cumsum([0, *map(len, words)]).astype("<i4")
    return struct.pack("<i", len(words)) + ends.tobytes() + b"".join(words)


class Writer:
    def __init__(self, case):
        self.case, self.content, self.layers, self.edges, self.port_of = case, bytearray(), [], [], {}

    def layer(self, name, kind, opset, data="", inputs=(), out=None):
        """A layer behind the ones that make its inputs; out is its value, if it has one."""
        number = len(self.layers)
        for i, value in enumerate(inputs):
            self.edges.append((*self.port_of[id(value)], number, i))
        ports = "".join(f'<port id="{i}"/>' for i in range(len(inputs)))
        text = f'<layer id="{number}" name={quoteattr(name)} type="{kind}" version="opset{opset}">'
        text += f"<data {data}/>" * bool(data) + f"<input>{ports}</input>" * bool(inputs)
        if out is not None:
            self.port_of[id(out)] = number, len(inputs)
            open_dims = "<dim>-1</dim>" * (out.array.ndim if out.array is not None else 0)
            names = quoteattr(out.name.replace(",", "\\,"))
            text += f'<output><port id="{len(inputs)}" precision="{PORT.get(out.dtype, out.dtype.upper())}" names={names}>{open_dims}</port></output>'
        self.layers.append(text + "</layer>")

    def value(self, value):
        element = ELEMENT.get(value.dtype, value.dtype)
        if value.source == "input":
            self.layer(value.name, "Parameter", 1, f'element_type="{element}" shape="{dims(value.shape)}"', out=value)
            return
        self.content.extend(b"\x55" * self.case.traits["gap"])
        raw = bytes_of(value)
        place = f'offset="{len(self.content)}" size="{len(raw)}"'
        self.content.extend(raw)
        self.layer(value.name, "Const", 1, f'element_type="{element}" shape="{dims(value.array.shape)}" {place}', out=value)

    def node(self, number, node):
        if node.operator == "Convert":
            self.layer(node.name, "Convert", 1, f'destination_type="{ELEMENT.get(node.out.dtype, node.out.dtype)}"', node.inputs, node.out)
            return
        opsets = OPSETS[node.operator, node.version]
        data = f'axis="{node.axis}"' if node.operator == "GatherElements" else f'batch_dims="{node.batch_dims}"'
        if node.operator == "Gather" and node.version == "openvino-1" and node.batch_dims == 0:
            data = ""
        inputs = [*node.inputs, *([node.axis_value] if node.axis_value else [])]
        self.layer(node.name, node.operator, opsets[self.case.traits["opsets"][number] % len(opsets)], data, inputs, node.out)

    def text(self):
        for value in self.case.values:
            self.value(value)
        for number, node in enumerate(self.case.nodes):
            self.node(number, node)
        for value in self.case.outputs():
            self.layer(f"result of {value.name}", "Result", 1, inputs=[value])
        edges = "".join('<edge from-layer="%d" from-port="%d" to-layer="%d" to-port="%d"/>' % edge for edge in self.edges)
        return (f'<?xml version="1.0"?><net name="g" version="{self.case.traits["version"]}"><layers>{"".join(self.layers)}</layers>'
                f"<edges>{edges}</edges></net>")  # fmt: skip


def write(case, folder):
    writer = Writer(case)
    text = writer.text()
    (folder / "model.xml").write_text(text, encoding="utf-8")
    (folder / "model.bin").write_bytes(bytes(writer.content) or struct.pack("<q", 0))
    return [folder / "model.xml"]
