# SPDX-License-Identifier: MIT
"""ONNX Runtime with and without garner. The package garner must be installed where these tests run, or be on PYTHONPATH."""

import pathlib
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("oracle", "support")]

from installed import insist_on, is_installed  # noqa: E402

collect_ignore_glob = [] if is_installed("onnxruntime") else ["test_*.py"]


def pytest_configure():
    insist_on("onnxruntime")


def pytest_terminal_summary(terminalreporter):
    if not is_installed("onnxruntime"):
        terminalreporter.write_line("SKIPPED onnxruntime: the package is not installed; its plug-in is not tested")


@pytest.fixture(scope="session", autouse=True)
def registered():
    """What every session in this process needs, and nothing at its end: the process goes with all that it has."""
    import garner.onnxruntime
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    garner.onnxruntime.register()
