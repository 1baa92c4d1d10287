# SPDX-License-Identifier: MIT
"""Models that are made of gathers."""

import os
import threading
import weakref
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
        self._turn, self._is_running = threading.RLock(), False
        _models.add(self)
        inputs, outputs = _garner._model_ports(self._handle)
        self.inputs = {name: Port(*rest) for name, *rest in inputs}
        self.outputs = {name: Port(*rest) for name, *rest in outputs}

    def run(self, inputs):
        """Runs the model on a dictionary of arrays and returns a dictionary of arrays."""
        given = dict(inputs)
        with self._turn:
            if self._is_running:  # in this thread, which would wait for itself
                raise _garner.BadArgument("run: an input of this model, or a signal's handler, runs the same model while it runs")
            if self._handle is None:
                self._handle = _garner._model_open_file(self._path)
            self._is_running = True
            try:
                return _garner._model_run_file(self._handle, given)
            finally:
                self._is_running = False

    def __repr__(self):
        return f"<garner.Model of {self._path!r}: {', '.join(self.inputs)} -> {', '.join(self.outputs)}>"


_models = weakref.WeakSet()


def _begin_child():
    """After a fork nobody holds a turn; a model that was running in another thread is opened anew."""
    for model in list(_models):
        if model._is_running:
            model._handle, model._is_running = None, False
        model._turn = threading.RLock()


os.register_at_fork(after_in_child=_begin_child)

for _thing in (Port, Model):
    _thing.__module__ = "garner"
