# SPDX-License-Identifier: MIT
"""info and explain MODEL --gathers: of models with hundreds of nodes that garner does not run, what is of interest here."""

import json
import xml.etree.ElementTree as tree

import numpy
import pytest
from models_like_real import FLOAT, FLOAT16, INT64, Maker, bert, detector
from test_explain_model import SVG, columns
from test_ir import expat, gather, write  # noqa: F401

DRAWN = """\
bert: ONNX, IR version 8, opset 17

 •    data: Shape /model/Shape_0_output_0
 │ □  indices: 2 × constant
 ├─┘
 ◆    2 × Gather i64[2] by i64[], axis 0 (onnx-13)
 │      out = data[indices]
 │      ONNX Runtime: garner takes them
 │      OpenVINO: not taken: arithmetic with shapes, which the runtime folds
 •    result: 2 × Unsqueeze

 □    data: constant words
 │ ○  indices: input ids
 ├─┘
 ◆    Gather f32[500,16] by i64[batch,length], axis 0 (onnx-13)
 │      out[i,j,k] = data[indices[i,j], k]
 │      ONNX Runtime: garner takes it
 │      OpenVINO: not taken: fewer points than min_bytes asks for, and the runtime's own is the same
 •    result: Add /model/Add_9_output_0
"""


@pytest.fixture
def told(garner):
    def tell(path):
        answer = garner("info", path, "--gathers", "--json")
        assert answer.code == 0 and answer.err == "", answer
        return json.loads(answer.text)

    return tell


def test_a_language_model(garner, told, tmp_path):
    bert(tmp_path / "m.onnx")
    answer = garner("explain", "m.onnx", "--gathers", env={"COLUMNS": "100"})
    assert answer.code == 0 and answer.text.startswith(DRAWN), answer
    assert answer.text.endswith("18 gathers among 147 nodes, in 6 groups\n")
    lines = garner("info", "m.onnx", "--gathers").text.splitlines()
    assert lines[0] == "m.onnx: ONNX, IR version 8, opset 17: 18 gathers among 147 nodes, in 6 groups"
    at = lines.index("12 × GatherElements f32[?,?,?] by i64[batch,length,length], axis 2 (onnx-13)")
    assert lines[at + 1] == "    data: 12 × Softmax; indices: input near; result: 12 × MatMul"
    assert lines[at + 2].startswith("    nodes: '/model/GatherElements_") and lines[at + 2].endswith("', …")
    assert lines[at + 3 : at + 5] == ["    ONNX Runtime: garner takes them", "    OpenVINO: garner takes them"]
    whole = told("m.onnx")
    assert (whole["nodes"], whole["gathers"], len(whole["groups"]), whole["notes"]) == (147, 18, 6, [])
    words = whole["groups"][1]
    assert words["what"] == "Gather f32[500,16] by i64[batch,length], axis 0 (onnx-13)" and words["spec"] == "onnx-13"
    assert words["data"] == {"dtype": "f32", "shape": [500, 16], "from": [{"kind": "constant", "count": 1}], "others": 0}
    assert words["result"]["shape"] == ["batch", "length", 16] and words["result"]["to"] == [{"kind": "Add", "count": 1}]
    assert words["gathers"][0]["onnxruntime"] == {"taken": True, "reason": None, "why": None}
    assert whole["groups"][0]["gathers"][0]["openvino"]["reason"] == "shape"


def test_a_detector(garner, told, tmp_path):
    """Its boxes' columns become one Split in ONNX Runtime; what is inside of its Loop is not looked at, and said to be so."""
    detector(tmp_path / "m.onnx")
    whole = told("m.onnx")
    assert whole["nodes"] > 300 and whole["gathers"] == 26 and len(whole["groups"]) == 3
    kinds = {group["what"].split()[0]: group for group in reversed(whole["groups"])}
    assert [g["onnxruntime"]["reason"] for g in kinds["Gather"]["gathers"]] == ["split"] * 20
    assert len(kinds["GatherND"]["gathers"]) == 5 and all(g["onnxruntime"]["taken"] for g in kinds["GatherND"]["gathers"])
    (note,) = whole["notes"]
    assert note.startswith("1 node has a graph of its own")
    text = garner("explain", "m.onnx", "--gathers").text
    assert "20 × Gather f32[100,4] by i64[], axis 1" in text and "✗" not in text and "not run" not in text
    for arguments in (["info", "m.onnx"], ["explain", "m.onnx"]):
        answer = garner(*arguments)
        assert answer.code == 0 and "✗" not in answer.text and "does not run" not in answer.text, answer


@pytest.mark.parametrize("make", [bert, detector])
@pytest.mark.parametrize("width", [40, 60, 80, 140])
def test_widths(garner, tmp_path, make, width):
    make(tmp_path / "m.onnx")
    answer = garner("explain", "m.onnx", "--gathers", env={"COLUMNS": str(width)})
    assert answer.code == 0 and max(map(columns, answer.text.splitlines())) <= width, answer


def test_picture(garner, tmp_path):
    bert(tmp_path / "m.onnx")
    assert garner("explain", "m.onnx", "--gathers", "--svg", "x.svg").out == b""
    root = tree.parse(tmp_path / "x.svg").getroot()
    kinds = [group.get("class") for group in root.iter(SVG + "g")]
    assert kinds.count("box gather") == 6 and "box refused" not in kinds and "box foreign" in kinds and "box input" in kinds
    texts = [text.text for text in root.iter(SVG + "text")]
    assert "2 × Gather i64[2] by i64[], axis 0 (onnx-13)" in texts and "12 × Softmax" in texts and "input near" in texts
    assert texts.count("OpenVINO: not taken: arithmetic with shapes, which the runtime folds") == 1
    assert "prefers-color-scheme:dark" in (tmp_path / "x.svg").read_text()


def test_groups_that_are_taken_in_part(garner, told, tmp_path):
    """Alike in type and shape, and not in where they come from."""
    m = Maker()
    table, at = m.constant("table", numpy.zeros((9, 4), "f2")), m.constant("at", [1, 2])
    outputs = [m("Gather", table, at), m("Gather", table, "rows"), m("Gather", "data", "rows")]
    m("Gather", "data", "rows")
    m.save(tmp_path / "m.onnx", "parts", [("rows", INT64, [2]), ("data", FLOAT16, [9, 4])], [(name, FLOAT16, None) for name in outputs])
    (group,) = told("m.onnx")["groups"]
    assert [g["onnxruntime"]["reason"] for g in group["gathers"]] == ["constant", None, None, None]
    assert [g["openvino"]["reason"] for g in group["gathers"]] == ["constant", "small", None, "unused"]
    text = garner("info", "m.onnx", "--gathers").text
    assert "    ONNX Runtime: garner takes 3 of them; 1 not taken: the inputs are constant: computed once, when the model is loaded\n" in text
    assert "    OpenVINO: garner takes 1 of them; 1 not taken: nothing takes the result, so it is not computed; 1 not taken: the inputs" in text


def test_shapes_that_the_file_does_not_tell(told, tmp_path):
    m = Maker()
    made = m("Gather", m("Custom", "data"), "rows")
    m.save(tmp_path / "m.onnx", "odd", [("rows", INT64, [2]), ("data", FLOAT, [9, 4])], [(made, FLOAT, None)])
    (group,) = told("m.onnx")["groups"]
    assert group["what"] == "Gather ?[…] by i64[2], axis 0 (onnx-13)" and group["data"]["shape"] is None
    for runtime in ("onnxruntime", "openvino"):
        assert group["gathers"][0][runtime]["taken"] is None and group["gathers"][0][runtime]["reason"] == "unknown"


def test_extents_of_one(told, tmp_path):
    """The runtime would take data for the result of variable indices into an extent of 1, so garner takes the gather; where the
    file does not tell the extent, nobody can say."""
    m = Maker()
    one, many = m("Relu", "one"), m("Relu", "many")
    narrow = m("ReduceMax", "many", axes=[0], info=(FLOAT, [None, 8]))
    made = [m("Gather", one, "at"), m("Gather", many, "at"), m("Gather", narrow, "at"), m("Gather", narrow, "rows"), m("Gather", one, "rows")]
    m.save(tmp_path / "m.onnx", "ones", [("at", INT64, [1]), ("rows", INT64, [2]), ("one", FLOAT, [1, 8]), ("many", FLOAT, [3, 8])],
           [(name, FLOAT, None) for name in made])  # fmt: skip
    said = {gather["name"] + "_output_0": gather["openvino"]["reason"] for group in told("m.onnx")["groups"] for gather in group["gathers"]}
    assert [said[name] for name in made] == [None, "slice", "unknown", "small", "small"]


def test_ir_and_refusals(garner, tmp_path, expat):  # noqa: F811
    write(tmp_path, *gather(shape="2,2", index="1", axis="5"))
    answer = garner("explain", "m.xml", "--gathers")
    assert answer.code == 0 and answer.text.count("✗") == 1 and answer.text.count("not taken: garner refuses it: ") == 2, answer
    write(tmp_path, *gather(shape="2,2", index="1"))
    text = garner("info", "m.xml", "--gathers").text
    assert "ONNX Runtime: not taken: the runtime does not read this format" in text and "OpenVINO: not taken: one index" in text


def test_none_at_all(garner, told, tmp_path):
    m = Maker()
    m.save(tmp_path / "m.onnx", "none", [("data", FLOAT, [9])], [(m("Relu", "data"), FLOAT, None)])
    assert garner("info", "m.onnx", "--gathers").text == "m.onnx: ONNX, IR version 8, opset 17: 0 gathers among 1 node\n"
    assert garner("explain", "m.onnx", "--gathers").text.endswith("0 gathers among 1 node\n") and told("m.onnx")["groups"] == []
    assert garner("explain", "m.onnx", "--gathers", "--svg", "x.svg").code == 0


def test_many(garner, told, tmp_path):
    """As many groups as gathers: the drawing shows some, the list all; names steer no terminal and are cut."""
    m = Maker()
    for k in range(100):
        m("Gather", m("\x1b[31m" + "x" * 300 + str(k), "data"), m.constant(f"at{k}", numpy.zeros((1,) * (k % 50) + (k + 1,), "i8")))
    m.save(tmp_path / "m.onnx", "many", [("data", FLOAT, ["n" * 500])], [(m.nodes[-1].output[0], FLOAT, None)])
    assert len(told("m.onnx")["groups"]) == 100
    for arguments in (["info"], ["explain"], ["explain", "--svg", "-"]):
        answer = garner(arguments[0], "m.onnx", "--gathers", *arguments[1:])
        assert answer.code == 0 and "\x1b" not in answer.text and len(answer.text) < 400_000, answer
    assert "40 more groups" in answer.text and " ⋮ 40 more groups" in garner("explain", "m.onnx", "--gathers").text


def test_arguments(refuses, tmp_path):
    numpy.save(tmp_path / "x.npy", numpy.zeros(3))
    refuses(2, ["'x.npy' is no model", "--gathers"], "info", "x.npy", "--gathers")
    refuses(2, ["--gathers is for models"], "explain", "gather", "[1]", "[0]", "--gathers")
    refuses(2, ["--gathers"], "run", "m.onnx", "--gathers")
