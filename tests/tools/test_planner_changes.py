# SPDX-License-Identifier: MIT
"""tools/plans says which plans are others, and how to measure them. A script stands for the program that compares plans."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOISE = "[ RUN      ] test_plans_are_those_kept\n"
DIGEST = "-v1: 200000 random nests: aa\n+v1: 200000 random nests: bb\n"
CELLS = "-v1: row1k-dram, strategy rows\n+v1: row1k-dram, strategy panels\n+v2: row1k-dram, strategy bits\n+v1: row16-l2, strategy bits\n"


@pytest.fixture
def plans(tmp_path):
    """Runs tools/plans where the program prints a text and ends with a code."""

    def run(text, code):
        for folder in ("tools", "bin", "build/plans/tests"):
            (tmp_path / folder).mkdir(parents=True)
        shutil.copy(ROOT / "tools" / "plans", tmp_path / "tools")
        for name, script in (("bin/cmake", "exit 0"), ("build/plans/tests/test_plans", f"cat <<'END'\n{text}END\nexit {code}")):
            (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / name).chmod(0o755)
        path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run([tmp_path / "tools" / "plans"], capture_output=True, text=True, check=False, env={"PATH": path})
        return done.returncode, done.stdout, done.stderr

    return run


def test_no_change(plans):
    assert plans(NOISE, 0) == (0, "every plan is as it is kept in tests/src/cpu/plans\n", "")


def test_changed_cells(plans):
    command = "tools/bench-compare BEFORE.so NOW.so row16-l2 row1k-dram"
    said = f"{DIGEST}{CELLS}what that did, with a build of before and one of now: {command}\n"
    assert plans(NOISE + DIGEST + CELLS + NOISE, 1) == (1, said, "")


def test_changed_nests(plans):
    said = f"{DIGEST}no cell of bench/workloads.tsv is planned otherwise, but random nests are: tools/plans HEAD says which\n"
    assert plans(NOISE + DIGEST, 1) == (1, said, "")


def test_what_else_fails(plans):
    """What the program says itself."""
    assert plans(NOISE, 3) == (1, "", NOISE)
