# SPDX-License-Identifier: MIT
"""Measures the machine, then every cell with every peer, all in this process and on the same memory."""

import sys
import time

import numpy as np

from . import limits, machine, memory, native, peers
from .ceiling import Ceiling
from .compare import expected
from .effort import Effort
from .inputs import Inputs
from .measure import Trial, compete
from .peers import Context, Way
from .peers import garner as own
from .workloads import Workload

C_LOOPS = 20000
C_TRIES = range(7)


def load_peers(names, library):
    """Adapters by name, and for those that are not there the reason."""
    own.use(library)
    loaded, missing = {}, {}
    for name in names:
        adapter, reason = peers.load(name)
        if adapter:
            loaded[name] = adapter
        else:
            missing[name] = reason
    return loaded, missing


def wanted(cell, inputs):
    """What the cell must give."""
    data = inputs.data
    if inputs.strings is not None:
        data = np.array(inputs.strings, object).reshape(cell.data)
    return expected(cell, data, inputs.indices)


def _enter(trial, name, adapter, context, absent):
    """A list of the peer's contestant, or an empty one and a reason."""
    cell = trial.inputs.cell
    reason = adapter.supports(cell)
    if not reason:
        try:
            entered = trial.enter(name, adapter.prepare(cell, trial.inputs, context))
            if entered:
                return [entered]
            reason = "no way of it gives the right result"
        except Exception as error:  # a peer may refuse a model with whatever it likes
            reason = peers.one_line(error)
    absent[name] = reason
    return []


def _ceiling(trial, context):
    """Strings are views to it, as they are to garner."""
    inputs = trial.inputs
    fetch = (lambda _: own.texts(inputs.out)) if inputs.strings is not None else (lambda _: inputs.out)
    entered = trial.enter("ceiling", [Way("ceiling", Ceiling(context.native, inputs, context.threads), fetch)])
    return [entered] if entered else []


def _entry_ns(empty):
    begin = time.perf_counter_ns()
    for _ in range(C_LOOPS):
        empty()
    return (time.perf_counter_ns() - begin) / C_LOOPS


def _c_call(library, call):
    """What a call costs inside C, and what it costs to get there from here: the best of a few tries."""
    return {
        "planned_ns": min(call.planned_ns(C_LOOPS) for _ in C_TRIES),
        "one_call_ns": min(call.one_call_ns(C_LOOPS) for _ in C_TRIES),
        "entry_ns": min(_entry_ns(library.entry_empty) for _ in C_TRIES),
    }


def measure_cell(cell, context, adapters, effort, shared):
    buffers, filler, measured = shared
    inputs = Inputs(cell, buffers, filler)
    trial = Trial(inputs, wanted(cell, inputs), context.threads)
    contestants, absent = [], {}
    for name, adapter in adapters.items():
        contestants += _enter(trial, name, adapter, context, absent)
    call = next((c.way.owner for c in contestants if c.name == "garner"), None)
    if contestants:
        contestants += _ceiling(trial, context)
        compete(trial, contestants, effort)
    if call:
        call.check()
    limit, which = limits.least_time(measured, inputs)
    return {
        "name": cell.name, "op": cell.op, "dist": cell.dist, "tiny": cell.tiny, "run": cell.run,
        "points": cell.points, "data_bytes": cell.data_bytes, "limit_ns": limit, "limit": which,
        "times": {c.name: {"way": c.way.label, "runs": c.runs} for c in contestants},
        "absent": absent, "notes": trial.notes, "plan": call.describe() if call else "",
        "c_call": _c_call(context.native, call) if call and cell.tiny else None,
    }  # fmt: skip


def run(request):
    """Yields a header, then a record for each cell."""
    cells = [Workload.from_json(c) for c in request["cells"]]
    library = native.load(request["library"])
    context = Context(library, len(machine.cpus()))
    buffers = memory.Buffers.for_cells(cells, limits.LEAST_BYTES)
    filler = memory.Filler(library, buffers.data)
    measured = limits.measure(library, buffers, context.threads)
    adapters, missing = load_peers(request["peers"], library)
    yield {"mode": request["mode"], "threads": context.threads, "limits": measured, "missing": missing,
           "huge_bytes": memory.huge_bytes(), "versions": {n: a.version() for n, a in adapters.items()}}  # fmt: skip
    for number, cell in enumerate(cells, 1):
        print(f"{request['mode']}: {number} of {len(cells)}: {cell.name}", file=sys.stderr, flush=True)
        yield measure_cell(cell, context, adapters, Effort(**request["effort"]), (buffers, filler, measured))
