# SPDX-License-Identifier: MIT
"""garner.onnxruntime in processes of their own: registered, taken back, left alive at the end, not there at all."""

import os
import subprocess
import sys

import pytest

BEGIN = """
import numpy as np, onnxruntime, garner.onnxruntime
from sessions import OURS, one_node, providers, with_garner
onnxruntime.set_default_logger_severity(4)
x, i = np.ones((3, 2), "f4"), np.array([1])
def known():
    return [device.ep_name for device in onnxruntime.get_ep_devices()].count(OURS)
def run():
    session = with_garner(one_node("Gather", 1))
    assert providers(session) == [OURS]
    assert session.run(None, {"x": x, "i": i})[0].shape == (1, 2)
    return session
"""


def python(program, **environment):
    here = os.path.dirname(__file__)
    path = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    return subprocess.run(
        [sys.executable, "-c", program], env=dict(os.environ, PYTHONPATH=path, **environment), capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize(
    "program",
    [
        "garner.onnxruntime.register(); garner.onnxruntime.register(); assert known() == 1; run()",
        "garner.onnxruntime.unregister(); run(); garner.onnxruntime.unregister(); garner.onnxruntime.unregister(); assert known() == 0",
        "for _ in range(3): garner.onnxruntime.register(); run(); garner.onnxruntime.unregister(); assert known() == 0",
        "session = run(); garner.onnxruntime.unregister(); session.run(None, {'x': x, 'i': i}); del session; run()",
        "session = run()",  # and the process ends
        "import atexit; session = run(); atexit.register(lambda: session.run(None, {'x': x, 'i': i}))",
    ],
)
def test_life(program):
    done = python(BEGIN + program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_forked_child():
    """A child of fork() makes a session of its own."""
    done = python(BEGIN + "import os\ngarner.onnxruntime.register()\npid = os.fork()\nif pid == 0:\n    run(); os._exit(7)\n"
                  "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))")  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "7\n"), done.stderr


@pytest.mark.parametrize("stand_in", ["None", "types.ModuleType('onnxruntime')"])  # a folder of that name is such a module
def test_without_the_runtime(stand_in):
    done = python(f"import sys, types, garner.onnxruntime\nsys.modules['onnxruntime'] = {stand_in}\ngarner.onnxruntime.register()")
    assert "garner.onnxruntime: onnxruntime is not installed: pip install onnxruntime" in done.stderr


def test_old_runtime_by_version():
    done = python("import onnxruntime, garner.onnxruntime\nonnxruntime.__version__ = '1.23.2'\ngarner.onnxruntime.register()")
    assert "onnxruntime 1.23.2 is installed, and 1.24 or newer is needed" in done.stderr
