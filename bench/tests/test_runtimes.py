# SPDX-License-Identifier: MIT
"""The instrument inside the runtimes: what it builds, times, calls a failure and concludes. Plug-ins that do nothing
stand in for garner's, so that a gather which the runtime keeps for itself is seen to be one."""

import sys
import types
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from garner_bench import inputs, memory, report, runtimes, workloads  # noqa: E402
from garner_bench.effort import QUICK  # noqa: E402
from garner_bench.runtimes import judge, model_inputs, section, tables  # noqa: E402

onnx = pytest.importorskip("onnx", reason="the models are built with it")
from garner_bench.runtimes import models  # noqa: E402

ONCE = QUICK._replace(runs=2, seconds=0.0, most_rounds=1)
ROWS = workloads.Workload("tiny-rows", "gather", "f32", (10, 4), (4,), 0, 0, "i64", "uniform")
POINTS = workloads.Workload("points", "gather_nd", "f32", (6, 5), (3, 2), 0, 0, "i32", "negative")
BATCH = workloads.Workload("batch", "gather", "f32", (4, 9, 3), (4, 5), 1, 1, "i64", "uniform")
PART = workloads.Workload("part", "gather_elements", "f32", (5, 6, 4), (3, 8, 2), 1, 0, "i64", "uniform")
WORDS = workloads.Workload("words", "gather", "str", (10,), (20,), 0, 0, "i64", "uniform")
CELLS = [ROWS, POINTS, BATCH, PART, WORDS]


def adapter_of(name):
    """The adapter of an installed runtime; a folder of that name is none."""
    if not hasattr(pytest.importorskip(name), "__version__"):
        pytest.skip(f"{name} is not installed")
    return __import__(f"garner_bench.runtimes.{name}", fromlist=["way"])


@pytest.fixture(params=runtimes.NAMES)
def idle(request, monkeypatch):
    """A runtime whose plug-in registers nothing."""
    adapter = adapter_of(request.param)
    if request.param == "onnxruntime":
        plug_in = types.SimpleNamespace(register=lambda: None, session_options=lambda options, **_: options)
        monkeypatch.setattr(adapter, "plug_in", plug_in)
    else:
        monkeypatch.setitem(adapter.cores, "garner", adapter.cores["alone"])
    return adapter


@pytest.fixture
def equal(idle, monkeypatch):
    """The same, with the runtime's own gathers taken for garner's: both sides are the runtime alone."""
    if idle.TITLE == "ONNX Runtime":
        monkeypatch.setitem(idle.PROVIDERS, "garner", idle.PROVIDERS["alone"])
    else:
        monkeypatch.setattr(idle, "check_read", lambda *_: None)
        monkeypatch.setattr(idle, "check_layers", lambda *_: None)
    return idle


def measure(adapter, cell, folder):
    buffers = memory.Buffers.for_cells([cell])
    filler = memory.Filler(types.SimpleNamespace(bench_fill=lambda *_: None), buffers.data)
    return section.measure_cell(adapter, cell, 1, ONCE, (buffers, filler, lambda _: (1.0, "stream"), folder))


@pytest.mark.parametrize("name", runtimes.MODELS)
def test_models_are_valid_and_name_their_gathers(name):
    model = models.BUILDERS[name](small=True)
    onnx.checker.check_model(model.proto, full_check=True)
    gathers = [node.name for node in model.proto.graph.node if node.op_type.startswith("Gather")]
    assert model.name == name and sorted(gathers) == sorted(model.gathers + model.shape_gathers)
    assert {i.name for i in model.proto.graph.input} == set(model.feeds)
    assert {o.name for o in model.proto.graph.output} == set(model.outs)


def test_what_a_model_is_fed_with_changes_in_place():
    given = model_inputs.ModelInputs(models.beam_reorder(small=True))
    first, place = given.feeds["beams"].copy(), given.feeds["beams"].ctypes.data
    given.choose()
    assert given.feeds["beams"].ctypes.data == place and not np.array_equal(given.feeds["beams"], first)
    given.outs["key1"][...] = 7
    assert np.count_nonzero(given.out.view(np.float16) == 7) == given.outs["key1"].size


@pytest.mark.parametrize("cell", [ROWS, WORDS], ids=lambda cell: cell.name)
def test_a_plug_in_that_does_nothing_is_a_fault(idle, cell, tmp_path):
    record = measure(idle, cell, tmp_path)
    assert record["absent"]["garner"].startswith("Fallback: gather ")
    told = {"runtime": "r", "mode": "one", "missing": "", "records": [record]}
    assert len(list(judge.faults(told))) == 1 and judge.lines_of(told, "cell") == []


def test_garner_in_the_runtime_alone_is_a_fault(tmp_path, monkeypatch):
    """As if the extension were there for every core: both sides would be level, and prove nothing."""
    adapter = adapter_of("openvino")
    monkeypatch.setattr(adapter, "OUR_TYPES", "Gather")
    record = section.measure_model(adapter, "beam-reorder", True, 1, ONCE, tmp_path)
    assert record["absent"]["alone"] == "Fallback: key0 was read as Gather"
    assert len(list(judge.faults(told(record)))) == 1


def test_a_model_that_keeps_its_gathers_is_a_fault(idle, tmp_path):
    record = section.measure_model(idle, "beam-reorder", True, 1, ONCE, tmp_path)
    assert record["absent"]["garner"].startswith("Fallback: ") and "alone" not in record["absent"]


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_cells_are_right_and_timed_on_both_sides(equal, cell, tmp_path):
    record = measure(equal, cell, tmp_path)
    assert record["absent"] == {} and record["notes"] == []
    for times in [record["whole"], *record["nodes"].values()]:
        assert {side: len(timed["runs"]) for side, timed in times.items()} == {"alone": 2, "garner": 2}
        assert all(run > 0 for timed in times.values() for run in timed["runs"])
    assert list(record["nodes"]) == ["gather"]


@pytest.mark.parametrize("name", runtimes.MODELS)
def test_models_are_timed_node_by_node(equal, name, tmp_path):
    record = section.measure_model(equal, name, True, 1, ONCE, tmp_path)
    assert record["absent"] == {} and record["notes"] == []
    model = models.BUILDERS[name](small=True)
    named = model.gathers + (model.shape_gathers if equal.TITLE == "ONNX Runtime" else ())
    assert sorted(record["nodes"]) == sorted(named) and set(record["whole"]) == {"alone", "garner"}


def test_a_wrong_result_is_a_fault(equal, tmp_path, monkeypatch):
    right = equal.way

    def wrong_with_garner(task, side, threads):
        way = right(task, side, threads)
        return way._replace(fetch=lambda returned: way.fetch(returned) + (side == "garner"))

    monkeypatch.setattr(equal, "way", wrong_with_garner)
    record = measure(equal, ROWS, tmp_path)
    (fault, note) = judge.faults({"runtime": "r", "mode": "one", "records": [record]})
    assert "garner: not the right result" in fault and "wrong: 16 of 16 elements differ" in note
    assert record["whole"] == record["nodes"] == {}


def record(alone, garner, way="profile", kind="cell", **more):
    times = {"alone": {"way": way, "runs": [alone] * 5}, "garner": {"way": way, "runs": [garner] * 5}}
    return {"kind": kind, "name": "c", "tiny": False, "limit_ns": 0.0, "limit": "-", "absent": {}, "notes": [],
            "whole": times, "nodes": {"n": times}, **more}  # fmt: skip


def told(*records, allowed=1.05):
    return {"runtime": "onnxruntime", "mode": "one", "threads": 1, "missing": "", "title": "ONNX Runtime",
            "version": "1", "garner": "2", "tiny_allowed": allowed, "records": list(records)}  # fmt: skip


@pytest.mark.parametrize(
    "made, allowed, verdict",
    [
        (record(2e6, 1e6), 1.05, "ahead"),
        (record(0.98e6, 1e6), 1.05, "behind"),
        (record(0.98e6, 1e6, limit_ns=0.9e6), 1.05, "level (limit)"),
        (record(960, 1000, "repeated", tiny=True), 1.05, "level (tiny)"),
        (record(940, 1000, "repeated", tiny=True), 1.05, "behind"),
        (record(0.94e6, 1e6, "repeated"), 1.5, "behind"),
        (record(700, 1000, tiny=True), 1.5, "level (tiny)"),
        (record(600, 1000, tiny=True), 1.5, "behind"),
        (record(7e3, 10e3), 1.5, "level (tiny)"),
        (record(11e3, 12e3), 1.5, "too short"),
        (record(11e3, 15e3), 1.5, "behind"),
    ],
)
def test_verdicts(made, allowed, verdict):
    (line,) = judge.lines_of(told(made, allowed=allowed), "cell")
    assert line.verdict == verdict


@pytest.mark.parametrize("alone, garner, verdict", [
    (1e3, 6.2e3, "level (small)"), (1e3, 6.3e3, "behind"), (19e3, 27e3, "level (small)"), (19e3, 28e3, "behind"),
    (21e3, 25e3, "behind"), (1e3, 2e3, "too short"), (9e3, 3e3, "ahead"),
])  # fmt: skip
def test_verdicts_on_nodes_of_models(alone, garner, verdict):
    """At most 1.2 times as long and 5 us more, where that is much of a node's time."""
    _, line = judge.lines_of(told(record(alone, garner, kind="model"), allowed=1.5), "model")
    assert line.verdict == verdict


def test_summary_counts_losses():
    model = record(1e6, 1e6, kind="model", name="m")
    section_told = told(record(4e6, 1e6, name="good"), record(1e6, 2e6, name="bad"), model)
    total = judge.overall(judge.lines_of(section_told, "cell"))
    assert total["worst"] == (0.5, "bad") and total["behind"] == ["bad"] and total["mean"] == pytest.approx(2**0.5)
    text = "\n".join(table.text() for table in tables.tables([section_told]))
    assert "Behind: bad." in text and "m: the whole" in text and "m: n" in text


def test_a_missing_plug_in_is_named(monkeypatch):
    adapter = adapter_of("onnxruntime")
    monkeypatch.setattr(adapter, "connect", lambda every: __import__("garner_is_not_here"))
    found, reason = runtimes.load("onnxruntime")
    assert found is None and "garner's plug-in" in reason and "garner_is_not_here" in reason
    left_out = {"runtime": "onnxruntime", "mode": "one", "missing": reason, "records": []}
    assert tables.missing([left_out])[0].startswith("LEFT OUT: what runs inside onnxruntime: ")
    assert tables.tables([left_out]) == [] and report.faults({"modes": [], "runtimes": [left_out]}) == []
