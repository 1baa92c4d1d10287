# SPDX-License-Identifier: MIT
"""Every entry of the package while one call fails, each in turn, in a process of its own. By default a part of the calls, with
GARNER_TEST_FAILING=all every one."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "failing"))
import injector  # noqa: E402


@pytest.mark.skipif(injector.why_not() is not None, reason=str(injector.why_not()))
def test_each_call_fails(tmp_path):
    counts = injector.run_entries("python_entries.py", folder=tmp_path, PYTHONMALLOC="malloc")
    assert len(counts) > 35 and sum(counts.values()) > 150, counts
