# SPDX-License-Identifier: MIT
"""What ONNX Runtime's optimizer makes of stored models, with garner and alone: which operators are left, at every level. A
fusion that a claimed gather disturbs shows as operators that one side has more of. Needs the onnx package."""

import collections
import tempfile
from pathlib import Path

import onnx
import onnxruntime

from .. import runtimes
from ..runtimes import SIDES
from ..runtimes import onnxruntime as base
from . import stored

LEVELS = ("DISABLE_ALL", "ENABLE_BASIC", "ENABLE_EXTENDED", "ENABLE_LAYOUT", "ENABLE_ALL")


def _operators(graph):
    """Those of subgraphs too."""
    for node in graph.node:
        yield node.op_type
        for attribute in node.attribute:
            yield from _operators(attribute.g)
            for inner in attribute.graphs:
                yield from _operators(inner)


def counted(path, side, level, scratch):
    """How many of each operator the runtime writes."""
    written = Path(scratch) / "optimized.onnx"
    base.open_session(str(path), side, 1, optimized_model_filepath=str(written),
                      graph_optimization_level=getattr(onnxruntime.GraphOptimizationLevel, f"ORT_{level}"))  # fmt: skip
    return collections.Counter(_operators(onnx.load(written, load_external_data=False).graph))


def apart(alone, garner):
    """What one side has more of, in words; nothing where both have the same."""
    told = [f"{count} × {name} more {side}" for side, more in (("alone", alone - garner), ("with garner", garner - alone))
            for name, count in sorted(more.items())]  # fmt: skip
    return ", ".join(told)


def compare(models, levels=LEVELS):
    """Yields (model, level, number of operators alone, what is apart)."""
    for model in models:
        with tempfile.TemporaryDirectory() as scratch:
            path = stored.fill(model, scratch, stored.ONNX)
            for level in levels:
                sides = [counted(path, side, level, scratch) for side in SIDES]
                yield model.name, level, sum(sides[0].values()), apart(*sides)


def report(models):
    """Prints a line for each model and level that differs, and how many do not; the exit status."""
    plugged, reason = runtimes.load("onnxruntime", builds=False)
    if not plugged:
        raise SystemExit(f"bench-models: {reason}")
    same = 0
    for name, level, count, differs in compare(models):
        same += not differs
        if differs:
            print(f"{name}, {level}, {count} operators: {differs}", flush=True)
    print(f"{same} of {len(models) * len(LEVELS)} models and levels: the same operators with garner and alone")
    return 0
