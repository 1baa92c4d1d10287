# SPDX-License-Identifier: MIT
"""The benchmark of whole models: what of a model is stored and comes back, what it measures, what it calls a fault. A small
model, made with the onnx package, goes through both steps but for the exporting of torch; stand-ins are in garner's place."""

import importlib
import json
import sys
import types
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from garner_bench import runtimes  # noqa: E402
from garner_bench.effort import Effort  # noqa: E402
from garner_bench.models import __main__ as command  # noqa: E402
from garner_bench.models import described, judge, measuring, outputs, session, stored, tables  # noqa: E402

onnx = pytest.importorskip("onnx", reason="the model is built with it")
openvino = pytest.importorskip("openvino", reason="the model is converted with it")
from garner_bench.models import strip  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

WORDS, WIDTH, LENGTH = 300, 64, 16
ONCE = Effort(runs=2, seconds=0.0, least_rounds=1, most_rounds=1)
rng = np.random.default_rng(5)
TABLE = rng.normal(0.5, 0.02, (WORDS, WIDTH)).astype(np.float32)
POSITIONS = np.sin(np.arange(LENGTH * WIDTH, dtype=np.float32) / 50).reshape(LENGTH, WIDTH)
ORDER = rng.permutation(4 * LENGTH).reshape(4, LENGTH) % LENGTH


def small_model():
    """Words and positions looked up, then added; positions in an order that is part of the model."""
    constants = {"table": TABLE, "positions": POSITIONS, "order": ORDER, "weights": rng.standard_normal((WIDTH, WIDTH), np.float32)}
    nodes = [helper.make_node("Gather", ["table", "words"], ["word_rows"], "word_rows"),
             helper.make_node("MatMul", ["word_rows", "weights"], ["turned"], "turned"),
             helper.make_node("Softmax", ["turned"], ["soft"], "soft"),
             helper.make_node("Gather", ["soft", "picks"], ["picked"], "picked", axis=1),
             helper.make_node("Gather", ["positions", "order"], ["places"], "places"),
             helper.make_node("Add", ["picked", "places"], ["out"], "add")]  # fmt: skip
    value = helper.make_tensor_value_info
    inputs = [value("words", TensorProto.INT64, ["batch", LENGTH]), value("picks", TensorProto.INT64, [LENGTH])]
    weights = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "small", inputs, [value("out", TensorProto.FLOAT, ["batch", LENGTH, WIDTH])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


FEEDS = [{"name": "words", "dtype": "int64", "shape": [4, LENGTH], "draw": "tokens", "below": WORDS},
         {"name": "picks", "dtype": "int64", "shape": [LENGTH], "draw": "integers", "below": LENGTH}]  # fmt: skip


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    onnx.save(small_model(), folder / "whole.onnx")
    openvino.save_model(openvino.convert_model(folder / "whole.onnx"), folder / "whole.xml", compress_to_fp16=False)
    about = {"name": "small", "order": 0, "exporter": "the test", "feeds": FEEDS}
    return strip.store(folder / "whole.onnx", folder / "whole.xml", about, folder / "stored" / "small")


@pytest.fixture(params=runtimes.NAMES)
def plugged(request, monkeypatch):
    """The adapter of whole models, the runtime's own gathers taken for garner's on garner's side."""
    if not hasattr(pytest.importorskip(request.param), "__version__"):
        pytest.skip(f"{request.param} is not installed")
    base = importlib.import_module(f"garner_bench.runtimes.{request.param}")
    adapter = importlib.import_module(f"garner_bench.models.{request.param}")
    if request.param == "onnxruntime":
        monkeypatch.setattr(base, "plug_in", types.SimpleNamespace(session_options=lambda options, **_: options))
        monkeypatch.setitem(base.PROVIDERS, "garner", base.PROVIDERS["alone"])
    else:
        read = adapter._read
        taken = {"alone": set(), "garner": {"word_rows", "picked"}}
        monkeypatch.setitem(base.cores, "garner", base.cores["alone"])
        monkeypatch.setattr(base, "OUR_LAYER", "Gather")
        monkeypatch.setattr(adapter, "_read", lambda task, side: (read(task, side)[0], taken[side]))
    return adapter


def test_random_weights_are_described_and_come_back_alike():
    words = described.describe(TABLE)
    assert words["count"] == TABLE.size and len(json.dumps(words)) < 300
    again = np.concatenate(list(described.blocks(words, 3)))
    assert again.dtype == TABLE.dtype and again.size == TABLE.size
    assert again.mean() == pytest.approx(TABLE.mean(), abs=1e-3) and again.std() == pytest.approx(TABLE.std(), rel=0.05)
    assert again.min() >= TABLE.min() and again.max() <= TABLE.max()
    assert np.array_equal(again, np.concatenate(list(described.blocks(words, 3))))
    assert not np.array_equal(again, np.concatenate(list(described.blocks(words, 4))))


def test_one_value_is_described():
    words = described.describe(np.full((40, 40), 2.5, np.float32))
    assert np.array_equal(np.concatenate(list(described.blocks(words, 0))), np.full(1600, 2.5, np.float32))


@pytest.mark.parametrize(
    "array",
    [
        np.arange(5000), POSITIONS.repeat(4, 0), np.tile(POSITIONS[:1], (50, 1)), TABLE[:4],
        np.where(TABLE > 0.5, 0, -np.inf).astype(np.float32), np.where(TABLE > 0.5, 0, -1e9).astype(np.float32),
    ],
    ids=["integers", "sines", "equal rows", "few bytes", "infinite", "a mask"],
)  # fmt: skip
def test_what_has_structure_is_kept(array):
    assert described.describe(array) is None


def test_a_stored_model_is_small_and_whole(small, tmp_path):
    assert stored.size(small) < 40000 < TABLE.nbytes
    assert [model.name for model in stored.found(small.folder.parent)] == ["small"]
    model = onnx.load(stored.fill(small, tmp_path, stored.ONNX))
    filled = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    assert np.array_equal(filled["order"], ORDER) and np.array_equal(filled["positions"], POSITIONS)
    assert filled["table"].shape == TABLE.shape and filled["table"].mean() == pytest.approx(0.5, abs=0.01)
    ir = openvino.Core().read_model(stored.fill(small, tmp_path, stored.IR))
    kinds = {(str(node.get_element_type()), tuple(node.shape)): node.data for node in ir.get_ops() if node.get_type_name() == "Constant"}
    values = [array for array in kinds.values() if array.shape == TABLE.shape]
    assert len(values) == 1 and values[0].mean() == pytest.approx(0.5, abs=0.01)


def measured(adapter, model, folder):
    record = session.measure(adapter, model, stored.fill(model, folder, adapter.GRAPH), 1, ONCE)
    return {"name": model.name, **record}


def told(record):
    return {"runtime": "r", "mode": "one", "threads": 1, "missing": "", "title": "Runtime", "version": "1", "records": [record]}


def test_a_model_is_measured_as_a_whole_and_by_its_gathers(small, plugged, tmp_path):
    record = json.loads(json.dumps(measured(plugged, small, tmp_path)))
    assert record["wrong"] == [] and record["ulps"] == 0 and list(judge.faults(told(record))) == []
    assert {"word_rows", "picked"} <= set(record["layers"])  # the positions are folded away
    assert record["claimed"] >= 2 and record["layers"]["word_rows"]["garner"]["is_garner"]
    assert judge.whole(record).ratio[0] > 0 and judge.whole(record).itself[0] > 0
    assert all(line.itself for line in judge.layers(record) if line.alone)
    text = tables.markdown([told(record)], {"cpu": "a", "architecture": "b", "cores": 1, "load": 0.0})
    assert "| small |" in text and "same bits" in text and "Runtime: the whole" in text


def test_operators_that_one_side_has_more_of_are_told(small, capsys, monkeypatch):
    fusions = importlib.import_module("garner_bench.models.fusions") if pytest.importorskip("onnxruntime") else None
    alone = fusions.base.open_session
    levels = []

    def opened(path, side, threads, graph_optimization_level, **changes):
        """Optimized at every level alone, with garner not at all."""
        levels.append(graph_optimization_level)
        lowest = fusions.onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        return alone(path, "alone", threads, graph_optimization_level=lowest if side == "garner" else levels[-1], **changes)

    monkeypatch.setattr(fusions.base, "open_session", opened)
    monkeypatch.setattr(fusions.runtimes, "load", lambda *_, **__: (fusions.base, ""))
    assert fusions.report([small]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(levels) == 10 and lines[-1] == "1 of 5 models and levels: the same operators with garner and alone"
    assert "small, ENABLE_BASIC, 5 operators: 1 × Gather more with garner" in lines


def test_outputs_that_differ_are_a_fault(small, plugged, tmp_path, monkeypatch):
    right = plugged.way

    def wrong_with_garner(task, side, threads):
        way = right(task, side, threads)
        return way._replace(fetch=lambda got: {name: out + (side == "garner") for name, out in way.fetch(got).items()})

    monkeypatch.setattr(plugged, "way", wrong_with_garner)
    (fault,) = judge.faults(told(measured(plugged, small, tmp_path)))
    assert "out differs by 1" in fault


def test_a_gather_that_did_not_run_in_garner_is_a_fault(small, plugged, tmp_path, monkeypatch):
    claimed = plugged.claimed
    monkeypatch.setattr(plugged, "claimed", lambda *given: claimed(*given) | {"another"})
    (fault,) = judge.faults(told(measured(plugged, small, tmp_path)))
    assert fault == "r: small: another was to run in garner, and did not"


def test_a_plug_in_that_takes_nothing_is_a_fault():
    record = {"name": "m", "wrong": [], "claimed": 0, "ulps": 0, "layers": {}, "whole": {}}
    assert list(judge.faults(told(record))) == ["r: garner took no gather of any model"]


def test_a_model_that_garner_leaves_whole_is_no_fault(small, plugged, tmp_path, monkeypatch, capsys):
    """By its rules: told to take all, it takes some. The command says so, and ends with 0."""
    asked = []
    monkeypatch.setattr(plugged.base, "connect", lambda every: asked.append(every))
    monkeypatch.setattr(plugged, "claimed", lambda *_: {"word_rows"} if asked else set())
    monkeypatch.setattr(session, "_claims", lambda *_: [])
    record = measured(plugged, small, tmp_path)
    assert (asked, record["claimed"], record["claimable"]) == ([True], 0, 1) and list(judge.faults(told(record))) == []
    header = {key: value for key, value in told(record).items() if key != "records"}
    monkeypatch.setattr(measuring.run, "measure_model", lambda *_: (header, json.loads(json.dumps(record))))
    assert measuring.measure([small], ["r"], ["one"], (ONCE, "wall"), tmp_path) == 0
    assert "Left whole to the runtime, by garner's rules: small." in capsys.readouterr().out


def test_a_plug_in_that_takes_nothing_when_told_to_take_all_is_a_fault(small, plugged, tmp_path, monkeypatch):
    monkeypatch.setattr(plugged.base, "connect", lambda every: None)
    monkeypatch.setattr(plugged, "claimed", lambda *_: set())
    monkeypatch.setattr(session, "_claims", lambda *_: [])
    record = measured(plugged, small, tmp_path)
    assert list(judge.faults(told(record))) == ["r: garner took no gather of any model"]
    assert "Left whole" not in tables.judgement(told(record))


def test_without_garner_the_runtime_is_left_out_and_nothing_passes(small, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "garner.py").write_text("raise ImportError('not here')\n")
    given = ["measure", "--quick", "--models", str(small.folder.parent), "--out", str(tmp_path / "out"), "--runtimes", "onnxruntime"]
    assert command.main(given) == 1
    assert "LEFT OUT: onnxruntime: garner's plug-in for it: ImportError: not here" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="no model in .* matches big; there are small"):
        command.main([*given, "--only", "big"])


def test_models_one_at_a_time_become_one_table(small, tmp_path, capsys, monkeypatch):
    version = ["1"]

    def measured_once(runtime, mode, folder, *rest):
        times = {side: {"runs": [time] * 3} for side, time in (("alone", 3e6), ("garner", 2e6), ("again", 3.3e6))}
        header = {"runtime": runtime, "mode": mode, "missing": "", "title": "Runtime", "version": version[0]}
        return header, {"name": folder.name, "wrong": [], "ulps": 0, "claimed": 1, "layers": {}, "whole": times}

    def measure(name, adds=True):
        model = small._replace(folder=small.folder.with_name(name))
        status = measuring.measure([model], ["onnxruntime"], ["one"], (ONCE, "wall"), tmp_path, adds)
        return status, [line.split("\t")[0] for line in (tmp_path / "whole-onnxruntime-one.tsv").read_text().splitlines()[1:]]

    monkeypatch.setattr(measuring.run, "measure_model", measured_once)
    assert [measure(name) for name in ("a", "b", "a")] == [(0, ["a"]), (0, ["a", "b"]), (0, ["a", "b"])]
    assert "1.50 (1.50–1.50)" in (text := capsys.readouterr().out) and "0.91 (0.91–0.91)" in text
    version[0] = "2"
    with pytest.raises(SystemExit, match="the folder has Runtime 1, and this is 2"):
        measure("c")
    assert measure("c", adds=False) == (0, ["c"])
    monkeypatch.setattr(measuring.machine, "describe", lambda: {"cpu": "another"})
    with pytest.raises(SystemExit, match="was measured on .*, and this is another"):
        measure("d")


def test_distances_in_the_last_place():
    one = np.array([1.0, -0.0, 2.0], np.float32)
    assert outputs.compare({"o": one.copy()}, {"o": one}) == (0, [])
    near = np.nextafter(one, np.float32(9), dtype=np.float32)
    assert outputs.compare({"o": near}, {"o": one})[0] == 1 and outputs.ulps(-near, -one) == 1
    assert "differs by" in outputs.compare({"o": one + 1}, {"o": one})[1][0]
    assert "1 of 3" in outputs.compare({"o": np.array([1, 2, 4])}, {"o": np.array([1, 2, 3])})[1][0]
    assert "float32[2]" in outputs.compare({"o": one[:2]}, {"o": one})[1][0]
    assert outputs.compare({}, {"o": one})[1] == ["the outputs are , not o"]


def layer(alone, garner, is_garner=True):
    sides = {"alone": (alone, False), "garner": (garner, is_garner)}
    return {side: {"what": "Gather", "is_garner": ours, "runs": [time] * 3} for side, (time, ours) in sides.items() if time}


@pytest.mark.parametrize(
    "sides, verdict",
    [
        (layer(30e3, 34e3), "behind"), (layer(30e3, 33e3), "level"), (layer(40e3, 30e3), "ahead"), (layer(9e3, 19e3), "short"),
        (layer(3e3, 97e3), "behind"), (layer(30e3, 90e3, False), "left"), (layer(None, 30e3), "fused alone"),
        (layer(30e3, None), "fused with garner"),
    ],
)  # fmt: skip
def test_verdicts_of_gathers(sides, verdict):
    (line,) = judge.layers({"name": "m", "layers": {"n": sides}})
    assert line.verdict == verdict


@pytest.mark.parametrize(
    "sides, inside_onnxruntime, inside_openvino",
    [
        (layer(3e3, 8e3), "short", "short"), (layer(3e3, 9e3), "short", "over the limit"),
        (layer(2e3, 25e3), "behind", "behind"), (layer(50e3, 54e3), "level", "level"), (layer(3e3, 9e3, False), "left", "left"),
        (layer(None, 9e3), "fused alone", "fused alone"), (layer(9e3, None), "fused with garner", "fused with garner"),
    ],
)  # fmt: skip
def test_short_gathers_inside_openvino_have_a_limit_of_their_own(sides, inside_onnxruntime, inside_openvino):
    record = {"name": "m", "layers": {"n": sides}}
    for runtime, verdict in (("onnxruntime", inside_onnxruntime), ("openvino", inside_openvino)):
        (line,) = judge.layers(record, runtime)
        assert line.verdict == verdict


def test_what_is_over_that_limit_is_shown_and_named():
    sides = {"alone": {"runs": [1e6] * 3}, "garner": {"runs": [1e6] * 3}}
    record = {"name": "m", "wrong": [], "ulps": 0, "layers": {"n": layer(3e3, 9e3)}, "whole": sides}
    section = told(record) | {"runtime": "openvino"}
    assert "no gather of garner's over 1.2 times its time alone plus 5 µs: BEHIND: m: n 3.00 → 9.00 µs." in tables.judgement(section)
    assert "| m | n | Gather | over the limit |" in tables.layers_table(section, tables.SHOWN).markdown()
    assert "holds for all" in tables.judgement(told(record))
    assert "| m | n |" not in tables.layers_table(told(record), tables.SHOWN).markdown()


@pytest.mark.parametrize("alone, verdict", [(0.96e6, "behind"), (0.98e6, "level"), (1.2e6, "ahead")])
def test_verdicts_of_models_and_losses(alone, verdict):
    record = {"name": "m", "wrong": [], "layers": {"n": layer(3e3, 97e3)},
              "whole": {"alone": {"runs": [alone] * 3}, "garner": {"runs": [1e6] * 3}}}  # fmt: skip
    assert judge.whole(record).verdict == verdict
    text = tables.judgement(told(record))
    assert "m: n 0.03" in text and ("m 0.96" in text) == (verdict == "behind")
