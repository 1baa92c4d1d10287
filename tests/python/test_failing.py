# SPDX-License-Identifier: MIT
"""Every entry of the package while one call fails, each in turn, in a process of its own; on a GPU in the stand-in, too. By default a part of the calls, with
GARNER_TEST_FAILING=all every one."""

import pathlib
import sys

import pytest
from test_cuda import STAND_IN, needs_stand_in

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "failing"))
import injector  # noqa: E402


@pytest.mark.skipif(injector.why_not() is not None, reason=str(injector.why_not()))
def test_each_call_fails(tmp_path):
    counts = injector.run_entries("python_entries.py", folder=tmp_path, PYTHONMALLOC="malloc")
    assert len(counts) > 35 and sum(counts.values()) > 150, counts


@needs_stand_in
@pytest.mark.skipif(injector.why_not() is not None, reason=str(injector.why_not()))
def test_each_call_fails_on_a_device(tmp_path):
    pytest.importorskip("numpy")
    counts = injector.run_entries("device_entries.py", folder=tmp_path, seldom=23, PYTHONMALLOC="malloc", GARNER_CUDA_LIBRARY=str(STAND_IN / "libgarner_cuda.so"))
    assert len(counts) > 20 and sum(counts.values()) > 100, counts
