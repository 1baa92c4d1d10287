# SPDX-License-Identifier: MIT
"""ONNX Runtime, alone and with garner's execution provider: inputs and outputs bound to memory of ours, nodes timed by
its profile."""

import json
import os
import tempfile
import time
from itertools import repeat
from pathlib import Path

import numpy as np
import onnxruntime

from ..peers import Way
from ..stats import median
from . import Fallback, Task

TITLE = "ONNX Runtime"
TINY_ALLOWED = 1.05
PROVIDERS = {"alone": "CPUExecutionProvider", "garner": "GarnerExecutionProvider"}
OPERATORS = ("Gather", "GatherElements", "GatherND")
RECORD_ASSIGNMENT = "session.record_ep_graph_assignment_info"
KERNEL_TIME = "_kernel_time"
FEW, MANY = 8, 24  # copies of a short node in two models: the difference is what the nodes cost
TRIES = range(5)
COPIES_BYTES = 1 << 20  # what all copies may write: more would not stay in a near cache, as one does
plug_in = None  # garner.onnxruntime, once connected
plug_in_options = {}


def version():
    return onnxruntime.__version__


def connect(every):
    global plug_in, plug_in_options
    import garner.onnxruntime

    garner.onnxruntime.register()
    plug_in, plug_in_options = garner.onnxruntime, {"min_bytes": 0} if every else {}


def _cells():
    """Needs the onnx package, which whole models do without."""
    from . import onnx_cells

    return onnx_cells


def supports(cell):
    return _cells().supports(cell)


def cell_task(cell, inputs, folder):
    onnx_cells = _cells()
    data = np.array(inputs.strings, object).reshape(cell.data) if inputs.strings is not None else inputs.data
    feeds = {"data": data, "indices": inputs.indices.reshape(onnx_cells.index_shape(cell))}
    outs, result = ({}, None) if inputs.strings is not None else ({"out": inputs.out}, inputs.out)
    return Task(onnx_cells.cell_model(cell), feeds, outs, result, (onnx_cells.NODE,), cell)


def model_task(inputs, folder):
    model = inputs.model
    gathers = model.gathers + model.shape_gathers
    return Task(model.proto.SerializeToString(), inputs.feeds, inputs.outs, inputs.out, gathers)


def _wrong_side(name, side, provider):
    return Fallback(f"{name} ran in {provider}, not in {PROVIDERS[side]}")


def _check_assignment(session, side):
    """Every gather of the session, as the session itself says."""
    for part in session.get_provider_graph_assignment_info():
        for node in part.get_nodes():
            if node.op_type in OPERATORS and part.ep_name != PROVIDERS[side]:
                raise _wrong_side(node.name, side, part.ep_name)


def open_session(model, side, threads, **changes):
    """A session on one side; `changes` are fields of its options."""
    options = onnxruntime.SessionOptions()
    whole = threads == os.cpu_count() > 1
    options.intra_op_num_threads = 0 if whole else threads  # 0: one for each core there is, held to it, mask or not
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    for field, value in changes.items():
        setattr(options, field, value)
    if side == "alone":
        return onnxruntime.InferenceSession(model, options, providers=[PROVIDERS["alone"]])
    options.add_session_config_entry(RECORD_ASSIGNMENT, "1")
    return onnxruntime.InferenceSession(model, plug_in.session_options(options, **plug_in_options))


def _open_checked(model, side, threads, **changes):
    """The same, with every gather on its side."""
    session = open_session(model, side, threads, **changes)
    if side == "garner":
        _check_assignment(session, side)
    return session


def bound_way(session, task):
    """Strings cannot be bound: they are passed and returned."""
    if not task.outs:
        return Way("run", lambda: session.run(None, task.feeds)[0])
    binding = session.io_binding()
    for name, array in task.feeds.items():
        binding.bind_input(name, "cpu", 0, array.dtype.type, array.shape, array.ctypes.data)
    for name, array in task.outs.items():
        binding.bind_output(name, "cpu", 0, array.dtype.type, array.shape, array.ctypes.data)
    run = session._sess.run_with_iobinding  # what session.run_with_iobinding calls, less a Python frame
    bound = binding._iobinding
    return Way("run_with_iobinding", lambda: run(bound, None), lambda _: task.result, binding)


def way(task, side, threads):
    return bound_way(_open_checked(task.model, side, threads), task)


class Profile:
    """A session that writes down what each node took. The file has a line for each node and, behind those of a call,
    one for the whole. The times are whole microseconds, five to ten of which go into the profile itself."""

    _open = staticmethod(_open_checked)

    def __init__(self, task, side, threads):
        self._task, self._side = task, side
        self._folder = tempfile.TemporaryDirectory()
        prefix = str(Path(self._folder.name) / "profile")
        session = self._open(task.model, side, threads, enable_profiling=True, profile_file_prefix=prefix)
        self._session, self._call = session, bound_way(session, task).call
        self._calls, self._counted, self._runs = 0, [], []

    def call(self):
        self._call()
        self._calls += 1

    def begin_run(self):
        self._counted = []

    def begin_block(self):
        self._first = self._calls

    def end_block(self):
        self._counted += range(self._first, self._calls)

    def end_run(self):
        self._runs.append(self._counted)

    def _check(self, name, told):
        """The node on its side?"""
        if told["op_name"] in OPERATORS and told["provider"] != PROVIDERS[self._side]:
            raise _wrong_side(name, self._side, told["provider"])

    def _each_call(self):
        """For each call, nanoseconds by node; a node in a loop runs several times."""
        with open(self._session.end_profiling(), encoding="utf-8") as file:
            events = json.load(file)
        self._folder.cleanup()
        calls, nodes = [], {}
        for event in events:
            if event["cat"] == "Node" and event["name"].endswith(KERNEL_TIME):
                name = event["name"].removesuffix(KERNEL_TIME)
                self._check(name, event["args"])
                nodes[name] = nodes.get(name, 0.0) + event["dur"] * 1e3
            elif event["name"] == "model_run":
                calls.append(nodes)
                nodes = {}
        return calls

    def finish(self):
        """Nanoseconds in each run, for each gather."""
        calls = self._each_call()
        absent = [name for name in self._task.gathers if name not in calls[0]]
        if absent:
            raise Fallback(f"{', '.join(absent)} did not run as a node of its own")
        gathers = self._task.gathers
        return {name: [median([calls[number][name] for number in run]) for run in self._runs] for name in gathers}


class _Slope:
    """Nanoseconds for one node, from models with few and with many of it."""

    def __init__(self, few, many):
        self._few, self._many = few, many

    def __call__(self):
        return self._many()

    @staticmethod
    def _time(call, loops):
        begin = time.perf_counter_ns()
        for _ in repeat(None, loops):
            call()
        return (time.perf_counter_ns() - begin) / loops

    def timed(self, loops):
        """Of each the least of a few tries: a difference suffers twice from whatever interrupts one of them."""
        loops = max(1, loops // MANY // len(TRIES))
        few, many = zip(*((self._time(self._few, loops), self._time(self._many, loops)) for _ in TRIES))
        return max(1.0, (min(many) - min(few)) / (MANY - FEW))  # a time is never negative, not even by noise


def short_way(task, side, threads):
    """For nodes that a profile is too coarse for. Nothing is optimised there, or the copies would become one."""
    if task.cell is None or not task.outs or task.cell.fresh or task.cell.out_bytes * MANY > COPIES_BYTES:
        return None
    untouched = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    models = [_cells().cell_model(task.cell, copies) for copies in (FEW, MANY)]
    few, many = (bound_way(_open_checked(m, side, threads, graph_optimization_level=untouched), task) for m in models)
    return Way("repeated", _Slope(few.call, many.call), many.fetch, (few, many))
