# SPDX-License-Identifier: MIT
"""Which cells are measured, the most important ones first, so that a run which is cut short has measured those."""

from dataclasses import replace
from math import prod
from pathlib import Path

import numpy as np

from .. import inputs
from ..workloads import Workload, read

TABLE = Path(__file__).resolve().parents[2] / "workloads.tsv"
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
RUNS = [4 << i for i in range(13)]  # 4 B to 16 KiB
TABLES = {"4g": 4 * GIB, "64g": 64 * GIB, "256m": 256 * MIB, "16m": 16 * MIB, "1m": MIB}
ROTATED_BYTES = 256 * MIB  # the sets of indices of a cell in memory touch at least this much together: several L2s
MOST_SETS = 8


def _rows(name, run, table, out, dist="uniform", index="i64"):
    points = min(out // run, 16 * MIB)
    return Workload(name, "gather", "f32", (table // run, run // 4), (points,), 0, 0, index, dist)


def _elements(name, data, axis, index="i64"):
    return Workload(name, "gather_elements", "f32", data, data, axis, 0, index, "uniform")


def first():
    """What the first prototypes were measured with: out is 1 GiB."""
    cells = [replace(_rows(f"rows-{run}", run, 8 * GIB, GIB), indices=(GIB // run,)) for run in (16, 64, 256, 4096)]
    cells.append(_elements("last-axis", (4096, 16384), 1))
    cells += [_elements(f"axis0-{a}x{b}", (a, b), 0) for a, b in ((1024, 65536), (4096, 8192), (16384, 8192))]
    cells += [_elements("last-axis-i32", (4096, 16384), 1, "i32"), _elements("axis0-1024x65536-i32", (1024, 65536), 0, "i32")]
    return [replace(cell, name=f"first-{cell.name}") for cell in cells]


def table():
    """The benchmark's own, but for strings, which a GPU cannot gather."""
    return [cell for cell in read(TABLE) if cell.dtype != "str"]


def rows():
    """Every length of rows by every size of tables by every distribution; uniform ones first."""
    cells = []
    for dist in ("uniform", "zipf", "sorted", "same"):
        for size, many in TABLES.items():
            cells += [_rows(f"grid-{run}-{size}-{dist}", run, many, 256 * MIB, dist) for run in RUNS]
    return cells


def every():
    return first() + table() + rows()


def quick():
    """The same kinds, so small that a stand-in for the driver moves them in no time."""
    small = [cell for cell in table() if prod(cell.data) <= 70000 and prod(cell.out) <= 9000]
    small += [_rows(f"grid-{run}-{dist}", run, 64 * KIB, 4 * KIB, dist) for run in (4, 64, KIB) for dist in ("uniform", "zipf", "sorted", "same")]
    return small + [_elements("last-axis", (8, 1024), 1), _elements("axis0", (64, 64), 0, "i32")]


# ---- Indices ----


def set_count(cell):
    """How many sets of indices take turns: repeated ones would find in L2 what is to come from memory."""
    if not cell.fresh or cell.index_bytes + cell.out_bytes >= ROTATED_BYTES:
        return 1
    return max(2, min(MOST_SETS, ROTATED_BYTES // max(1, cell.points * max(cell.run, 64))))


def _zipf(rng, bound, count):
    """Exponent 1.2 by the inverse of its continuous form, each rank sent to a row of its own by a multiplication, since no
    permutation of 2^34 rows fits anywhere."""
    ranks = (1 - rng.random(count) * (1 - bound**-0.2)) ** -5.0
    rank = np.minimum(ranks.astype(np.int64) - 1, bound - 1)
    factor = 0x9E3779B1 % bound | 1
    while np.gcd(factor, bound) != 1:
        factor += 2
    if bound >= 1 << 31:  # the product would not fit: two halves
        return (rank % (1 << 20) * factor + (rank >> 20) * (factor * (1 << 20) % bound) % bound) % bound
    return rank * factor % bound


def draw(cell, rng):
    """One set of indices."""
    if cell.dist != "zipf":
        return inputs.draw(cell, rng)
    bound = cell.bounds[0]
    drawn = _zipf(rng, bound, prod(cell.indices)) if bound > 1 else np.zeros(prod(cell.indices), np.int64)
    return drawn.reshape(cell.indices).astype(cell.numpy_index_dtype)
