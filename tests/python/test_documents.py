# SPDX-License-Identifier: MIT
"""Every Python example of the documents, run."""

import doctest
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
