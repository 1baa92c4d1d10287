# SPDX-License-Identifier: MIT
"""OpenVINO, alone and with garner's extension: two cores that read the same files, tensors laid over memory of ours,
nodes timed by its performance counters."""

import platform
from pathlib import Path

import numpy as np
import openvino

from ..peers import Way
from ..stats import median
from . import Fallback, Task, openvino_cells
from .openvino_cells import supports  # noqa: F401

TITLE = "OpenVINO"
TINY_ALLOWED = 1.5
OUR_TYPES = "Garner"  # what the extension's types begin with
OUR_LAYER = "Reference"  # what the plugin calls a node that an extension evaluates
LEAST_TIME = 500.0  # ns: half of the counters' unit
cores = {"alone": openvino.Core()}


def version():
    return openvino.__version__.split("-")[0]


def connect(every):
    import garner.openvino

    core = openvino.Core()
    core.add_extension(garner.openvino.library(**({"min_bytes": 0} if every else {})))
    cores["garner"] = core


def cell_feeds(cell, inputs):
    """Inputs by name, outputs by name, and what is compared."""
    if inputs.strings is not None:
        return {"data": np.array(inputs.strings).reshape(cell.data), "indices": inputs.indices}, {}, None
    return {"data": inputs.data, "indices": inputs.indices}, {"out": inputs.out}, inputs.out


def cell_task(cell, inputs, folder):
    path = Path(folder) / "cell.xml"
    openvino.serialize(openvino_cells.cell_model(cell), path)
    return Task(path, *cell_feeds(cell, inputs), (openvino_cells.NODE,), cell, cell.dtype)


def model_task(inputs, folder):
    """An extent out of a shape is left to OpenVINO, on both sides."""
    model = inputs.model
    path = Path(folder) / f"{model.name}.onnx"
    path.write_bytes(model.proto.SerializeToString())
    return Task(path, inputs.feeds, inputs.outs, inputs.out, model.gathers, None, model.dtype)


def _hints(threads, dtype):
    """Left to itself it makes f16 of f32 on ARM; told f32, it makes f32 of f16."""
    kept = "f16" if dtype == "f16" and platform.machine() == "aarch64" else "f32"
    return {"PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1, "INFERENCE_NUM_THREADS": threads,
            "INFERENCE_PRECISION_HINT": kept}  # fmt: skip


def check_read(model, task, side):
    """The gathers of a model that was read: with the extension all of them are garner's, without it none."""
    types = {node.get_friendly_name(): node.get_type_name() for node in model.get_ops()}
    for name in task.gathers:
        if types.get(name, "").startswith(OUR_TYPES) != (side == "garner"):
            raise Fallback(f"{name} was read as {types.get(name, 'nothing')}")


def check_layers(types, task, side):
    """The same when it runs, by what the plugin calls its layers. Of its own gathers it may make something else, and those
    of strings it calls as it calls garner's."""
    for name in task.gathers:
        if side == "garner" and types.get(name) != OUR_LAYER:
            raise Fallback(f"{name} ran as {types.get(name, 'nothing')}")


def layer_types(compiled):
    nodes = compiled.get_runtime_model().get_ops()
    return {node.get_friendly_name(): node.get_rt_info()["layerType"].value for node in nodes}


def compile_model(model, core, threads, dtype, **changes):
    return core.compile_model(model, "CPU", {**_hints(threads, dtype), **changes})


def open_request(task, side, threads, **changes):
    core = cores[side]
    model = core.read_model(task.model)
    check_read(model, task, side)
    compiled = compile_model(model, core, threads, task.dtype, **changes)
    check_layers(layer_types(compiled), task, side)
    return compiled.create_infer_request()


def bind(request, feeds):
    for name, array in feeds.items():
        request.set_tensor(name, openvino.Tensor(array, shared_memory=array.dtype.kind != "U"))


def bound_ways(request, feeds, outs, result):
    """In the caller's thread, and by a thread of the runtime's. Strings are copied in once, and fetched where they lie:
    the first way would copy them into its answer."""
    bind(request, feeds)
    for name, array in outs.items():
        request.set_tensor(name, openvino.Tensor(array, shared_memory=True))

    def call():
        request.start_async()
        request.wait()

    fetch = (lambda _: result) if outs else (lambda _: request.get_output_tensor(0).str_data.astype(object))
    asynchronous = Way("start_async, wait", call, fetch, request)
    if not outs:
        return [asynchronous]
    return [Way("infer", lambda: request.infer(share_outputs=True), fetch, request), asynchronous]


def _bound(request, task):
    return bound_ways(request, task.feeds, task.outs, task.result)[0]


def way(task, side, threads):
    return _bound(open_request(task, side, threads), task)


class Profile:
    """Requests with performance counters. These give, for each node, whole microseconds: the mean of all calls since
    the model was compiled. So it is compiled anew for each run; what a block of calls took is what it added."""

    def __init__(self, task, side, threads):
        self._task, self._side, self._threads = task, side, threads
        self._runs = []

    def call(self):
        self._call()
        self._calls += 1

    def _totals(self):
        """Nanoseconds of all calls together, by node; and their number."""
        told = self._request.profiling_info
        return {info.node_name: info.real_time.total_seconds() * 1e9 * self._calls for info in told}, self._calls

    def begin_run(self):
        self._request = open_request(self._task, self._side, self._threads, PERF_COUNT=True)
        self._call = _bound(self._request, self._task).call
        self._calls, self._blocks = 0, []

    def begin_block(self):
        self._before = self._totals()

    def end_block(self):
        """Nanoseconds of one call, by node."""
        (before, start), (after, end) = self._before, self._totals()
        self._blocks.append({name: (after[name] - before[name]) / (end - start) for name in after})

    def _per_call(self, nodes):
        return max(LEAST_TIME, median([sum(block.get(name, 0.0) for name in nodes) for block in self._blocks]))

    def end_run(self):
        """In a cell everything counts that the plugin puts around the gather: conversions of indices and data."""
        check_layers({info.node_name: info.node_type for info in self._request.profiling_info}, self._task, self._side)
        if self._task.cell:
            groups = {openvino_cells.NODE: [name for name in self._blocks[0] if name != openvino_cells.FITTING]}
        else:
            groups = {name: [name] for name in self._task.gathers}
        self._runs.append({name: self._per_call(group) for name, group in groups.items()})

    def finish(self):
        """Nanoseconds in each run, for each gather."""
        return {name: [run[name] for run in self._runs] for name in self._runs[0]}


def short_way(task, side, threads):
    """There is none: copies of a node become one."""
    return None
