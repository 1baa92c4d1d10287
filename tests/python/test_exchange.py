# SPDX-License-Identifier: MIT
"""DLPack's table of functions, by which newer libraries give and take tensors without a capsule: here in Python, by ctypes."""

import ctypes
import sys
import types

import pytest

import garner
from capsule import Producer, Versioned, capsule

api = ctypes.pythonapi
Py_New = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_New", api))
Py_Get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", api))
From = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
To = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
Stream = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
DATA = (ctypes.c_float * 6)(*range(6))
NAME = b"dlpack_exchange_api"


class Table(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("before", ctypes.c_void_p), ("allocate", ctypes.c_void_p),
                ("take", From), ("give", To), ("look", ctypes.c_void_p), ("stream", Stream)]  # fmt: skip


def made(**options):
    return capsule(ctypes.addressof(DATA), [3, 2], code=2, bits=32, version=(1, 0), **options)


def take(given, out):
    if given.fails:
        return -1
    given.exported.append(made(device=given.device))
    out[0] = Py_Get(given.exported[-1], b"dltensor_versioned")
    return 0


def give(tensor, out):
    managed = ctypes.cast(tensor, ctypes.POINTER(Versioned)).contents
    if Tensor.refuses:
        return -1
    floats = ctypes.cast(managed.tensor.data, ctypes.POINTER(ctypes.c_float))
    result = ("given", [floats[i] for i in range(managed.tensor.shape[0] * 2)])
    managed.deleter(tensor)
    api.Py_IncRef(ctypes.py_object(result))
    out[0] = id(result)
    return 0


def table(major=1, before=None, with_give=True):
    made = Table(major, 0, before, None, From(take), To(give) if with_give else To(), None, Stream(lambda kind, number, out: -1))
    TABLES.append(made)
    return made


TABLES = []


class Tensor(Producer):
    refuses = False

    def __init__(self, device=(1, 0), fails=False):
        super().__init__(made, device=device)
        self.fails, self.exported = fails, []


@pytest.fixture
def with_table():
    def use(table, name=NAME):
        Tensor.__dlpack_c_exchange_api__ = Py_New(ctypes.addressof(table), name, None)
        return Tensor

    yield use
    Tensor.refuses = False
    del Tensor.__dlpack_c_exchange_api__


def test_functions_are_used(with_table):
    x = with_table(table())()
    assert garner.gather(x, [2, 0]) == ("given", [4, 5, 0, 1]) and len(x.exported) == 1


def test_an_older_table_is_found_behind_a_newer(with_table):
    first = table()
    x = with_table(table(major=2, before=ctypes.addressof(first)))()
    assert garner.gather(x, [2, 0]) == ("given", [4, 5, 0, 1])


def test_tables_that_nobody_knows(with_table):
    """Then there is __dlpack__."""
    for use in (table(major=2), NAME), (table(), b"another"):
        x = with_table(*use)()
        assert garner.gather(x, [2, 0]).tolist() == [[4, 5], [0, 1]] and x.exported == []


def test_a_table_that_takes_nothing_back(with_table):
    x = with_table(table(with_give=False))()
    assert garner.gather(x, [2]).tolist() == [[4, 5]] and len(x.exported) == 1


def test_functions_that_fail(with_table):
    kind = with_table(table())
    with pytest.raises((garner.Error, SystemError)):
        garner.gather(kind(fails=True), [0])
    kind.refuses = True
    with pytest.raises(SystemError):  # whose library has set no exception
        garner.gather(kind(), [0])
    kind.refuses = False
    assert garner.gather(kind(), [2]) == ("given", [4, 5])


def test_a_type_is_no_array(with_table):
    with pytest.raises(garner.BadType):
        garner.gather(with_table(table()), [0])


# ---- A library that calls itself torch ---------------------------------------------------------------


class Recorded(Producer):
    """As torch's tensors: recorded, or views that mean other values."""

    requires_grad, conjugate, negative, dtype = False, False, False, "torch.float32"

    def detach(self):
        self.requires_grad = False
        return self

    def is_conj(self):
        return self.conjugate

    def is_neg(self):
        return self.negative


@pytest.fixture
def torch(monkeypatch):
    if "torch" in sys.modules:
        pytest.skip("torch is here itself")
    module = types.SimpleNamespace(records=True)
    module.is_grad_enabled = lambda: module.records
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


def test_tensors_that_mean_something_else(torch):
    for name, match in ("requires_grad", "requires grad"), ("conjugate", "conjugate view"), ("negative", "negative view"):
        x = Recorded(made)
        setattr(x, name, True)
        with pytest.raises(garner.BadType, match=match):
            garner.gather(x, [0])
    x = Recorded(made)
    x.requires_grad, torch.records = True, False
    assert garner.gather(x, [2]).tolist() == [[4, 5]]
    x.requires_grad, x.detach = True, lambda: 1 / 0
    with pytest.raises(ZeroDivisionError):
        garner.gather(x, [2])
