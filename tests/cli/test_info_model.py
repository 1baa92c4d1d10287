# SPDX-License-Identifier: MIT
"""info on models: each node, its version, whether it runs here, the plan; at once, however large the file."""

import json

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from test_info import at_once  # noqa: F401 (a fixture)

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def model(path, nodes, inputs, outputs, constants=(), opset=13, name="graph"):
    ports = [[helper.make_tensor_value_info(*port) for port in side] for side in (inputs, outputs)]
    tensors = [numpy_helper.from_array(array, name) for name, array in constants]
    graph = helper.make_graph(nodes, name, *ports, tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]), path)


def gather(name="g", data="data", indices="indices", out="out", **attributes):
    return helper.make_node("Gather", [data, indices], [out], name, **attributes)


@pytest.fixture
def described(garner):
    def describe(*arguments):
        answer = garner("info", *arguments, "--json")
        assert answer.code == 0 and answer.err == "", answer
        return json.loads(answer.text)

    return describe


def test_a_model_that_runs(garner, described, tmp_path):
    rows = [("indices", numpy.array([2, 0]))]
    model(tmp_path / "m.onnx", [gather(axis=1)], [("data", FLOAT, [3, 4])], [("out", FLOAT, None)], rows)
    info = described("m.onnx")
    assert info["format"] == "ONNX" and info["runs"] is True and info["refusal"] is None
    assert info["inputs"] == [{"name": "data", "dtype": "f32", "shape": [3, 4]}]
    assert info["outputs"] == [{"name": "out", "dtype": "f32", "shape": [3, 2]}]
    (node,) = info["nodes"]
    assert (node["name"], node["type"], node["spec"], node["runs"]) == ("g", "Gather", "onnx-13", True)
    assert node["inputs"] == ["data", "indices"] and node["outputs"] == ["out"]
    assert "kernel" in node["plan"] and "run 4 B" in node["plan"]
    text = garner("info", "m.onnx").text
    assert "Gather onnx-13 'g': runs here\n    data f32 [3,4], indices i64 [2] -> out f32 [3,2]\n    plan: Gather: " in text
    assert garner("info", "file:m.onnx").text == text


@pytest.mark.parametrize(("opset", "spec"), [(1, "onnx-1"), (11, "onnx-11"), (13, "onnx-13"), (21, "onnx-13")])
def test_versions(described, tmp_path, opset, spec):
    model(tmp_path / "m.onnx", [gather()], [("data", FLOAT, [3]), ("indices", INT64, [1])], [("out", FLOAT, None)], opset=opset)
    (node,) = described("m.onnx")["nodes"]
    assert node["spec"] == spec and node["version"] == str(opset)


def test_shapes_that_are_not_known(garner, described, tmp_path):
    inputs = [("data", FLOAT, ["rows", 4]), ("indices", INT64, None)]
    model(tmp_path / "m.onnx", [gather()], inputs, [("out", FLOAT, None)])
    info = described("m.onnx")
    assert info["inputs"][0]["shape"] == ["rows", 4] and info["inputs"][1]["shape"] is None
    assert info["runs"] is True and info["nodes"][0]["plan"] is None
    assert "none before the shapes are known" in garner("info", "m.onnx").text


def test_operators_that_do_not_run(garner, described, tmp_path):
    nodes = [gather(), helper.make_node("Relu", ["out"], ["r"], "act"), helper.make_node("Foo", ["r"], ["f"], "x", domain="my.own")]
    model(tmp_path / "m.onnx", nodes, [("data", FLOAT, [3]), ("indices", INT64, [1])], [("f", FLOAT, None)])
    info = described("m.onnx")
    assert [node["runs"] for node in info["nodes"]] == [True, False, False]
    assert info["runs"] is False and "Relu" in info["refusal"] and "Foo" in info["refusal"]
    assert [node["refusal"] for node in info["nodes"]] == [None, "it does not run here: Relu", "it does not run here: Foo of domain my.own"]
    assert "kernel" in info["nodes"][0]["plan"], "what runs is planned all the same"
    text = garner("info", "m.onnx").text
    assert "Relu 13 'act': for a runtime\n" in text and "my.own.Foo" in text and "not run here: " not in text
    assert text.endswith("runs inside a runtime alone: m.onnx: 1 × Relu, 1 × Foo of domain my.own: 2 operators that do not run here\n")


def test_a_gather_that_refuses(described, tmp_path):
    rows = [("indices", numpy.array([2, 0]))]
    model(tmp_path / "m.onnx", [gather(axis=7)], [("data", FLOAT, [3, 4])], [("out", FLOAT, None)], rows)
    info = described("m.onnx")
    assert info["runs"] is False and "axis" in info["refusal"] and "7" in info["refusal"]


SHAPES = {"known": ([3, 4], [2, 1]), "ranks": (["n", 4], ["m", 1]), "nothing": (None, None)}


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize(("node", "opset", "dtype", "words"), [
    (gather(), 11, TensorProto.BFLOAT16, "Gather: data of type bf16 is not among the types of onnx-11"),
    (gather(), 13, TensorProto.BFLOAT16, None),
    (helper.make_node("GatherND", ["data", "indices"], ["out"], "g", batch_dims=1), 11, FLOAT, "GatherND: batch_dims is 1; onnx-11 has none"),
    (helper.make_node("GatherND", ["data", "indices"], ["out"], "g", batch_dims=-2), 11, FLOAT, "GatherND: batch_dims is -2; onnx-11 has none"),
    (helper.make_node("GatherND", ["data", "indices"], ["out"], "g", batch_dims=0), 11, FLOAT, None),
    (helper.make_node("GatherND", ["data", "indices"], ["out"], "g", batch_dims=0), 12, FLOAT, None),
], ids=["bf16 in 11", "bf16 in 13", "batch_dims in 11", "below zero in 11", "none in 11", "none in 12"])
@pytest.mark.parametrize("more", [False, True], ids=["alone", "with others"])
def test_a_node_says_why_it_is_refused(garner, described, tmp_path, node, opset, dtype, words, shapes, more):
    """In place of its plan, whether or not the shapes are known, and whatever other nodes there are."""
    data, indices = SHAPES[shapes]
    others = [helper.make_node("Relu", ["out"], ["r"], "act"), gather("after", "table", "indices", "last")] if more else []
    model(tmp_path / "m.onnx", [node, *others], [("data", dtype, data), ("indices", INT64, indices), ("table", FLOAT, [5])], [("out", dtype, None)], opset=opset)
    info, text = described("m.onnx"), garner("info", "m.onnx").text
    first, *rest = info["nodes"]
    assert first["name"] == "g" and first["runs"] is (words is None)
    assert info["runs"] is (words is None and not more)
    if words:
        assert first["refusal"].startswith(words) and first["plan"] is None
        assert " 'g': does not run here\n" in text and f"\n    refused: {words}" in text
        assert more or first["refusal"] in info["refusal"]
    else:
        assert first["refusal"] is None and (first["plan"] is not None) == (shapes == "known") and "refused" not in text
    if more:
        after = next(node for node in rest if node["name"] == "after")
        assert after["runs"] is True and after["refusal"] is None and (after["plan"] is not None) == (shapes == "known")


def test_types_are_judged_before_shapes_are_known(described, tmp_path):
    for opset, runs in ((11, False), (13, True)):
        model(tmp_path / "m.onnx", [gather()], [("data", TensorProto.BFLOAT16, ["n", 4]), ("indices", INT64, None)],
              [("out", TensorProto.BFLOAT16, None)], opset=opset)
        info = described("m.onnx")
        assert info["runs"] is runs and (runs or "bf16 is not among the types of onnx-11" in info["refusal"]), info


def test_names_cannot_steer_a_terminal(garner, tmp_path):
    evil = "\x1b[31mred\x07\u202e"
    nodes = [gather(evil, evil, "indices", evil + "2"), helper.make_node(evil, [evil + "2"], [evil + "3"], evil, domain=evil)]
    inputs = [(evil, FLOAT, [evil]), ("indices", INT64, [1])]
    model(tmp_path / "m.onnx", nodes, inputs, [(evil + "3", FLOAT, None)], name=evil)
    for arguments in (["info", "m.onnx"], ["info", "m.onnx", "--json"]):
        answer = garner(*arguments)
        assert answer.code == 0 and "red" in answer.text, answer
        assert not set(answer.text) & {"\x1b", "\x07", "\u202e"}, answer


def test_malformed_and_missing(refuses, tmp_path):
    (tmp_path / "m.onnx").write_bytes(b"\xff\xff\xff")
    refuses(4, "m.onnx", "info", "m.onnx")
    refuses(5, "nosuch.onnx", "info", "nosuch.onnx")


def varint(number):
    groups = []
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes([*groups, number])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def test_a_gibibyte_in_no_time(garner, at_once, tmp_path):  # noqa: F811
    """A model with its table inside: raw_data is a gibibyte of zeros that takes no room on the disk."""
    rows, size = 1 << 22, 1 << 30
    before = b"\x08" + varint(rows) + b"\x08\x40\x10\x01" + field(8, b"table")  # dims, data_type, name
    raw = varint(9 << 3 | 2) + varint(size)
    tensor = varint(5 << 3 | 2) + varint(len(before) + len(raw) + size) + before + raw
    node = field(1, gather(data="table").SerializeToString())
    ports = field(11, helper.make_tensor_value_info("indices", INT64, [2]).SerializeToString())
    ports += field(12, helper.make_tensor_value_info("out", FLOAT, [2, 64]).SerializeToString())
    graph = varint(7 << 3 | 2) + varint(len(node) + len(ports) + len(tensor) + size)
    head = b"\x08\x08" + field(8, b"\x10\x0d") + graph + node + ports + tensor
    with open(tmp_path / "m.onnx", "wb") as file:
        file.write(head)
        file.truncate(len(head) + size)
    answer = garner("info", "m.onnx")
    assert answer.code == 0 and f"table f32 [{rows},64]" in answer.text and "plan: Gather" in answer.text, answer
    at_once("info", "m.onnx")
