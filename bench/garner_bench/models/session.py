# SPDX-License-Identifier: MIT
"""Measures one stored model in one runtime: both sides in this process, on the same inputs, taking turns. The runtime alone
takes part twice: how far it is from itself is what two sessions differ by anyway, in that run on that machine."""

import importlib
import sys
import time
from typing import NamedTuple

from .. import machine, peers, runtimes
from ..effort import Effort
from ..measure import Contestant, Trial, compete
from ..runtimes import SIDES
from ..runtimes.model_inputs import ModelInputs
from ..runtimes.profiling import profiled
from . import outputs, stored

SETS = 8  # so many different tokens are drawn, and taken in turn
BLOCK_TIME = 40e6  # ns of calls in a row
PROFILES = 3  # runs; for each, OpenVINO compiles the model anew
FIELD = {side: side for side in SIDES} | {"again": "alone"}  # who takes turns, and on which side


class Subject(NamedTuple):
    """What ModelInputs lays out: the outputs are the runtime's."""

    name: str
    feeds: dict
    drawn: dict
    outs: dict = {}

    @property
    def fresh(self):
        return bool(self.drawn)


def _inputs(model):
    sets = stored.feeds(model, SETS)
    drawn = {name: arrays for name, arrays in sets.items() if len(arrays) > 1}
    return ModelInputs(Subject(model.name, {name: arrays[0] for name, arrays in sets.items()}, drawn))


class _OnTheProcessor:
    """A call that times itself: what the process spent, not what passed meanwhile. For machines that others use too."""

    def __init__(self, call):
        self._call = call

    def __call__(self):
        return self._call()

    def timed(self, loops):
        begin = time.process_time_ns()
        for _ in range(loops):
            self._call()
        return (time.process_time_ns() - begin) / loops


def _enter(trial, name, way):
    contestant = Contestant(name, way, 0.0)
    trial.sample(contestant)
    contestant.estimate = min(trial.sample(contestant) for _ in range(2))
    return contestant


def _checked(trial, ways):
    """What each side gives for the same inputs: units in the last place between them, and what is wrong."""
    given = {}
    for name, way in ways.items():
        trial.inputs.choose(0)
        given[name] = way.fetch(way.call())
    return outputs.compare(given["garner"], given["alone"])


def _claims(claimed, told):
    """Sentences about gathers that were to be garner's and ran elsewhere, and the other way round."""
    ran = {name for name, layer in told["garner"].items() if layer.is_garner}
    missing = [f"{name} was to run in garner, and did not" for name in sorted(claimed - ran)]
    return missing + [f"{name} ran in garner on the runtime's own side" for name, layer in told["alone"].items() if layer.is_garner]


def _layers(told):
    """By name, what each side tells; a side on which a gather is no node of its own is left out."""
    names = dict.fromkeys([*told["garner"], *told["alone"]])
    return {name: {side: told[side][name]._asdict() for side in FIELD if name in told[side]} for name in names}


def _claimable(adapter, task, threads, claimed):
    """How many gathers garner takes; of a model that it leaves whole, how many if it is told to take all: a plug-in that does
    nothing takes none even then."""
    if claimed:
        return len(claimed)
    adapter.base.connect(every=True)
    return len(adapter.claimed(task, threads))


def measure(adapter, model, path, threads, effort, clock="wall"):
    inputs = _inputs(model)
    task = runtimes.Task(path, inputs.feeds, {}, None, ())
    trial = Trial(inputs, None, threads)
    claimed = adapter.claimed(task, threads)
    ways = {name: adapter.way(task, side, threads) for name, side in FIELD.items()}
    apart, wrong = _checked(trial, ways)
    if wrong:
        return {"wrong": wrong}
    if clock == "processor":
        ways = {name: way._replace(call=_OnTheProcessor(way.call)) for name, way in ways.items()}
    contestants = [_enter(trial, name, way) for name, way in ways.items()]
    compete(trial, contestants, effort)
    profiles = {name: adapter.Profile(task, side, threads) for name, side in FIELD.items()}
    brief = effort._replace(runs=min(PROFILES, effort.runs), seconds=effort.seconds / 2)
    told = profiled(trial, profiles, BLOCK_TIME / contestants[0].estimate, brief)
    return {"wrong": _claims(claimed, told), "ulps": apart, "layers": _layers(told), "claimed": len(claimed),
            "claimable": _claimable(adapter, task, threads, claimed),
            "whole": {c.name: {"way": c.way.label, "runs": c.runs} for c in contestants}}  # fmt: skip


def run(request):
    """Yields a header and the record of the model."""
    name, threads = request["runtime"], len(machine.cpus())
    plugged, reason = runtimes.load(name, builds=False)
    yield {"runtime": name, "mode": request["mode"], "threads": threads, "missing": reason} | (
        {"title": plugged.TITLE, "version": plugged.version()} if plugged else {})  # fmt: skip
    if not plugged:
        return
    adapter = importlib.import_module(f".{name}", __package__)
    model = stored.read(request["model"])
    print(f"{plugged.TITLE}, {request['mode']}: {model.name}", file=sys.stderr, flush=True)
    path = stored.fill(model, request["scratch"], adapter.GRAPH)
    try:
        record = measure(adapter, model, path, threads, Effort(**request["effort"]), request["clock"])
    except Exception as error:  # a runtime may refuse with whatever it likes
        record = {"wrong": [peers.one_line(error)]}
    yield {"name": model.name, **record}
