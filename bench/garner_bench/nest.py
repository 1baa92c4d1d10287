# SPDX-License-Identifier: MIT
"""A cell as a plain loop nest: dims of (extent, data bytes, indices elements, out bytes), the strides of the
gathered axes, bytes per run. The ceiling loop walks it, and the limits are computed from it."""

from typing import NamedTuple


class Nest(NamedTuple):
    dims: tuple
    strides: tuple
    run: int


def _strides(shape, item):
    strides, step = [], item
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return strides[::-1]


def _raw_dims(cell):
    data = _strides(cell.data, cell.item)
    index = _strides(cell.indices, 1)
    out = _strides(cell.out, cell.item)
    batch, axis = cell.batch_dims, cell.axis
    if cell.op == "gather_elements":
        return [(n, 0 if d == axis else data[d], index[d], out[d]) for d, n in enumerate(cell.indices)]
    both = [(cell.indices[d], data[d], index[d], out[d]) for d in range(batch)]
    if cell.op == "gather_nd":
        return both + [(cell.indices[d], 0, index[d], out[d]) for d in range(batch, len(cell.indices) - 1)]
    outer = [(cell.data[d], data[d], 0, out[d]) for d in range(batch, axis)]
    inner = [(cell.indices[d], 0, index[d], out[axis + d - batch]) for d in range(batch, len(cell.indices))]
    return both + outer + inner


def _merge(dims):
    """Drops extents of 1 and joins dims that walk as one."""
    merged = []
    for n, *steps in dims:
        if n == 1:
            continue
        if merged and merged[-1][1:] == [n * step for step in steps]:
            merged[-1] = [merged[-1][0] * n, *steps]
        else:
            merged.append([n, *steps])
    return tuple(tuple(dim) for dim in merged) or ((1, 0, 0, 0),)


def nest_of(cell):
    strides = _strides(cell.data, cell.item)
    return Nest(_merge(_raw_dims(cell)), tuple(strides[a] for a in cell.gathered), cell.run)
