# SPDX-License-Identifier: MIT
"""`bench --disk FILE`, on a file so small that its figures mean nothing: what it prints and leaves, and that its rows are right."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = (ROOT / os.environ.get("GARNER_BUILD", "build")).resolve()


@pytest.mark.skipif(not (BUILD / "libgarner_files.so").exists(), reason="SKIP: there is no libgarner_files.so")
def test_a_small_file(tmp_path):
    command = [sys.executable, "-m", "garner_bench.disk", "--disk", "table.bin", "--gigabytes", "0.02", "--widths", "64,4096", "--rows", "500",
               "--fio-seconds", "1", "--library", BUILD, "--output", "disk.json"]  # fmt: skip
    said = subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT / "bench")}, capture_output=True, text=True)
    assert said.returncode == 0, said
    lines = [line for line in said.stdout.splitlines() if line.startswith("| ")]
    assert lines[0].startswith("| row | indices | fio | ring |") and len(lines) == 1 + 4
    results = json.loads((tmp_path / "disk.json").read_text())
    assert [(r["width"], r["skew"]) for r in results] == [(64, "uniform"), (64, "zipf"), (4096, "uniform"), (4096, "zipf")]
    for result in results:
        assert result["chosen hot"] == "mapped" and all(result[name] > 0 for name in ("pread", "any", "memmap", "sorted", "any/memmap", "hot", "hot/hot mapped"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk.json", "table.bin", "table.onnx"]
