# SPDX-License-Identifier: MIT
"""NumPy: take into a given out (its fast ways), plain take, take_along_axis, fancy indexing, and a flat take
over offsets computed with array arithmetic."""

import numpy as np

from ..compare import key
from ..nest import nest_of
from . import Way


def version():
    return np.__version__


def supports(cell):
    return ""


def _take_modes(cell):
    return ("wrap",) if cell.dist == "negative" else ("clip", "wrap")


def _take_ways(cell, data, indices, out):
    axis = cell.axis
    for mode in _take_modes(cell):
        yield Way(f"take(out=, mode='{mode}')", lambda m=mode: np.take(data, indices, axis, out, m))
    yield Way("take", lambda: data.take(indices, axis))
    if axis == 0:
        yield Way("data[indices]", lambda: data[indices])


def _flat_way(cell, data, indices, out):
    """Offsets of all runs computed in place, then one take. Needs indices that are not negative."""
    nest, run = nest_of(cell), cell.run
    rows = data.reshape(-1, run // cell.item)
    target = out.reshape(-1, run // cell.item)
    base = np.zeros(1, np.int64)
    shape = [dim[0] for dim in nest.dims]
    for axis, (extent, step, *_) in enumerate(nest.dims):
        ramp = np.arange(extent, dtype=np.int64) * (step // run)
        base = base + ramp.reshape([-1 if d == axis else 1 for d in range(len(shape))])
    base = np.broadcast_to(base, shape).reshape(-1)
    parts = [(indices if cell.op != "gather_nd" else indices[..., k]).reshape(-1) for k in range(len(nest.strides))]
    shifted = bool(base.any())
    offsets, scaled = np.empty(base.size, np.int64), np.empty(base.size, np.int64)

    def call():
        np.multiply(parts[0], nest.strides[0] // run, out=offsets)
        for part, stride in zip(parts[1:], nest.strides[1:]):
            np.multiply(part, stride // run, out=scaled)
            np.add(offsets, scaled, out=offsets)
        if shifted:
            np.add(offsets, base, out=offsets)
        np.take(rows, offsets, 0, target, "clip")

    return Way("take over computed offsets", call, lambda _: out)


def _string_ways(cell, inputs):
    kinds = (("object", object), ("StringDType", np.dtypes.StringDType()), ("fixed width", None))
    for label, kind in kinds:
        data = np.array(inputs.strings, dtype=kind).reshape(cell.data)
        out = np.empty(cell.out, data.dtype)
        fetch = lambda array: array.astype(object)  # noqa: E731
        for way in _take_ways(cell, data, inputs.indices, out):
            yield Way(f"{label}: {way.label}", way.call, fetch)


def prepare(cell, inputs, context):
    data, indices, out = inputs.data, inputs.indices, inputs.out
    if cell.dtype == "str":
        return list(_string_ways(cell, inputs))
    if cell.op == "gather" and not cell.batch_dims:
        return list(_take_ways(cell, data, indices, out))
    where = key(cell, indices)
    ways = [Way("fancy indexing", lambda: data[where])]
    if cell.op == "gather_elements":
        part = data[cell.cut] if cell.cut else data
        ways.append(Way("take_along_axis", lambda: np.take_along_axis(part, indices, cell.axis)))
    if cell.dist != "negative":
        ways.append(_flat_way(cell, data, indices, out))
    return ways
