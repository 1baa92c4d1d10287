# SPDX-License-Identifier: MIT
"""One peer in a process of its own: what it is asked there, cell by cell. The data it shares with the other peers; indices
and out are its own, with the same numbers for all."""

import time
from typing import Any, NamedTuple

import numpy as np

from . import ceiling, limits, machine, memory, peers
from .compare import expected
from .inputs import Inputs
from .measure import Trial
from .peers import Context
from .peers import garner as own
from .workloads import Workload

C_LOOPS = 20000
C_TRIES = range(7)


class Shared(NamedTuple):
    """What there is before the processes part."""

    context: Context
    cells: list
    data: memory.Arena
    filler: memory.Filler  # which has filled it
    measured: dict  # the machine's limits
    wake: float  # see effort
    home: Any  # the CPU on which everyone is timed in turn; None: wherever the process may run


def wanted(cell, inputs):
    """What the cell must give."""
    data = inputs.data
    if inputs.strings is not None:
        data = np.array(inputs.strings, object).reshape(cell.data)
    return expected(cell, data, inputs.indices)


def load_peer(name, library):
    """The adapter, or None and the reason."""
    own.use(library)
    return peers.load(name)


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


class Stand:
    """Any peer. `spare` is a CPU on which it may prepare while others do on theirs."""

    def __init__(self, name, shared, spare):
        self.name, self.shared, self._spare = name, shared, spare
        self._buffers = memory.Buffers.for_cells(shared.cells, data=shared.data)
        self._adapter, self._missing = self.load()

    def load(self):
        return load_peer(self.name, self.shared.context.native)

    def about(self):
        """The version, or why there is none."""
        return {"version": self._adapter.version()} if self._adapter else {"missing": self._missing}

    def prepare(self, fields):
        """Makes the cell and the peer's ways of doing it, and checks their results. Why there is none; "" if there is one."""
        cell = Workload.from_json(fields)
        if self.shared.home is not None:
            machine.move(self._spare)
        self.inputs, self._contestant, self._ways = Inputs(cell, self._buffers, self.shared.filler), None, []
        threads, wake = self.shared.context.threads, self.shared.wake
        self._trial = Trial(self.inputs, wanted(cell, self.inputs), threads, settle=0.0, wake=wake)
        try:
            reason = self._adapter.supports(cell)
            if reason:
                return reason
            self._ways = self._trial.right_ways(self.name, self._adapter.prepare(cell, self.inputs, self.shared.context))
        except Exception as error:  # a peer may refuse a model with whatever it likes
            return peers.one_line(error)
        return "" if self._ways else "no way of it gives the right result"

    def enter(self):
        """The best way's label and how long it takes."""
        if self.shared.home is not None:
            machine.move(self.shared.home)
        self._contestant = self._trial.best_of(self.name, self._ways)
        return self._contestant.way.label, self._contestant.estimate

    def sample(self):
        return self._trial.sample(self._contestant)

    def finish(self):
        """What else is known of the cell."""
        return {"notes": self._trial.notes}


class OwnStand(Stand):
    """garner itself: its plan, too, and for tiny cells what a call costs within C."""

    def finish(self):
        told = super().finish()
        if self._contestant is None:
            return told
        call = self._contestant.way.owner
        call.check()
        costs = _c_call(self.shared.context.native, call) if self.inputs.cell.tiny else None
        return {**told, "plan": call.describe(), "c_call": costs}


class CeilingStand(Stand):
    """The plain loop, and the machine's limit."""

    def load(self):
        return ceiling, ""

    def finish(self):
        limit, which = limits.least_time(self.shared.measured, self.inputs)
        return {**super().finish(), "limit_ns": limit, "limit": which}


STANDS = {"garner": OwnStand, "ceiling": CeilingStand}


def make(name, shared, spare):
    return STANDS.get(name, Stand)(name, shared, spare)
