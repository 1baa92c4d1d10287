# SPDX-License-Identifier: MIT
"""Inside a runtime: the runtime alone against the same runtime with garner's plug-in. One file per runtime. Each has
    TITLE                             what people call it
    TINY_ALLOWED                      how many times as long as alone a tiny node may take with garner
    version()                         the runtime's version; importing the file imports the runtime
    connect(every)                    takes the plug-in in, or raises: for every gather, small ones too, or for those that
                                      it takes by default
    supports(cell)                    "" or the reason why not
    cell_task(cell, inputs, folder)   a cell as a model of one node
    model_task(inputs, folder)        one of the realistic models
    way(task, side, threads)          runs the task on one side (peers.Way)
    Profile(task, side, threads)      the same, timed node by node by the runtime itself
    short_way(task, side, threads)    a clock for nodes too short for that; None if there is no such
A gather that the runtime keeps for itself on garner's side, or gives away on its own, raises Fallback: a plug-in
that does nothing looks like one that is level."""

import importlib
from typing import Any, NamedTuple

NAMES = ("onnxruntime", "openvino")
SIDES = ("alone", "garner")
MODELS = ("bert-embedding", "detection-head", "beam-reorder", "small-gathers")


class Fallback(Exception):
    """A gather ran on the wrong side."""


class Task(NamedTuple):
    model: Any  # the model, as the runtime reads it
    feeds: dict  # its inputs by name: arrays, which stay where they are
    outs: dict  # its outputs by name: arrays to be written; empty if the runtime must make them (strings)
    result: Any  # what is compared: an array over all outs, or None for what the runtime returns
    gathers: tuple  # the nodes that must be garner's on garner's side
    cell: Any = None  # the workload, if this is one
    dtype: str = "f32"  # of what is gathered


def load(name, builds=True):
    """The adapter with garner's plug-in taken in, or the reason why there is none. Who builds models needs onnx too, and
    compares every gather; who runs those of others, what users get."""
    from ..peers import one_line

    try:
        if builds:
            importlib.import_module(".models", __name__)
        adapter = importlib.import_module(f".{name}", __name__)
        adapter.version()
    except Exception as error:  # a broken install is missing too, whatever it raises
        return None, one_line(error)
    try:
        adapter.connect(every=builds)
    except Exception as error:
        return None, f"garner's plug-in for it: {one_line(error)}"
    return adapter, ""
