# SPDX-License-Identifier: MIT
"""Every Python example of the documents, run."""

import doctest
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ELSEWHERE = {"onnxruntime.md", "openvino.md"}  # run by the tests of those plug-ins
DOCUMENTS = [
    path for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    if ">>> " in path.read_text() and path.name not in ELSEWHERE
]  # fmt: skip


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_document(path):
    pytest.importorskip("numpy")
    text = path.read_text().replace("```", "")
    for library in ("torch", "pyarrow"):
        if f"import {library}" in text:
            pytest.importorskip(library)
    test = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test)
    assert test.examples and runner.failures == 0


def test_there_are_documents():
    assert {"python.md", "numpy.md", "torch.md"} <= {path.name for path in DOCUMENTS}


def run(*command):
    return subprocess.run([sys.executable, *command], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)})  # fmt: skip


def calls(text):
    """The first two columns of the table of calls, the first of a page: theirs and ours."""
    first = text.partition("\n## ")[0]
    return [tuple(line.split(" | ")[:2]) for line in first.splitlines() if line.startswith("| `")]


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_calls(library):
    """The calls of the pages for users of other libraries give the same, and are those that are measured."""
    pytest.importorskip("numpy")
    pytest.importorskip(library)
    said = run(ROOT / "bench" / "calls.py", library, "--quick")
    assert said.returncode == 0, said.stderr
    assert len(calls(said.stdout)) > 10
    assert calls(said.stdout) == calls((ROOT / "docs" / f"{library}.md").read_text())


def test_tour():
    pytest.importorskip("numpy")
    said = run(ROOT / "examples" / "python_tour.py")
    assert said.returncode == 0, said.stderr
    assert "['dog' 'ant' 'cat']" in said.stdout and "indices[1] = 7 is outside [-4, 3]" in said.stdout and "Gather, axis 1" in said.stdout
