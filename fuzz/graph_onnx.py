# SPDX-License-Identifier: MIT
"""Cases as ONNX models: opsets from 1 on, initializers in the file and outside, Constant and Identity, defaults of inputs."""

import numpy as np
from onnx import StringStringEntryProto, TensorProto, helper

FORMAT = "onnx"
PASSES_ON = True  # there is Identity
CONVERSIONS = ()
EQUAL = False  # indices of GatherElements may be smaller than data
NEGATIVE = 0.4
PLAIN = {"bf16": (-200, 200)}  # no array of NumPy's is bf16: the runtime's results come as f32
FLUSHES = False
ELEMENT = {
    "f32": TensorProto.FLOAT, "f64": TensorProto.DOUBLE, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16,
    "i8": TensorProto.INT8, "i16": TensorProto.INT16, "i32": TensorProto.INT32, "i64": TensorProto.INT64, "u8": TensorProto.UINT8,
    "u16": TensorProto.UINT16, "u32": TensorProto.UINT32, "u64": TensorProto.UINT64, "bool": TensorProto.BOOL, "str": TensorProto.STRING,
}  # fmt: skip
OPSETS = (1, 7, 9, 10, 11, 12, 13, 14, 16, 17, 18, 19, 20, 21)
VERSIONS = {"Gather": (1, 11, 13), "GatherElements": (11, 13), "GatherND": (11, 12, 13)}


def traits(rng):
    return {"opset": int(rng.choice(OPSETS)), "ir": int(rng.choice((3, 4, 8, 8, 9, 10))), "offset": int(rng.choice((0, 1, 8, 4096))),
            "defaults": bool(rng.random() < 0.1), "level": int(rng.integers(4))}  # fmt: skip


def operators(traits):
    found = []
    for operator, versions in VERSIONS.items():
        known = [version for version in versions if version <= traits["opset"]]
        found += [(operator, f"onnx-{known[-1]}")] if known else []
    return found


def types(traits):
    """All that the opset allows, and bf16 sometimes where it does not."""
    return [*ELEMENT, "f32", "i64"]


def index_types(operator, version):
    return ("i64",) if operator == "GatherND" else ("i32", "i64")


def sources(dtype, is_empty):
    """What NumPy has no array of is in the model. The runtime cannot read nothing from a file beside it."""
    found = ["initializer", "constant"]
    if dtype != "str" and not is_empty:
        found.append("external")
    return found if dtype in ("str", "bf16") else ["input", "input", *found]


def axis_is_input(node):
    return False


def doubts(node):
    """What is known of ONNX Runtime alone, and of what a model says all of, which the runtime computes itself with garner, too:
    its own Gather of strings gives the first of each block and empty ones after it; it does not look at indices where the
    result is empty, nor whether the tuples of GatherND have a length of 0, nor whether its batch extents are the same, and reads
    memory of others then. A negative batch_dims may end the process while the model is read."""
    data, indices = node.inputs
    stages = {"alone", "inside"} if data.is_fixed and indices.is_fixed else {"alone"}
    if node.operator == "GatherND" and node.batch_dims and node.out.array is None:
        return {"alone", "inside", "dangerous"}
    if node.out.array is None:
        is_lax = data.array.size == 0 or (node.operator == "GatherND" and indices.array.shape[-1:] == (0,))
        return stages if is_lax else set()
    in_blocks = node.operator == "Gather" and np.prod(data.array.shape[node.axis % data.array.ndim + 1 :]) > 1
    return stages if data.dtype == "str" and in_blocks else set()


# ---- Files -----------------------------------------------------------------------------------------


def tensor_of(value, name=None):
    made = TensorProto(name=name or value.name, data_type=ELEMENT[value.dtype], dims=value.array.shape)
    if value.dtype == "str":
        made.string_data.extend(word.encode() for word in value.array.reshape(-1))
    else:
        made.raw_data = np.ascontiguousarray(value.array).tobytes()
    return made


def external_tensor(value, content, gap):
    """Its bytes behind those of others in the file beside the model."""
    made = TensorProto(name=value.name, data_type=ELEMENT[value.dtype], dims=value.array.shape, data_location=TensorProto.EXTERNAL)
    content.extend(b"\xaa" * (gap if len(content) else 0))
    raw = np.ascontiguousarray(value.array).tobytes()
    for key, text in (("location", "weights.bin"), ("offset", str(len(content))), ("length", str(len(raw)))):
        made.external_data.append(StringStringEntryProto(key=key, value=text))
    content.extend(raw)
    return made


def node_of(node):
    names = [value.name for value in node.inputs]
    attributes = {}
    if node.operator in ("Gather", "GatherElements") and node.axis:
        attributes["axis"] = node.axis
    if node.batch_dims:
        attributes["batch_dims"] = node.batch_dims
    return helper.make_node(node.operator, names, [node.out.name], name=node.name, **attributes)


def info(value):
    return helper.make_tensor_value_info(value.name, ELEMENT[value.dtype], value.shape)


def model_of(case, widened=False):
    """The model and the bytes beside it. Widened: results of bf16 come as f32."""
    content = bytearray()
    initializers = [tensor_of(value) for value in case.of_source("initializer")]
    initializers += [external_tensor(value, content, case.traits["offset"]) for value in case.of_source("external")]
    nodes = [helper.make_node("Constant", [], [value.name], value=tensor_of(value, "value")) for value in case.of_source("constant")]
    nodes += map(node_of, case.nodes)
    inputs = [info(value) for value in case.of_source("input")]
    if case.traits["ir"] < 4 or case.traits["defaults"]:  # then initializers are defaults of inputs
        inputs += [info(value) for value in case.of_source("initializer", "external")]
    outputs = []
    for value in case.outputs():
        wide = widened and value.dtype == "bf16"
        if wide:
            nodes.append(helper.make_node("Cast", [value.name], [value.name + " wide"], to=TensorProto.FLOAT))
        outputs.append(helper.make_tensor_value_info(value.name + " wide" * wide, TensorProto.FLOAT if wide else ELEMENT[value.dtype], None))
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.traits["opset"])], ir_version=case.traits["ir"])
    return made.SerializeToString(), bytes(content)


def write(case, folder):
    """The model as a file, and where it has results of bf16 another one for the runtime."""
    has_bf16 = any(value.dtype == "bf16" for value in case.outputs())
    paths = [folder / "model.onnx", folder / "wide.onnx"][: 1 + has_bf16]
    for path in paths:
        model, content = model_of(case, path.stem == "wide")
        path.write_bytes(model)
    (folder / "weights.bin").write_bytes(content)
    return paths
