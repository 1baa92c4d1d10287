# SPDX-License-Identifier: MIT
"""native/bare.cu on the device: the unchecked loop over a cell's nest, the comparison of two buffers, and a kernel that
only takes time. Compiled by nvcc or by NVRTC, whichever is found, or given as a file."""

import ctypes as c
import glob
import os
import shutil
import subprocess
import sys
import tempfile
from math import prod
from pathlib import Path

from ..nest import nest_of
from ..workloads import DTYPES

SOURCE = Path(__file__).resolve().parents[2] / "native" / "bare.cu"
MOST = 4  # dims and axes
THREADS = 256
SECTOR = 32  # bytes that a GPU moves at least


class Nest(c.Structure):
    _fields_ = [("items", c.c_uint64)] + [(name, c.c_int64 * MOST) for name in ("extent", "data", "index", "out", "stride", "bound")]
    _fields_ += [("vectors", c.c_uint32), ("axes", c.c_int)]


def _by_nvcc(architecture):
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not nvcc:
        raise OSError("no nvcc")
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "bare.cubin"
        subprocess.run([nvcc, "-std=c++17", "-O3", "-cubin", f"-arch=sm_{architecture}", "-o", made, SOURCE], check=True, capture_output=True)
        return made.read_bytes()


def _nvrtc():
    folders = [folder for folder in sys.path if folder.endswith("-packages")]
    found = [path for folder in folders for path in glob.glob(os.path.join(folder, "nvidia", "*", "lib", "libnvrtc.so.*"))]
    for name in (*found, "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"):
        try:
            return c.CDLL(name)
        except OSError:
            continue
    raise OSError("no NVRTC")


def _by_nvrtc(architecture):
    nvrtc, program, size = _nvrtc(), c.c_void_p(), c.c_size_t()
    options = [b"--std=c++17", f"--gpu-architecture=sm_{architecture}".encode()]
    steps = (
        ("CreateProgram", lambda f: f(c.byref(program), SOURCE.read_bytes(), b"bare.cu", 0, None, None)),
        ("CompileProgram", lambda f: f(program, len(options), (c.c_char_p * len(options))(*options))),
        ("GetCUBINSize", lambda f: f(program, c.byref(size))),
    )
    for name, step in steps:
        if step(getattr(nvrtc, f"nvrtc{name}")):
            raise OSError(f"nvrtc{name} fails")
    image = c.create_string_buffer(size.value)
    if nvrtc.nvrtcGetCUBIN(program, image):
        raise OSError("nvrtcGetCUBIN fails")
    return image.raw


def image_of(architecture, path=None):
    """The compiled kernels, or None and why not."""
    if path:
        return Path(path).read_bytes(), ""
    reasons = []
    for compile_it in (_by_nvcc, _by_nvrtc):
        try:
            return compile_it(architecture), ""
        except (OSError, subprocess.CalledProcessError) as error:
            reasons.append(str(error))
    return None, "; ".join(reasons)


def map_bytes(cell):
    """Of a map with one bit for each sector of data, in words."""
    return -(-cell.data_bytes // (SECTOR * 32)) * 4


def _vector(nest):
    """Bytes of a vector: 16 at most, what all addresses are multiples of."""
    bits = 16 | nest.run
    for _, data, _, out in nest.dims:
        bits |= data | out
    for stride in nest.strides:
        bits |= stride
    return bits & -bits


class Bare:
    """The kernels of one module."""

    def __init__(self, device, image):
        self.device, self.module, self.functions = device, c.c_void_p(), {}
        device.drive("cuModuleLoadData", c.byref(self.module), image)
        self.count = device.allocate(8)
        self._function("spin")  # another driver than NVIDIA's has none of them

    def _function(self, name):
        if name not in self.functions:
            function = c.c_void_p()
            self.device.drive("cuModuleGetFunction", c.byref(function), self.module, name.encode())
            self.functions[name] = function
        return self.functions[name]

    def _launch(self, name, blocks, threads, *arguments):
        pointers = (c.c_void_p * len(arguments))(*(c.addressof(a) for a in arguments))
        self.device.drive("cuLaunchKernel", self._function(name), blocks, 1, 1, threads, 1, 1, 0, None, pointers, None)

    def supports(self, cell):
        nest = nest_of(cell)
        return len(nest.dims) <= MOST and len(nest.strides) <= MOST and DTYPES[cell.index_dtype][1] in (4, 8) and cell.points < 1 << 32

    @staticmethod
    def _filled(cell):
        """The cell's nest as the kernels take it; its rank, the bytes of a vector and of an index."""
        nest, vector = nest_of(cell), _vector(nest_of(cell))
        filled = Nest(vectors=nest.run // vector, axes=len(nest.strides), items=prod(dim[0] for dim in nest.dims) * (nest.run // vector))
        for d, (extent, from_data, from_index, to) in enumerate(nest.dims):
            filled.extent[d], filled.data[d], filled.index[d], filled.out[d] = extent, from_data, from_index, to
        for k, (stride, bound) in enumerate(zip(nest.strides, cell.bounds)):
            filled.stride[k], filled.bound[k] = stride, bound if cell.dist == "negative" else 0
        return filled, len(nest.dims), vector, DTYPES[cell.index_dtype][1]

    def gather(self, cell, data, indices, out, most=None):
        """A function that launches the cell's loop with the n-th set of indices; of its first `most` items alone."""
        filled, rank, vector, bytes_of_index = self._filled(cell)
        filled.items = min(filled.items, most or filled.items)
        name, blocks = f"bare_{rank}_{vector}_{bytes_of_index}", -(-filled.items // THREADS)
        sets = [c.c_void_p(address) for address in indices]
        at, to = c.c_void_p(data), c.c_void_p(out)
        return lambda number: self._launch(name, blocks, THREADS, at, sets[number % len(sets)], to, filled)

    def sectors(self, cell, indices, bits):
        """How many sectors of data a cell touches; `bits` is memory for one bit of each."""
        filled, rank, vector, bytes_of_index = self._filled(cell)
        self.device.fill_with(bits, 0, map_bytes(cell))
        self._launch(f"mark_{bytes_of_index}", -(-filled.items // THREADS), THREADS, c.c_void_p(indices), c.c_void_p(bits), filled, c.c_int(rank),
                     c.c_int(vector))  # fmt: skip
        return self._counted("ones", c.c_void_p(bits), c.c_uint64(map_bytes(cell) // 4))

    def random(self, data, table, loads):
        """A function that loads from so many random sectors of a table of so many bytes, others at each call."""
        where, blocks, none = c.c_void_p(data), -(-loads // (THREADS * 4)), c.c_void_p(self.count)
        return lambda number: self._launch("sectors", blocks, THREADS, where, c.c_uint64(table // SECTOR), c.c_uint64(loads), c.c_uint64(number * loads), none)

    def _counted(self, name, *arguments):
        """What a kernel adds to its last argument."""
        import numpy as np

        self.device.put(self.count, np.zeros(1, np.uint64))
        self._launch(name, 1024, 256, *arguments, c.c_void_p(self.count))
        return int(self.device.get(self.count, 8).view(np.uint64)[0])

    def different(self, a, b, size):
        """How many of so many bytes differ."""
        return self._counted("differ", c.c_void_p(a), c.c_void_p(b), c.c_uint64(size))

    def spin(self, seconds):
        self._launch("spin", 1, 1, c.c_uint64(int(seconds * 1e9)))
