# SPDX-License-Identifier: MIT
"""The instrument itself: what it counts, compares and concludes. Needs NumPy and pytest, no peer."""

import os
import re
import sys
import time
from dataclasses import replace
from math import prod
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(BENCH))

from garner_bench import (  # noqa: E402
    booth, cli, compare, drawn, effort, inputs, machine, measure, neighbours, nest, plot, report, session, stats, summary,
    table, workloads,
)  # fmt: skip

CELLS = workloads.read(BENCH / "workloads.tsv")
SMALL = [c for c in CELLS if prod(c.data) <= 1 << 20 and prod(c.indices) <= 1 << 18 and c.dtype != "str"]
names = {"ids": lambda cell: cell.name}


def arrays(cell):
    rng = np.random.default_rng(1)
    data = rng.integers(0, 2 if cell.dtype == "bool" else 1000, cell.data).astype(cell.numpy_dtype)
    shuffle = rng.permutation(cell.bounds[0])
    return data, inputs.draw(cell, rng, shuffle)


def walk(cell, data, indices):
    """The nest, point by point: what the ceiling loop does."""
    form = nest.nest_of(cell)
    source, flat = data.reshape(-1).view(np.uint8), indices.reshape(-1)
    out = np.zeros(cell.out_bytes, np.uint8)
    for point in np.ndindex(*[dim[0] for dim in form.dims]):
        start, at, to = (sum(p * dim[k] for p, dim in zip(point, form.dims)) for k in (1, 2, 3))
        gathered = zip(flat[at : at + len(form.strides)].tolist(), cell.bounds, form.strides)
        start += sum(index % bound * stride for index, bound, stride in gathered)
        out[to : to + form.run] = source[start : start + form.run]
    return out.view(cell.numpy_dtype).reshape(cell.out)


@pytest.mark.parametrize("cell", CELLS, **names)
def test_every_cell_is_consistent(cell):
    assert cell.points * cell.run == cell.out_bytes
    assert prod(dim[0] for dim in nest.nest_of(cell).dims) == cell.points


@pytest.mark.parametrize("cell", [c for c in SMALL if prod(c.out) <= 1 << 16], **names)
def test_nest_walks_as_the_operator_does(cell):
    data, indices = arrays(cell)
    assert compare.difference(walk(cell, data, indices), compare.expected(cell, data, indices)) is None


@pytest.mark.parametrize("cell", SMALL, **names)
def test_indices_follow_the_distribution(cell):
    _, indices = arrays(cell)
    assert indices.shape == cell.indices and indices.dtype == cell.numpy_index_dtype
    bounds = np.array(cell.bounds)
    assert (indices < bounds).all() and (indices >= (-bounds if cell.dist == "negative" else 0)).all()
    assert (indices < 0).any() == (cell.dist == "negative")


def test_sorted_same_zipf_and_perm():
    base = workloads.Workload("x", "gather", "f32", (1000, 2), (500,), 0, 0, "i64", "sorted")
    draw = lambda dist: inputs.draw(replace(base, dist=dist), np.random.default_rng(3), np.arange(1000))  # noqa: E731
    assert (np.diff(draw("sorted")) >= 0).all()
    assert len(set(draw("same").tolist())) == 1
    assert len(set(draw("perm").tolist())) == 500
    assert np.count_nonzero(draw("zipf") == 0) > 60  # rank 1 has about a fifth of the weight


@pytest.mark.parametrize("cell", [c for c in CELLS if not c.tiny], **names)
def test_neighbours_are_near_and_valid(cell):
    for near in neighbours.neighbours(cell):
        for old, new in zip(cell.data, near.data):
            assert abs(new - old) * 5 <= old
        assert prod(dim[0] for dim in nest.nest_of(near).dims) == near.points
        if cell.op == "gather_elements":
            assert all(near.indices[d] <= n for d, n in enumerate(near.data) if d != cell.axis)
        assert near.indices[: cell.batch_dims] == near.data[: cell.batch_dims]
    assert neighbours.neighbours(cell) == neighbours.neighbours(cell)


def test_drawn_cells_are_valid_and_the_same_again():
    cells = drawn.drawn(200, seed=3)
    assert cells[:50] == drawn.drawn(50, seed=3)
    assert cells[:50] != drawn.drawn(50, seed=4)
    for cell in cells:
        assert prod(dim[0] for dim in nest.nest_of(cell).dims) == cell.points
        if prod(cell.data) <= 1 << 18 and prod(cell.indices) <= 1 << 18:
            assert compare.expected(cell, *arrays(cell)).shape == cell.out
    met = {(cell.op, len(cell.data), cell.axis) for cell in cells} | {cell.dist for cell in cells}
    assert met >= {("gather", 3, 1), ("gather_elements", 2, 0), ("gather_nd", 4, 0), *drawn.DISTRIBUTIONS}


def test_a_table_of_drawn_cells_reads_as_them(tmp_path):
    table = tmp_path / "drawn.tsv"
    table.write_text("".join(f"{workloads.line_of(cell)}\n" for cell in [*drawn.drawn(50, seed=3), *CELLS]))
    assert workloads.read(table) == [*drawn.drawn(50, seed=3), *CELLS]


def test_difference_sees_one_bit():
    want = np.array([0.0, 1.0, np.nan], np.float32)
    assert compare.difference(want.copy(), want) is None
    assert "1 of 3" in compare.difference(np.array([-0.0, 1.0, np.nan], np.float32), want)
    assert "shape" in compare.difference(want[:2], want)
    assert "type" in compare.difference(want.astype(np.float64), want)


def record(garner, peers, limit=1.0, name="cell", **more):
    times = {"garner": {"way": "", "runs": garner}, **{n: {"way": "", "runs": r} for n, r in peers.items()}}
    return {"name": name, "tiny": False, "times": times, "limit_ns": limit, "limit": "stream", "absent": {},
            "notes": [], "c_call": None, **more}  # fmt: skip


@pytest.mark.parametrize(
    "garner, peer, limit, verdict",
    [
        ([10] * 5, [20] * 5, 1, "ahead"),
        ([10] * 5, [9, 10, 11, 9, 9], 1, "level"),
        ([10] * 5, [9.8] * 5, 1, "behind"),
        ([10] * 5, [9.8] * 5, 9, "level (limit)"),
        ([10] * 5, [9.6] * 5, 9, "behind"),
    ],
)
def test_verdicts(garner, peer, limit, verdict):
    row = summary.row_of(record(garner, {"numpy": peer, "jax": [1000] * 5, "ceiling": [1] * 5}, limit))
    assert (row.best, row.verdict) == ("numpy", verdict)


def test_python_cost():
    """3 % and half a microsecond; cells that were not measured from Python do not count."""
    cells = [record([100e3] * 3, {"python": [103.4e3] * 3}, name="near"), record([100e3] * 3, {"python": [103.6e3] * 3}, name="far"),
             record([100.0] * 3, {"python": [590.0] * 3}, name="tiny"), record([100.0] * 3, {}, name="alone")]  # fmt: skip
    assert summary.python_cost(summary.rows_of({"cells": cells})) == (2, ["far"])


def test_overall_and_gains():
    one = {"cells": [record([4e6], {"numpy": [8e6], "ceiling": [3e6]}, name="a"),
                     record([1], {"numpy": [0.5]}, name="b")]}  # fmt: skip
    every = {"cells": [record([2e6], {"numpy": [8e6], "ceiling": [1e6]}, name="a")]}
    total = summary.overall(summary.rows_of(one))
    assert total["smallest"] == (0.5, "b") and total["mean"] == pytest.approx(1.0)
    half, passed = record([4], {"numpy": [4]}, limit=2), record([1], {"numpy": [1]}, limit=3, name="b")
    assert summary.overall([summary.row_of(half), summary.row_of(passed)])["mean_at_limit"] == pytest.approx(2**0.5)
    (gain,) = summary.gains(one, every)
    assert (gain.name, gain.garner, gain.ceiling) == ("a", 2.0, 3.0)


def test_drawn_cells_come_worst_first_and_those_behind_are_counted():
    cells = [record([10.0] * 3, {"numpy": [ratio * 10.0] * 3}, name=name) for name, ratio in (("b", 0.95), ("c", 1.5), ("a", 0.8))]
    mode = {"mode": "4", "threads": 4, "drawn": True, "cells": [*cells, record([1.0], {}, name="alone")], "missing": {}, "versions": {}}
    assert [line[0] for line in report._main_table(mode).rows] == ["a", "b", "c", "alone"]
    notes = "\n".join(report._main_table(mode).notes)
    assert "2 (50.0%) behind 0.97, 1 (25.0%) behind 0.9" in notes
    assert report._main_table(mode).title.startswith("4 threads")


def test_thread_modes():
    assert cli._modes("both") == ["one", "all"] and cli._modes("1") == ["one"]
    for given in ("none", "1,0", str(len(machine.cpus()) + 1)):
        with pytest.raises(SystemExit, match=given.split(",")[-1]):
            cli._modes(given)
    assert machine.environment("4")["OMP_NUM_THREADS"] == "4"


def test_cpus_of_different_cores_come_first(monkeypatch):
    monkeypatch.setattr(machine, "cpus", lambda: list(range(8)))
    monkeypatch.setattr(machine, "_siblings", lambda cpu: f"{cpu // 2 * 2}-{cpu // 2 * 2 + 1}")
    assert machine.choose(1) == [7] and machine.choose(4) == [1, 3, 5, 7] and machine.choose(5) == [1, 3, 5, 6, 7]


class Clerk:
    """What a booth may be asked for in these tests."""

    def __init__(self, samples=1000):
        self._left = samples

    def prepare(self, fields):
        return ""

    def enter(self):
        return "way", 1.0

    def sample(self):
        self._left -= 1
        if self._left < 0:
            os._exit(3)
        return 1.0

    def finish(self):
        return {"notes": [], "limit_ns": 1.0, "limit": "stream"}

    def state(self):
        return os.getpid()


def is_stopped(pid):
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] == "T"


def test_a_booth_stands_still_between_two_questions():
    asked = booth.Booth(Clerk)
    pid = asked.ask("state")
    for _ in range(1000):
        if is_stopped(pid):
            break
        time.sleep(0.01)
    assert is_stopped(pid) and pid != os.getpid()
    assert asked.ask("sample") == 1.0
    asked.close()


def test_a_peer_whose_process_ends_is_left_out_and_the_others_go_on():
    cell = workloads.Workload("x", "gather", "f32", (10, 2), (5,), 0, 0, "i64", "sorted")
    booths = {name: booth.Booth(lambda s=samples: Clerk(s)) for name, samples in (("garner", 1000), ("weak", 3), ("ceiling", 1000))}
    lost = {}
    for _ in range(2):
        told = session.measure_cell(cell, booths, lost, effort.QUICK)
        assert set(told["times"]) == {"garner", "ceiling"} and told["absent"] == {"weak": "its process ended with status 3"}
        assert len(told["times"]["garner"]["runs"]) == effort.QUICK.runs
    for left in booths.values():
        left.close()


def test_slow_peers_are_sampled_in_fewer_runs():
    class Trial:
        name = "x"

        def sample(self, contestant):
            return contestant.estimate

    fast, slow = (measure.Contestant(name, None, estimate) for name, estimate in (("garner", 1.0), ("jax", 10.0)))
    measure.compete(Trial(), [fast, slow], effort.DRAWN._replace(seconds=0.0))
    assert len(fast.runs) == effort.DRAWN.runs and len(slow.runs) == effort.DRAWN.slow_runs


def test_garner_wrong_is_a_fault():
    wrong = record([1], {}, notes=[("garner", "way", "wrong: 1 of 3 elements differ")])
    assert report.faults({"modes": [{"missing": {}, "cells": [wrong]}], "runtimes": []}) == ["cell: wrong: 1 of 3 elements differ"]
    assert report.faults({"modes": [{"missing": {}, "cells": [record([1], {})]}], "runtimes": []}) == []


def test_statistics_and_numbers():
    assert stats.spread([3, 1, 2]) == (2, 1, 3)
    assert stats.geometric_mean([1, 4]) == pytest.approx(2)
    assert [table.number(v) for v in (0.01234, 1.234, 1234.5, None)] == ["0.0123", "1.23", "1,234", "-"]
    assert table.size(1536) == "1.50 KiB" and table.size(1 << 30) == "1 GiB"


@pytest.mark.parametrize("low, high, ticks", [(0.8, 4, [0.5, 1, 2, 5]), (0.9, 1.1, [0.5, 1, 2]), (0.01, 900, list(plot.RATIO_TICKS))])
def test_ticks_are_round_ratios(low, high, ticks):
    assert plot._ticks_between(low, high) == ticks


def drawable():
    cells = [record([10.0] * 3, {"numpy": [ratio * 10.0] * 3, "ceiling": [9.0] * 3}, 8.0, f"row{run}", op="gather", dist="uniform",
                    run=run, points=1, data_bytes=1 << 28) for run, ratio in ((4, 0.8), (64, 4.0))]  # fmt: skip
    return {"machine": {"cpu": "Nameless 7"}, "modes": [{"mode": "one", "cells": cells}], "runtimes": []}


def test_pictures_name_the_machine_and_explain_themselves(tmp_path):
    pytest.importorskip("matplotlib")
    assert plot.draw(drawable(), tmp_path) == "Plots: ratios-one.svg, table-size-one.svg, row-size-one.svg."
    texts = {path.name: re.findall("<!-- (.*?) -->", path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()}
    assert all("One thread, Nameless 7" in text for text in texts.values())
    assert {"0.5", "1", "2", "5"} <= set(texts["ratios-one.svg"])
    assert any("limit: the least time" in line for line in texts["row-size-one.svg"])


def test_the_legend_stands_beside_the_curves(tmp_path, monkeypatch):
    """Its box begins where the axes end, in both pictures that have one."""
    pytest.importorskip("matplotlib")
    looked = []

    def look(figure, folder, name):
        figure.canvas.draw()
        boxes = [(axes.get_legend(), axes.get_window_extent()) for axes in figure.axes]
        looked.extend((name, legend.get_window_extent().x0, box.x1) for legend, box in boxes if legend)
        return name

    monkeypatch.setattr(plot, "_save", look)
    plot.draw(drawable(), tmp_path)
    assert [name for name, *_ in looked] == ["table-size-one.svg", "row-size-one.svg"]
    assert all(legend > axes for _, legend, axes in looked)


def test_without_matplotlib_a_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install matplotlib" in plot.draw(drawable(), tmp_path)
    assert not list(tmp_path.iterdir())
