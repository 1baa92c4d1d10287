# SPDX-License-Identifier: MIT
"""`garner check` on the onnx package's own node tests, as they are and stamped with every other opset.
GARNER_BUILD names the build folder (default: build)."""

import json
import os
import pathlib
import subprocess

import pytest

from folders import NEWEST, SINCE, allows, node_tests, write

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("GARNER_BUILD", "build"))
GARNER = (BUILD if BUILD.is_absolute() else ROOT / BUILD) / "garner"
NODE_TESTS = node_tests()


def check(folder):
    """The exit code, and the answer for each folder by its name."""
    done = subprocess.run([GARNER, "check", folder, "--json"], capture_output=True, timeout=120, check=False,
                          env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
    assert not done.stderr, done.stderr
    answer = json.loads(done.stdout)
    results = {pathlib.Path(f["folder"]).name: f for f in answer["folders"]}
    counts = [sum(f["result"] == word for f in results.values()) for word in ("pass", "fail", "unsupported")]
    assert counts == [answer["passed"], answer["failed"], answer["unsupported"]]
    return done.returncode, results


def test_all_operators_have_node_tests():
    assert {case.model.graph.node[0].op_type for case in NODE_TESTS.values()} == set(SINCE)


def test_node_tests(tmp_path):
    for name, case in NODE_TESTS.items():
        write(case, tmp_path / name)
    code, results = check(tmp_path)
    assert code == 0 and set(results) == set(NODE_TESTS)
    assert all(f["result"] == "pass" for f in results.values()), results


@pytest.mark.parametrize("opset", range(1, NEWEST + 2))
def test_stamped_with_another_opset(tmp_path, opset):
    """Passes where the rules allow it; elsewhere refused for the reason that the rules give."""
    for name, case in NODE_TESTS.items():
        write(case, tmp_path / name, opset)
    code, results = check(tmp_path)
    for name, case in NODE_TESTS.items():
        result, message = results[name]["result"], results[name]["message"]
        operator = case.model.graph.node[0].op_type
        if opset > NEWEST:
            assert result == "unsupported" and f"opset {opset}" in message, results[name]
        elif allows(case, opset):
            assert result == "pass", results[name]
        elif opset < SINCE[operator]:
            assert result == "unsupported" and f"{operator} does not exist in opset {opset}" in message, results[name]
        else:
            assert result == "fail" and "batch_dims" in message, results[name]
    words = {f["result"] for f in results.values()}
    assert code == (1 if "fail" in words else 4 if "unsupported" in words else 0)
