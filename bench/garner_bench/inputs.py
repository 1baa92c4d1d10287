# SPDX-License-Identifier: MIT
"""What one cell works on: its data, its indices drawn from the cell's distribution, its out."""

import random
import zlib
from math import prod

import numpy as np

FRESH_BYTES = 256 << 20  # the sets of a fresh cell together touch at least this much
MOST_SETS = 32


def _zipf(rng, bound, count):
    """Ranks with probability ~ rank^-1.2, drawn again until they lie within the bound."""
    ranks = np.empty(0, np.int64)
    while ranks.size < count:
        drawn = rng.zipf(1.2, count)
        ranks = np.concatenate((ranks, drawn[drawn <= bound]))
    return ranks[:count] - 1


def _permutation(rng, cell):
    if cell.op == "gather_elements":
        along = cell.data[cell.axis]
        shape = list(cell.indices)
        shape[cell.axis] = max(along, shape[cell.axis])
        order = np.argsort(rng.random(shape), axis=cell.axis) % along
        return np.take(order, range(cell.indices[cell.axis]), axis=cell.axis)
    return np.resize(rng.permutation(cell.bounds[0]), cell.indices)


def _sort(cell, values):
    """All in one order; tuples by their first index, then by the next."""
    if cell.op != "gather_nd":
        return np.sort(values, axis=None).reshape(cell.indices)
    tuples = values.reshape(-1, cell.indices[-1])
    return tuples[np.lexsort(tuples.T[::-1])].reshape(cell.indices)


def draw(cell, rng, shuffle=None):
    """One set of indices. Where indices are tuples, the last axis of `bounds` meets that of indices."""
    bounds = np.array(cell.bounds if cell.op == "gather_nd" else cell.bounds[0], np.int64)
    if cell.dist == "perm":
        values = _permutation(rng, cell)
    elif cell.dist == "zipf":
        values = shuffle[_zipf(rng, cell.bounds[0], prod(cell.indices))].reshape(cell.indices) % bounds
    elif cell.dist == "same":
        values = np.broadcast_to(bounds // 2, cell.indices)
    elif cell.dist == "negative":
        values = rng.integers(-bounds, bounds, cell.indices)
    else:
        values = rng.integers(0, bounds, cell.indices)
    if cell.dist == "sorted":
        values = _sort(cell, values)
    return np.asarray(values).astype(cell.numpy_index_dtype)


def _set_count(cell):
    if not cell.fresh:
        return 1
    touched = cell.points * max(cell.run, 64)
    return max(2, min(MOST_SETS, -(-FRESH_BYTES // touched)))


def _strings(count):
    """Words of 3 to 24 letters."""
    rng = random.Random(7)
    return ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randrange(3, 25))) for _ in range(count)]


class Inputs:
    def __init__(self, cell, buffers, filler):
        seed = zlib.crc32(cell.name.encode())
        rng = np.random.default_rng(seed)
        filler.prepare(cell)
        self.cell = cell
        self.strings = _strings(prod(cell.data)) if cell.dtype == "str" else None
        kind = np.dtype("V16") if self.strings else cell.numpy_dtype
        self.data = buffers.data.view(kind, cell.data, buffers.offset(0, cell))
        self.indices = buffers.indices.view(cell.numpy_index_dtype, cell.indices, buffers.offset(1, cell))
        self.out = buffers.out.view(kind, cell.out, buffers.offset(2, cell))
        shuffle = rng.permutation(cell.bounds[0]) if cell.dist == "zipf" else None
        self._sets = [draw(cell, rng, shuffle) for _ in range(_set_count(cell))]
        self._random = random.Random(seed)
        self.choose(0)

    def choose(self, number=None):
        """Puts one of the sets of indices in place; the place itself never moves."""
        number = self._random.randrange(len(self._sets)) if number is None else number
        np.copyto(self.indices, self._sets[number])

    def plain_indices(self):
        """The indices with none negative, for a loop that does not wrap them."""
        if self.cell.dist != "negative":
            return self.indices
        bounds = np.array(self.cell.bounds, self.indices.dtype)
        return np.where(self.indices < 0, self.indices + bounds, self.indices)

    def distinct(self):
        """How many different runs the first set touches within one block of data."""
        if self.cell.op == "gather" and self.cell.batch_dims == 0:
            return len(np.unique(self._sets[0] % self.cell.bounds[0]))
        return None
