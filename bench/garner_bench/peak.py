# SPDX-License-Identifier: MIT
"""How much memory a peer takes for one large cell beyond the three buffers that the caller brings, in a
process of its own."""

from . import machine, memory, native
from .inputs import Inputs
from .peers import Context
from .stand import load_peer
from .workloads import Workload

CALLS = 3


def _status(field):
    """A size from /proc/self/status, in bytes."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith(field + ":"))


def _forget_peak():
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def run(request):
    cell = Workload.from_json(request["cells"][0])
    name = request["peers"][0]
    library = native.load(request["library"])
    adapter, reason = load_peer(name, library)
    reason = reason or adapter.supports(cell)
    if reason:
        yield {"peer": name, "absent": reason}
        return
    buffers = memory.Buffers.for_cells([cell])
    inputs = Inputs(cell, buffers, memory.Filler(library, buffers.data))
    before = _status("VmRSS")
    _forget_peak()
    ways = adapter.prepare(cell, inputs, Context(library, len(machine.cpus())))
    way = next((w for w in ways if w.label == request["way"]), ways[0])
    for _ in range(CALLS):
        way.call()
    peak = _status("VmHWM")
    given = cell.data_bytes + cell.index_bytes + cell.out_bytes
    yield {"peer": name, "way": way.label, "given": given, "before": before, "peak": peak, "extra": peak - before}
