# SPDX-License-Identifier: MIT
"""Tables spread over the ranks of an mpi4py communicator, and collective gathers from them.

    from mpi4py import MPI
    import garner.mpi

    with garner.mpi.Table(MPI.COMM_WORLD, "table.npy") as table:    # each rank reads its rows of the file
        rows = table.take(indices)                                  # each rank brings its own indices

Every call is collective: all ranks make it, in the same order. An error of one rank is raised on all, and names that rank; so is it
if ranks make different calls of a table. What is open when the program ends is closed then: if an exception ends one rank, those
that use the same table get an error instead of waiting.
Ranks of one node read each other's rows from shared memory; nodes exchange them.
"""

import atexit
import ctypes
import math
import operator
import os
import weakref
from pathlib import Path

import numpy as np

from . import _garner

__all__ = ["Plan", "Table"]

_MAX_RANK = 64
_SPREADS = ("blocks", "cyclic", "offsets")
_I64 = ctypes.POINTER(ctypes.c_int64)
_OPAQUE = 63
_DTYPES = {
    1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2", 11: "f8", 12: "u4", 13: "u8", 14: "c8", 15: "c16",
}  # fmt: skip
_NUMBERS = {np.dtype(name): number for number, name in _DTYPES.items()}


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("shape", _I64), ("strides", _I64), ("rank", ctypes.c_int32), ("dtype", ctypes.c_int32),
        ("bytes", ctypes.c_uint64), ("item_bytes", ctypes.c_uint64), ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class _Error(ctypes.Structure):
    _fields_ = [
        ("status", ctypes.c_int), ("has", ctypes.c_uint32), ("axis", ctypes.c_int64), ("position", ctypes.c_int64),
        ("rank", ctypes.c_int32), ("coordinates", ctypes.c_int64 * _MAX_RANK), ("value", ctypes.c_int64),
        ("bound", ctypes.c_int64), ("message", ctypes.c_char * 512),
    ]  # fmt: skip


class _Layout(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("spread", ctypes.c_int), ("offsets", _I64), ("apart", ctypes.c_int32)]


class _Part(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p if name == "data" else ctypes.c_int64) for name in ("data", "rows", "row_bytes", "first", "step")]


_KINDS = {
    1: _garner.OutOfRange, 2: _garner.BadShape, 3: _garner.BadType, 4: _garner.BadShape, 5: _garner.BadArgument, 6: MemoryError,
    8: _garner.BadFile, 9: _garner.BadFile, 10: OSError,
}  # fmt: skip


# The status of an exception, where others are told of it.
_STATUSES = ((_garner.OutOfRange, 1), (_garner.BadShape, 2), (TypeError, 3), (MemoryError, 6), (_garner.BadFile, 8), (OSError, 10))
_open_tables = {}  # by id, in the order of opening


def _status(problem):
    return next((number for kind, number in _STATUSES if isinstance(problem, kind)), 5)


def _library():
    """The library for the MPI that mpi4py was built with, which this process has loaded."""
    from mpi4py import MPI

    version = MPI.Get_library_version()
    name = "openmpi" if "Open MPI" in version else "mpich" if "MPICH" in version else None
    if name is None:
        raise ImportError(f"garner.mpi: mpi4py runs with {version.splitlines()[0]!r}, and garner knows Open MPI and MPICH")
    folder = Path(os.environ.get("GARNER_MPI_FOLDER") or Path(__file__).resolve().with_name("_mpi"))
    path = folder / name / "libgarner_mpi.so"
    if not path.exists():
        raise ImportError(f"garner.mpi: this installation of garner-ops came without the library for {name} ({path})")
    try:
        library = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    except OSError as problem:
        raise ImportError(f"garner.mpi: cannot load {problem}") from problem
    library.garner_mpi_table_part.restype = _Part
    library.garner_mpi_table_tensor.restype = ctypes.POINTER(_Tensor)
    library.garner_mpi_table_destroy.restype = library.garner_mpi_plan_destroy.restype = None
    return library


def _raise(error):
    kind = _KINDS.get(error.status, _garner.Error)
    raised = kind(error.message.decode("utf-8", "replace"))
    if error.has & 1 and isinstance(raised, _garner.Error):
        raised.axis = error.axis
    if error.has & 2:
        raised.position, raised.coordinates = error.position, tuple(error.coordinates[: error.rank])
    if error.has & 4:
        raised.value = error.value % 2**64 if error.has & 8 else error.value
    if error.has & 16:
        raised.bound = error.bound
    raise raised


def _tensor(array):
    """A dense array as a garner_tensor, which holds its shape."""
    number = _NUMBERS.get(array.dtype, _OPAQUE)
    shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    item = array.dtype.itemsize if number == _OPAQUE else 0
    return _Tensor(array.ctypes.data, shape, None, array.ndim, number, 0, item, 0)


def _layout(ranks, spread, offsets, apart):
    if spread not in _SPREADS:
        raise _garner.BadArgument(f"Table: spread is {spread!r}, and must be one of {', '.join(_SPREADS)}")
    given = [operator.index(offset) for offset in offsets] if offsets is not None else []
    if spread == "offsets" and len(given) != ranks + 1:
        raise _garner.BadShape(f"Table: {len(given)} offsets for {ranks} ranks; there must be one more than ranks")
    held = (ctypes.c_int64 * max(len(given), 1))(*given)
    return _Layout(ctypes.sizeof(_Layout), _SPREADS.index(spread), held, bool(apart))


def _source(source, name):
    """The function that makes a table of this source, what it takes, and the type if it is known."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fsencode(source)
        path = b"./-" if path == b"-" else path  # a file's name, not standard input
        return "table_open_f", (path, name.encode() if name is not None else None), None
    shape, dtype = source
    if np.dtype(dtype).hasobject:
        raise _garner.BadType("Table: Python objects lie where only one rank can read them")
    whole = _tensor(np.broadcast_to(np.zeros((), dtype), shape))
    return "table_create_f", (ctypes.byref(whole),), np.dtype(dtype)


def _together(comm, prepare):
    """What prepare() returns, whose first item must be the same on all ranks. An exception of one rank is raised on all."""
    made = problem = None
    try:
        made = prepare()
        said = (None, made[0])
    except Exception as caught:
        problem, said = caught, (0 if isinstance(caught, ImportError) else _status(caught), str(caught))
    words = comm.allgather(said)
    for rank, (status, sentence) in enumerate(words):
        if status is not None:
            raise _KINDS.get(status, ImportError)(f"rank {rank}: {sentence}") from problem
        if sentence != words[0][1]:
            raise _garner.BadArgument(f"rank {rank}: Table: source is a file on some ranks, and a shape on others")
    return made


class Table:
    """A table over the ranks of comm, by its first axis.

    source is the path of a file (.npy, .npz, .safetensors or .pb; name chooses one of its tensors), of which each rank reads its own
    rows; or a pair of shape and dtype: then each rank fills its `part` and calls publish(). spread is "blocks", "cyclic" or
    "offsets" with a list of where each rank's rows begin, and the end. apart=True treats each rank as a node of its own.
    """

    def __init__(self, comm, source, name=None, *, spread="blocks", offsets=None, apart=False):
        self._handle, self._plans = ctypes.c_void_p(), weakref.WeakSet()
        make, words, dtype, layout, self._library = _together(
            comm, lambda: (*_source(source, name), _layout(comm.Get_size(), spread, offsets, apart), _library())
        )
        self._call(make, comm.py2f(), *words, ctypes.byref(layout), ctypes.byref(self._handle))
        _open_tables[id(self)] = self
        about = self._library.garner_mpi_table_tensor(self._handle).contents
        self.shape = tuple(about.shape[: about.rank])
        self.dtype = dtype if dtype is not None else self._type(about)

    def _type(self, about):
        if about.dtype in _DTYPES:
            return np.dtype(_DTYPES[about.dtype])
        items = math.prod(self.shape[1:])
        return np.dtype(f"V{about.item_bytes or max(self._part().row_bytes // max(items, 1), 1)}")

    def _call(self, function, *arguments):
        error = _Error()
        if getattr(self._library, f"garner_mpi_{function}")(*arguments, ctypes.byref(error)):
            _raise(error)

    def _refuse(self, problem):
        """Raises an exception of this rank on all, whichever call of this table the others make."""
        error = _Error()
        self._library.garner_mpi_table_refuse(self._open(), _status(problem), str(problem).encode(), ctypes.byref(error))
        try:
            _raise(error)
        except Exception as shared:
            raise shared from problem

    def _open(self):
        if not self._handle:
            raise _garner.BadArgument("Table: it is closed")
        return self._handle

    def _part(self):
        return self._library.garner_mpi_table_part(self._open())

    @property
    def part(self):
        """This rank's rows, as an array to write to; not to be used after close()."""
        part = self._part()
        shape = (part.rows, *self.shape[1:])
        if not part.data or not part.rows * part.row_bytes:
            return np.empty(shape, self.dtype)
        return np.frombuffer((ctypes.c_char * (part.rows * part.row_bytes)).from_address(part.data), self.dtype).reshape(shape)

    @property
    def rows(self):
        """Which rows of the whole these are, as a range."""
        part = self._part()
        return range(part.first, part.first + part.rows * part.step, part.step)

    def publish(self):
        """After parts were written to, and before the next take."""
        self._call("table_publish", self._open())

    def plan(self, indices):
        """A gather with these indices that can be run again and again."""
        return Plan(self, indices)

    def take(self, indices, out=None):
        """The rows at indices, which are integers of any shape; each rank has its own."""
        with Plan(self, indices) as plan:
            plan.begin(out)
            return plan.end()

    def close(self):
        """Waits for all ranks to close it; one that makes another call instead gets an error that names this rank."""
        for plan in list(self._plans):
            plan.close()
        handle, self._handle = self._handle, ctypes.c_void_p()
        _open_tables.pop(id(self), None)
        if handle:
            self._library.garner_mpi_table_destroy(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"<garner.mpi.Table of {self.dtype} {list(self.shape)}>"


class Plan:
    """A gather whose indices stay the same: begin() starts it, end() completes it and returns the rows."""

    def __init__(self, table, indices):
        self._table, self._handle, self._out = table, ctypes.c_void_p(), None
        handle = table._open()
        try:
            array = np.asarray(indices)
            self.shape = (*array.shape, *table.shape[1:])
            array = np.ascontiguousarray(array, np.int64 if array.size == 0 and array.dtype == np.float64 else None)
        except Exception as problem:  # of this rank's own: the others must not wait for it
            table._refuse(problem)
        table._call("plan_create", handle, ctypes.byref(_tensor(array)), ctypes.byref(self._handle))
        table._plans.add(self)

    def _open(self):
        if not self._handle:
            self._table._refuse(_garner.BadArgument("Plan: it is closed"))

    def begin(self, out=None):
        """Starts to fill out, or a new array: the first round between nodes is then under way, as far as the MPI moves it by itself."""
        self._open()
        fits = out is None or (
            isinstance(out, np.ndarray) and out.shape == self.shape and out.dtype == self._table.dtype and out.flags.c_contiguous and out.flags.writeable
        )
        if not fits:
            self._table._refuse(_garner.BadShape(f"begin: out must be C-contiguous {self._table.dtype} of shape {self.shape}"))
        try:
            made = np.empty(self.shape, self._table.dtype) if out is None else out
        except MemoryError as problem:
            self._table._refuse(problem)
        self._table._call("plan_begin", self._handle, ctypes.c_void_p(made.ctypes.data))
        self._out = made

    def end(self):
        self._open()
        self._table._call("plan_end", self._handle)
        out, self._out = self._out, None
        return out

    def close(self):
        if self._handle:
            self._table._library.garner_mpi_plan_destroy(self._handle)
            self._handle = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


@atexit.register
def _close_tables():
    if _open_tables:
        from mpi4py import MPI

        for table in [] if MPI.Is_finalized() else reversed(list(_open_tables.values())):
            table.close()
