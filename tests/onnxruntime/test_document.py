# SPDX-License-Identifier: MIT
"""The examples of docs/onnxruntime.md, and those of the module's docstrings, run."""

import doctest
import pathlib

import garner.onnxruntime

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "onnxruntime.md"


def run(text, name):
    test = doctest.DocTestParser().get_doctest(text, {"garner": garner}, name, name, 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert test.examples and runner.failures == 0


def test_document():
    run(DOCUMENT.read_text(encoding="utf-8").replace("```", ""), DOCUMENT.name)


def test_docstrings():
    for name in ("library", "session_options", "register", "unregister"):
        run(getattr(garner.onnxruntime, name).__doc__, name)
    garner.onnxruntime.register()
