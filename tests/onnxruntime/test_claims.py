# SPDX-License-Identifier: MIT
"""`garner info --gathers` says of each gather what the plug-in did with it inside ONNX Runtime."""

import pytest
from claim_cases import CASES, said_of
from sessions import GATHERS, OURS, with_garner

EXPECTED = {"embeddings": {"copy"}, "columns": {"split"}, "quantized": {"quantized"}, "half": {"half"}, "folded": {"constant"}, "detector": {"split"}}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said_is_what_happens(name, tmp_path):
    path = tmp_path / "m.onnx"
    CASES[name](path)
    said = said_of(path, "onnxruntime")
    parts = with_garner(path.read_bytes()).get_provider_graph_assignment_info()
    taken = {node.name: part.ep_name == OURS for part in parts for node in part.get_nodes() if node.op_type in GATHERS}
    assert said and {gather: reason for gather, (_, reason) in said.items() if gather not in taken and reason not in ("constant", "unknown")} == {}
    known = {gather: claimed for gather, (claimed, _) in said.items() if claimed is not None}  # of others the runtime knows more than the file
    assert {gather: said[gather] for gather in taken.keys() & known if known[gather] is not taken[gather]} == {}
    assert len(known) >= len(said) / 2
    assert EXPECTED.get(name, set()) <= {reason for _, reason in said.values()}
