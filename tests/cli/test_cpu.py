# SPDX-License-Identifier: MIT
"""garner cpu: what it tells of the machine and of the kernels, for people and as JSON."""

import json
import os
import platform

import pytest

NAMES = {"x86_64": "x86-64", "AMD64": "x86-64"}


def told(garner, **environment):
    answer = garner("cpu", "--json", env=environment)
    assert answer.code == 0 and answer.err == "", answer
    return json.loads(answer.text)


def test_json_tells_the_machine(garner):
    cpu = told(garner)
    assert cpu["version"] in garner("--version").text
    assert cpu["architecture"] == NAMES.get(platform.machine(), platform.machine())
    assert cpu["cpus"] == len(os.sched_getaffinity(0)) == cpu["threads"]
    assert cpu["level"] == cpu["detected"] or (cpu["level"], cpu["detected"]) == ("avx512", "avx512-gather")
    assert cpu["level"] in cpu["levels"]
    assert cpu["levels"][0] == "scalar"
    assert cpu["profile"] in cpu["profiles"] and isinstance(cpu["measured"], bool)
    assert cpu["environment"] == {"GARNER_CPU": None, "GARNER_NUM_THREADS": None}
    for cache in cpu["caches"]:
        assert cache["level"] >= 1 and cache["bytes"] > 0 and cache["type"] in ("data", "unified")
    if platform.machine() == "x86_64":
        flags = set(open("/proc/cpuinfo").read().partition("flags")[2].partition("\n")[0].split())
        spelt = {"sse4.2": "sse4_2"}
        assert {spelt.get(name, name) for name in cpu["features"]} <= flags


def test_kernels_are_those_of_real_plans(garner):
    kernels = told(garner)["kernels"]
    assert {row["operator"] for row in kernels} == {"Gather", "GatherElements", "GatherND"}
    assert all(f"{row['operator']}: " in row["plan"] and "kernel " in row["plan"] for row in kernels)
    row = next(row for row in kernels if row["operator"] == "Gather" and row["data"]["shape"] == [256, 64])
    real = garner("gather", "iota(256,64):f32", "iota(4096):u16", "--oob", "wrap", "-v", "-o", "/dev/null")
    kernel = row["plan"].partition("kernel ")[2].split(",")[0]
    assert f"kernel {kernel}," in real.err, (real, row)


def test_the_environment_is_told_and_obeyed(garner):
    cpu = told(garner, GARNER_CPU="scalar", GARNER_NUM_THREADS="3")
    assert cpu["level"] == "scalar" and cpu["threads"] == 3
    assert cpu["environment"] == {"GARNER_CPU": "scalar", "GARNER_NUM_THREADS": "3"}
    assert all(" scalar " in row["plan"].partition("kernel")[2] for row in cpu["kernels"])
    text = garner("cpu", env={"GARNER_CPU": "scalar", "GARNER_NUM_THREADS": "3"}).text
    assert "GARNER_CPU is scalar" in text and "threads       3 (GARNER_NUM_THREADS is 3)" in text


def test_a_profile_can_be_named(garner):
    detected = told(garner)["detected"]
    for name in told(garner)["profiles"]:
        cpu = told(garner, GARNER_CPU=name)
        assert cpu["profile"] == name and cpu["levels"].index(cpu["level"]) <= cpu["levels"].index(detected)
        text = garner("cpu", env={"GARNER_CPU": name}).text
        assert f"profile       {name} (" in text and ("never measured" in text) == (not cpu["measured"])


def test_a_profile_changes_plans(garner):
    """Runs from afar are prefetched further ahead where the window is large; -v says so of a single call too."""
    def plan(name):
        line = ["gather", "iota(20000,64):f32", "iota(4096):i32", "-v", "-o", "/dev/null"]
        return garner(*line, env={"GARNER_CPU": name}).err

    assert "prefetch 8 points to L1" in plan("neoverse-n1")
    assert "prefetch 16 points to L2" in plan("neoverse-v1")


@pytest.mark.parametrize("name", ["GARNER_CPU", "GARNER_NUM_THREADS"])
def test_a_bad_environment_is_refused(refuses, name):
    refuses(2, [name, "'fast'"], "cpu", env={name: "fast"})


def test_text_says_the_same(garner):
    cpu, text = told(garner), garner("cpu").text
    assert f"architecture  {cpu['architecture']}\n" in text
    assert f"instructions  {' '.join(cpu['features']) or 'none that matter here'}\n" in text
    assert text.count("\n  G") == len(cpu["kernels"])
    for row in cpu["kernels"]:
        assert row["plan"].partition("kernel ")[2] in text


def test_text_lists_the_levels_of_this_machine(garner):
    """No avx on another architecture, nor above what was detected."""
    cpu = told(garner)
    *others, last = cpu["levels"]
    assert last == cpu["detected"]
    assert f"it takes {', '.join(others) + ' or ' if others else ''}{last})\n" in garner("cpu").text
    if cpu["architecture"] != "x86-64":
        assert "avx" not in garner("cpu").text


def test_takes_no_operand(refuses):
    refuses(2, "takes options alone", "cpu", "all")
