# SPDX-License-Identifier: MIT
"""`garner info --gathers` says of each gather what the extension did with it inside OpenVINO."""

import openvino as ov
import pytest
from claim_cases import CASES, said_of
from support import EXACT, core_with_garner

import garner.openvino

EXPECTED = {"embeddings": {"small"}, "slices": {"slice"}, "thresholds": {"small"}, "folded": {"constant", "shape", "unused"}, "ones": {"small", "slice"}, "bert": {"shape"}, "unsafe": {"small", "slice"}}


# OpenVINO 2026 itself, without garner, dies at times while it compiles these two.
@pytest.mark.parametrize("name", [name for name in CASES if "spans" not in name])
@pytest.mark.parametrize("form", ["onnx", "xml"])
def test_what_is_said_is_what_happens(name, form, tmp_path):
    path = tmp_path / "m.onnx"
    CASES[name](path)
    if form == "xml":
        ov.save_model(ov.Core().read_model(path), tmp_path / "m.xml", compress_to_fp16=False)
        path = tmp_path / "m.xml"
    said = said_of(path, "openvino")
    core = core_with_garner(min_bytes=garner.openvino.MIN_BYTES)
    layers = core.compile_model(core.read_model(path), "CPU", EXACT).get_runtime_model().get_ordered_ops()
    taken = set()
    for layer in layers:
        told = layer.get_rt_info()
        if told["layerType"].value == "Reference":
            taken |= {name.removesuffix("_output_0") for name in told["originalLayersNames"].value.split(",")}  # of what is an output
    assert said
    for gather, (claimed, reason) in said.items():
        if claimed is not None:
            assert claimed == (gather.removesuffix("_output_0") in taken), (gather, reason, sorted(taken))
    expected = EXPECTED.get(name, set()) - ({"unused"} if form == "xml" else set())  # which no file has that the runtime wrote
    assert expected <= {reason for _, reason in said.values()}
