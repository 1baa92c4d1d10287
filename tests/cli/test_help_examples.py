# SPDX-License-Identifier: MIT
"""The examples of the help, taken from the help itself: each is run, and prints what is shown."""

import os
import pathlib
import re
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))

from documents import Block, run_shell  # noqa: E402

TABLE = (ROOT / "cli" / "options.def").read_text(encoding="utf-8")
COMMANDS = re.findall(r'^COMMAND\((\w+), "([a-z-]+)"', TABLE, re.M)
ORDER = re.findall(r"^EXAMPLE\((\w+),", TABLE, re.M)


def make_model(folder):
    """What the examples of run and check use: lookup.onnx, and a folder with it and one case."""
    table = numpy_helper.from_array(numpy.array([[1, 2], [3, 4], [5, 6]], "f4"), "table")
    node = helper.make_node("Gather", ["table", "rows"], ["picked"])
    rows = helper.make_tensor_value_info("rows", TensorProto.INT64, ["n"])
    picked = helper.make_tensor_value_info("picked", TensorProto.FLOAT, ["n", 2])
    graph = helper.make_graph([node], "lookup", [rows], [picked], [table])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()
    (folder / "lookup.onnx").write_bytes(model)
    case = folder / "test_lookup" / "test_data_set_0"
    case.mkdir(parents=True)
    (case.parent / "model.onnx").write_bytes(model)
    for name, array in (("input_0", numpy.array([1])), ("output_0", numpy.array([[3, 4]], "f4"))):
        (case / f"{name}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


def shown(text):
    """The examples in one command's help, each with what it prints."""
    lines = "".join(line.removeprefix("  ") + "\n" for line in text.partition("\nEXAMPLES\n")[2].splitlines())
    return ["$ " + example for example in ("\n" + lines).split("\n$ ")[1:]]


def test_examples_run_as_shown(garner, program, tmp_path):
    """All in one folder, in the order of the table: a later one may use files of an earlier one."""
    (tmp_path / "bin").mkdir()
    os.symlink(program, tmp_path / "bin" / "garner")
    make_model(tmp_path)
    left = {ident: shown(garner(command, "--help").text) for ident, command in COMMANDS}
    for ident, command in COMMANDS:
        assert any(re.match(rf"\$ garner {command}\b", example) for example in left[ident]), f"{command} has no example"
    text = "".join(left[ident].pop(0).rstrip("\n") + "\n" for ident in ORDER)
    assert not any(left.values())
    run_shell(Block("the examples of the help", 1, "console", text), tmp_path)


def test_manual_shows_the_same_examples(garner):
    page = garner("help", "--man").text
    plain = page.replace("\\-", "-").replace("\\(aq", "'").replace("\\(dq", '"').replace("\\e", "\\")
    plain = re.sub(r"\\f[BR]|\\&", "", plain)
    for _, command in COMMANDS:
        for example in shown(garner(command, "--help").text):
            assert example in plain, command
