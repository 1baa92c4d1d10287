# SPDX-License-Identifier: MIT
"""garner, through the thin C entry of native/entry.c: a plan, then calls that pass nothing at all."""

import ctypes

import numpy as np

from . import Way

KINDS = {"gather": 1, "gather_elements": 2, "gather_nd": 3}
MOST_RANK = 8
_native = None  # the helper library, given by use()


class _Shape(ctypes.Structure):
    _fields_ = [("rank", ctypes.c_int64), ("extent", ctypes.c_int64 * MOST_RANK)]

    @classmethod
    def of(cls, extents):
        return cls(len(extents), (ctypes.c_int64 * MOST_RANK)(*extents))


class _Request(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int32), ("dtype", ctypes.c_int32), ("index_dtype", ctypes.c_int32),
        ("threads", ctypes.c_int32), ("axis", ctypes.c_int64), ("batch_dims", ctypes.c_int64),
        ("data_shape", _Shape), ("index_shape", _Shape), ("out_shape", _Shape),
        ("data", ctypes.c_void_p), ("indices", ctypes.c_void_p), ("out", ctypes.c_void_p),
    ]  # fmt: skip


def use(native):
    global _native
    _native = native


def version():
    return _native.entry_version().decode()


def supports(cell):
    return ""


class Call:
    """One prepared call."""

    def __init__(self, cell, inputs, threads):
        request = _Request(
            kind=KINDS[cell.op], threads=1 if threads == 1 else 0, axis=cell.axis, batch_dims=cell.batch_dims,
            dtype=_native.entry_dtype(cell.dtype.encode()), index_dtype=_native.entry_dtype(cell.index_dtype.encode()),
            data_shape=_Shape.of(cell.data), index_shape=_Shape.of(cell.indices), out_shape=_Shape.of(cell.out),
            data=inputs.data.ctypes.data, indices=inputs.indices.ctypes.data, out=inputs.out.ctypes.data,
        )  # fmt: skip
        self._keep = _views(inputs) if cell.dtype == "str" else None
        self.handle = ctypes.c_void_p(_native.entry_open(ctypes.addressof(request)))
        if not self.handle.value:
            raise MemoryError("entry_open")
        if self.message():
            raise ValueError(self.message())

    def __del__(self):
        handle = getattr(self, "handle", None)
        if handle:
            _native.entry_close(handle)

    def message(self):
        return _native.entry_message(self.handle).decode()

    def describe(self):
        line = ctypes.create_string_buffer(1024)
        _native.entry_describe(self.handle, line, len(line))
        return line.value.decode()

    def __call__(self):
        """Once, and checked."""
        _native.entry_use(self.handle)
        _native.entry_execute()
        self.check()

    def check(self):
        """Whether every call since entry_use succeeded."""
        if _native.entry_failures():
            raise RuntimeError(self.message())

    def planned_ns(self, loops):
        return _native.entry_time_planned(self.handle, loops)

    def one_call_ns(self, loops):
        return _native.entry_time_one_call(self.handle, loops)


def _views(inputs):
    """Writes the strings' views (pointer, size) into the data, and returns the text they point into."""
    encoded = [text.encode() for text in inputs.strings]
    text = ctypes.create_string_buffer(b"".join(encoded))
    sizes = np.array([len(e) for e in encoded], np.uint64)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.uint64)
    views = inputs.data.reshape(-1).view(np.uint64).reshape(-1, 2)
    views[:, 0] = starts + ctypes.addressof(text)
    views[:, 1] = sizes
    return text


def texts(out):
    views = out.reshape(-1).view(np.uint64).reshape(-1, 2).tolist()
    read = [ctypes.string_at(address, size).decode() for address, size in views]
    return np.array(read, object).reshape(out.shape)


def prepare(cell, inputs, context):
    call = Call(cell, inputs, context.threads)
    fetch = (lambda _: texts(inputs.out)) if cell.dtype == "str" else (lambda _: inputs.out)
    call()
    return [Way("garner_execute", _native.entry_execute, fetch, call)]
