# SPDX-License-Identifier: MIT
"""OpenVINO: a model of one operator, its tensors laid over the shared memory."""

from ..runtimes.openvino import bound_way, cell_feeds, compile_model, cores, supports, version
from ..runtimes.openvino_cells import cell_model
from . import Way

__all__ = ["prepare", "supports", "version"]


def prepare(cell, inputs, context):
    compiled = compile_model(cell_model(cell), cores["alone"], context.threads, cell.dtype)
    request = compiled.create_infer_request()
    asynchronous = bound_way(request, *cell_feeds(cell, inputs))
    if cell.dtype == "str":  # infer would copy the strings into its answer
        return [asynchronous]
    return [asynchronous, Way("infer", lambda: request.infer(share_outputs=True), asynchronous.fetch)]
