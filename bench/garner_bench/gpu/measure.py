# SPDX-License-Identifier: MIT
"""One cell after the other: garner, the bare loop, a copy and the peers on the same buffers, compared bit by bit and timed
turn by turn. A record for each cell is written as soon as it is there."""

import time
import zlib
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from .. import compare
from ..peers import one_line
from . import cells as the_cells
from .bare import SECTOR, map_bytes
from .peers import Buffers, GpuWay

SAMPLE = 2e-3  # seconds of a sample, about
LAUNCH = 20e-6  # seconds that the host may take to launch something
MOST_CALLS = 200
HOPELESS = 3  # ways of a peer that are slower than its best by this are sampled once
ALIGN = 1 << 21
POISON = 0xA5


class Setup(NamedTuple):
    device: Any
    bare: Any  # None where it could not be compiled
    peers: dict
    clocks: Any
    rounds: int
    sample: float


class Room:
    """Memory of the device, allocated once and handed out from the front."""

    def __init__(self, device, size):
        self.device, self.size, self.begin = device, size, device.allocate(size)

    def take(self, *sizes):
        """Addresses one after the other."""
        at, taken = self.begin, []
        for size in sizes:
            taken.append(at)
            at += -(-max(1, size) // ALIGN) * ALIGN
        if at > self.begin + self.size:
            raise MemoryError(f"{at - self.begin} bytes do not fit")
        return taken


def room_for(cell):
    """Bytes that a cell takes beside data."""
    parts = [cell.index_bytes] * the_cells.set_count(cell) + [cell.out_bytes, cell.out_bytes, most_copied(cell), map_bytes(cell)]
    return sum(-(-max(1, part) // ALIGN) * ALIGN for part in parts)


def copied(cell):
    """Half of what must be read and written at least: the copy of so many bytes reads and writes as many."""
    return (min(cell.out_bytes, cell.data_bytes) + cell.index_bytes + cell.out_bytes) // 2


def most_copied(cell):
    """The same if each run begins and ends inside a sector of its own, which is moved whole."""
    return (min(cell.points * (cell.run + 2 * SECTOR), cell.data_bytes + SECTOR) + cell.index_bytes + cell.out_bytes) // 2


class Cell:
    """One cell, its buffers filled, its ways ready."""

    def __init__(self, setup, cell, data, room):
        self.setup, self.cell, self.data = setup, cell, data
        sets = the_cells.set_count(cell)
        sizes = [cell.index_bytes] * sets + [cell.out_bytes, cell.out_bytes, most_copied(cell), map_bytes(cell)]
        *self.indices, self.out, self.reference, self.target, self.map = room.take(*sizes)
        rng = np.random.default_rng(zlib.crc32(cell.name.encode()))
        self.drawn = None
        for address in self.indices:
            drawn = the_cells.draw(cell, rng)
            self.drawn = drawn if self.drawn is None else self.drawn
            setup.device.put(address, drawn)
        self.plan, self.described = setup.device.plan(cell, data, self.indices[0], self.out)
        self.notes = []

    def garner(self, number):
        device = self.setup.device
        device.execute(self.plan, self.data, self.indices[number % len(self.indices)], self.out, None, device.ticket)

    def copy(self, number):
        self.setup.device.copy(self.target, self.data, copied(self.cell))

    # ---- What no gather is faster than ----

    def limits(self):
        """Name and call: the first vector alone, which waits for an index and then for data; a copy of every sector that is
        touched; where runs are short and lie anywhere, loads of as many random sectors of that table."""
        bare, cell = self.setup.bare, self.cell
        if not bare or not bare.supports(cell) or not cell.points:
            return []
        touched = bare.sectors(cell, self.indices[0], self.map)
        half = (touched * SECTOR + cell.index_bytes + cell.out_bytes) // 2
        found = [("first vector", bare.gather(cell, self.data, self.indices, self.out, 1)),
                 ("sectors", lambda number: self.setup.device.copy(self.target, self.data, half))]  # fmt: skip
        if cell.run <= SECTOR and cell.dist in ("uniform", "negative") and cell.data_bytes >= SECTOR:
            found.append(("random sectors", bare.random(self.data, cell.data_bytes, touched)))
        return found

    # ---- Right? ----

    def poison(self):
        self.setup.device.fill_with(self.out, POISON, self.cell.out_bytes)

    def wrong(self, address, size):
        """None, or what is wrong with a result, which must be garner's of the first set."""
        device, bare = self.setup.device, self.setup.bare
        if size != self.cell.out_bytes:
            return f"the result has {size} bytes, not {self.cell.out_bytes}"
        different = bare.different(address, self.reference, size) if bare else np.count_nonzero(device.get(address, size) != device.get(self.reference, size))
        return f"{different} of {size} bytes differ" if different else None

    def prove(self):
        """garner's result, checked against the bare loop's, or on the host."""
        device, cell = self.setup.device, self.cell
        self.poison()
        self.garner(0)
        device.wait()
        device.copy(self.reference, self.out, cell.out_bytes)
        loop = self.bare_loop()
        if loop:
            self.poison()
            loop(0)
            wrong = self.wrong(self.out, cell.out_bytes)
        else:
            data = device.get(self.data, cell.data_bytes).view(cell.numpy_dtype).reshape(cell.data)
            want = np.ascontiguousarray(compare.expected(cell, data, self.drawn)).reshape(-1).view(np.uint8)
            wrong = None if np.array_equal(want, device.get(self.reference, cell.out_bytes)) else "it is not NumPy's result"
        if wrong:
            raise RuntimeError(f"garner's result is wrong: {wrong}")

    def bare_loop(self):
        bare = self.setup.bare
        return bare.gather(self.cell, self.data, self.indices, self.out) if bare and bare.supports(self.cell) else None

    # ---- Fast? ----

    def seconds(self, way, calls):
        """Seconds of each of so many calls."""
        device, bare = self.setup.device, self.setup.bare
        if way.wait is None:
            before = (lambda: bare.spin(min(5e-3, 50e-6 + calls * LAUNCH))) if bare else None
            return device.seconds(way.call, calls, before)
        device.finish()
        start, result = time.perf_counter(), None
        for number in range(calls):
            result = way.call(number)
        way.wait(result)
        return (time.perf_counter() - start) / calls

    def calls_for(self, way):
        """How many calls make a sample; warms up, too."""
        self.seconds(way, 1)
        once = max(self.seconds(way, 2), 1e-7)
        whole = self.setup.sample * (1 if way.wait is None else 2)
        return max(1, min(MOST_CALLS, int(whole / once))), once

    def usable(self, name, peer):
        """A peer's ways that give the right result, with their calls; the hopeless ones left out."""
        found = []
        reason = peer.supports(self.cell)
        if reason:
            self.notes.append([name, "", reason])
            return found
        try:
            for way in peer.ways(self.cell, Buffers(self.data, self.indices, self.out)):
                self.poison()
                wrong = self.try_way(name, way)
                if not wrong:
                    found.append((way, *self.calls_for(way)))
        except Exception as error:  # whatever a peer raises
            self.notes.append([name, "", one_line(error)])
        best = min((once for _, _, once in found), default=0)
        return [(way, calls) for way, calls, once in found if once <= HOPELESS * best]

    def try_way(self, name, way):
        try:
            result = way.call(0)
            self.setup.device.finish()
            wrong = self.wrong(*way.address(result))
        except Exception as error:
            wrong = one_line(error)
        if wrong:
            self.notes.append([name, way.label, f"wrong: {wrong}" if "differ" in wrong else wrong])
        return wrong

    def contenders(self):
        """(name, way, calls of a sample), garner first."""
        loop = self.bare_loop()
        own = [("garner", GpuWay("garner_cuda_execute", self.garner, None)), ("copy", GpuWay("", self.copy, None))]
        own += [("bare", GpuWay("", loop, None))] if loop else []
        own += [(name, GpuWay("", call, None)) for name, call in self.limits()]
        found = [(name, way, self.calls_for(way)[0]) for name, way in own]
        for name, peer in self.setup.peers.items():
            found += [(name, way, calls) for way, calls in self.usable(name, peer)]
        return found

    def measure(self):
        self.prove()
        contenders = self.contenders()
        samples = [[] for _ in contenders]
        for _ in range(self.setup.rounds):
            for (_, way, calls), taken in zip(contenders, samples):
                taken.append(self.seconds(way, calls))
        self.setup.device.wait()  # a bad index would be said here
        times = {}
        for (name, way, _), taken in zip(contenders, samples):
            middle = median(taken)
            if name not in times or middle < times[name]["seconds"]:
                times[name] = {"seconds": middle, "low": min(taken), "high": max(taken), "way": way.label}
        return times

    def close(self):
        self.setup.device.destroy(self.plan)


def record_of(setup, cell, data, room):
    """What is written of a cell; `failed` where it could not be measured."""
    start = time.monotonic()
    record = {"name": cell.name, "op": cell.op, "dtype": cell.dtype, "index_dtype": cell.index_dtype, "dist": cell.dist,
              "run": cell.run, "points": cell.points, "data": cell.data, "indices": cell.indices, "axis": cell.axis,
              "data_bytes": cell.data_bytes, "out_bytes": cell.out_bytes, "index_bytes": cell.index_bytes}  # fmt: skip
    one = None
    try:
        one = Cell(setup, cell, data, room)
        record["times"] = one.measure()
        record |= {"plan": one.described, "notes": one.notes}
    except Exception as error:
        record["failed"] = one_line(error)
    finally:
        if one:
            one.close()
    return record | setup.clocks.read() | {"took": round(time.monotonic() - start, 3)}
