# SPDX-License-Identifier: MIT
"""The ceiling loop of native/ceiling.c on a cell: same access pattern, no checks, its own threads. It enters as a peer does."""

import ctypes

from .nest import nest_of
from .peers import Way
from .peers.garner import texts
from .workloads import DTYPES

MOST = 8
LONG_RUN, LARGE_TABLE = 32, 1 << 20  # bytes: runs and tables from which prefetching pays


class _Dim(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("n", "data", "index", "out")]


class _Ceiling(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("indices", ctypes.c_void_p), ("out", ctypes.c_void_p),
        ("width", ctypes.c_int64), ("run", ctypes.c_int64), ("prefetches", ctypes.c_int64), ("axes", ctypes.c_int64),
        ("stride", ctypes.c_int64 * MOST), ("rank", ctypes.c_int64), ("dim", _Dim * MOST),
    ]  # fmt: skip


class Ceiling:
    """Times itself: timed(loops) gives nanoseconds per loop."""

    def __init__(self, native, inputs, threads):
        cell, nest = inputs.cell, nest_of(inputs.cell)
        self._indices = inputs.plain_indices()
        self._run, self._threads = native.bench_ceiling, threads
        self._form = _Ceiling(
            data=inputs.data.ctypes.data, indices=self._indices.ctypes.data, out=inputs.out.ctypes.data,
            width=DTYPES[cell.index_dtype][1], run=nest.run, axes=len(nest.strides), rank=len(nest.dims),
            prefetches=cell.run >= LONG_RUN and cell.data_bytes > LARGE_TABLE,
        )  # fmt: skip
        for k, stride in enumerate(nest.strides):
            self._form.stride[k] = stride
        for d, dim in enumerate(nest.dims):
            self._form.dim[d] = _Dim(*dim)

    def timed(self, loops):
        taken = (ctypes.c_int64 * loops)()
        self._run(ctypes.addressof(self._form), self._threads, loops, ctypes.addressof(taken))
        return sum(taken) / loops

    def __call__(self):
        self.timed(1)


def version():
    return ""


def supports(cell):
    return ""


def prepare(cell, inputs, context):
    """Strings are views to it, as they are to garner."""
    fetch = (lambda _: texts(inputs.out)) if inputs.strings is not None else (lambda _: inputs.out)
    return [Way("ceiling", Ceiling(context.native, inputs, context.threads), fetch)]
