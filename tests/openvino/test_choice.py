# SPDX-License-Identifier: MIT
"""Which layers garner takes and which it leaves to the runtime, and what a layer costs inside a model, without a clock."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset1, opset5, opset6, opset7, opset8
from support import EXACT, core_with_garner, layers_of

import garner.openvino

TABLE = np.arange(32, dtype=np.float32).reshape(8, 4)
SMALL, OPEN = (4,), (-1,)


def rows_of(shape=SMALL, kind=np.int64):
    return opset8.parameter(ov.PartialShape(list(shape)), kind, name="rows")


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


def from_an_input(kind):
    data, rows = opset8.parameter([8, 4], kind), rows_of()
    return model_of(gather(data, rows), data, rows)


def two_gathers(kind, compute=lambda data: data):
    """The second, of one index, from the first, which is garner's for its size."""
    data, first, one = opset8.parameter([9000, 4], kind), rows_of((9000,)), rows_of((1,))
    return model_of(gather(gather(compute(data), first), one), data, first, one)


def by_constants(indices, opset=opset8, extent=8):
    data = opset8.parameter([extent, 4], np.float32)
    return model_of(gather(opset8.relu(data), opset8.constant(np.array(indices)), opset), data)


def elements(shape=(2, 4), table=TABLE, axis=0):
    rows = rows_of(shape)
    return model_of(opset6.gather_elements(opset8.constant(table), rows, axis), rows)


def elements_of(data, indices, axis):
    """Of computed data."""
    data, rows = opset8.parameter(list(data), np.float32), rows_of(indices)
    return model_of(opset6.gather_elements(opset8.relu(data), rows, axis), data, rows)


def nd(shape=(2, 1), table=TABLE, opset=opset8):
    rows = rows_of(shape)
    return model_of(opset.gather_nd(opset8.constant(table), rows), rows)


def nd_of(data, tuples):
    """Of computed data, by constant tuples."""
    data = opset8.parameter(list(data), np.float32)
    return model_of(opset8.gather_nd(opset8.relu(data), opset8.constant(np.array(tuples))), data)


def bounded():
    rows = opset8.parameter(ov.PartialShape([ov.Dimension(1, 16)]), np.int64)
    return model_of(from_table(rows), rows)


def one_index(shape, axis, index=2, opset=opset8):
    """Of computed data, by one constant index, as models take queries, keys and values out of one tensor."""
    data = opset8.parameter(list(shape), np.float32)
    return model_of(opset.gather(opset8.relu(data), opset8.constant(np.array(index)), np.int64(axis)), data)


def one_row(kind=np.float32):
    """By one index that is an input."""
    data, rows = opset8.parameter([64, 40000], kind), rows_of((1,))
    return model_of(gather(opset8.relu(data) if kind == np.float32 else data, rows), data, rows)


def table_of(columns, kind=np.float32):
    return np.zeros((8, columns), kind)


ARM = platform.machine() in ("aarch64", "arm64")
RULES = {
    "few points": (simple(), "Gather"),
    "32-bit indices": (simple(kind=np.int32), "Gather"),
    "8192 rows of 16 bytes": (simple((8192,)), "GarnerGather"),
    "one fewer": (simple((8191,)), "Gather"),
    "8192 rows of 64 bytes": (simple((8192,), table_of(16)), "GarnerGather"),
    "8191 of them": (simple((8191,), table_of(16)), "Gather"),
    "4096 rows of 256 bytes": (simple((4096,), table_of(64)), "GarnerGather"),
    "4095 of them": (simple((4095,), table_of(64)), "Gather"),
    "no more than 4095 of them": (simple((ov.Dimension(0, 4095),), table_of(64)), "Gather"),
    "a long row counts for little": (simple((2047,), table_of(128)), "Gather"),
    "2048 long rows": (simple((2048,), table_of(128)), "GarnerGather"),
    "32768 single elements": (simple((32768,), np.zeros(8, np.float32)), "GarnerGather"),
    "fewer single elements": (simple((32767,), np.zeros(8, np.float32)), "Gather"),
    "words of an open number": (simple((-1, -1), table_of(768)), "Gather"),
    "fifty short rows each": (simple((-1, 50), table_of(64)), "GarnerGather"),
    "few open extents of short rows": (simple(OPEN), "Gather"),
    "two open extents of short rows": (simple((-1, -1)), "Gather"),
    "single elements, an open extent of many": (simple((-1, 768, 1, 1), np.zeros(8, np.float32)), "Gather"),
    "an open extent with a bound": (bounded(), "Gather"),
    "no index": (simple((0,)), "GarnerGather"),
    "rows of nothing": (one_index((8, 0), 0, [1, 2]), "GarnerGather"),
    "no tuple": (nd((0, 1)), "GarnerGatherND"),
    "no element": (elements((0, 4)), "GarnerGatherElements"),
    "computed data": (computed(np.float32), "Gather"),
    "computed data of 64 bits, which are 32 bits by then": (computed(np.int64), "Gather"),
    "computed data of another type": (computed(np.int8), "Gather"),
    "a constant table of 64 bits": (simple(table=TABLE.astype(np.int64)), "GarnerGather"),
    "a constant table of f64": (simple(table=TABLE.astype(np.float64)), "GarnerGather"),
    "an input of f64": (from_an_input(np.float64), "GarnerGather"),
    "an input of 64 bits": (from_an_input(np.int64), "GarnerGather"),
    "an input of f16": (from_an_input(np.float16), "GarnerGather"),
    "an input of i32": (from_an_input(np.int32), "Gather"),
    "an input of f32, which Arm makes f16 of": (from_an_input(np.float32), "GarnerGather" if ARM else "Gather"),
    "Gather-1, negative indices": (simple(opset=opset1), "GarnerGather"),
    "Gather-7, negative indices": (simple(opset=opset7), "GarnerGather"),
    "Gather-1, constant indices inside": (by_constants([0, 7], opset1), "Gather"),
    "Gather-1, a negative constant index": (by_constants([0, -1], opset1), "GarnerGather"),
    "Gather-8, a negative constant index": (by_constants([0, -8]), "Gather"),
    "Gather-8, a constant index outside": (by_constants([0, 8]), "GarnerGather"),
    "Gather-1, constant indices, an open axis": (by_constants([0, 1], opset1, -1), "GarnerGather"),
    "Gather-8, constant indices, an open axis": (by_constants([0, 1], opset8, -1), "Gather"),
    "one index, however large": (one_index((3, 64, 4096), 0), "Gather"),
    "one index, open extents": (one_index((3, -1, 4096), 0, -1), "Gather"),
    "one index into each row": (one_index((64, 3, 4096), 1, [1]), "Gather"),
    "one index for each of many elements": (one_index((40000, 4), 1), "Gather"),
    "one index behind an open extent": (one_index((-1, 3, 4096), 1), "Gather"),
    "one index along an open axis": (one_index((-1, 64, 4096), 0), "Gather"),
    "one index that is an input": (one_row(), "Gather"),
    "one index, an input of 64 bits": (one_row(np.int64), "GarnerGather"),
    "two indices of many short rows": (one_index((40000, 4, 4), 1, [0, 1]), "GarnerGather"),
    "one index outside": (one_index((3, 64, 4096), 0, 3), "GarnerGather"),
    "one index, Gather-1, a negative one": (one_index((3, 64, 4096), 0, -1, opset1), "GarnerGather"),
    "GatherElements": (elements(), "GatherElements"),
    "GatherElements, many": (elements((8192, 4)), "GarnerGatherElements"),
    "GatherElements, f64": (elements(table=TABLE.astype(np.float64)), "GarnerGatherElements"),
    "GatherElements, an open batch of few": (elements_of((-1, 1344, 4), (-1, 300, 4), 1), "GatherElements"),
    "GatherElements, an open batch of many": (elements_of((-1, 1344, 256), (-1, 300, 256), 1), "GarnerGatherElements"),
    "GatherElements, open along a long axis": (elements_of((-1, -1, 512), (-1, -1, -1), 2), "GarnerGatherElements"),
    "GatherElements, all open": (elements_of((-1, -1, -1), (-1, -1, -1), -1), "GatherElements"),
    "GatherND": (nd(), "GatherND"),
    "GatherND-5": (nd(opset=opset5), "GatherND"),
    "GatherND, many": (nd((16384, 1)), "GarnerGatherND"),
    "GatherND, many elements": (nd((32768, 2)), "GarnerGatherND"),
    "GatherND, fewer": (nd((32767, 2)), "GatherND"),
    "GatherND, open, many": (nd((ov.Dimension(0, 65536), 1)), "GarnerGatherND"),
    "GatherND, open, fewer": (nd((ov.Dimension(0, 65535), 1)), "GatherND"),
    "GatherND, open, many elements": (nd((ov.Dimension(0, 131072), 2)), "GarnerGatherND"),
    "GatherND, boxes above a score, of SSD": (nd((ov.Dimension(0, 3234), 1)), "GatherND"),
    "Gather-8, open, as many as if they were not": (simple((ov.Dimension(0, 8192),)), "GarnerGather"),
    "GatherND, 64-bit table": (nd(table=TABLE.astype(np.int64)), "GarnerGatherND"),
    "GatherND, constants inside": (nd_of((8, 4), [[7, -4], [0, 3]]), "GatherND"),
    "GatherND, a constant outside": (nd_of((8, 4), [[7, -5], [0, 3]]), "GarnerGatherND"),
}


def column_of(kind, reading):
    """One column of an input, as LayoutLM takes the edges of boxes, and what reads it."""
    boxes = opset8.parameter([2, 4, 1], kind)
    column = opset8.gather(boxes, opset8.constant(np.array(1)), np.int64(1))
    return ov.Model([read(column) for read in reading], [boxes])


def its_rows(column):
    return gather(opset8.constant(np.zeros((2**20, 2), np.float32)), column)


def minus_one(column):
    return opset8.subtract(column, opset8.constant(np.array(1, column.get_element_type().to_dtype())))


def as_it_is(column):
    return column


READERS = {
    "computed with": (np.int64, [minus_one], False),
    "computed with, f64": (np.float64, [minus_one], False),
    "computed with, f32": (np.float32, [minus_one], False),
    "computed with and given out": (np.int64, [minus_one, as_it_is], False),
    "indices of the runtime's": (np.int64, [its_rows], False),
    "indices of the runtime's, and computed with": (np.int64, [its_rows, minus_one], False),
    "given out": (np.int64, [as_it_is], True),
    "converted": (np.int64, [lambda column: opset8.convert(column, "f32")], True),
    "its shape looked at": (np.int64, [opset8.shape_of, as_it_is], True),
    "data of garner's": (np.int64, [lambda column: gather(column, opset8.constant(np.zeros(40000, np.int64)))], True),
}


@pytest.mark.parametrize("way", ["replace", "file"])
@pytest.mark.parametrize("name", READERS)
def test_what_is_converted_anyway_is_given_back(name, way, tmp_path):
    """An input of 64 bits is garner's for its bits' sake; where a layer computes with what was gathered, the plug-in cuts them
    before, and a small gather is the runtime's once the model is compiled."""
    kind, reading, stays = READERS[name]
    model = column_of(kind, reading)
    core = core_with_garner(min_bytes=garner.openvino.MIN_BYTES)
    ours = garner.openvino.replace(model.clone()) if way == "replace" else read_back(core, model, tmp_path)
    assert "GarnerGather" in gathers_of(ours) or (kind == np.float32 and not ARM)
    default = core.compile_model(ours, "CPU", EXACT)
    assert ("Reference" in [what for _, what in layers_of(default)]) == stays
    everything = core.compile_model(garner.openvino.replace(model.clone(), min_bytes=0), "CPU", EXACT)
    boxes = np.array([[1, 2**20 - 1 + (2**40 if stays else 0), 3, 4], [5, 6, 7, 8]]).astype(kind)[..., None]
    for got, want in zip(default([boxes]).values(), everything([boxes]).values(), strict=True):
        assert (got == want).all()


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
    """Where the first moves an input bit by bit, so must the second; where it moves what was computed, that is the same."""
    assert gathers_of(garner.openvino.replace(two_gathers(np.float64))) == ["GarnerGather"] * 2
    assert gathers_of(garner.openvino.replace(two_gathers(np.int32))) == ["GarnerGather", "Gather"]
    assert gathers_of(garner.openvino.replace(two_gathers(np.float32, opset8.relu))) == ["GarnerGather", "Gather"]


def test_the_number_of_bytes():
    """Four points, which count for 8 bytes each."""
    for least, expected in ((16, "GarnerGather"), (17, "Gather"), (2**63 - 1, "Gather")):
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


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("data", [np.float32, np.int32, np.int8, np.uint8, np.bool_, np.float16])
def test_indices_from_the_end_in_what_is_left(data, kind):
    """GatherElements and GatherND of the runtime count them as garner does, or they could not be left."""
    table = np.random.default_rng(1).integers(0, 2 if data == np.bool_ else 100, (8, 4)).astype(data)
    rows, tuples = rows_of((3, 4), kind), opset8.parameter([3, 2], kind)
    each, pairs = np.array([[0, -1, 7, -8]] * 3, kind), np.array([[-8, -4], [7, 3], [-1, 0]], kind)
    held = opset8.constant(table)
    for made, given, indices in ((opset6.gather_elements(held, rows, 0), rows, each), (opset8.gather_nd(held, tuples), tuples, pairs),
                                 (opset5.gather_nd(held, tuples), tuples, pairs)):  # fmt: skip
        model = garner.openvino.replace(model_of(made, given))
        assert not gathers_of(model)[0].startswith("Garner")
        expected = np.take_along_axis(table, each.astype(int), 0) if given is rows else table[tuple(pairs.astype(int).T)]
        assert (ov.Core().compile_model(model, "CPU", EXACT)([indices])[0] == expected).all()


def onnx_layer_of(operator, data, indices, **attributes):
    """A model of ONNX with computed data, and who runs its gather."""
    onnx = pytest.importorskip("onnx")
    from onnx import helper

    nodes = [helper.make_node("Relu", ["data"], ["computed"]), helper.make_node(operator, ["computed", "at"], ["out"], **attributes)]
    inputs = [helper.make_tensor_value_info("data", onnx.TensorProto.FLOAT, data), helper.make_tensor_value_info("at", onnx.TensorProto.INT64, indices)]
    graph = helper.make_graph(nodes, "one", inputs, [helper.make_tensor_value_info("out", onnx.TensorProto.FLOAT, None)])
    text = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    return gathers_of(core_with_garner(min_bytes=garner.openvino.MIN_BYTES).read_model(text))


def test_onnx_layers_that_openvino_reads_otherwise():
    """Smaller indices of GatherElements and batches of GatherND stay garner's, whatever their size."""
    assert onnx_layer_of("GatherElements", [8, 4], [2, 4]) == ["GatherElements"]
    assert onnx_layer_of("GatherElements", [8, 4], [2, 4], axis=-2) == ["GatherElements"]
    assert onnx_layer_of("GatherElements", [8, 4], [2, 3]) == ["GarnerGatherElements"]
    assert onnx_layer_of("GatherElements", [8, "n"], [2, "n"]) == ["GarnerGatherElements"]
    assert onnx_layer_of("GatherND", [8, 4], [2, 1]) == ["GatherND"]
    assert onnx_layer_of("GatherND", [8, 4], [8, 1], batch_dims=1) == ["GarnerGatherND"]
    assert onnx_layer_of("Gather", [8, 4], []) == ["Gather"]


def test_onnx_gathers_that_are_inferred_in_every_call():
    """A Gather of ONNX may refuse an index: with open extents it needs four times the points."""
    assert onnx_layer_of("Gather", [8, 4], [8192]) == ["GarnerGather"]
    assert onnx_layer_of("Gather", ["n", 4], [8192]) == ["Gather"]
    assert onnx_layer_of("Gather", ["n", 4], [32768]) == ["GarnerGather"]


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
from openvino import opset8

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

gather = lambda d, i: opset8.gather(d, i, np.int64(0))
print(json.dumps([added(gather, shapes) for shapes in (([6, 5], [3, 5]), ([-1, -1], [-1, -1]))]))
"""


def test_open_extents_cost_no_more_than_given_ones(tmp_path):
    """A plug-in that copies a layer in every call to infer its shape allocates a hundred times for that. Garner's Gather-8
    is inferred as the runtime's own is: what it adds to a call is the same, whether extents are open or not."""
    counter = tmp_path / "allocations.so"
    source = Path(__file__).with_name("allocations.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", source, "-o", counter], check=True)
    said = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True,
                          env={**os.environ, "LD_PRELOAD": str(counter)}).stdout  # fmt: skip
    fixed, free = json.loads(said)
    assert 0 < fixed < 40 and free <= fixed + 4, said


def open_model(operator):
    """Of computed data and indices, all extents open but the last, so that small ones are left to the runtime."""
    data, rows = opset8.parameter([-1, -1], np.float32), opset8.parameter([-1, 1 if operator == "GatherND" else -1], np.int32)
    given = opset8.relu(data), opset8.add(rows, opset8.constant(np.int32(0)))
    made = {"Gather": lambda: opset8.gather(*given, np.int64(0)), "GatherElements": lambda: opset6.gather_elements(*given, 0),
            "GatherND": lambda: opset8.gather_nd(*given)}[operator]()  # fmt: skip
    return ov.Model([made], [data, rows])


# What there is of data, of indices, and of the result.
EMPTY_AT_LAST = {
    "Gather": [((5, 4), (0, 3), (0, 3, 4)), ((5, 4), (3, 0), (3, 0, 4)), ((5, 0), (2, 3), (2, 3, 0)), ((0, 4), (0, 3), (0, 3, 4))],
    "GatherElements": [((5, 4), (0, 4), (0, 4)), ((5, 0), (3, 0), (3, 0)), ((0, 4), (0, 4), (0, 4))],
    "GatherND": [((5, 4), (0, 1), (0, 4)), ((5, 0), (3, 1), (3, 0)), ((0, 4), (0, 1), (0, 4))],
}


@pytest.mark.parametrize("operator", EMPTY_AT_LAST)
@pytest.mark.parametrize("least", [0, garner.openvino.MIN_BYTES])
def test_extents_of_0_that_come_only_when_the_model_runs(operator, least):
    """In a request that gathers something before and after: whoever has the layer, the result is empty, and the next is right."""
    model = garner.openvino.replace(open_model(operator), min_bytes=least)
    assert gathers_of(model) == [operator if least else f"Garner{operator}"]
    request = ov.Core().compile_model(model, "CPU", EXACT).create_infer_request()
    table = TABLE[:, :2]
    for data, rows, shape in EMPTY_AT_LAST[operator]:
        for _ in range(2):
            (picked,) = request.infer([table, np.array([[3, 1]] if operator == "GatherElements" else [[3], [1]], np.int32)]).values()
            expected = {"Gather": table[[[3], [1]]], "GatherElements": [[table[3, 0], table[1, 1]]], "GatherND": table[[3, 1]]}[operator]
            assert np.array_equal(picked, expected)
            (nothing,) = request.infer([np.ones(data, np.float32), np.zeros(rows, np.int32)]).values()
            assert nothing.shape == shape
