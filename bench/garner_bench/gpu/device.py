# SPDX-License-Identifier: MIT
"""libgarner_cuda.so and the driver through ctypes: memory, plans, events. Nothing else is needed to measure garner."""

import ctypes as c

import numpy as np

NUMBERS = {"f32": 1, "u8": 2, "i8": 3, "u16": 4, "i16": 5, "i32": 6, "i64": 7, "bool": 9, "f16": 10, "f64": 11, "u32": 12,
           "u64": 13, "c64": 14, "c128": 15}  # fmt: skip
KINDS = {"gather": 1, "gather_elements": 2, "gather_nd": 3}
MOST_RANK = 64


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("shape", c.POINTER(c.c_int64)), ("strides", c.c_void_p), ("rank", c.c_int32),
                ("dtype", c.c_int), ("bytes", c.c_uint64), ("item_bytes", c.c_uint64), ("byte_offset", c.c_uint64)]  # fmt: skip

    @classmethod
    def of(cls, address, shape, dtype):
        return cls(data=address, shape=(c.c_int64 * max(1, len(shape)))(*shape), rank=len(shape), dtype=NUMBERS[dtype])


class Op(c.Structure):
    _fields_ = [("size", c.c_uint32), ("kind", c.c_int), ("axis", c.c_int64), ("batch_dims", c.c_int64), ("oob", c.c_int),
                ("negative", c.c_int), ("spec", c.c_int32), ("strict", c.c_int32)]  # fmt: skip


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("has", c.c_uint32), ("axis", c.c_int64), ("position", c.c_int64), ("rank", c.c_int32),
                ("coordinates", c.c_int64 * MOST_RANK), ("value", c.c_int64), ("bound", c.c_int64), ("message", c.c_char * 512)]  # fmt: skip


class Info(c.Structure):
    _fields_ = [("size", c.c_uint32), ("driver", c.c_int32), ("name", c.c_char * 128), ("major", c.c_int32), ("minor", c.c_int32),
                ("multiprocessors", c.c_int32), ("measured", c.c_int32), ("memory", c.c_uint64), ("l2", c.c_uint64),
                ("shared", c.c_uint64), ("profile", c.c_char_p), ("profile_for", c.c_char_p)]  # fmt: skip


class Device:
    """One device, its primary context current: the one that torch, CuPy and JAX use, too."""

    def __init__(self, path, number=0):
        self.library = c.CDLL(path)
        self.driver = c.CDLL("libcuda.so.1")
        self.number = number
        for name in ("plan_describe",):
            getattr(self.library, f"garner_cuda_{name}").restype = c.c_size_t
        self.execute = self.library.garner_cuda_execute
        self.execute.argtypes = [c.c_void_p] * 6
        self.library.garner_cuda_copy.argtypes = [c.c_void_p, c.c_void_p, c.c_uint64, c.c_void_p, c.c_void_p]
        self.library.garner_cuda_plan_describe.argtypes = [c.c_void_p, c.c_char_p, c.c_size_t]
        self.library.garner_cuda_allocate.argtypes = [c.c_void_p, c.c_int, c.c_uint64, c.c_void_p]
        self.error = Error()
        self.info = Info(size=c.sizeof(Info))
        self.ask("device_info", number, c.byref(self.info), c.byref(self.error))
        device, context = c.c_int(), c.c_void_p()
        self.drive("cuDeviceGet", c.byref(device), number)
        self.drive("cuDevicePrimaryCtxRetain", c.byref(context), device)
        self.drive("cuCtxPushCurrent_v2", context)
        self.ticket = c.c_void_p()
        self.ask("ticket_create", c.byref(self.ticket), number, c.byref(self.error))
        self.begin, self.end = self.event(), self.event()

    def ask(self, name, *arguments):
        """A call of the library's, whose last argument is the error."""
        if getattr(self.library, f"garner_cuda_{name}")(*arguments):
            raise RuntimeError(self.error.message.decode())

    def drive(self, name, *arguments):
        result = getattr(self.driver, name)(*arguments)
        if result:
            raise RuntimeError(f"{name}: the driver answers {result}")

    # ---- Memory ----

    def allocate(self, size):
        address = c.c_void_p()
        self.ask("allocate", c.byref(address), self.number, size, c.byref(self.error))
        return address.value

    def free(self, address):
        self.library.garner_cuda_free(c.c_void_p(address))

    def copy(self, to, start, size):
        """In the order of the default stream; from or to the host it waits."""
        self.ask("copy", to, start, size, None, c.byref(self.error))

    def put(self, to, array):
        array = np.ascontiguousarray(array)
        self.copy(to, array.ctypes.data, array.nbytes)

    def get(self, start, size):
        array = np.empty(size, np.uint8)
        self.copy(array.ctypes.data, start, size)
        return array

    def fill(self, to, size, seed=1):
        """Bytes that repeat after 16 MiB and a bit, which no row divides."""
        block = np.random.default_rng(seed).integers(0, 256, min(size, (16 << 20) + 4099), np.uint8)
        self.put(to, block)
        done = block.size
        while done < size:
            part = min(done, size - done)
            self.copy(to + done, to, part)
            done += part

    def fill_with(self, to, byte, size):
        self.drive("cuMemsetD8Async", c.c_uint64(to), c.c_ubyte(byte), c.c_size_t(size), None)

    # ---- Plans ----

    def plan(self, cell, data, indices, out):
        """A plan, and what it says of itself."""
        plan = c.c_void_p()
        op = Op(kind=KINDS[cell.op], axis=cell.axis if cell.op != "gather_nd" else 0, batch_dims=cell.batch_dims)
        tensors = [Tensor.of(data, cell.data, cell.dtype), Tensor.of(indices, cell.indices, cell.index_dtype),
                   Tensor.of(out, cell.out, cell.dtype)]  # fmt: skip
        self.ask("plan_create", c.byref(plan), c.byref(op), *map(c.byref, tensors), c.byref(self.error))
        line = c.create_string_buffer(1024)
        self.library.garner_cuda_plan_describe(plan, line, len(line))
        return plan, line.value.decode()

    def wait(self):
        self.ask("wait", self.ticket, c.byref(self.error))

    def destroy(self, plan):
        self.library.garner_cuda_plan_destroy(plan)

    # ---- Time ----

    def event(self):
        event = c.c_void_p()
        self.drive("cuEventCreate", c.byref(event), 0)
        return event

    def finish(self):
        self.drive("cuStreamSynchronize", None)

    def seconds(self, work, calls, before=None):
        """Seconds of each call between two events on the default stream; `before` keeps the device busy meanwhile."""
        if before:
            before()
        self.drive("cuEventRecord", self.begin, None)
        for number in range(calls):
            work(number)
        self.drive("cuEventRecord", self.end, None)
        self.drive("cuEventSynchronize", self.end)
        elapsed = c.c_float()
        self.drive("cuEventElapsedTime", c.byref(elapsed), self.begin, self.end)
        return elapsed.value / 1e3 / calls


class Clocks:
    """The clocks as NVIDIA's management library tells them; None where it is missing."""

    def __init__(self, number=0):
        self.handle = None
        try:
            self.library = c.CDLL("libnvidia-ml.so.1")
            handle = c.c_void_p()
            if self.library.nvmlInit_v2() == 0 and self.library.nvmlDeviceGetHandleByIndex_v2(number, c.byref(handle)) == 0:
                self.handle = handle
        except (OSError, AttributeError):
            pass

    def read(self):
        """MHz of multiprocessors and of memory."""
        found = {}
        for name, kind in (("sm_mhz", 1), ("memory_mhz", 2)):
            value = c.c_uint()
            known = self.handle and self.library.nvmlDeviceGetClockInfo(self.handle, kind, c.byref(value)) == 0
            found[name] = value.value if known else None
        return found
