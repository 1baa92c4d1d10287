# SPDX-License-Identifier: MIT
"""Every entry of the package while one call fails, each in turn: tests/failing/python_entries.py in a process of its own.
By default a part of the calls, with GARNER_TEST_FAILING=all every one."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "failing"))
import injector  # noqa: E402

EVERY = "1" if os.environ.get("GARNER_TEST_FAILING") == "all" else "7"


def test_each_call_fails(tmp_path):
    reason = injector.why_not()
    if reason:
        pytest.skip(reason)
    library = injector.build(tmp_path)
    options = injector.environment(library, PYTHONMALLOC="malloc", PYTHONPATH=os.pathsep.join(path for path in sys.path if path))
    options["ASAN_OPTIONS"] = options["ASAN_OPTIONS"].replace("detect_leaks=0", "") + ":detect_leaks=1:leak_check_at_exit=0"
    said = subprocess.run([sys.executable, HERE.parent / "failing" / "python_entries.py", EVERY], capture_output=True, text=True,
                          env={**os.environ, **options})  # fmt: skip
    assert said.returncode == 0, said.stdout[-2000:] + said.stderr[-6000:]
    counts = [int(count) for count in re.findall(r"^ *(\d+) ", said.stdout, re.M)]
    assert len(counts) > 35 and sum(counts) > 1000 / int(EVERY), said.stdout
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        assert "leaks looked for" in said.stdout, said.stdout
        leaks = [leak for leak in said.stdout.split("\n\n") if leak.startswith(("Direct leak", "Indirect leak")) and "_garner" in leak]
        assert not leaks, "\n\n".join(leaks[:5])
