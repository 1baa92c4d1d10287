# SPDX-License-Identifier: MIT
"""The onnx package's node tests for the three operators, as the folders that `garner check` takes."""

import importlib
import pkgutil

from onnx import ModelProto, numpy_helper
from onnx.backend.test.case import node as node_package

# Operator versions by opset, and when batch_dims came.
SINCE = {"Gather": 1, "GatherElements": 11, "GatherND": 11}
NEWEST = 28


def node_tests():
    """Its node tests for the three operators, by name. Importing a module adds its tests to the package's list;
    importing all of them, as collect_testcases does, would take many seconds."""
    for module in pkgutil.iter_modules(node_package.__path__, node_package.__name__ + "."):
        if ".gather" in module.name:
            importlib.import_module(module.name)
    cases = getattr(node_package, "_NodeTestCases", None) or node_package.collect_testcases(None)
    return {case.name: case for case in cases if case.model.graph.node[0].op_type in SINCE}


def write(case, folder, opset=None):
    """Writes a test as a folder, stamped with another opset if one is given."""
    model = ModelProto()
    model.CopyFrom(case.model)
    if opset is not None:
        next(o for o in model.opset_import if o.domain in ("", "ai.onnx")).version = opset
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for number, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        for kind, arrays, infos in (("input", inputs, model.graph.input), ("output", outputs, model.graph.output)):
            for i, array in enumerate(arrays):
                tensor = numpy_helper.from_array(array, infos[i].name)
                (data / f"{kind}_{i}.pb").write_bytes(tensor.SerializeToString())


def allows(case, opset):
    """Whether the operator of a test exists in an opset, with the attributes that it uses."""
    node = case.model.graph.node[0]
    batched = any(a.name == "batch_dims" and a.i != 0 for a in node.attribute)
    return opset >= (12 if batched else SINCE[node.op_type])
