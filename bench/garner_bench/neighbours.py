# SPDX-License-Identifier: MIT
"""Cells close to a given one: extents changed by 1 to 20 per cent, buffers on other alignments. A cell that
is fast while its neighbours are not was tuned to its shape."""

import random
import zlib
from dataclasses import replace

from .workloads import DTYPES

COUNT = 10


def _change(rng, extent):
    """The extent, 1 to 20 per cent larger or smaller; one too small for that stays."""
    step = round(extent * rng.uniform(0.01, 0.20)) * rng.choice((-1, 1))
    step = step or rng.choice((-1, 1))
    return extent + step if abs(step) * 5 <= extent else extent


def _shapes(rng, cell):
    """Data and indices both changed, still fitting each other: what was equal stays equal, what was
    smaller stays no larger."""
    data = [_change(rng, n) for n in cell.data]
    indices = [_change(rng, n) for n in cell.indices]
    tied = range(len(indices)) if cell.op == "gather_elements" else range(cell.batch_dims)
    for d in tied:
        if cell.op == "gather_elements" and d == cell.axis:
            if cell.dist == "perm":
                indices[d] = data[d] * cell.indices[d] // cell.data[d]
        elif cell.indices[d] == cell.data[d]:
            indices[d] = data[d]
        else:
            indices[d] = min(indices[d], data[d])
    if cell.op == "gather_nd":
        indices[-1] = cell.indices[-1]
    return tuple(data), tuple(indices)


def _offset(rng, item):
    """A distance from the line's beginning that the element's own alignment allows."""
    return rng.randrange(0, 64, min(item, 16))


def neighbours(cell, count=COUNT):
    rng = random.Random(zlib.crc32(cell.name.encode()))
    index_item = DTYPES[cell.index_dtype][1]
    made = []
    for number in range(count):
        data, indices = _shapes(rng, cell)
        offsets = (_offset(rng, cell.item), _offset(rng, index_item), _offset(rng, cell.item))
        made.append(replace(cell, name=f"{cell.name}~{number}", data=data, indices=indices, offsets=offsets))
    return made
