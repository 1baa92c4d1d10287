# SPDX-License-Identifier: MIT
"""Measures one runtime in one thread mode: every cell and every model on both sides, in this process and on the same
memory, sides taking turns. A time is that of the whole call, or that of a gather inside it."""

import sys
import tempfile

from .. import limits, machine, memory, native, peers
from ..ceiling import Ceiling
from ..compare import poison
from ..effort import QUICK, Effort
from ..inputs import Inputs
from ..measure import Trial, compete
from ..stand import wanted
from ..workloads import Workload
from . import SIDES, load
from .profiling import profiled

BLOCK_TIME = 4e6  # ns of calls in a row
LONG_RUN = 4096  # bytes: with such runs a cell is a plain copy, and a plain copy of the same runs its limit
TRIES = range(7)


def _limit(inputs, library, threads, measured):
    """The least time that the machine leaves for a cell, and what says so."""
    found = limits.least_time(measured, inputs)
    if inputs.cell.run < LONG_RUN:
        return found
    copy = Ceiling(library, inputs, threads)
    return max(found, (min(copy.timed(1) for _ in TRIES), "copy"))


def _entered(trial, way_of, absent):
    """The contestants of both sides, those that can take part."""
    found = []
    for side in SIDES:
        try:
            entered = trial.enter(side, [way_of(side)])
            if entered:
                found.append(entered)
            else:
                absent[side] = "not the right result"
        except Exception as error:  # a runtime may refuse with whatever it likes, and a fallback is no result either
            absent[side] = peers.one_line(error)
    return found


def _timed(trial, contestants, effort):
    compete(trial, contestants, effort)
    return {c.name: {"way": c.way.label, "runs": c.runs} for c in contestants}


def _nodes(trial, adapter, task, estimate, effort):
    """Times by the runtime's own profile: for each gather, runs for each side."""
    profiles = {side: adapter.Profile(task, side, trial.threads) for side in SIDES}
    told = profiled(trial, profiles, BLOCK_TIME / estimate, effort)
    return {name: {side: {"way": "profile", "runs": told[side][name]} for side in SIDES} for name in told["garner"]}


def _measure(trial, adapter, task, effort):
    """The whole call, the gathers inside it, and who is missing for which reason."""
    absent, whole, nodes = {}, {}, {}
    found = _entered(trial, lambda side: adapter.way(task, side, trial.threads), absent)
    if not absent:
        whole = _timed(trial, found, effort)
        short = adapter.short_way(task, "alone", trial.threads)
        try:
            nodes = _nodes(trial, adapter, task, max(c.estimate for c in found), QUICK if short else effort)
        except Exception as error:  # what is wrong here is wrong with garner's side: the runtime alone is as it was
            absent["garner"] = peers.one_line(error)
        if short and not absent:
            copies = _entered(trial, lambda side: adapter.short_way(task, side, trial.threads), absent)
            nodes = {name: _timed(trial, copies, effort) for name in nodes if not absent}
    elif "garner" not in absent:
        absent["alone"] += "; with garner it works"
    return {"whole": whole, "nodes": nodes, "absent": absent, "notes": trial.notes}


def measure_cell(adapter, cell, threads, effort, shared):
    buffers, filler, limit_of, folder = shared
    inputs = Inputs(cell, buffers, filler)
    record = {"kind": "cell", "name": cell.name, "tiny": cell.tiny, "whole": {}, "nodes": {}, "absent": {}, "notes": []}
    record["limit_ns"], record["limit"] = limit_of(inputs)
    reason = adapter.supports(cell)
    if reason:
        return dict(record, absent={"alone": reason})
    trial = Trial(inputs, wanted(cell, inputs), threads)
    try:
        task = adapter.cell_task(cell, inputs, folder)
    except Exception as error:
        return dict(record, absent={"alone": peers.one_line(error)})
    return {**record, **_measure(trial, adapter, task, effort)}


def measure_model(adapter, name, small, threads, effort, folder):
    """What the runtime alone gives is what garner's side must give."""
    from .model_inputs import ModelInputs
    from .models import BUILDERS

    inputs = ModelInputs(BUILDERS[name](small))
    record = {"kind": "model", "name": name, "tiny": False, "whole": {}, "nodes": {}, "absent": {}, "notes": [],
              "limit_ns": 0.0, "limit": "-"}  # fmt: skip
    task = adapter.model_task(inputs, folder)
    poison(inputs.out)
    try:
        adapter.way(task, "alone", threads).call()
    except Exception as error:
        return dict(record, absent={"alone": peers.one_line(error)})
    trial = Trial(inputs, inputs.out.copy(), threads)
    return {**record, **_measure(trial, adapter, task, effort)}


def own_version():
    import garner  # as the plug-in has been imported from

    return garner.__version__


def run(request):
    """Yields a header, then a record for each cell and each model."""
    adapter, reason = load(request["runtime"])
    header = {"runtime": request["runtime"], "mode": request["mode"], "threads": len(machine.cpus()), "missing": reason}
    if not adapter:
        yield header
        return
    cells = [Workload.from_json(c) for c in request["cells"]]
    effort, threads = Effort(**request["effort"]), header["threads"]
    library = native.load(request["library"])
    buffers = memory.Buffers.for_cells(cells, limits.LEAST_BYTES)
    filler = memory.Filler(library, buffers.data)
    measured = limits.measure(library, buffers, threads)
    limit_of = lambda inputs: _limit(inputs, library, threads, measured)  # noqa: E731
    versions = {"version": adapter.version(), "garner": own_version()}
    yield dict(header, title=adapter.TITLE, tiny_allowed=adapter.TINY_ALLOWED, **versions)
    with tempfile.TemporaryDirectory() as folder:
        for number, cell in enumerate(cells, 1):
            said = f"{adapter.TITLE}, {request['mode']}: {number} of {len(cells)}: {cell.name}"
            print(said, file=sys.stderr, flush=True)
            yield measure_cell(adapter, cell, threads, effort, (buffers, filler, limit_of, folder))
        for name in request["models"]:
            print(f"{adapter.TITLE}, {request['mode']}: model {name}", file=sys.stderr, flush=True)
            yield measure_model(adapter, name, request["small"], threads, effort, folder)
