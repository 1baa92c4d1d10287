# SPDX-License-Identifier: MIT
"""Every Python example of the documents, run."""

import doctest
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [path for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))] if ">>> " in path.read_text()]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_document(path):
    pytest.importorskip("numpy")
    text = path.read_text().replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test)
    assert test.examples and runner.failures == 0


def test_there_are_documents():
    assert any(path.name == "python.md" for path in DOCUMENTS)


def test_tour():
    pytest.importorskip("numpy")
    said = subprocess.run([sys.executable, ROOT / "examples" / "python_tour.py"], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)})  # fmt: skip
    assert said.returncode == 0, said.stderr
    assert "['dog' 'ant' 'cat']" in said.stdout and "indices[1] = 7 is outside [-4, 3]" in said.stdout and "Gather, axis 1" in said.stdout
