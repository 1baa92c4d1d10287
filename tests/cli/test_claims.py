# SPDX-License-Identifier: MIT
"""What info --gathers says of each gather inside a runtime: the models that tests of the plug-ins hold against the runtimes
(claim_cases.py), and those that no runtime loads, or that are an IR by hand."""

import collections
import itertools
import json
import platform
import xml.etree.ElementTree as tree

import numpy as np
import onnx
import pytest
from claim_cases import CASES
from models_like_real import FLOAT, INT64, Maker
from onnx import TensorProto, helper
from test_ir import constant, expat, layer, net, parameter, port, result, write  # noqa: F401

RUNTIMES = ("onnxruntime", "openvino")
# On aarch64 OpenVINO turns inputs of f32 into f16, so that other gathers are taken; its own tests (tests/openvino) hold that.
COMPARED = 2 if platform.machine() in ("x86_64", "AMD64") else 1


@pytest.fixture
def reasons(garner):
    """{name of a gather: why it is not taken in either runtime, "" if it is}"""

    def tell(path):
        answer = garner("info", path, "--gathers", "--json")
        assert answer.code == 0 and answer.err == "", answer
        gathers = [gather for group in json.loads(answer.text)["groups"] for gather in group["gathers"]]
        for gather in gathers:
            for runtime in RUNTIMES:
                assert gather[runtime]["taken"] == {None: True, "unknown": None}.get(gather[runtime]["reason"], False)
        return {gather["name"]: tuple(gather[runtime]["reason"] or "taken" for runtime in RUNTIMES) for gather in gathers}

    return tell


COUNTS = {
    "rows": ("5 copy 6 taken 1 unknown", "6 slice 3 small 2 taken 1 unknown"),
    "embeddings": ("1 constant 2 copy 10 taken", "1 constant 11 small 1 taken"),
    "folded": ("3 constant 3 taken", "3 constant 1 shape 1 small 1 unused"),
    "columns": ("6 split 4 taken", "10 slice"),
    "slices": ("3 copy 4 taken 1 unknown", "7 slice 1 small"),
    "thresholds": ("157 taken", "4 slice 88 small 65 taken"),
    "quantized": ("1 quantized 1 unknown", "2 unknown"),
    "half": ("1 half 2 taken", "3 small"),
    "unsafe": ("7 taken 1 unknown", "1 slice 3 small 3 taken 1 unknown"),
    "ones": ("12 taken 2 unknown", "1 shape 3 slice 3 small 6 taken 1 unknown"),
    "readers": ("2 copy 11 taken", "4 slice 5 small 4 taken"),
    "spans": ("18 split 39 taken", "55 slice 2 small"),
    "old_spans": ("57 taken", "55 slice 2 small"),
    "types": ("11 taken 8 unknown", "2 small 8 taken 9 unknown"),
    "chains": ("1 copy 78 taken", "1 shape 8 small 70 taken"),
    "compressed": ("4 taken 2 unknown", "1 compressed 3 small 2 unknown"),
    "bert": ("16 taken 2 unknown", "2 shape 1 slice 2 small 12 taken 1 unknown"),
    "detector": ("20 split 5 taken 1 unknown", "20 slice 6 unknown"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_counts(reasons, tmp_path, name):
    CASES[name](tmp_path / "m.onnx")
    said = reasons("m.onnx").values()
    counts = [" ".join(f"{count} {reason}" for reason, count in sorted(collections.Counter(column).items())) for column in zip(*said)]
    assert tuple(counts[:COMPARED]) == COUNTS[name][:COMPARED]


@pytest.mark.parametrize("name", CASES)
def test_views(garner, tmp_path, name):
    """The same models in the other views, at any width: they agree about the nodes, and what is for programs can be parsed."""
    CASES[name](tmp_path / "m.onnx")
    nodes = len(onnx.load(tmp_path / "m.onnx").graph.node)
    assert len(json.loads(garner("info", "m.onnx", "--json").text)["nodes"]) == nodes
    assert garner("info", "m.onnx").code == 0
    for width in ("40", "200"):
        assert garner("explain", "m.onnx", env={"COLUMNS": width}).code == 0
    if name != "thresholds":  # of which there are too many for a picture
        assert garner("explain", "m.onnx", "--svg", "m.svg").code == 0
        tree.parse(tmp_path / "m.svg")


def shortened(words):
    runs = [(word, len(list(run))) for word, run in itertools.groupby(words)]
    return " ".join(word if count == 1 else f"{word}*{count}" for word, count in runs)


class Asked(Maker):
    """Gathers about which the command is asked."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def gather(self, *inputs, operator="Gather", **attributes):
        made = self(operator, *inputs, **attributes)
        self.asked.append(self.nodes[-1].name)
        return made

    def check(self, reasons, folder, inputs, expected, outputs=None):
        """What is expected of each in ONNX Runtime and in OpenVINO, in the order of asking."""
        outputs = [node.output[0] for node in self.nodes if node.name in self.asked] if outputs is None else outputs
        self.save(folder / "m.onnx", "asked", inputs, [(name, FLOAT, None) for name in outputs])
        said = reasons("m.onnx")
        assert tuple(shortened(said.get(name, ("none", "none"))[i] for name in self.asked) for i in range(COMPARED)) == expected[:COMPARED]


def test_shapes_that_are_known_in_part(reasons, tmp_path):
    m = Asked()
    lost = m("Custom", "data")  # neither its type nor its shape
    ranked = m("Custom", "data", info=(FLOAT, [None, 8]))
    typeless = m("Custom", "data", info=(0, [4, 8]))
    ids, pairs = m("Custom", "data", info=(INT64, None)), m("Custom", "data", info=(INT64, [None, None]))
    one, narrow = m("Custom", "data", info=(INT64, [None])), m("Custom", "data", info=(FLOAT, [None, 1]))
    wide, vector = m("Custom", "data", info=(FLOAT, [None, 4096])), m("Custom", "data", info=(0, [8]))
    for data, by in ((lost, "rows"), (ranked, "rows"), (typeless, "rows"), (vector, "rows"), ("data", ids), ("data", one), ("any", "rows"), ("any", ids),
                     (wide, one), (wide, "one"), (wide, "rows"), ("wide", one), ("wide", ids), ("named", "one"), (wide, "tall"), ("data", "huge"), (wide, "huge"),
                     (lost, "huge"), (ranked, "many"), (ranked, one), ("data", pairs), ("many", "rows"), ("named", one), (m("Abs", "named"), pairs)):  # fmt: skip
        m.gather(data, by)
    for by in (one, pairs, m.constant("beyond", [[1, 0]])):
        m.gather(narrow, by, axis=1)
    m.gather(narrow, one)
    m.gather(narrow, m.constant("before", [-9]))
    for data in (lost, ranked, "data", "any", "named", wide):
        for by in (ids, pairs, "square", "open", "deep", "tall"):
            m.gather(data, by, operator="GatherElements")
            m.gather(data, by, operator="GatherND")
        m.gather(data, pairs, operator="GatherND", batch_dims=1)
        m.gather(data, "square", operator="GatherElements", axis=-1)
    m.check(reasons, tmp_path, [("data", FLOAT, [4, 8]), ("any", FLOAT, None), ("rows", INT64, [2]), ("one", INT64, [1]), ("square", INT64, [4, 2]),
                                ("deep", INT64, [4, 2, 2]), ("open", INT64, ["n", "m"]), ("named", FLOAT, ["n", 2048]), ("wide", FLOAT, [4, 4096]),
                                ("many", INT64, [9000]), ("tall", INT64, [1 << 31, 1 << 31]), ("huge", INT64, [1 << 40, 1 << 22])],
            ("unknown*13 taken unknown taken unknown*5 taken unknown*7 taken*84",
             "unknown small unknown*8 small unknown*2 slice taken*3 unknown*4 taken unknown*4 taken unknown slice unknown*12 taken unknown*5 "
             "taken small taken unknown*2 small taken unknown taken unknown*5 taken small taken unknown*2 small taken unknown taken small "
             "unknown*12 taken unknown*5 taken small taken unknown*2 small taken unknown taken*2 unknown*4 taken small taken unknown*2 small "
             "taken unknown taken unknown"))  # fmt: skip


def test_constants_by_their_elements(reasons, tmp_path):
    """What the runtime would do wrong with depends on where constant indices point."""
    m = Asked()
    m.constant("given", [1, 2])  # an input that has a default
    three, one, vector, open_ = m("Abs", "three"), m("Abs", "one"), m("Abs", "vector"), m("Custom", "three", info=(FLOAT, [None, 4]))
    for data in (three, one, open_):
        for at in ([[0, 1, 2]], [[0, 2, 1]], [[-1]], [[0]], [-4], [5], [0, 1, 2], [[1]], [0]):
            m.gather(data, m.constant(f"at{at}", np.array(at, "i4")))
    for at in ([1, 2], [-8], [8], [-9]):
        m.gather(vector, m.constant(f"at{at}", at))
        m.gather(m("Abs", "longer"), m.constant(f"at{at}", at))
    m.gather(three, "given")
    m.gather(three, m("Identity", "given"))
    for tuples in ([[1], [-3]], [[1], [-4]], [[2, 3], [0, -5]], np.zeros((0, 1), "i8"), np.zeros((2, 0), "i8")):
        m.gather(three, m.constant(f"tuples{tuples}", tuples), operator="GatherND")
    for each in (np.zeros((3, 4), "i8"), np.full((3, 4), 3), np.zeros((0, 4), "i8"), "twelve"):
        m.gather(three, each if isinstance(each, str) else m.constant(f"each{each}", each), operator="GatherElements")
    m.gather("empty", "pairs", operator="GatherND")
    m.gather("data", "none", operator="GatherElements")
    m.gather("data", "none", operator="GatherND")
    m.gather("three", "given", axis=-2)
    m.check(reasons, tmp_path, [("three", FLOAT, [3, 4]), ("one", FLOAT, [1, 4]), ("vector", INT64, [8]), ("longer", INT64, [65]), ("given", INT64, [2]),
                                ("empty", FLOAT, [0, 4]), ("pairs", INT64, [2, 1]), ("data", FLOAT, [4, 4]), ("none", INT64, [0, 4]), ("twelve", INT64, [3, 4])],
            ("taken*18 unknown*9 taken*21 refused taken",
             "taken small slice*2 taken*2 small slice*2 taken*2 slice*2 taken*4 slice small*2 slice*4 small slice*2 shape*4 taken shape taken "
             "shape small*3 taken*4 small taken*2 small taken*2 refused small"))  # fmt: skip


def test_who_reads_the_result(reasons, tmp_path):
    """Columns of integers that the runtime converts anyway, where it computes with them, or with what gathers make of them."""
    m = Asked()
    reads = [lambda x: m("Sub", x, "i"), lambda x: m("Cast", x, to=FLOAT), lambda x: m("Shape", x), lambda x: m("Identity", x), lambda x: None,
             lambda x: m("Sub", m("Identity", x), "i"), lambda x: m("Sub", m("Gather", x, "rows"), "i"), lambda x: m("Gather", "table", x),
             lambda x: m("GatherElements", x, "near"), lambda x: m("Sub", m("GatherElements", x, "near"), "i"), lambda x: m("Gather", m("Custom", "i"), x),
             lambda x: m("Gather", "large", x), lambda x: m("Gather", x, m("Custom", "i")), lambda x: m("Sub", m("Gather", x, m("Custom", "i")), "i"),
             lambda x: [m("Shape", x), m("Sub", x, "i"), m("Abs", x)]]  # fmt: skip
    for data in ("ids", "words", "small"):
        for read in reads:
            read(m.gather(data, "rows"))
            read(m.gather(data, "column", axis=1))
    deep = m.gather("ids", "rows")
    for _ in range(18):
        deep = m("Gather", deep, "rows")
    m("Sub", deep, "i")
    kept = [node.output[0] for node in m.nodes if node.name not in m.asked]
    m.check(reasons, tmp_path, [("ids", INT64, [64, 8]), ("words", TensorProto.STRING, [64, 8]), ("small", TensorProto.INT8, [64, 8]), ("rows", INT64, [2]),
                                ("i", INT64, []), ("column", INT64, []), ("near", INT64, [2, 8]), ("table", FLOAT, [64, 8]), ("large", FLOAT, [64, 8, 4096])],
            ("taken*91",
             "small slice taken*6 unused*2 small slice small slice small slice small slice small slice unknown*2 small slice small slice small "
             "slice small slice taken*8 unused*2 taken*20 small slice small slice small slice small slice unused*2 small slice small slice small "
             "slice small slice small slice small slice small slice small slice small slice small slice small"), kept)  # fmt: skip


def test_attributes_before_shapes_are_known(reasons, tmp_path):
    """Batches and axes that do or do not fit to ranks, while extents are open."""
    m = Asked()
    for operator in ("GatherND", "Gather", "GatherElements"):
        for data in ("open", "deep", "number"):
            for by in ("many", "ids", "one"):
                for attributes in ({}, {"batch_dims": 1}, {"batch_dims": 3}, {"batch_dims": -1}) if operator == "GatherND" else ({"axis": 1}, {"axis": -3}):
                    m.gather(data, by, operator=operator, **attributes)
    m.check(reasons, tmp_path, [("open", FLOAT, ["n", None]), ("deep", FLOAT, ["n", 2, "k"]), ("number", FLOAT, []), ("many", INT64, ["n", 1]), ("ids", INT64, ["m"]),
                                ("one", INT64, [])],
            ("taken*32 refused*4 taken unknown taken unknown taken unknown taken*6 unknown*4 refused*2 taken*16 refused*2",
             "small taken*3 unknown taken*3 unknown taken*3 small taken*3 unknown taken*3 unknown taken*3 unknown taken*3 unknown taken*3 "
             "refused*4 small unknown small unknown slice*2 small*4 slice*2 unknown*4 refused*2 taken*2 unknown*14 refused*2"))  # fmt: skip


def test_results_that_are_declared(reasons, tmp_path):
    """Where the file says more of a result than of what it is made from, or says what cannot be."""
    m = Asked()
    lost, deep = m("Custom", "data"), m("Custom", "data", info=(FLOAT, [None, 8, 8]))
    ids, some = m("Custom", "data", info=(INT64, None)), m("Custom", "data", info=(INT64, [None]))
    kept = []
    for data, by, operator, shape in ((lost, "rows", "Gather", [0, 8]), (lost, "rows", "GatherND", [2, 0]), (deep, ids, "Gather", [None]), ("data", ids, "GatherND", [2, 8]),
                                      ("data", ids, "Gather", [2, 8]), ("data", ids, "Gather", [90000, 8]), ("data", some, "Gather", [1 << 40, 1 << 40]),
                                      ("wide", "rows", "Gather", None), ("wide", some, "Gather", None), (lost, ids, "GatherElements", [None, None]),
                                      (lost, "pairs", "GatherElements", [4, None]), ("any", ids, "Gather", [9, None]), ("any", "rows", "Gather", ["n", 8]),
                                      (deep, some, "GatherND", [9000, 8, 8]), (lost, some, "Gather", [90000, None])):  # fmt: skip
        m.gather(data, by, operator=operator, **({} if shape is None else {"info": (FLOAT, shape)}))
        if shape is None:
            kept.append(m.nodes[-1].output[0])
        else:
            kept.append(m("Relu", m.nodes[-1].output[0]))
    m.check(reasons, tmp_path, [("data", FLOAT, [4, 8]), ("rows", INT64, [2]), ("pairs", INT64, [4, 2]), ("wide", FLOAT, [2, 1 << 61]), ("any", FLOAT, None)],
            ("unknown taken unknown taken*5 unknown taken*2 unknown*2 taken unknown",
             "taken*2 unknown*2 small unknown*2 small unknown*7"), kept)  # fmt: skip


def test_what_the_optimizer_looks_at(reasons, tmp_path):
    """Slices with inputs that are left out, quantized data that somebody computes with, and inputs whose extents have no names."""
    m = Asked()
    ends = [m.constant(f"end{k}", [k]) for k in range(5)]
    axis, step, scale, zero = m.constant("axis", [1]), m.constant("step", [1]), m.constant("scale", np.float32(0.5)), m.constant("zero", np.uint8(0))
    for k, more in enumerate(((axis, ""), ("", step), (axis, step))):
        data = m("Relu", f"data{k}")
        m.gather(data, m.constant(f"at{k}", 0), axis=1)
        m("Slice", data, ends[1], ends[4], *more)
    m("Relu", m.gather(m("DequantizeLinear", "bytes", scale, zero), "rows"))
    m("QuantizeLinear", m.gather(m("DequantizeLinear", "more", scale, zero), "rows"), scale, zero)
    for data in ("open", m("Relu", "open"), "table", m("Relu", "table")):
        for by in ("one", "some", "rows", m("Abs", "some"), m("Custom", "some", info=(INT64, [1]))):
            m.gather(data, by)
    ids = m("Abs", "ids")
    m.gather(ids, "one")
    m.gather("table", ids)
    m.gather("huge", "wide")
    m.check(reasons, tmp_path, [*((f"data{k}", FLOAT, [6, 4]) for k in range(3)), ("bytes", TensorProto.UINT8, [64, 8]), ("more", TensorProto.UINT8, [64, 8]),
                                ("rows", INT64, [2]), ("open", FLOAT, [None, 4096]), ("table", FLOAT, [8, 4096]), ("one", INT64, [1]), ("some", INT64, [None]),
                                ("ids", INT64, [8, 4096]), ("huge", FLOAT, [1 << 31, 1 << 31]), ("wide", INT64, [1 << 31])],
            ("split taken split unknown*2 taken unknown copy unknown taken unknown*5 taken unknown copy unknown taken*2 unknown copy unknown "
             "taken copy taken copy",
             "slice*3 unknown*2 slice small*2 unknown slice unknown*2 small unknown*2 slice small*2 unknown slice*2 unknown small unknown slice "
             "unused taken*2"), [node.output[0] for node in m.nodes if node.op_type in ("Gather", "Relu") and node.input[0] not in (ids, "bytes", "more")])  # fmt: skip


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 65, -65])
def test_numbers_that_no_gather_has(garner, tmp_path, number):
    """An axis or batch_dims beyond every rank, and data of unknown rank."""
    nodes = [helper.make_node("Gather", ["data", "rows"], ["a"], axis=number), helper.make_node("GatherElements", ["data", "rows"], ["b"], axis=number),
             helper.make_node("GatherND", ["data", "rows"], ["c"], batch_dims=number), helper.make_node("GatherND", ["open", "rows"], ["d"], batch_dims=number),
             helper.make_node("Gather", ["open", "rows"], ["e"], axis=number)]  # fmt: skip
    rows = helper.make_tensor("rows", INT64, [2, 1], [1, 0])
    shapes = {"data": [4, 8], "open": None}
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in shapes.items()],
                              [helper.make_tensor_value_info(node.output[0], FLOAT, None) for node in nodes], [rows])  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), tmp_path / "m.onnx")
    for arguments in (["info", "m.onnx", "--gathers"], ["explain", "m.onnx", "--gathers"], ["explain", "m.onnx"]):
        answer = garner(*arguments)
        assert answer.code == 0 and answer.err == "", answer


def test_gathers_that_their_opset_lacks(garner, tmp_path):
    """Of a version from before there was such an operator, and with nothing that has a name."""
    m = Asked()
    m.gather("data", "rows", operator="GatherND")
    m.gather("data", "rows", operator="GatherElements", domain="ai.onnx")
    m.gather("data", "rows", operator="GatherElements", domain="else.where")
    for node in m.nodes:
        node.name = ""
    graph = helper.make_graph(m.nodes, "", [helper.make_tensor_value_info("data", FLOAT, [4, 8]), helper.make_tensor_value_info("rows", INT64, [2, 1])],
                              [helper.make_tensor_value_info(node.output[0], FLOAT, None) for node in m.nodes])  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 10), helper.make_opsetid("ai.onnx", 10)], ir_version=5), tmp_path / "m.onnx")
    whole = json.loads(garner("info", "m.onnx", "--gathers", "--json").text)
    assert whole["gathers"] == 2 and {gather["openvino"]["reason"] for group in whole["groups"] for gather in group["gathers"]} == {"refused"}
    for arguments in (["explain", "m.onnx"], ["explain", "m.onnx", "--gathers"], ["info", "m.onnx"], ["explain", "m.onnx", "--svg", "m.svg"]):
        answer = garner(*arguments)
        assert answer.code == 0, answer
    assert "does not exist in opset 10" in garner("info", "m.onnx").text


def test_nodes_that_no_runtime_loads(reasons, tmp_path):
    """Inputs that are left out, gathers that are refused, types that a runtime has not, and a loop beside it all."""
    m = Asked()
    for data in (m("Shape", ""), m("Cast", "", to=FLOAT), m("Cast", to=FLOAT), m("Relu", "", "data"), m("MatMul", "data", ""), m("Relu", "data", domain="odd"),
                 "complex", "wide"):  # fmt: skip
        m.gather(data, "one")
    for axis in (7, -7):
        m.gather("data", "one", axis=axis)
        m.gather("any", "one", axis=axis)
        m.gather("named", "one", axis=axis)
        m.gather("named", "one", axis=axis, operator="GatherElements")
    m.gather("data", "data")
    m.gather("data", "one", domain="com.example")
    m.gather("data", "one", domain="ai.onnx")
    m("Relu", m.gather("data", "one"), outputs=0)
    unread = m.gather("data", "one")
    ports = [helper.make_tensor_value_info(*port) for port in (("n", INT64, []), ("go", TensorProto.BOOL, []), ("goes", TensorProto.BOOL, []))]
    m("Loop", "one", "", body=helper.make_graph([helper.make_node("Identity", ["go"], ["goes"])], "body", ports[:2], ports[2:]))
    outputs = [node.output[0] for node in m.nodes if node.output and node.output[0] != unread and node.input[:1] not in (["complex"], ["wide"])]
    m.check(reasons, tmp_path, [("data", FLOAT, [4, 8]), ("any", FLOAT, None), ("one", INT64, [1]), ("complex", TensorProto.COMPLEX64, [4, 8]),
                                ("wide", TensorProto.COMPLEX128, [4, 8]), ("named", FLOAT, ["n", 8])],
            ("unknown*6 type*2 refused unknown*2 taken refused unknown*2 taken refused none taken*3",
             "unknown*6 type*2 refused unknown slice unknown refused unknown slice unknown refused none slice*3"), outputs)  # fmt: skip


IR = {
    "older, constant": (dict(version="opset1"), "4,3", [1, 2], 0),
    "older, from the end": (dict(version="opset1"), "4,3", [1, -2], 0),
    "older, beyond": (dict(version="opset7", data='batch_dims="0"'), "4,3", [4], 0),
    "older, open": (dict(version="opset7", data='batch_dims="0"'), "?,3", [1, 2], 0),
    "older, variable": (dict(version="opset7", data='batch_dims="0"'), "4,3", "2", 0),
    "older, along an axis that comes": (dict(version="opset1"), "4,3", [1, 2], None),
    "in batches": (dict(data='batch_dims="1"'), "2,3", "2,4", 1),
    "constant": (dict(data='batch_dims="0"'), "4,3", [1, -2], 0),
    "beyond": (dict(data='batch_dims="0"'), "4,3", [9, -2], 1),
    "variable": (dict(data='batch_dims="0"'), "4,3", "2,2", -1),
    "no axis": (dict(data='batch_dims="0"'), "4,3", [1], 5),
    "axis of two": (dict(data='batch_dims="0"'), "4,3", [1], [0, 1]),
    "axis that comes": (dict(data='batch_dims="0"'), "4,3", "2", None),
    "elements": (dict(kind="GatherElements", version="opset6", data='axis="-1"'), "4,3", "4,2", 0),
    "tuples": (dict(kind="GatherND", data='batch_dims="0"'), "4,3", "2,1", 0),
    "tuples in batches": (dict(kind="GatherND", version="opset5", data='batch_dims="2"'), "2,3,4", "2,3,1", 0),
    "tuples in open batches": (dict(kind="GatherND", version="opset5", data='batch_dims="2"'), "?,3,4", "2,?,1", 0),
    "no names": (dict(data='batch_dims="0"', name=""), "?,3", "2", 0),
    "constant tuples in batches": (dict(kind="GatherND", version="opset8", data='batch_dims="1"'), "2,3,4", [[1], [0]], 0),
}
IR_SAID = {"older, constant": "small", "older, from the end": "taken", "older, beyond": "taken", "older, open": "taken", "older, variable": "taken", "older, along an axis that comes": "taken", "in batches": "taken", "constant": "small", "beyond": "taken", "variable": "small", "no axis": "refused", "axis of two": "refused", "axis that comes": "taken", "elements": "small", "tuples": "small", "tuples in batches": "small", "tuples in open batches": "unknown", "no names": "small", "constant tuples in batches": "small"}  # fmt: skip


def put(number, name, what, content):
    """An input of a gather: a parameter where `what` is a shape or nothing, else a constant."""
    if what is None or isinstance(what, str):
        return parameter(number, name, what or "", "i64")
    array = np.array(what, "i8")
    content += array.tobytes()
    return constant(number, ",".join(map(str, array.shape)), "i64", len(content) - array.nbytes, array.nbytes)


@pytest.mark.parametrize("name", IR)
def test_ir(garner, reasons, tmp_path, name, expat):  # noqa: F811
    about, shape, index, axis = IR[name]
    kind, content = about.get("kind", "Gather"), bytearray()
    takes = 3 if kind == "Gather" else 2
    layers = [parameter(10, "data", shape, "i32"), put(11, "indices", index, content), put(12, "axis", axis, content)]
    layers += [layer(1, kind, about.get("data", ""), "".join(map(port, range(takes))), port(3), about.get("version", "opset8"), "gather"), result(13)]
    if about.get("name") == "":
        layers[-2:] = [text.replace('name="gather"', "") for text in layers[-2:]]
    edges = [(10, 0, 1, 0), (11, 0, 1, 1), (12, 0, 1, 2), (1, 3, 13, 0)]
    if takes == 2:
        del layers[2], edges[2]
    write(tmp_path, net(layers, edges), bytes(content))
    said = next(iter(reasons("m.xml").values()))[1]
    assert garner("explain", "m.xml").code == garner("explain", "m.xml", "--gathers", "--svg", "m.svg").code == 0
    assert said == IR_SAID[name]


def test_shapes_that_follow_from_others(garner, tmp_path):
    """What is known of the data that a gather takes, after operators that garner does not run."""
    shapes = {"a": [3, 4], "row": [4], "column": [3, 1], "one": [1, 1], "n": ["n", 4], "also_n": ["n", 4], "m": ["m", 4], "open": [None, 4], "deep": [2, 3, 4], "flat": [4],
              "right": [4, 7], "wide": ["n", 7]}  # fmt: skip
    cases = {("Add", "a", "row"): [3, 4], ("Add", "row", "a"): [3, 4], ("Add", "a", "column"): [3, 4], ("Add", "column", "row"): [3, 4], ("Add", "one", "deep"): [2, 3, 4],
             ("Mul", "n", "also_n"): ["n", 4], ("Mul", "n", "m"): [None, 4], ("Mul", "n", "open"): [None, 4], ("Mul", "a", "deep"): [2, 3, 4], ("Sub", "a", "n"): [None, 4],
             ("Less", "a", "row"): [3, 4], ("MatMul", "a", "right"): [3, 7], ("MatMul", "deep", "right"): [2, 3, 7], ("MatMul", "a", "flat"): None,
             ("MatMul", "flat", "right"): None, ("MatMul", "lost", "right"): None, ("Add", "a", "lost"): None, ("Add", "lost", "a"): None, ("Relu", "lost"): None,
             ("Softmax", "wide"): ["n", 7], ("Transpose", "a"): [None, None], ("Reshape", "a", "row"): None, ("Add", "a"): None, ("Shape", "lost"): [None], ("Shape", "deep"): [3],
             ("Custom", "a"): None, ("Identity", "lost"): None, ("Identity", "deep"): [2, 3, 4]}  # fmt: skip
    m = Maker()
    m("Custom", "a")
    lost = m.nodes[-1].output[0]
    names = {}
    for inputs in cases:
        m("Gather", m(inputs[0], *(lost if name == "lost" else name for name in inputs[1:])), "at")
        names[m.nodes[-1].name] = inputs
    m.save(tmp_path / "m.onnx", "follows", [*((name, FLOAT, shape) for name, shape in shapes.items()), ("at", INT64, [1])], [])
    groups = json.loads(garner("info", "m.onnx", "--gathers", "--json").text)["groups"]
    said = {names[gather["name"]]: group["data"]["shape"] for group in groups for gather in group["gathers"]}
    assert {inputs: said[inputs] for inputs in cases} == cases
    assert garner("explain", "m.onnx").code == 0
