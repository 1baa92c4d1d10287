# SPDX-License-Identifier: MIT
"""`python -m garner.bench`, as the wheel brings it: that it measures, also inside a runtime. How fast that is, no test says."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import NO_NUMPY

import garner

# A folder that passes for a package has no origin.
MISSING = [name for name in ("numpy", "onnx", "onnxruntime") if NO_NUMPY or not getattr(importlib.util.find_spec(name), "origin", None)]


@pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} not installed")
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler: the benchmark compiles what it times calls with")
@pytest.mark.skipif(not (Path(garner.__file__).parent / "_bench").is_dir(), reason="a module without its benchmark")
def test_a_quick_benchmark(tmp_path):
    """Exit 0 means that garner was right everywhere, and that every gather inside the runtime was garner's."""
    options = ["--cells", "tiny-nd", "--threads", "one", "--peers", "numpy", "--runtimes", "onnxruntime", "--models", "beam*"]
    command = [sys.executable, "-P", "-m", "garner.bench", "--quick", "--no-memory", *options]
    said = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert said.returncode == 0 and "inside ONNX Runtime" in said.stdout, said.stderr
    tables = {path.stem: path.read_text() for path in (tmp_path / "garner-bench").glob("*.tsv")}
    assert all(tables[name].splitlines()[1].startswith("tiny-nd\t") for name in ("cells-one", "inside-onnxruntime-one"))
    nodes = ("the whole", "key0", "value0", "key1", "value1")
    assert all(f"beam-reorder: {node}\t" in tables["models-onnxruntime-one"] for node in nodes)
