# SPDX-License-Identifier: MIT
"""Oracles that share nothing with garner: the onnx package's own node tests for the three operators,
its reference evaluator, and NumPy's indexing. Everything goes through the command and .npy files.
GARNER_BUILD names the build folder (default: build)."""

import os
import pathlib
import subprocess

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from cases import MAKERS, VERSIONS
from folders import node_tests

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("GARNER_BUILD", "build"))
GARNER = (BUILD if BUILD.is_absolute() else ROOT / BUILD) / "garner"

COMMANDS = {"Gather": "gather", "GatherElements": "gather-elements", "GatherND": "gather-nd"}
SEED = int(os.environ.get("GARNER_TEST_SEED", "20240613"))
CASES = 40


def run(folder, op_type, data, indices, opset, attributes):
    """The result of one operator, through the command."""
    version = max(v for v in VERSIONS[op_type] if v <= opset)
    np.save(folder / "data.npy", data)
    np.save(folder / "indices.npy", indices)
    options = [f"--{name.replace('_', '-')}={value}" for name, value in attributes.items()]
    command = [GARNER, COMMANDS[op_type], folder / "data.npy", folder / "indices.npy", *options,
               "--spec", f"onnx-{version}", "-o", folder / "out.npy"]
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    done = subprocess.run(command, capture_output=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr.decode()
    return np.load(folder / "out.npy")


def same_bits(got, want):
    want = np.asarray(want)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    assert got.tobytes() == want.tobytes()


# ---- The node tests of the onnx package ----------------------------------------------------------


NODE_TESTS = node_tests()


@pytest.mark.parametrize("op_type", COMMANDS)
def test_node_tests_exist(op_type):
    found = [name for name, case in NODE_TESTS.items() if case.model.graph.node[0].op_type == op_type]
    print(f"{op_type}: {len(found)} node tests: {', '.join(found)}")
    assert found, f"the onnx package has no node tests for {op_type}, or they have moved"


@pytest.mark.parametrize("name", NODE_TESTS)
def test_node(name, tmp_path):
    case = NODE_TESTS[name]
    node = case.model.graph.node[0]
    opset = next(o.version for o in case.model.opset_import if o.domain == "")
    attributes = {a.name: a.i for a in node.attribute}
    assert case.data_sets
    for (data, indices), (output,) in case.data_sets:
        same_bits(run(tmp_path, node.op_type, data, indices, opset, attributes), output)


# ---- Random inputs: the reference evaluator and NumPy --------------------------------------------


def evaluate(op_type, data, indices, attributes):
    """What the onnx package's reference evaluator says."""
    node = onnx.helper.make_node(op_type, ["data", "indices"], ["out"], **attributes)
    inputs = [onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
              for name, array in (("data", data), ("indices", indices))]
    out = onnx.helper.make_tensor_value_info("out", onnx.helper.np_dtype_to_tensor_dtype(data.dtype), None)
    graph = onnx.helper.make_graph([node], "oracle", inputs, [out])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)])
    return ReferenceEvaluator(model).run(None, {"data": data, "indices": indices})[0]


@pytest.mark.parametrize("op_type", COMMANDS)
def test_numpy(op_type, tmp_path):
    rng = np.random.default_rng(SEED)
    for _ in range(CASES):
        data, indices, attributes, want = MAKERS[op_type](rng)
        same_bits(run(tmp_path, op_type, data, indices, 13, attributes), want)


def within_evaluator(op_type, data, indices, attributes):
    """The case as the evaluator can do it: its GatherElements wants an axis counted from the front,
    and data no larger than indices off the axis."""
    if op_type != "GatherElements":
        return data, attributes
    axis = attributes["axis"] % data.ndim
    corner = tuple(slice(None) if d == axis else slice(n) for d, n in enumerate(indices.shape))
    return np.ascontiguousarray(data[corner]), {"axis": axis}


@pytest.mark.parametrize("op_type", COMMANDS)
def test_reference_evaluator(op_type, tmp_path):
    rng = np.random.default_rng(SEED + 1)
    compared = 0
    for _ in range(CASES):
        data, indices, attributes, _ = MAKERS[op_type](rng)
        if 0 in indices.shape:
            continue  # the evaluator loses the type or the shape of an empty result
        data, attributes = within_evaluator(op_type, data, indices, attributes)
        want = evaluate(op_type, data, indices, attributes)
        same_bits(run(tmp_path, op_type, data, indices, 13, attributes), want)
        compared += 1
    print(f"{op_type}: {compared} of {CASES} cases compared with the reference evaluator")
    assert compared >= CASES // 2
