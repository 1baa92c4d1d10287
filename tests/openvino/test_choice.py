# SPDX-License-Identifier: MIT
"""Which layers garner takes and which it leaves to the runtime, and what a layer costs inside a model, without a clock."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset1, opset6, opset7, opset8
from support import EXACT, core_with_garner, layers_of

import garner.openvino

TABLE = np.arange(32, dtype=np.float32).reshape(8, 4)
SMALL, OPEN = (4,), (-1,)


def rows_of(shape=SMALL, kind=np.int64):
    return opset8.parameter(list(shape), kind, name="rows")


def model_of(result, *inputs):
    return ov.Model([result], list(inputs))


def gather(data, rows, opset=opset8):
    return opset.gather(data, rows, np.int64(0))


def from_table(rows, table=TABLE, opset=opset8):
    return gather(opset8.constant(table), rows, opset)


def gathers_of(model):
    return [node.get_type_name() for node in model.get_ordered_ops() if "Gather" in node.get_type_name()]


def simple(shape=SMALL, table=TABLE, opset=opset8, kind=np.int64):
    rows = rows_of(shape, kind)
    return model_of(from_table(rows, table, opset), rows)


def computed(kind, shape=(8, 4)):
    """From data that another layer computed."""
    data, rows = opset8.parameter(list(shape), kind, name="data"), rows_of()
    return model_of(gather(opset8.add(data, opset8.constant(np.array(1, kind))), rows), data, rows)


def from_an_input():
    data, rows = opset8.parameter([8, 4], np.float32), rows_of()
    return model_of(gather(data, rows), data, rows)


def from_a_gather():
    data, first, rows = opset8.parameter([8, 4], np.float32), rows_of(), rows_of()
    return model_of(gather(gather(data, first), rows), data, first, rows)


def by_constants(indices, opset=opset8, extent=8):
    data = opset8.parameter([extent, 4], np.float32)
    return model_of(gather(opset8.relu(data), opset8.constant(np.array(indices)), opset), data)


def elements():
    rows = rows_of((2, 4))
    return model_of(opset6.gather_elements(opset8.constant(TABLE), rows, 0), rows)


def nd():
    rows = rows_of((2, 1))
    return model_of(opset8.gather_nd(opset8.constant(TABLE), rows), rows)


def bounded():
    rows = opset8.parameter(ov.PartialShape([ov.Dimension(1, 16)]), np.int64)
    return model_of(from_table(rows), rows)


def one_slice(shape, axis, index=2, opset=opset8):
    """Of computed data, by one constant index, as models take queries, keys and values out of one tensor."""
    data = opset8.parameter(list(shape), np.float32)
    return model_of(opset.gather(opset8.relu(data), opset8.constant(np.array(index)), np.int64(axis)), data)


WIDE = np.zeros((8, 4096), np.float32)
RULES = {
    "a small result": (simple(), "Gather"),
    "32-bit indices": (simple(kind=np.int32), "Gather"),
    "a large result": (simple(table=WIDE), "GarnerGather"),
    "an empty result": (simple((0,)), "GarnerGather"),
    "few open extents of short rows": (simple(OPEN), "Gather"),
    "open extents of long rows": (simple(OPEN, WIDE), "GarnerGather"),
    "two open extents of short rows": (simple((-1, -1)), "Gather"),
    "two open extents of rows of 128 bytes": (simple((-1, -1), np.zeros((8, 32), np.float32)), "GarnerGather"),
    "an open extent with a bound": (bounded(), "Gather"),
    "computed data": (computed(np.float32), "Gather"),
    "computed data of 64 bits, which are 32 bits by then": (computed(np.int64), "Gather"),
    "computed data of another type": (computed(np.int8), "Gather"),
    "a constant table of 64 bits": (simple(table=TABLE.astype(np.int64)), "GarnerGather"),
    "a constant table of f64": (simple(table=TABLE.astype(np.float64)), "GarnerGather"),
    "data that are an input": (from_an_input(), "GarnerGather"),
    "Gather-1, negative indices": (simple(opset=opset1), "GarnerGather"),
    "Gather-7, negative indices": (simple(opset=opset7), "GarnerGather"),
    "Gather-1, constant indices inside": (by_constants([0, 7], opset1), "Gather"),
    "Gather-1, a negative constant index": (by_constants([0, -1], opset1), "GarnerGather"),
    "Gather-8, a negative constant index": (by_constants([0, -8]), "Gather"),
    "Gather-8, a constant index outside": (by_constants([0, 8]), "GarnerGather"),
    "Gather-1, constant indices, an open axis": (by_constants([0, 1], opset1, -1), "GarnerGather"),
    "Gather-8, constant indices, an open axis": (by_constants([0, 1], opset8, -1), "Gather"),
    "one slice, however large": (one_slice((3, 64, 4096), 0), "Gather"),
    "one slice of open extent": (one_slice((3, -1, 4096), 0, -1), "Gather"),
    "one slice behind extents of 1": (one_slice((1, 1, 3, 8192), 2, [1]), "Gather"),
    "two slices": (one_slice((3, 64, 4096), 0, [0, 1]), "GarnerGather"),
    "one slice of each row": (one_slice((64, 3, 4096), 1), "GarnerGather"),
    "one slice behind an open extent": (one_slice((-1, 3, 4096), 1), "GarnerGather"),
    "one slice along an open axis": (one_slice((-1, 64, 4096), 0), "GarnerGather"),
    "one slice outside": (one_slice((3, 64, 4096), 0, 3), "GarnerGather"),
    "one slice, Gather-1, a negative index": (one_slice((3, 64, 4096), 0, -1, opset1), "GarnerGather"),
    "GatherElements": (elements(), "GarnerGatherElements"),
    "GatherND": (nd(), "GarnerGatherND"),
}


def read_back(core, model, folder):
    ov.save_model(model, folder / "model.xml", compress_to_fp16=False)
    return core.read_model(folder / "model.xml")


@pytest.mark.parametrize("way", ["replace", "file"])
@pytest.mark.parametrize("rule", RULES)
def test_rule(rule, way, tmp_path):
    """By default as the table says; with 0 all are garner's."""
    model, expected = RULES[rule]
    if way == "replace":
        default, everything = garner.openvino.replace(model.clone()), garner.openvino.replace(model.clone(), min_bytes=0)
    else:
        cores = core_with_garner(min_bytes=garner.openvino.MIN_BYTES), core_with_garner()
        default, everything = (read_back(core, model, tmp_path) for core in cores)
    assert gathers_of(default) == [expected]
    assert [name.startswith("Garner") for name in gathers_of(everything)] == [True]
    ran = [what for _, what in layers_of(ov.Core().compile_model(default, "CPU", EXACT))]
    assert ("Reference" in ran) == expected.startswith("Garner"), ran


def test_a_gather_from_a_gather():
    """The first moves an input bit by bit, and so the second must."""
    assert gathers_of(garner.openvino.replace(from_a_gather())) == ["GarnerGather"] * 2


def test_the_number_of_bytes():
    """That of the result: four rows of 16 bytes."""
    for least, expected in ((64, "GarnerGather"), (65, "Gather"), (2**63 - 1, "Gather")):
        assert gathers_of(garner.openvino.replace(simple(), min_bytes=least)) == [expected]


def test_cores_of_one_process(tmp_path):
    """Each has what its library was asked for, whatever was asked for since."""
    paths = [garner.openvino.library(min_bytes=least) for least in (0, garner.openvino.MIN_BYTES)]
    assert paths[0] != paths[1] and paths[1] == garner.openvino.library()
    cores = [ov.Core() for _ in paths]
    for core, path in zip(cores, paths, strict=True):
        core.add_extension(path)
    for _ in range(2):
        assert [gathers_of(read_back(core, simple(), tmp_path)) for core in cores] == [["GarnerGather"], ["Gather"]]


def test_onnx(tmp_path):
    """A model of ONNX, by the same rule; its Gather counts negative indices from the end, garner's or the runtime's."""
    onnx = pytest.importorskip("onnx")
    from onnx import helper, numpy_helper

    nodes = [helper.make_node("Gather", ["table", "rows"], ["picked"], "picked"), helper.make_node("Relu", ["picked"], ["out"])]
    inputs = [helper.make_tensor_value_info("rows", onnx.TensorProto.INT64, [3])]
    outputs = [helper.make_tensor_value_info("out", onnx.TensorProto.FLOAT, [3, 4])]
    graph = helper.make_graph(nodes, "one", inputs, outputs, [numpy_helper.from_array(TABLE, "table")])
    text = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    for least, expected in ((garner.openvino.MIN_BYTES, "Gather"), (0, "GarnerGather")):
        core = core_with_garner(min_bytes=least)
        model = core.read_model(text)
        assert gathers_of(model) == [expected]
        compiled = core.compile_model(model, "CPU", EXACT)
        assert (compiled([np.array([7, -1, -8])])[0] == TABLE[[7, -1, 0]]).all()


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_what_is_left_gives_the_same(kind):
    """For every index that the plug-in lets through as it is: negative ones, and zeros for those outside."""
    indices = np.array([0, 7, -1, -8, 8, -9, 2**31 - 1, -(2**31)], kind)
    results = []
    for least in (0, garner.openvino.MIN_BYTES):
        model = garner.openvino.replace(simple((8,), kind=kind), min_bytes=least)
        results.append(ov.Core().compile_model(model, "CPU", EXACT)([indices])[0])
    assert (results[0] == results[1]).all() and (results[0][:4] == TABLE[[0, 7, 7, 0]]).all() and not results[0][4:].any()


@pytest.mark.parametrize("given, error, said", [
    (-1, ValueError, "min_bytes is -1; it must be a whole number of bytes, from 0 to 9223372036854775807"),
    (2**63, ValueError, "min_bytes is 9223372036854775808; it must be"),
    (1.5, TypeError, "min_bytes is a float, not a whole number of bytes"),
    ("4096", TypeError, "min_bytes is a str, not a whole number of bytes"),
])  # fmt: skip
def test_values_that_cannot_be(given, error, said):
    for ask in (lambda: garner.openvino.library(min_bytes=given), lambda: garner.openvino.replace(simple(), min_bytes=given)):
        with pytest.raises(error, match=f"garner.openvino: {said}"):
            ask()


# ---- What a layer costs ------------------------------------------------------------------------------------------------

COUNT = """
import ctypes, json, sys
import numpy as np, openvino as ov, garner.openvino
from openvino import opset5, opset6, opset8

counter = ctypes.c_long.in_dll(ctypes.CDLL(None), "allocations")
data, indices = np.ones((6, 5), np.float32), np.array([[0, 1, 2, 3, 4]] * 3)

def each_call(model):
    request = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}).create_infer_request()
    for port, array in enumerate((data, indices)):
        request.set_input_tensor(port, ov.Tensor(array))
    for _ in range(3):
        request.infer()
    before = counter.value
    for _ in range(100):
        request.infer()
    return (counter.value - before) / 100

def added(operator, shapes):
    table, rows = opset8.parameter(shapes[0], np.float32), opset8.parameter(shapes[1], np.int64)
    model = ov.Model([opset8.relu(operator(opset8.abs(table), rows))], [table, rows])
    alone = each_call(model.clone())
    return each_call(garner.openvino.replace(model, min_bytes=0)) - alone

tuples = lambda rows: opset8.unsqueeze(rows, np.int64(2))
operators = [lambda d, i: opset8.gather(d, i, np.int64(0)), lambda d, i: opset6.gather_elements(d, i, 0),
             lambda d, i: opset8.gather_nd(d, tuples(i)), lambda d, i: opset5.gather_nd(d, tuples(i))]
print(json.dumps([[added(operator, shapes) for shapes in (([6, 5], [3, 5]), ([-1, -1], [-1, -1]))] for operator in operators]))
"""


def test_open_extents_cost_no_more_than_given_ones(tmp_path):
    """A plug-in that copies a layer in every call to infer its shape allocates a hundred times for that. Garner's layers
    are inferred as the runtime's own are: what they add to a call is the same, whether extents are open or not."""
    counter = tmp_path / "allocations.so"
    source = Path(__file__).with_name("allocations.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", source, "-o", counter], check=True)
    said = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True,
                          env={**os.environ, "LD_PRELOAD": str(counter)}).stdout  # fmt: skip
    for fixed, free in json.loads(said):
        assert 0 < fixed < 40 and free <= fixed + 4, said
