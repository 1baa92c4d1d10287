# SPDX-License-Identifier: MIT
"""OpenVINO: a model of one operator, its tensors laid over the shared memory."""

from ..runtimes.openvino import bound_ways, cell_feeds, compile_model, cores, supports, version
from ..runtimes.openvino_cells import cell_model

__all__ = ["prepare", "supports", "version"]


def prepare(cell, inputs, context):
    compiled = compile_model(cell_model(cell), cores["alone"], context.threads, cell.dtype)
    return bound_ways(compiled.create_infer_request(), *cell_feeds(cell, inputs))
