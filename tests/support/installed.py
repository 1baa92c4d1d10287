# SPDX-License-Identifier: MIT
"""Packages without which a folder of tests makes no sense. tools/testenv installs them, so in its environment they must be
there; in another one those tests are left out, which a line at the end says."""

import importlib.util
import pathlib
import sys

import pytest

ENVIRONMENT = pathlib.Path(__file__).resolve().parents[2] / "build" / "testenv"


def is_installed(name):
    """Whether there is such a package; a folder of that name at the root of this tree is none."""
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.origin is not None


def insist_on(name):
    if not is_installed(name) and pathlib.Path(sys.prefix).resolve() == ENVIRONMENT:
        raise pytest.UsageError(f"{name} is missing from {ENVIRONMENT}, where tools/testenv installs it")
