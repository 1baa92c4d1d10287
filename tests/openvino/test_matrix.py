# SPDX-License-Identifier: MIT
"""Every operator version, element type and kind of shape: garner's layer runs, and gives the specification's result.

Each cell is `ours` or `refused by the runtime`, with its message; anything else fails. The cells are written into
build/test/openvino-matrix, one file for each version, and their number is asserted.
"""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from support import EXACT, TYPES, Case, assert_ours, codes_for, content_for, content_of, core_with_garner, infer, ir_of, onnx_of, tensor_of

FOLDER = Path(__file__).resolve().parents[2] / "build" / "test" / "openvino-matrix"
KINDS = ("static", "dynamic", "dynamic rank")
GATHER = Case("Gather", (2, 5, 3), (4,), axis=1)
BATCHED = Case("Gather", (2, 5, 3), (2, 4), axis=1, batch_dims=1, attributes={"batch_dims": 1})
ELEMENTS = Case("GatherElements", (2, 5, 3), (2, 4, 3), axis=1, attributes={"axis": 1})
ND = Case("GatherND", (2, 2, 5, 3), (2, 2, 3, 1), batch_dims=2, attributes={"batch_dims": 2})
FROM_OPENVINO = {
    "Gather-1": (GATHER, "opset1"),
    "Gather-7": (BATCHED, "opset7"),
    "Gather-8": (BATCHED, "opset8"),
    "GatherElements-6": (ELEMENTS, "opset6"),
    "GatherND-5": (Case("GatherND", ND.data, ND.indices, batch_dims=2, merged=True, attributes=ND.attributes), "opset5"),
    "GatherND-8": (ND, "opset8"),
}
ONNX_GATHER = Case("Gather", (2, 5, 3), (4, 2), axis=1, attributes={"axis": 1})
ONNX_ELEMENTS = Case("GatherElements", (2, 5, 3), (1, 4, 3), axis=1, attributes={"axis": 1})  # smaller off the axis
FROM_ONNX = {
    "Gather-1": (ONNX_GATHER, 10),
    "Gather-11": (ONNX_GATHER, 12),
    "Gather-13": (ONNX_GATHER, 13),
    "GatherElements-11": (ONNX_ELEMENTS, 12),
    "GatherElements-13": (ONNX_ELEMENTS, 13),
    "GatherND-11": (Case("GatherND", (2, 5, 3), (4, 2)), 11),
    "GatherND-12": (ND, 12),
    "GatherND-13": (ND, 13),
}
# ONNX's numbers for the types that its gathers list, and what OpenVINO calls them; complex ones it has no name for.
ONNX_TYPES = {1: "f32", 2: "u8", 3: "i8", 4: "u16", 5: "i16", 6: "i32", 7: "i64", 8: "string", 9: "boolean", 10: "f16", 11: "f64",
              12: "u32", 13: "u64", 14: "complex64", 15: "complex128", 16: "bf16"}  # fmt: skip
NO_INPUTS = {"u1", "u3", "u6"}  # types that the plug-in has no inputs of
PLAIN = {"f32", "i32", "i8", "u8"}  # types that it leaves alone: its own result is right for indices in [0, s)


def why(error):
    """The last line of one of the runtime's messages, without the trail of where it was raised."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return re.sub(r"\s+", " ", next((line for line in reversed(lines) if not line.startswith("Exception from")), "no message"))[:200]


def run_cell(core, model, case, name, index_name, rng):
    """The verdict on one cell; a wrong result or another layer than garner's is an AssertionError."""
    try:
        compiled = core.compile_model(core.read_model(*model), "CPU", EXACT)
    except RuntimeError as error:
        return "refused by the runtime", why(error)
    assert_ours(compiled)
    codes, indices = codes_for(name, int(np.prod(case.data)), rng), case.make_indices(rng, negative=True)
    result = infer(compiled, tensor_of(name, codes, case.data), indices.astype(f"i{int(index_name[1:]) // 8}"))
    assert tuple(result.shape) == case.result_shape()
    assert content_of(name, result) == content_for(name, codes[case.positions(indices).reshape(-1)])
    return "ours", ""


def compare_with_the_runtime(model, case, name, index_name, rng):
    """That garner and the runtime's own kernel agree, where that is right."""
    codes, indices = codes_for(name, int(np.prod(case.data)), rng), case.make_indices(rng, negative=False)
    plain = ov.Core()
    result = infer(plain.compile_model(plain.read_model(*model), "CPU", EXACT), tensor_of(name, codes, case.data),
                   indices.astype(f"i{int(index_name[1:]) // 8}"))  # fmt: skip
    assert content_of(name, result) == content_for(name, codes[case.positions(indices).reshape(-1)])


def fill(version, cells):
    """Runs all cells of a version, writes them down, and counts them."""
    core, rows, rng = core_with_garner(), [], np.random.default_rng(7)
    for name, index_name, kind, case, model in cells:
        try:
            verdict, message = run_cell(core, model, case, name, index_name, rng)
        except AssertionError as error:
            raise AssertionError(f"{version}, {name}, {index_name} indices, {kind}: {error}") from error
        rows.append((version, name, index_name, kind, verdict, message))
        if verdict == "ours" and name in PLAIN and kind == "static" and version.split()[0] == "OpenVINO":
            compare_with_the_runtime(model, case, name, index_name, rng)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{version.replace(' ', '-')}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    return rows


@pytest.mark.parametrize("version", FROM_OPENVINO)
def test_openvino_s_own_models(version):
    case, opset = FROM_OPENVINO[version]
    cells = [(name, "i64", kind, case, ir_of(case, opset, name, "i64", kind)) for name in TYPES for kind in KINDS]
    cells += [("f32", "i32", kind, case, ir_of(case, opset, "f32", "i32", kind)) for kind in KINDS]
    rows = fill(f"OpenVINO {version}", cells)
    for _, name, _, kind, verdict, message in rows:
        if kind == "dynamic rank":
            assert verdict == "refused by the runtime" and ("dynamic rank" in message or name in NO_INPUTS), message
        elif name in NO_INPUTS:
            assert verdict == "refused by the runtime" and f"format {name} is not supported" in message, message
        else:
            assert verdict == "ours", message
    assert Counter(row[4] for row in rows) == {"ours": 2 * 22 + 2, "refused by the runtime": 25 + 2 * 3 + 1}


@pytest.mark.parametrize("version", FROM_ONNX)
def test_onnx_models(version):
    case, opset = FROM_ONNX[version]
    numbers = [number for number in ONNX_TYPES if number != 16 or opset >= 13]
    widths = [(7, "i64")] if case.operator == "GatherND" else [(7, "i64"), (6, "i32")]
    cells = [(ONNX_TYPES[number], index_name, kind, case, (onnx_of(case, opset, number, index_number, kind),))
             for number in numbers for index_number, index_name in widths for kind in KINDS]  # fmt: skip
    rows = fill(f"ONNX {version}", cells)
    for _, name, _, kind, verdict, message in rows:
        refused = name.startswith("complex") or kind == "dynamic rank"
        assert verdict == ("refused by the runtime" if refused else "ours"), message
    ours, all_cells = (len(numbers) - 2) * len(widths) * 2, len(numbers) * len(widths) * 3
    assert Counter(row[4] for row in rows) == {"ours": ours, "refused by the runtime": all_cells - ours}


@pytest.mark.parametrize("opset", range(1, 17))
def test_every_opset_is_replaced(opset):
    """Each operator in each opset that has it; the meaning of the version at the edges of the opsets."""
    core = core_with_garner()
    for version, first in (("Gather-1", 1), ("GatherElements-6", 6), ("GatherND-5", 5)):
        if opset < first:
            continue
        newest = {"Gather-1": "Gather-7" if opset == 7 else "Gather-8" if opset > 7 else version,
                  "GatherND-5": "GatherND-8" if opset > 7 else version}.get(version, version)  # fmt: skip
        case, _ = FROM_OPENVINO[newest]
        verdict, message = run_cell(core, ir_of(case, f"opset{opset}", "f32", "i32"), case, "f32", "i32", np.random.default_rng(opset))
        assert verdict == "ours", message


@pytest.mark.parametrize("index_name", ["i8", "i16", "u8", "u16", "u32", "u64"])
@pytest.mark.parametrize("version", ["Gather-1", "Gather-7", "Gather-8", "GatherND-5", "GatherND-8"])
def test_index_types(version, index_name):
    """OpenVINO's own kernels know 32 bits alone; the plug-in converts, and we undo that."""
    case, opset = FROM_OPENVINO[version]
    rng = np.random.default_rng(3)
    core = core_with_garner()
    compiled = core.compile_model(core.read_model(*ir_of(case, opset, "f32", index_name)), "CPU", EXACT)
    assert_ours(compiled)
    indices = case.make_indices(rng, negative=index_name[0] == "i").astype(np.dtype(f"{index_name[0]}{int(index_name[1:]) // 8}"))
    codes = codes_for("f32", int(np.prod(case.data)), rng)
    result = infer(compiled, tensor_of("f32", codes, case.data), indices)
    assert content_of("f32", result) == content_for("f32", codes[case.positions(indices.astype(np.int64)).reshape(-1)])
