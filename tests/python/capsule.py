# SPDX-License-Identifier: MIT
"""DLPack capsules made by hand, well formed or not, that count how often they are deleted."""

import ctypes

_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

i64 = ctypes.c_int64


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(i64)), ("strides", ctypes.POINTER(i64)), ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Plain(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", Deleter)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", Deleter),
                ("flags", ctypes.c_uint64), ("tensor", Tensor)]  # fmt: skip


_kept = []  # capsules do not keep what they point to
deleted = []  # one entry for each call of a deleter


def capsule(address, shape, code=1, bits=8, *, strides=None, lanes=1, device=(1, 0), offset=0, ndim=None, name=None, version=None,
            flags=0, deleter=True, shape_pointer=True, destructor=None):  # fmt: skip
    """A capsule of the tensor at an address; with a version, a versioned one. Deleter and destructor may be C functions."""
    numbers = (i64 * max(len(shape), 1))(*shape)
    steps = (i64 * max(len(shape), 1))(*strides) if strides is not None else None
    tensor = Tensor(address, *device, len(shape) if ndim is None else ndim, code, bits, lanes, numbers if shape_pointer else None, steps, offset)
    call = deleter if isinstance(deleter, Deleter) else Deleter(deleted.append) if deleter else Deleter()
    managed = Versioned(*version, None, call, flags, tensor) if version else Plain(tensor, None, call)
    text = ctypes.create_string_buffer(name if name is not None else b"dltensor_versioned" if version else b"dltensor")
    _kept.append((numbers, steps, call, managed, text, destructor))
    return _api.PyCapsule_New(ctypes.addressof(managed), ctypes.addressof(text), ctypes.cast(destructor, ctypes.c_void_p) if destructor else None)


_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]


class Producer:
    """An object with __dlpack__, as other libraries' arrays are."""

    def __init__(self, make, device=(1, 0), versioned=True):
        self.make, self.device, self.versioned = make, device, versioned

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if options and not self.versioned:
            raise TypeError("an old producer knows no options")
        return self.make()
