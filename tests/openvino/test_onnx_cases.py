# SPDX-License-Identifier: MIT
"""The onnx package's own cases for these operators, through OpenVINO's reader of ONNX, run by garner's layers."""

import sys
from pathlib import Path

import numpy as np
import pytest
from support import EXACT, assert_ours, core_with_garner, infer

pytest.importorskip("onnx")
sys.path.append(str(Path(__file__).resolve().parents[1] / "oracle"))
from folders import SINCE, node_tests  # noqa: E402

CASES = node_tests()


def test_there_are_cases():
    assert {case.model.graph.node[0].op_type for case in CASES.values()} == set(SINCE)
    assert len(CASES) >= 9


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    core, case = core_with_garner(), CASES[name]
    compiled = core.compile_model(core.read_model(case.model.SerializeToString()), "CPU", EXACT)
    assert_ours(compiled)
    for inputs, outputs in case.data_sets:
        result = infer(compiled, *map(np.ascontiguousarray, inputs)).data
        assert result.shape == outputs[0].shape and result.dtype == outputs[0].dtype and (result == outputs[0]).all()
