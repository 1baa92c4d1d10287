# SPDX-License-Identifier: MIT
"""Measures the machine, then every cell with every peer: each in a process of its own, one at a time while the others
stand still, in turns that change from round to round."""

import sys
import time
from dataclasses import asdict

from . import limits, machine, memory, native, stand
from .booth import Booth, Gone
from .effort import Effort
from .measure import compete
from .peers import Context
from .workloads import Workload


class Contestant:
    """A peer in one cell, as compete() wants it."""

    def __init__(self, name, booth, way, estimate):
        self.name, self.booth, self.way, self.estimate = name, booth, way, estimate
        self.runs, self.samples = [], []


class Match:
    """One cell: who can take part, who must not, and what there is to say about it. A peer whose process ends is out of
    this cell and of those after it."""

    def __init__(self, cell, booths, lost):
        self.name, self._cell, self._booths, self._lost = cell.name, cell, booths, lost
        self.absent = dict(lost)

    def _lose(self, name, reason):
        del self._booths[name]
        self.absent[name] = self._lost[name] = reason

    def _each(self, names, act):
        """The answers of an act with each booth; those that are gone give none."""
        answers = {}
        for name in list(names):
            try:
                answers[name] = act(self._booths[name])
            except Gone as error:
                self._lose(name, str(error))
        return answers

    def enter(self):
        """Everyone prepares at the same time; how long each takes is then found out one by one."""
        self._each(self._booths, lambda booth: booth.tell("prepare", asdict(self._cell)))
        reasons = self._each(self._booths, Booth.hear)
        self.absent.update({name: reason for name, reason in reasons.items() if reason})
        entered = self._each([n for n, reason in reasons.items() if not reason], lambda booth: booth.ask("enter"))
        return [Contestant(name, self._booths[name], *found) for name, found in entered.items()]

    def sample(self, contestant):
        return contestant.booth.ask("sample")

    def compete(self, contestants, effort):
        """Whoever ends in the middle is taken out, and the others begin again."""
        while contestants:
            for c in contestants:
                c.runs = []
            try:
                compete(self, contestants, effort)
                return contestants
            except Gone as error:
                gone = next(c for c in contestants if c.booth.gone)
                self._lose(gone.name, str(error))
                contestants = [c for c in contestants if c is not gone]
        return []

    def finish(self):
        told = self._each(self._booths, lambda booth: booth.ask("finish"))
        return {**told["ceiling"], **told.get("garner", {}), "notes": [note for t in told.values() for note in t["notes"]]}


def measure_cell(cell, booths, lost, effort):
    match = Match(cell, booths, lost)
    contestants = match.compete(match.enter(), effort)
    return {
        "name": cell.name, "op": cell.op, "dist": cell.dist, "tiny": cell.tiny, "run": cell.run,
        "points": cell.points, "data_bytes": cell.data_bytes, "plan": "", "c_call": None, **match.finish(),
        "times": {c.name: {"way": c.way, "runs": c.runs} for c in contestants}, "absent": match.absent,
    }  # fmt: skip


def _share(request, cells):
    """What all processes have in common. The limits are measured before there are any."""
    library = native.load(request["library"])
    context = Context(library, len(machine.cpus()))
    buffers = memory.Buffers.for_cells(cells, limits.LEAST_BYTES)
    filler = memory.Filler(library, buffers.data)
    measured = limits.measure(library, buffers, context.threads)
    home = machine.cpus()[0] if context.threads == 1 else None
    return stand.Shared(context, cells, buffers.data, filler, measured, request["effort"]["wake"], home)


def _open(names, shared, spares):
    """A booth for each peer that is there, and for those that are not the reason."""
    booths = {name: Booth(lambda n=name, k=number: stand.make(n, shared, spares[k % len(spares)]))
              for number, name in enumerate(names)}  # fmt: skip
    versions, missing = {}, {}
    for name, booth in list(booths.items()):
        try:
            said = booth.ask("about")
        except Gone as error:
            said = {"missing": str(error)}
        if "missing" in said:
            missing[name] = said["missing"]
            booths.pop(name).close()
        else:
            versions[name] = said["version"]
    return booths, versions, missing


def run(request):
    """Yields a header, then a record for each cell that is begun within so many minutes."""
    cells = [Workload.from_json(c) for c in request["cells"]]
    shared = _share(request, cells)
    booths, versions, missing = _open([*request["peers"], "ceiling"], shared, request["spares"])
    del versions["ceiling"]
    yield {"mode": request["mode"], "threads": shared.context.threads, "limits": shared.measured,
           "missing": missing, "huge_bytes": memory.huge_bytes(), "versions": versions}  # fmt: skip
    lost = {}  # peers whose processes ended, and how
    end = time.monotonic() + 60 * request["minutes"]
    for number, cell in enumerate(cells, 1):
        if time.monotonic() > end:
            break
        print(f"{request['mode']}: {number} of {len(cells)}: {cell.name}", file=sys.stderr, flush=True)
        yield measure_cell(cell, booths, lost, Effort(**request["effort"]))
    for booth in booths.values():
        booth.close()
