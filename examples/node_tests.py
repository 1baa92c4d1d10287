# SPDX-License-Identifier: MIT
"""Writes the onnx package's own node tests of the gathers as the folders that `garner check` takes: node_tests.py FOLDER"""

import importlib
import pathlib
import pkgutil
import sys

from onnx import ModelProto, numpy_helper
from onnx.backend.test.case import node as node_package

SINCE = {"Gather": 1, "GatherElements": 11, "GatherND": 11}  # the opset that each operator came with


def node_tests():
    """By name. Importing a module adds its tests to the package's list; importing all of them, as collect_testcases
    does, would take many seconds."""
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


if __name__ == "__main__":
    for name, case in sorted(node_tests().items()):
        write(case, pathlib.Path(sys.argv[1]) / name)
