# SPDX-License-Identifier: MIT
"""Compiles the extension once, for all processes that run these tests, into a cache of their own.

Two processes ask for it at the same time, which is a test as well: what both said is kept for test_library.py.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from installed import insist_on, is_installed  # noqa: E402

ASK = "import garner.openvino, json; print(json.dumps(garner.openvino.library()))"
ASK_FOR_ALL = "import garner.openvino; garner.openvino.library(min_bytes=0)"
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror"]


collect_ignore_glob = [] if is_installed("openvino") else ["test_*.py"]


def ask_for_the_library(program):
    """Another process that calls library(), with a compiler that lets no warning pass, and prints the answer."""
    environment = {**os.environ, "CXX": " ".join([os.environ.get("CXX") or "c++", *WARNINGS])}
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def pytest_configure(config):
    insist_on("openvino")
    if hasattr(config, "workerinput") or not is_installed("openvino"):
        return
    folder = tempfile.mkdtemp(prefix="garner-openvino-")
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    os.environ["XDG_CACHE_HOME"] = folder
    asked = [ask_for_the_library(program) for program in (ASK, ASK, ASK_FOR_ALL)]
    said = [(*child.communicate(), child.returncode) for child in asked]
    os.environ["GARNER_OPENVINO_ASKED"] = json.dumps(said)


def pytest_terminal_summary(terminalreporter):
    if not is_installed("openvino"):
        terminalreporter.write_line("SKIPPED openvino: the package is not installed; its extension is not tested")
