# SPDX-License-Identifier: MIT
"""Arrays on GPUs where there is none: memory of the stand-in for the driver (tests/cuda), in classes that export it as libraries do."""

import contextlib
import ctypes
import os
import sys
import types
from pathlib import Path

import numpy as np
from capsule import capsule

LIBRARY = Path(os.environ["GARNER_CUDA_LIBRARY"])
driver = ctypes.CDLL(str(LIBRARY.parents[1] / "fake" / "libcuda.so.1"))
driver.fake_allocate.restype = driver.fake_last_stream.restype = ctypes.c_void_p
driver.fake_allocate.argtypes = [ctypes.c_size_t, ctypes.c_int]
driver.fake_free.argtypes = [ctypes.c_void_p]
driver.fake_fail_next.argtypes = [ctypes.c_char_p, ctypes.c_int]
driver.fake_fail_call.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_int]

CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


def last_stream():
    return driver.fake_last_stream() or 0


def waits():
    return driver.fake_wait_count()


class Memory:
    def __init__(self, size, device):
        self.address = None
        self.address = driver.fake_allocate(size or 1, device)
        assert self.address

    def __del__(self):
        driver.fake_free(self.address)


class Base:
    """Dense values on a device; `view` picks a part as NumPy would."""

    def __init__(self, values=(), device=0, *, shape=None, dtype=None):
        host = np.empty(shape, dtype) if shape is not None else np.ascontiguousarray(values)
        self.memory, self.number = Memory(host.nbytes, device), device
        bytes_ = (ctypes.c_ubyte * max(host.nbytes, 1)).from_address(self.memory.address)
        self.host = np.frombuffer(bytes_, host.dtype, host.size).reshape(np.shape(values) if shape is None else shape)
        self.host[...] = host if shape is None else np.full(host.shape, 77, host.dtype)
        self.streams = []

    @classmethod
    def of(cls, other, host):
        made = cls.__new__(cls)
        made.memory, made.number, made.host, made.streams = other.memory, other.number, host, other.streams
        return made

    def __getitem__(self, key):
        return type(self).of(self, self.host[key])

    @property
    def dtype(self):
        return self.host.dtype

    @property
    def shape(self):
        return self.host.shape

    def tolist(self):
        return self.host.tolist()

    def address(self):
        return self.host.__array_interface__["data"][0]

    def element_strides(self):
        return [stride // self.host.itemsize for stride in self.host.strides]


class Exporter(Base):
    """An array of a library that garner does not know, with DLPack alone."""

    kind = 2

    def __dlpack_device__(self):
        return self.kind, self.number

    def __dlpack__(self, *, stream=None, max_version=None):
        self.streams.append(stream)
        code, bits = CODES[self.dtype.kind], self.host.itemsize * 8
        return capsule(self.address(), list(self.shape), code, bits, strides=self.element_strides(), device=self.__dlpack_device__(), version=(1, 0))


class Managed(Exporter):
    kind = 13


class Interface(Base):
    """An array with __cuda_array_interface__ alone."""

    stream, version, more = None, 3, {}

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.address(), False), "version": self.version,
                "strides": self.host.strides, "stream": self.stream} | self.more  # fmt: skip


class Namespaced(Exporter):
    """An array of a library of the Array API, without a current stream, as JAX's are."""

    blocked = 0

    @property
    def device(self):
        return self.number

    def block_until_ready(self):
        Namespaced.blocked += 1

    def reshape(self, *shape):
        return Namespaced(self.host.reshape(*shape), self.number)

    def __array_namespace__(self):
        return types.SimpleNamespace(
            empty=lambda shape, dtype, device: Namespaced(shape=shape, dtype=dtype, device=device),
            asarray=lambda host, device: Namespaced(host, device),
        )


class ndarray(Exporter):  # noqa: N801
    """As CuPy's: its library has a current stream."""

    __module__ = "cupy"

    def reshape(self, *shape):
        return ndarray(self.host.reshape(*shape), self.number)


class Current:
    """What cupy.cuda says is current."""

    stream, device = 0, [0]


@contextlib.contextmanager
def _device(number):
    Current.device.append(number)
    yield
    Current.device.pop()


def install_cupy():
    """A module cupy of these arrays."""
    cupy = types.ModuleType("cupy")
    cupy.ndarray = ndarray
    cupy.cuda = types.SimpleNamespace(Device=_device, get_current_stream=lambda: types.SimpleNamespace(ptr=Current.stream))
    cupy.empty = lambda shape, dtype: ndarray(shape=shape, dtype=dtype, device=Current.device[-1])
    cupy.asarray = lambda host: ndarray(host, Current.device[-1])
    sys.modules["cupy"] = cupy
