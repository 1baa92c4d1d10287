# SPDX-License-Identifier: MIT
"""The memory that all peers share: three mappings, asked to lie on huge pages, made once and used by every
cell. The same bytes on the same pages for everyone; what a peer allocates for itself is its own affair."""

import ctypes
import mmap
from dataclasses import dataclass

import numpy as np

HUGE = 2 << 20
SPARE = 4 * HUGE

# Masks of the random words. Numbers: no 16-, 32- or 64-bit float in them is subnormal, infinite or NaN, so a
# peer that converts and converts back is not called wrong for that. Flags: every byte is 0 or 1.
NUMBERS = (0xBFFFBFFFBFFFBFFF, 0x2000200020002000)
FLAGS = (0x0101010101010101, 0)


class Arena:
    """A mapping that begins on a huge page."""

    def __init__(self, size):
        self.size = size
        self._map = mmap.mmap(-1, size + SPARE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            try:
                self._map.madvise(mmap.MADV_HUGEPAGE)
            except OSError:
                pass  # a kernel without huge pages: huge_bytes() tells
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self._skip = -start % HUGE
        self.address = start + self._skip

    def view(self, dtype, shape, offset=0):
        """An array over the memory, `offset` bytes from its beginning."""
        count = int(np.prod(shape, dtype=np.int64))
        flat = np.frombuffer(self._map, dtype=dtype, count=count, offset=self._skip + offset)
        return flat.reshape(shape)

    def touch(self):
        np.frombuffer(self._map, dtype=np.uint8)[:: mmap.PAGESIZE] = 0


@dataclass
class Buffers:
    """Data, indices and out. They begin at different lines of a page, as separate allocations do."""

    data: Arena
    indices: Arena
    out: Arena
    places = (0, 1088, 2176)

    @classmethod
    def for_cells(cls, cells, least=0, data=None):
        """With data of its own, or those that are there."""
        sizes = [max([least] + [size(c) for c in cells]) for size in (
            lambda c: c.data_bytes, lambda c: c.index_bytes, lambda c: c.out_bytes)]  # fmt: skip
        made = cls(data or Arena(sizes[0]), Arena(sizes[1]), Arena(sizes[2]))
        for arena in (made.indices, made.out):
            arena.touch()
        return made

    def offset(self, which, cell):
        return self.places[which] + cell.offsets[which]


class Filler:
    """Fills the data arena once. Cells of flags and of strings write over its beginning: the next cell finds
    it restored."""

    def __init__(self, native, arena):
        self._fill = native.bench_fill
        self._arena = arena
        self._write(arena.size + HUGE, NUMBERS)
        self._spoilt = 0

    def _write(self, size, masks):
        self._fill(self._arena.address, size, 1, *masks)

    def prepare(self, cell):
        if self._spoilt:
            self._write(self._spoilt, NUMBERS)
        spoils = cell.dtype in ("bool", "str")
        self._spoilt = cell.data_bytes + 4096 if spoils else 0
        if cell.dtype == "bool":
            self._write(self._spoilt, FLAGS)


def huge_bytes():
    """How much of this process lies on huge pages."""
    try:
        with open("/proc/self/smaps_rollup", encoding="ascii") as lines:
            return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("AnonHugePages"))
    except OSError:
        return 0
