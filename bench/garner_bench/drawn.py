# SPDX-License-Identifier: MIT
"""Cells that nobody chose: operators, types, shapes and distributions drawn from a seed. What is slow where
nobody looked shows here."""

import math
import random
import sys

from .workloads import Workload, line_of

DTYPES = ("u8", "f16", "f32", "f32", "f64")
INDEX_DTYPES = ("i64", "i64", "i32")
DISTRIBUTIONS = ("uniform", "uniform", "uniform", "sorted", "zipf", "negative")
MOST_EXTENT = 3000
MOST_TUPLES = 300_000
LEAST_POINTS = 1 << 12
LEAST_OUT = 1 << 15  # bytes
MOST_BYTES = 200 << 20  # of data, of indices and of out


def _extent(rng, most=MOST_EXTENT, least=2):
    """Small ones as often as large ones."""
    return round(math.exp(rng.uniform(math.log(least), math.log(max(least, most)))))


def _gather(rng):
    data = tuple(_extent(rng) for _ in range(rng.randrange(2, 5)))
    axis = rng.randrange(len(data))
    if axis == 1 and rng.random() < 0.3:
        return data, (data[0], _extent(rng)), axis, 1
    return data, tuple(_extent(rng, least=1) for _ in range(rng.randrange(1, 3))), axis, 0


def _gather_elements(rng):
    """Indices have mostly the extents of data, and any number along the axis."""
    data = tuple(_extent(rng) for _ in range(rng.randrange(2, 4)))
    axis = rng.randrange(len(data))
    off_axis = [n if rng.random() < 0.7 else _extent(rng, n, 1) for n in data]
    return data, tuple(_extent(rng) if d == axis else n for d, n in enumerate(off_axis)), axis, 0


def _gather_nd(rng):
    data = tuple(_extent(rng) for _ in range(rng.randrange(2, 5)))
    return data, (_extent(rng, MOST_TUPLES, 16), rng.randrange(1, len(data) + 1)), 0, 0


SHAPES = {"gather": _gather, "gather_elements": _gather_elements, "gather_nd": _gather_nd}


def _draw(rng):
    op, dtype, index_dtype, dist = (rng.choice(of) for of in (tuple(SHAPES), DTYPES, INDEX_DTYPES, DISTRIBUTIONS))
    data, indices, axis, batch_dims = SHAPES[op](rng)
    shapes = ("x".join(map(str, shape)) for shape in (data, indices))
    name = "-".join((op.removeprefix("gather_"), dtype, *shapes, f"axis{axis}", dist))
    return Workload(name, op, dtype, data, indices, axis, batch_dims, index_dtype, dist)


def _is_fit(cell):
    """Neither too little to be timed nor too much to be held."""
    return (cell.points >= LEAST_POINTS or cell.run >= LEAST_OUT) and cell.out_bytes >= LEAST_OUT and \
        max(cell.data_bytes, cell.index_bytes, cell.out_bytes) <= MOST_BYTES  # fmt: skip


def drawn(count, seed):
    """`count` cells; those of a smaller count are the first of them."""
    rng, cells = random.Random(seed), {}
    while len(cells) < count:
        cell = _draw(rng)
        if _is_fit(cell):
            cells.setdefault(cell.name, cell)
    return list(cells.values())


if __name__ == "__main__":  # COUNT SEED: a table of them
    print(*map(line_of, drawn(*map(int, sys.argv[1:]))), sep="\n")
