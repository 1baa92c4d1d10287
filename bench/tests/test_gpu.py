# SPDX-License-Identifier: MIT
"""The benchmark on GPUs, in the stand-in for NVIDIA's driver (tests/cuda), whose memory is the host's: what it measures there
is right, compared and written down; how fast anything is, no test says."""

import ctypes
import functools
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[1]
ROOT = BENCH.parent
sys.path.insert(0, str(BENCH))

from garner_bench import compare  # noqa: E402
from garner_bench.gpu import cells, measure, peers, report  # noqa: E402

BUILD = ROOT / os.environ.get("GARNER_BUILD", "build") / "tests" / "cuda"
LIBRARY = BUILD / "stand_in" / "libgarner_cuda.so"


def run(folder, *arguments, script=("-m", "garner_bench.gpu")):
    if not LIBRARY.is_file():
        pytest.skip(f"SKIP: {LIBRARY} was not built")
    paths = os.pathsep.join(map(str, (BENCH, BENCH / "tests")))
    return subprocess.run([sys.executable, *script, "--library", str(LIBRARY), "--output", str(folder), *arguments], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": paths, "LD_LIBRARY_PATH": str(BUILD / "fake")}, check=False)  # fmt: skip


def test_quick_run(tmp_path):
    said = run(tmp_path, "--quick", "--peers", "")
    assert said.returncode == 0, said.stdout + said.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["machine"]["name"] == "Fake 0" and not result["left"]
    assert [record["name"] for record in result["cells"]] == [cell.name for cell in cells.quick()]
    assert not [record for record in result["cells"] if record.get("failed")], said.stdout
    assert "bare loop" in result["missing"]
    lines = (tmp_path / "cells.tsv").read_text().splitlines()
    assert len(lines) == len(result["cells"]) + 1 and lines[0].startswith("cell\tverdict\tbest\tgarner µs\tratio to best\t× copy\t× bare loop")
    assert "18 cells: 0 ahead, 0 level, 0 behind, 18 alone" in said.stdout
    assert "| cell |" in (tmp_path / "report.md").read_text()


def test_time_runs_out_and_the_rest_is_added(tmp_path):
    chosen = ["--quick", "--peers", "", "--cells", "tiny-*"]
    said = run(tmp_path, *chosen, "--minutes", "0")
    assert said.returncode == 0 and "NOT COMPLETE: 4 cells are left, from tiny-1 on." in said.stdout, said.stderr
    said = run(tmp_path, *chosen, "--add")
    result = json.loads((tmp_path / "result.json").read_text())
    assert said.returncode == 0 and len(result["cells"]) == 4 and not result["left"]
    before = result["cells"]
    assert run(tmp_path, *chosen, "--add").returncode == 0
    assert json.loads((tmp_path / "result.json").read_text())["cells"] == before


def test_parts_are_merged(tmp_path):
    for name, pattern in (("a", "tiny-*"), ("b", "grid-64-*,tiny-1")):
        assert run(tmp_path / name, "--quick", "--peers", "", "--cells", pattern).returncode == 0
    said = run(tmp_path / "both", "--merge", str(tmp_path / "a" / "result.json"), str(tmp_path / "b" / "result.json"))
    assert said.returncode == 0, said.stderr
    names = [record["name"] for record in json.loads((tmp_path / "both" / "result.json").read_text())["cells"]]
    assert sorted(names) == sorted(["tiny-1", "tiny-rows", "tiny-elements", "tiny-nd", *(f"grid-64-{d}" for d in ("uniform", "zipf", "sorted", "same"))])


def test_what_is_refused(tmp_path):
    assert "no cell matches" in run(tmp_path, "--quick", "--cells", "nothing").stderr
    assert "no such peer: numpy" in run(tmp_path, "--quick", "--peers", "numpy").stderr
    said = run(tmp_path, "--quick", "--library", str(tmp_path / "none.so"))
    assert said.returncode == 1 and "nothing can be measured here" in said.stderr


def test_another_machine_is_not_merged():
    machine = {"name": "a"}
    one = {"machine": machine, "cells": [], "versions": {}, "missing": {}, "left": []}
    with pytest.raises(ValueError, match="is not a, or has another driver"):
        report.merge([one, {**one, "machine": {"name": "b"}}])


# ---- Peers ----


@functools.cache
def device_memory(size):
    allocate = ctypes.CDLL("libcuda.so.1").fake_allocate  # of the stand-in, which is loaded
    allocate.restype, allocate.argtypes = ctypes.c_void_p, [ctypes.c_size_t, ctypes.c_int]
    return allocate(size, 0)


def on_device(result):
    ctypes.memmove(device_memory(result.nbytes), result.ctypes.data, result.nbytes)
    return device_memory(result.nbytes)


class NumpyPeer:
    """A peer that computes in memory of the host, with a way that is right, one that is wrong, one that raises."""

    version = "0"

    def supports(self, cell):
        return "no bool" if cell.dtype == "bool" else ""

    def ways(self, cell, buffers):
        def view(address, shape, dtype):
            size = int(np.prod(shape)) * np.dtype(dtype).itemsize
            return np.frombuffer((ctypes.c_char * size).from_address(address), dtype).reshape(shape)

        data, sets = view(buffers.data, cell.data, cell.numpy_dtype), [view(a, cell.indices, cell.numpy_index_dtype) for a in buffers.indices]
        address = lambda result: (on_device(result), result.nbytes)  # noqa: E731
        take = lambda n: np.ascontiguousarray(compare.expected(cell, data, sets[n % len(sets)]))  # noqa: E731
        yield peers.GpuWay("right", take, address)
        yield peers.GpuWay("waits", take, address, lambda result: None)
        yield peers.GpuWay("off by one", lambda n: take(n) * 0, address)
        yield peers.GpuWay("short", lambda n: take(n).reshape(-1)[1:], address)
        yield peers.GpuWay("raises", lambda n: 1 / 0, address)


def main(arguments):
    from garner_bench.gpu.__main__ import main as run_main

    peers.KINDS["torch"] = NumpyPeer
    return run_main(arguments)


def test_peers_are_compared_and_timed(tmp_path):
    said = run(tmp_path, "--quick", "--cells", "grid-64-uniform,tiny-rows", "--peers", "torch,cupy", script=(__file__,))
    assert said.returncode == 0, said.stdout + said.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["versions"]["torch"] == "0"
    for record in result["cells"]:
        assert record["times"]["torch"]["way"] in ("right", "waits") and record["times"]["torch"]["seconds"] > 0
        notes = {way: why for _, way, why in record["notes"]}
        assert set(notes) == {"off by one", "short", "raises"}
        assert "bytes differ" in notes["off by one"] and "ZeroDivisionError" in notes["raises"] and "the result has" in notes["short"]
    assert "of torch" in said.stdout and "| wrong |" not in (tmp_path / "report.md").read_text()


# ---- What follows from times ----


def result_of(*times):
    names = [f"c{i}" for i in range(len(times))]
    records = [{"name": name, "times": {way: {"seconds": s, "way": ""} for way, s in given.items()}, "notes": []} for name, given in zip(names, times)]
    return {"machine": {}, "cells": records, "versions": {"torch": "1"}, "missing": {}, "left": []}


def test_summary():
    made = result_of(
        {"garner": 1, "copy": 0.5, "bare": 1, "torch": 4, "jax": 3},
        {"garner": 1, "copy": 1, "bare": 0.8, "torch": 0.98},
        {"garner": 1, "copy": 1, "bare": 1, "cupy": 0.5},
        {"garner": 1, "copy": 1},
    )
    rows = report.rows_of(made)
    assert [(row.verdict, row.best) for row in rows] == [("ahead", "jax"), ("level", "torch"), ("behind", "cupy"), ("alone", "")]
    assert rows[0].ratio == 3 and rows[0].copies == 2 and rows[1].bare == 1.25
    lines = report.summary(made)
    assert lines[0] == "4 cells: 1 ahead, 1 level, 1 behind, 1 alone (0.97 of the best peer is level). Geometric mean 1.14, smallest 0.50 (c2)."
    assert lines[1] == "Against the bare loop: worst 1.25 (c1), 1 of 3 cells above 1.1: c1 1.25."
    assert lines[2] == "Behind: c2 0.50 (cupy)."


# ---- Cells ----


def test_the_cells():
    names = [cell.name for cell in cells.every()]
    assert len(names) == len(set(names)) and names[0] == "first-rows-16" and not any(cell.dtype == "str" for cell in cells.every())
    assert names.index("row4-l2") == len(cells.first()) and names[-1].startswith("grid-")
    runs = {cell.run for cell in cells.rows()}
    assert min(runs) == 4 and max(runs) == 16 << 10
    assert {cell.data_bytes >> 20 for cell in cells.rows()} == {1, 16, 256, 4096, 65536}
    for cell in cells.first() + cells.rows():
        assert cell.points * cell.run == cell.out_bytes
    assert {cell.out_bytes for cell in cells.first() if "rows" in cell.name} == {1 << 30}


@pytest.mark.parametrize("bound", [1, 2, 1000, 1 << 20, (1 << 34) - 7, 1 << 34])
def test_zipf_stays_within_any_table(bound):
    base = replace(cells.rows()[0], data=(bound, 1), indices=(20000,), dist="zipf")
    drawn = cells.draw(base, np.random.default_rng(1))
    assert drawn.min() >= 0 and drawn.max() < bound and drawn.dtype == np.int64
    assert bound < 1000 or np.bincount(np.unique(drawn, return_inverse=True)[1]).max() > 1000


def test_sets_take_turns_only_where_they_must():
    by_name = {cell.name: cell for cell in cells.every()}
    assert cells.set_count(by_name["row64-l2"]) == 1 and cells.set_count(by_name["first-rows-16"]) == 1
    assert cells.set_count(by_name["row256-dram"]) > 1
    assert measure.copied(by_name["first-rows-16"]) == ((2 << 30) + (512 << 20)) // 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
