# SPDX-License-Identifier: MIT
"""ONNX Runtime with and without garner. The package garner must be installed where these tests run, or be on PYTHONPATH."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))

onnxruntime = pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed: its plug-in is not tested")
if not hasattr(onnxruntime, "__version__"):  # the folder of that name, which passes for a package
    pytest.skip("ONNX Runtime is not installed: its plug-in is not tested", allow_module_level=True)

import garner.onnxruntime  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def registered():
    """What every session in this process needs, and nothing at its end: the process goes with all that it has."""
    onnxruntime.set_default_logger_severity(4)
    garner.onnxruntime.register()
