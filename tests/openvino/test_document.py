# SPDX-License-Identifier: MIT
"""The examples of docs/openvino.md, and those of the module's docstrings, run."""

import doctest
import subprocess
import sys
from pathlib import Path

import openvino as ov

import garner.openvino

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "openvino.md"


def test_document():
    text = DOCUMENT.read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text.replace("```", ""), {}, DOCUMENT.name, str(DOCUMENT), 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert test.examples and runner.failures == 0


def test_docstrings():
    assert doctest.testmod(garner.openvino).failed == 0
    assert all(">>>" in getattr(garner.openvino, name).__doc__ for name in garner.openvino.__all__)


def test_the_lines_to_add(tmp_path, monkeypatch):
    """The block that shows them, with a model of that name."""
    from openvino import opset8

    table, rows = opset8.parameter([3, 2], ov.Type.f64), opset8.parameter([2], ov.Type.i64)
    ov.save_model(ov.Model([opset8.gather(table, rows, 0)], [table, rows]), tmp_path / "model.xml")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(DOCUMENT.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0], names)
    told = [node.get_rt_info()["layerType"].value for node in names["compiled"].get_runtime_model().get_ordered_ops()]
    assert told.count("Reference") == 1


def test_the_example(tmp_path):
    """A gather, and one from a compressed table, which is left to the runtime."""
    import numpy as np
    from openvino import opset8

    table, rows = opset8.parameter([-1, 2], ov.Type.f64), opset8.parameter([-1], ov.Type.i64)
    picked = opset8.gather(table, rows, 0, name="lookup")
    packed = opset8.convert(opset8.constant(np.ones((64, 32), np.uint8)), "f32")
    unpacked = opset8.gather(opset8.multiply(packed, opset8.constant(np.ones((64, 1), np.float32))), rows, 0, name="unpacked")
    ov.save_model(ov.Model([picked, unpacked], [table, rows]), tmp_path / "model.xml", compress_to_fp16=False)
    example = DOCUMENT.parents[1] / "examples" / "openvino_layers.py"
    said = subprocess.run([sys.executable, example, tmp_path / "model.xml"], capture_output=True, text=True, check=True).stdout
    assert sorted(line.split(": ")[1:] for line in said.splitlines()) == [["lookup", "garner"], ["unpacked", "OpenVINO's Gather"]]
