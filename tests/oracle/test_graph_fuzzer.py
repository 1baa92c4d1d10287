# SPDX-License-Identifier: MIT
"""The fuzzer of models (fuzz/graphs.py) finds what is wrong: it runs with stand-ins for garner that crash,
refuse, or give no results or wrong ones. Its own idea of the operators is held against NumPy's and the onnx package's."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "fuzz"))
import graph_case  # noqa: E402
import graph_ir  # noqa: E402
import graph_maker  # noqa: E402
import graph_onnx  # noqa: E402
from cases import MAKERS  # noqa: E402

STAND_IN = """
import os, types
class Error(Exception): pass
class OutOfRange(Error): pass
class BadShape(Error): pass
class BadType(Error): pass
class BadFile(Error): pass
class Model:
    def __init__(self, path): pass
    def run(self, inputs): {run}
"""


def fuzz(tmp_path, run, *options):
    """The fuzzer with a garner that has one function, and no runtimes."""
    package = tmp_path / "stand-in" / "garner"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(STAND_IN.format(run=run))
    (tmp_path / "stand-in" / "sitecustomize.py").write_text(
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name in ('onnxruntime', 'openvino') else find(name, *rest)\n"
    )
    environment = dict(os.environ, PYTHONPATH=str(tmp_path / "stand-in"))
    command = [sys.executable, ROOT / "fuzz/graphs.py", "--seconds", "1", "--seed", "1", "--workers", "1", "--found", tmp_path / "found", *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    "run, words",
    [
        ("os.abort()", "garner: the process ended with -6"),
        ("raise BadShape('never')", "garner: shape error, and should be None"),
        ("raise ZeroDivisionError", "garner: the process ended with 1"),
        ("return {}", " is None and should be "),
        ("return {f'o{n}': 1 for n in range(20)}", " is ((), 8, "),
    ],
)
def test_finds(run, words, tmp_path):
    done = fuzz(tmp_path, run)
    assert done.returncode == 1, done.stderr
    assert words in done.stdout and "SKIP graphs: onnxruntime is not installed" in done.stdout
    folder = next((tmp_path / "found").iterdir())
    assert "python fuzz/graphs.py --seed 1 --case" in (folder / "what.txt").read_text()
    assert {path.suffix for path in folder.iterdir()} >= {".npz", ".txt"}


def test_one_again(tmp_path):
    done = fuzz(tmp_path, "return {}", "--case", "onnx", "3")
    assert "... garner" in done.stdout and done.stdout.startswith("onnx, "), done.stderr


@pytest.mark.parametrize("style", [graph_onnx, graph_ir])
def test_cases(style):
    """Whole ones and ones of every kind of error; the same for the same seed."""
    errors, operators = set(), set()
    for number in range(1000):  # one in 300 has indices of a wrong type
        case = graph_maker.make(np.random.default_rng([5, number]), style)
        errors.add(case.error)
        operators |= {(node.operator, node.version) for node in case.nodes}
    assert errors >= {None, "range", "shape", "type"}
    wanted = {(name, f"onnx-{version}") for name, versions in graph_onnx.VERSIONS.items() for version in versions}
    assert operators >= (wanted if style is graph_onnx else set(graph_ir.OPSETS))


@pytest.mark.parametrize("operator", MAKERS)
def test_reference(operator):
    rng = np.random.default_rng(11)
    for _ in range(100):
        data, indices, attributes, want = MAKERS[operator](rng, "f4")
        values = [graph_case.Value("", "f32", "input", data), graph_case.Value("", "i64", "input", indices.astype("i8"))]
        node = graph_case.Node("", operator, "onnx-13", values, None, **attributes)
        got = graph_case.result_of(node)
        assert got.shape == want.shape and got.tobytes() == np.ascontiguousarray(want).tobytes()
