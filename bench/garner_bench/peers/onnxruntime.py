# SPDX-License-Identifier: MIT
"""ONNX Runtime: a model of one node, its inputs and its output bound to the shared memory."""

from ..runtimes.onnxruntime import cell_task, supports, version, way

__all__ = ["prepare", "supports", "version"]


def prepare(cell, inputs, context):
    return [way(cell_task(cell, inputs, None), "alone", context.threads)]
