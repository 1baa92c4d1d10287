# SPDX-License-Identifier: MIT
"""Times the contestants of one cell: each peer's ways are checked and tried, the best of each goes on; then
rounds, in which everyone still in is sampled once in an order that changes. A run is a number of rounds; a
cell has several runs, and each run gives one median per contestant."""

import gc
import random
import time
from itertools import repeat

from .compare import difference, poison
from .effort import FULL
from .peers import one_line
from .stats import median, uncertainty

LONG_CALL = 10e6  # ns: beyond it a call needs no warm-up
SAMPLE = 0.4e6  # ns: calls shorter than this are repeated within a sample
SLOW = 3.0  # times the fastest: such a peer is sampled once in each run that it takes part in
SETTLE = 0.02  # s before a turn on several cores where others share the process: their threads spin before they sleep
PRECISE = 0.005  # a run ends early when medians are known this well


class Contestant:
    def __init__(self, name, way, estimate):
        self.name, self.way, self.estimate = name, way, estimate
        self.loops = 1
        self.runs = []
        self.samples = []

    def time(self, loops):
        """Nanoseconds per call. The ceiling loop times itself."""
        timed = getattr(self.way.call, "timed", None)
        if timed:
            return timed(loops)
        call = self.way.call
        begin = time.perf_counter_ns()
        for _ in repeat(None, loops):
            call()
        return (time.perf_counter_ns() - begin) / loops


class Trial:
    """Everything about one cell that the contestants share."""

    def __init__(self, inputs, want, threads, settle=SETTLE, wake=FULL.wake):
        self.inputs, self.want, self.threads, self._settle, self._wake = inputs, want, threads, settle, wake
        self.name, self.fresh = inputs.cell.name, inputs.cell.fresh
        self.notes = []

    def call_once(self, call):
        """With indices of its own, where the cell wants that."""
        if self.fresh:
            self.inputs.choose()
        call()

    def begin_turn(self, call, estimate=0.0):
        """Calls that nobody counts: the one before left other things in the caches and, on all cores, threads that
        spin and others that sleep."""
        if self.threads > 1:
            time.sleep(self._settle)
        elif estimate >= LONG_CALL:
            return
        deadline = time.perf_counter() + (self._wake if self.threads > 1 else 0.0)
        self.call_once(call)
        while time.perf_counter() < deadline:
            self.call_once(call)

    def sample(self, contestant):
        self.begin_turn(contestant.way.call, contestant.estimate)
        if self.fresh:
            self.inputs.choose()
        return contestant.time(contestant.loops)

    def check(self, name, way):
        """Whether the way gives the right answer; if not, says so in the notes."""
        poison(self.inputs.out)
        self.inputs.choose(0)
        try:
            wrong = difference(way.fetch(way.call()), self.want)
        except Exception as error:  # a peer may refuse with whatever it likes
            self.notes.append((name, way.label, f"refused: {one_line(error)}"))
            return False
        if wrong:
            self.notes.append((name, way.label, f"wrong: {wrong}"))
        return not wrong

    def right_ways(self, name, ways):
        """Those that give the right answer."""
        return [way for way in ways if self.check(name, way)]

    def best_of(self, name, ways):
        """The fastest way as a contestant."""
        tried = []
        for way in ways:
            contestant = Contestant(name, way, 0.0)
            first = self.sample(contestant)
            contestant.loops = max(1, int(SAMPLE / 4 / first))
            contestant.estimate = min(self.sample(contestant) for _ in range(1 if first > 50e6 else 3))
            tried.append(contestant)
        best = min(tried, key=lambda c: c.estimate)
        best.loops = 1 if self.fresh else max(1, int(SAMPLE / best.estimate))
        return best

    def enter(self, name, ways):
        """The peer's best way as a contestant, or None."""
        right = self.right_ways(name, ways)
        return self.best_of(name, right) if right else None


def _settled(contestants):
    return all(uncertainty(c.samples) < PRECISE for c in contestants)


def _steady(contestants):
    """Those sampled in every round: garner, from C and from Python, the ceiling, and every peer that may be the best."""
    fastest = min(c.estimate for c in contestants if c.name != "ceiling")
    return [c for c in contestants if c.name in ("garner", "python", "ceiling") or c.estimate <= SLOW * fastest]


def _run(trial, contestants, steady, effort, rng):
    """One run: rounds until the medians are known or the time is used up."""
    deadline = time.perf_counter() + effort.seconds / effort.runs
    for c in contestants:
        c.samples = []
    for number in range(effort.most_rounds):
        field = list(contestants if number == 0 else steady)
        rng.shuffle(field)
        for c in field:
            c.samples.append(trial.sample(c))
        if number + 1 >= effort.least_rounds and (time.perf_counter() > deadline or _settled(steady)):
            break
    for c in contestants:
        c.runs.append(median(c.samples))


def compete(trial, contestants, effort):
    """Fills in each contestant's runs. A trial has a name and gives samples."""
    rng = random.Random(trial.name)
    gc.collect()
    gc.disable()
    try:
        steady = _steady(contestants)
        for number in range(effort.runs):
            _run(trial, contestants if number < effort.slow_runs else steady, steady, effort, rng)
    finally:
        gc.enable()
