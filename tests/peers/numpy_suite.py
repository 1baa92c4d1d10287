# SPDX-License-Identifier: MIT
"""NumPy's own tests of take and take_along_axis, with garner's functions put in.

Every test of the installed NumPy that uses one of them is run. Those that fail must be the ones that docs/numpy.md lists as
differences on purpose, no more and no fewer.
"""

import ast
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from differences import compare, listed
from put_in import calls, install, mentions

ROOT = Path(np.__file__).parent
FEWEST = 40  # tests that call garner: fewer would mean that they were not found


def users(path):
    """The tests of a file that use the functions, as NAME or CLASS::NAME. A helper that does makes every test of its class one."""
    found = set()
    tree = ast.parse(path.read_text())
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test") and mentions(node):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
            helped = any(mentions(part) for part in methods if not part.name.startswith("test"))
            found |= {f"{node.name}::{part.name}" for part in methods if part.name.startswith("test") and (helped or mentions(part))}
    return found


class Recorder:
    """Runs the tests that were chosen, and notes which of them called garner and which failed."""

    def __init__(self, chosen):
        self.chosen, self.called, self.failed, self.ran = chosen, 0, {}, set()

    @staticmethod
    def name(nodeid):
        path, _, test = nodeid.partition("::")
        return f"{Path(path).stem}::{test.partition('[')[0]}"

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if self.name(item.nodeid) in self.chosen]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        before = len(calls)
        try:
            return (yield)
        finally:
            self.called += len(calls) > before
            self.ran.add(self.name(item.nodeid))

    def pytest_runtest_logreport(self, report):
        if report.failed:
            lines = str(report.longrepr).strip().splitlines()
            self.failed.setdefault(self.name(report.nodeid), next((line for line in reversed(lines) if line.startswith("E ")), lines[-1]))


def main():
    files = {path: users(path) for path in sorted(ROOT.glob("**/tests/test_*.py"))}
    files = {path: tests for path, tests in files.items() if tests}
    recorder = Recorder({f"{path.stem}::{test}" for path, tests in files.items() for test in tests})
    install()
    os.chdir(ROOT.parent)
    pytest.main(["-q", "--assert=plain", "--import-mode=importlib", "-p", "no:cacheprovider", "-W", "ignore", "--tb=short", "--no-header", "-c", os.devnull, f"--rootdir={ROOT.parent}",
                 *map(str, files)], plugins=[recorder])  # fmt: skip
    print(f"NumPy {np.__version__}: {len(recorder.ran)} tests that use take or take_along_axis; {recorder.called} called garner, {len(calls)} times")
    if recorder.called < FEWEST:
        sys.exit(f"only {recorder.called} tests called garner, and there should be at least {FEWEST}")
    sys.exit(compare(recorder.failed, recorder.ran, listed("numpy.md", "NumPy's test"), "docs/numpy.md"))


if __name__ == "__main__":
    main()
