# SPDX-License-Identifier: MIT
"""Takes the weights out of a model that an exporter wrote, for `stored.py` to describe. Needs the onnx package."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from . import described, stored

IR_FLOATS = {"f32": np.float32, "f16": np.float16, "f64": np.float64}


def _forget_origins(graph):
    """An exporter notes at every node the lines of the program that it came from."""
    for part in (*graph.node, *graph.value_info, *graph.input, *graph.output):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")


def _strip_onnx(model, parts):
    """Initializers that can be described become external data; the others stay where they are."""
    _forget_origins(model.graph)
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        words = described.describe(array)
        if not words:
            continue
        place = {"location": stored.WEIGHTS, "offset": parts.append(array, words), "length": array.nbytes}
        for field in ("raw_data", "float_data", "double_data", "int32_data", "external_data"):
            tensor.ClearField(field)
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
    return model.SerializeToString()


def _constants(graph):
    """(type, offset, size) of the constants of an IR, bodies of loops included; each place once."""
    told = {}
    for data in graph.iter("data"):
        if "offset" in data.attrib:
            told.setdefault((int(data.get("offset")), int(data.get("size"))), (data.get("element_type"), data.get("shape")))
    return sorted((offset, size, *about) for (offset, size), about in told.items())


def _strip_ir(path, parts):
    """The graph stays as it is; of its constants the large random ones are described."""
    weights = path.with_suffix(".bin").read_bytes()
    end = 0
    for offset, size, kind, shape in _constants(ElementTree.parse(path)):
        if offset < end:
            raise ValueError(f"{path.name}: constants overlap at byte {offset}")
        array = np.frombuffer(weights, IR_FLOATS.get(kind, np.uint8), size // np.dtype(IR_FLOATS.get(kind, np.uint8)).itemsize, offset)
        if kind in IR_FLOATS:
            array = array.reshape([int(extent) for extent in shape.split(",")] if shape else ())
        parts.add(offset, array, described.describe(array))
        end = offset + size
    return path.read_bytes()


def store(onnx_path, ir_path, about, folder):
    """Writes the model into a folder of its own, as stored.py says."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    kept = bytearray()
    weights = {stored.WEIGHTS: stored.Parts(kept), stored.BIN: stored.Parts(kept)}
    (folder / stored.ONNX).write_bytes(_strip_onnx(onnx.load(onnx_path), weights[stored.WEIGHTS]))
    (folder / stored.IR).write_bytes(_strip_ir(Path(ir_path), weights[stored.BIN]))
    (folder / stored.KEPT).write_bytes(kept)
    told = about | {"weights": {name: parts.as_json() for name, parts in weights.items()}}
    (folder / stored.ABOUT).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return stored.read(folder)
