# SPDX-License-Identifier: MIT
"""Models that are made of gathers."""

import os
import threading
from typing import NamedTuple

from . import _garner


class Port(NamedTuple):
    """An input or an output of a model: its type, its shape, and whether it may be left out.

    An extent of the shape is a number, the name that the file gives it, or None; what the file does not say is None.
    """

    dtype: str | None
    shape: tuple | None
    optional: bool


class Model:
    """A .onnx or OpenVINO .xml model made of the gather operators, ready to run.

    inputs and outputs are dictionaries of names and Ports. run takes a dictionary of arrays of any kind, under the names of
    the inputs, and returns one of the outputs, of the kind of the first input. It may be called from any thread; calls of
    one model take turns.

    >>> import garner, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "missing.onnx")
    >>> garner.Model(path)
    Traceback (most recent call last):
        ...
    FileNotFoundError: [Errno 2] No such file or directory: ...
    """

    def __init__(self, path):
        os.stat(path)
        self._path = os.fspath(path)
        self._handle = _garner._model_open_file(path)
        self._lock = threading.Lock()
        inputs, outputs = _garner._model_ports(self._handle)
        self.inputs = {name: Port(*rest) for name, *rest in inputs}
        self.outputs = {name: Port(*rest) for name, *rest in outputs}

    def run(self, inputs):
        """Runs the model on a dictionary of arrays and returns a dictionary of arrays."""
        given = dict(inputs)
        with self._lock:
            return _garner._model_run_file(self._handle, given)

    def __repr__(self):
        return f"<garner.Model of {self._path!r}: {', '.join(self.inputs)} -> {', '.join(self.outputs)}>"


for _thing in (Port, Model):
    _thing.__module__ = "garner"
