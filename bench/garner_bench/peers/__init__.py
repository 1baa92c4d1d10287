# SPDX-License-Identifier: MIT
"""One file per peer. Each has
    version()                        the peer's version; importing the file imports the peer
    supports(cell)                   "" or the reason why not
    prepare(cell, inputs, context)   its ways of doing the cell: the best one counts
A way that raises, or whose result differs, is named in the report and not counted."""

import importlib
from typing import Any, Callable, NamedTuple

NAMES = ("garner", "python", "numpy", "torch", "onnxruntime", "openvino", "jax")


class Context(NamedTuple):
    native: Any
    threads: int  # how many the peer may use


class Way(NamedTuple):
    label: str
    call: Callable  # does the work once
    fetch: Callable = lambda returned: returned  # the result as an array, from what call returned
    owner: Any = None  # what must live as long as the way


def one_line(error):
    """The kind of an error and the last line of its text, where the runtimes put what matters."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1][:200] if lines else ''}"


def load(name):
    """The adapter, or the reason why there is none."""
    try:
        adapter = importlib.import_module(f".{name}", __name__)
        adapter.version()
        return adapter, ""
    except Exception as error:  # a broken install is missing too, whatever it raises
        return None, one_line(error)
