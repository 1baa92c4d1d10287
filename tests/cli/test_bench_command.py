# SPDX-License-Identifier: MIT
"""garner bench: which workload is measured, what is told of it, and what is refused. How fast it is, no test says."""

import json
import os

import numpy
import pytest
from terminal import read_terminal

QUICK = ["--seconds", "0"]


def measured(garner, *arguments, **options):
    answer = garner("bench", *arguments, *QUICK, "--json", **options)
    assert answer.code == 0 and answer.err == "", answer
    return json.loads(answer.text)


def check_times(told):
    for result in told["results"]:
        assert result["samples"] >= 5
        for name, rate in (("gather", "bytes_per_second"), ("copy", "copy_bytes_per_second")):
            times = result[name]
            assert 0 < times["low"] <= times["seconds"] <= times["high"] and times["calls_per_sample"] >= 1
            assert result[rate] == pytest.approx(told["bytes"] / times["seconds"], rel=1e-3)
        assert result["of_copy"] == pytest.approx(result["copy"]["seconds"] / result["gather"]["seconds"], rel=1e-2)


@pytest.mark.parametrize("operator", [None, "gather", "gather_elements", "GatherND"])
def test_a_typical_gather_where_none_is_given(garner, operator):
    told = measured(garner, *([operator] if operator else []))
    assert told["operator"].lower() == (operator or "gather").replace("_", "").lower()
    assert told["bytes"] > 1 << 18 and told["operator"] in told["plan"]
    check_times(told)


def test_one_thread_and_all_unless_told(garner):
    cpus = len(os.sched_getaffinity(0))
    one_and_all = [1, cpus] if cpus > 1 else [1]
    shapes = ["--data-shape", "1000,16", "--indices-shape", "200"]
    assert [r["threads"] for r in measured(garner, "gather", *shapes)["results"]] == one_and_all
    assert [r["threads"] for r in measured(garner, "gather", *shapes, "--threads", "3")["results"]] == [3]
    environment = {"GARNER_NUM_THREADS": "2"}
    assert [r["threads"] for r in measured(garner, "gather", *shapes, env=environment)["results"]] == [1, 2]


def test_shapes_and_types(garner):
    shapes = ["--data-shape", "[8,100,4]", "--indices-shape", "8,50", "--axis", "1", "--batch-dims", "1"]
    told = measured(garner, "gather", *shapes, "--dtype", "float16", "--index-dtype", "u8")
    assert told["data"] == {"dtype": "f16", "shape": [8, 100, 4]}
    assert told["indices"] == {"dtype": "u8", "shape": [8, 50]}
    assert (told["axis"], told["batch_dims"], told["bytes"]) == (1, 1, 8 * 50 * 4 * 2)
    check_times(told)
    nd = measured(garner, "gather-nd", "--data-shape", "3,70000", "--indices-shape", "40,2", "--index-dtype", "i16")
    assert nd["bytes"] == 160 and nd["indices"]["dtype"] == "i16"


def test_tensors(garner, tmp_path):
    numpy.save(tmp_path / "table.npy", numpy.arange(24, dtype="f8").reshape(6, 4))
    told = measured(garner, "gather", "table.npy", "[5,0]:i32")
    assert told["data"] == {"dtype": "f64", "shape": [6, 4]} and told["bytes"] == 64
    words = measured(garner, "gather", '["one","two"]', "[1,1,0]")
    assert words["data"]["dtype"] == "str" and words["bytes"] == 48
    beyond = measured(garner, "gather", "[]:f32", "[1,2]", "--oob", "zero")
    assert beyond["bytes"] == 8


def test_text(garner):
    lines = garner("bench", "gather", "iota(1000):f32", "iota(1000)", *QUICK).text.splitlines()
    assert lines[0] == "Gather f32[1000] i64[1000] axis 0"
    assert lines[1].startswith("result of 4000 bytes") and lines[3].split()[0] == "threads"
    assert all(" % " in line and line.count("[") == 2 for line in lines[4:])


def test_no_memory(garner):
    answer = garner("bench", "gather", "--data-shape", "1000000000000000", "--indices-shape", "2")
    assert answer.code == 5 and "garner: data: not enough memory" in answer.err, answer  # a sanitizer may say more


def test_what_is_refused(refuses):
    refuses(2, "'scatter' is no operator", "bench", "scatter")
    refuses(2, "DATA and INDICES, or neither", "bench", "gather", "[1]")
    refuses(2, "gather-nd does not take --axis", "bench", "gather-nd", "--axis", "1")
    refuses(2, "given together", "bench", "gather", "--data-shape", "3")
    refuses(2, "--dtype is for", "bench", "gather", "[1]", "[0]", "--dtype", "f32")
    for bad in ("", "3,", ",3", "3,,4", "-1", "x", "[3", "3]", "1e3", "99999999999999999999", ",".join(["1"] * 65)):
        refuses(2, "is no shape", "bench", "gather", "--data-shape", bad, "--indices-shape", "3")
    refuses(2, "'float' is no element type", "bench", "gather", "--dtype", "float")
    refuses(2, "no str", "bench", "gather", "--dtype", "str")
    refuses(2, "empty", "bench", "gather", "--data-shape", "3", "--indices-shape", "0")
    refuses(3, "Gather", "bench", "gather", "--index-dtype", "f32")
    refuses(3, "outside", "bench", "gather", "[1,2]", "[2]")
    refuses(3, "GatherElements", "bench", "gather-elements", "--data-shape", "3,4", "--indices-shape", "3")
    refuses(3, "", "bench", "gather", "--data-shape", "9000000000000000000,8", "--indices-shape", "2")


@pytest.mark.slow
def test_progress_on_a_terminal(program, surroundings):
    """More than a second of work shows how far it is on standard error, and takes the line away again."""
    master, slave = os.openpty()
    child = os.posix_spawn(
        program,
        [program, "bench", "gather", "iota(9)", "[1]", "--seconds", "2"],
        surroundings,
        file_actions=[(os.POSIX_SPAWN_DUP2, slave, 2), (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)],
    )
    os.close(slave)
    shown = read_terminal(master).decode()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert shown.startswith("\rgarner:  ") and "%" in shown and shown.endswith("\r\x1b[K")
