# SPDX-License-Identifier: MIT
"""The machine's own limits, measured in the same run and with the same threads as everything else, and the
least time that they leave for a cell. A limit is the best of several tries, not their median."""

import ctypes

import numpy as np

from .nest import nest_of
from .workloads import FRESH_FROM

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
COPY_SIZES = (8 * KIB, 256 * KIB, 4 * MIB, 128 * MIB)  # bytes copied; twice as many are touched
LINE_SIZES = (16 * KIB, 512 * KIB, 8 * MIB, 64 * MIB, 256 * MIB, GIB)
LEAST_BYTES = 128 * MIB  # each arena has at least this
LINE = 64
REPEATS = 7
COPIED_PER_REPEAT = 64 * MIB
LINES_PER_REPEAT = 1 << 20
LEAST_LINES, MOST_LINES = 1 << 11, 1 << 18


def _times(function, *arguments, threads, repeats):
    taken = (ctypes.c_int64 * repeats)()
    function(*arguments, threads, repeats, ctypes.addressof(taken))
    return list(taken)


def _copy_speed(native, buffers, size, threads):
    """Bytes per nanosecond."""
    times = max(1, COPIED_PER_REPEAT // size)
    arguments = buffers.out.address, buffers.data.address, size, times
    taken = _times(native.bench_copy, *arguments, threads=threads, repeats=REPEATS)
    return size * times / min(taken)


def _line_time(native, buffers, size, threads):
    """Nanoseconds per line of a table of that size, lines chosen at random: about as many as the table has,
    so that they do not stay in a nearer cache, and others each time."""
    rng = np.random.default_rng(size)
    lines = size // LINE
    count = min(MOST_LINES, max(LEAST_LINES, lines))
    numbers = buffers.indices.view(np.int64, (count,))
    times = max(1, LINES_PER_REPEAT // count) if size < FRESH_FROM else 1
    taken = []
    for _ in range(REPEATS):
        numbers[:] = rng.integers(0, lines, count)
        arguments = buffers.data.address, numbers.ctypes.data, count, times
        taken += _times(native.bench_lines, *arguments, threads=threads, repeats=1)
    return min(taken) / count / times


def measure(native, buffers, threads):
    lines = {s: _line_time(native, buffers, s, threads) for s in LINE_SIZES if s <= buffers.data.size}
    copies = {s: _copy_speed(native, buffers, s, threads) for s in COPY_SIZES}
    return {"copy": copies, "line": lines}


def _at(table, size):
    """The measured value for the first size that holds this one, else for the largest."""
    return table[next((s for s in sorted(table) if s >= size), max(table))]


def _distinct(inputs):
    """About how many different runs one block of data gives."""
    cell = inputs.cell
    blocks = max(1, cell.data_bytes // max(1, _block_bytes(cell)))
    choices = max(1, cell.data_bytes // cell.run // blocks)
    exact = inputs.distinct()
    return exact if exact is not None else choices * -np.expm1(-cell.points / blocks / choices)


def _block_bytes(cell):
    """What one block of indices chooses from: everything but dims that data and indices share or that
    repeat the indices, as far as they lie outside the gathered axes."""
    widest = max((stride * bound for stride, bound in zip(nest_of(cell).strides, cell.bounds)), default=0)
    return min(cell.data_bytes, widest)


def least_time(limits, inputs):
    """Nanoseconds that the cell must take, and which limit says so:
    stream   every byte of indices, out and the touched part of data passes once, at the speed of a copy
    issue    one load per index, and one per line of its run, from L1
    lines    the runs that it touches come out of memory at random, one line each
    """
    cell = inputs.cell
    distinct = _distinct(inputs)
    block = _block_bytes(cell)
    blocks = max(1, cell.data_bytes // max(1, block))
    lines_per_run = -(-cell.run // LINE)
    touched = min(block, distinct * max(cell.run, LINE)) * blocks
    total = cell.index_bytes + cell.out_bytes + touched
    per_byte = 1 / (2 * _at(limits["copy"], total / 2))
    bounds = {
        "stream": total * per_byte,
        "issue": cell.points * lines_per_run * min(limits["line"].values()),
    }
    if cell.dist not in ("sorted", "same"):
        bounds["lines"] = min(distinct * blocks * _at(limits["line"], block), cell.data_bytes * per_byte)
    which = max(bounds, key=bounds.get)
    return float(bounds[which]), which
