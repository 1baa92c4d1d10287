# SPDX-License-Identifier: MIT
"""Every operator version, with every element type of ONNX, index type, and kind of shape, inside ONNX Runtime. Each cell
says `ours`, with the node seen to be assigned to garner and its result compared with NumPy's and, where that is right,
with the runtime's own; or `refused by the runtime`, which then refuses the same model without garner. GARNER_MATRIX
names a file that the table is written to."""

import os
from collections import Counter

import numpy as np
import pytest
from onnx import TensorProto

from cases import MAKERS, VERSIONS
from sessions import BF16, NUMPY, OURS, one_node, providers, same_bits, with_garner, without

SEED = int(os.environ.get("GARNER_TEST_SEED", "20240613"))
OPSET = {1: 10, 11: 11, 12: 12, 13: 21}  # that brings the version about
TYPES = sorted(number for name, number in TensorProto.DataType.items() if name != "UNDEFINED")
SHAPES = ("static", "dynamic", "unknown")
CELLS = [
    (operator, version, index, shapes)
    for operator, versions in VERSIONS.items() for version in versions
    for index in (TensorProto.INT32, TensorProto.INT64) for shapes in SHAPES
]  # fmt: skip

# Of ONNX's types its operators take 15, and bf16 from version 13 on; ONNX Runtime has no complex numbers; GatherND
# takes i64 indices alone. So, for each kind of shape: 13 types, 14 in the last version, twice but for GatherND.
WANTED_OURS = len(SHAPES) * (2 * (13 + 13 + 14) + 2 * (13 + 14) + (13 + 13 + 14))


def shapes_of(kind, *arrays):
    return [{"static": a.shape, "dynamic": [f"n{d}" for d in range(a.ndim)], "unknown": None}[kind] for a in arrays]


def random_case(rng, operator, version, dtype, index):
    data, indices, attributes, want = MAKERS[operator](rng, "f4" if dtype == BF16 else NUMPY.get(dtype, "u1"))
    while attributes.get("batch_dims") and version < 12:
        data, indices, attributes, want = MAKERS[operator](rng, "f4" if dtype == BF16 else NUMPY.get(dtype, "u1"))
    if dtype == BF16:  # numbers that bf16 has
        data, want = (np.frombuffer((array.view("u4") & 0xBF7F0000).tobytes(), "f4").reshape(array.shape) for array in (data, want))
    if version < 12:
        attributes.pop("batch_dims", None)
    return data, indices.astype(NUMPY[index]), attributes, want


def is_right(operator, data):
    """Whether the runtime's own result can be trusted: it gets strings wrong that come in blocks."""
    return data.dtype != object or operator == "GatherElements"


def try_cell(rng, operator, version, dtype, index, shapes):
    data, indices, attributes, want = random_case(rng, operator, version, dtype, index)
    model = one_node(operator, dtype, index, OPSET[version], shapes_of(shapes, data, indices), **attributes)
    try:
        session = with_garner(model)
    except Exception as refusal:
        with pytest.raises(type(refusal)):
            without(model)
        return f"refused by the runtime: {' '.join(str(refusal).split())}"
    assert providers(session) == [OURS], (operator, version, dtype, index, shapes)
    feeds = {"x": data, "i": indices}
    same_bits(session.run(None, feeds)[0], want)
    if is_right(operator, data):
        same_bits(without(model).run(None, feeds)[0], want)
    return "ours"


def test_matrix():
    rng = np.random.default_rng(SEED)
    table = {
        (*cell[:2], TensorProto.DataType.Name(dtype), *cell[2:]): try_cell(rng, cell[0], cell[1], dtype, *cell[2:])
        for cell in CELLS for dtype in TYPES
    }  # fmt: skip
    if "GARNER_MATRIX" in os.environ:
        with open(os.environ["GARNER_MATRIX"], "w", encoding="utf-8") as file:
            for (operator, version, dtype, index, shapes), verdict in table.items():
                print(f"{operator}-{version}", dtype, TensorProto.DataType.Name(index), shapes, verdict, sep="\t", file=file)
    counts = Counter(verdict.split(":")[0] for verdict in table.values())
    print(dict(counts))
    assert counts["ours"] == WANTED_OURS
    assert counts["refused by the runtime"] == len(CELLS) * len(TYPES) - WANTED_OURS
