# SPDX-License-Identifier: MIT
"""Compiles models for OpenVINO's CPU plug-in with garner in them, and prints their gathers and who runs each.

    python openvino_layers.py MODEL.xml MODEL.onnx ...

Needs the packages openvino and garner-ops and, the first time, a C++ compiler.
"""

import sys

import openvino as ov

import garner.openvino

core = ov.Core()
core.add_extension(garner.openvino.library())
for path in sys.argv[1:]:
    model = core.read_model(path)
    gathers = {node.get_friendly_name() for node in model.get_ordered_ops() if "Gather" in node.get_type_name()}
    for layer in core.compile_model(model, "CPU").get_runtime_model().get_ordered_ops():
        told = layer.get_rt_info()
        if gathers & set(told["originalLayersNames"].value.split(",")):
            runs = "garner" if told["layerType"].value == "Reference" else f"OpenVINO's {told['layerType'].value}"
            print(f"{path}: {layer.get_friendly_name()}: {runs}")
