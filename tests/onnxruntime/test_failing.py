# SPDX-License-Identifier: MIT
"""The plug-in while one call fails that it makes, each in turn, in a process of its own. By default a part of the calls, with
GARNER_TEST_FAILING=all every one."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "failing"))
import injector  # noqa: E402


@pytest.mark.skipif(injector.why_not() is not None, reason=str(injector.why_not()))
def test_each_call_fails(tmp_path):
    counts = injector.run_entries("plugin_entries.py", "onnxruntime", folder=tmp_path)
    assert len(counts) > 4 and sum(counts.values()) > 20, counts
