# SPDX-License-Identifier: MIT
"""garner on dask arrays: take and take_along_axis that run where the chunks are.

    import garner.dask

    rows = garner.dask.take(table, indices)           # a dask array; nothing is computed yet

For each chunk of the result one task sorts its indices by the chunk of the data that they fall into; then each of these
chunks is gathered from by its own indices alone, in the worker that holds it; then the rows are put in order. So the graph
grows with the chunks and not with the indices. Workers need garner, too.
"""

import itertools
import math
import operator

import numpy as np

try:
    import dask
    import dask.array as da
    from dask.base import tokenize
    from dask.highlevelgraph import HighLevelGraph
    from dask.utils import parse_bytes
except ImportError as error:
    raise ImportError(f"garner.dask: dask's arrays are not to be had ({error}): pip install 'dask[array]'") from None

from . import _garner

__all__ = ["take", "take_along_axis"]


def take(x, indices, axis=0):
    """The slices of a dask array at indices along an axis: numpy.take, chunk by chunk.

    Indices are of any rank: a dask array, whose chunks become those of the result, or anything that NumPy makes integers of,
    which is cut into chunks about as large as those of x. Negative ones count from the end; one that is out of range is a
    garner.OutOfRange, at once where indices are in memory, else when the result is computed.

    >>> import dask.array, garner.dask
    >>> x = dask.array.arange(10, chunks=4) * 10
    >>> garner.dask.take(x, [9, 0, -3, 5]).compute()
    array([90,  0, 70, 50])
    """
    x, axis = _operand("take", x, axis)
    indices = _indices("take", indices)
    bounds = _bounds(x, axis)
    ends = None
    if not isinstance(indices, da.Array):
        indices = _wrapped("Gather", indices, axis, bounds, (0,) * indices.ndim, indices.shape)
        indices, ends = _in_chunks(indices, _slices_in_a_chunk(x, axis, indices.size))
    if indices.ndim == 0:
        return take(x, indices[None], axis)[(slice(None),) * axis + (0,)]
    before, after = x.chunks[:axis], x.chunks[axis + 1 :]
    graph = _Graph("take", x, indices, axis, bounds, indices.shape)
    for at in _positions(indices.chunks):
        owners = graph.owners(at, ends[at[0]] if ends else None)
        for first in _positions(before):
            for last in _positions(after):
                graph.place((*first, *at, *last), at, {j: (x.name, *first, j, *last) for j in owners})
    return graph.array((*before, *indices.chunks, *after))


def take_along_axis(x, indices, axis=-1):
    """The elements of a dask array at indices along an axis: numpy.take_along_axis, chunk by chunk.

    Indices have the rank of x; off the axis extents are equal, or one of them 1. They are a dask array, or anything that
    NumPy makes integers of.

    >>> import dask.array, garner.dask
    >>> x = dask.array.from_array([[3, 1, 2], [4, 6, 5]], chunks=(1, 2))
    >>> garner.dask.take_along_axis(x, [[1, 2, 0], [-3, 2, 1]]).compute()
    array([[1, 2, 3],
           [4, 5, 6]])
    """
    x, axis = _operand("take_along_axis", x, axis)
    indices = _indices("take_along_axis", indices)
    x, shape = _broadcast(x, indices, axis)
    bounds = _bounds(x, axis)
    if not isinstance(indices, da.Array):
        indices = _wrapped("GatherElements", indices, axis, bounds, (0,) * indices.ndim, indices.shape)
        slices = _slices_in_a_chunk(x, axis, indices.shape[axis])
        indices = da.from_array(indices, chunks=tuple(slices if d == axis else -1 for d in range(x.ndim)))
    if 0 in shape:
        return da.empty(shape, dtype=x.dtype)
    given = indices.shape
    indices = _stretched(indices, shape).rechunk({d: x.chunks[d] for d in range(x.ndim) if d != axis})
    graph = _Graph("take_along_axis", x, indices, axis, bounds, given)
    for at in _positions(indices.chunks):
        graph.place(at, at, {j: (x.name, *at[:axis], j, *at[axis + 1 :]) for j in graph.owners(at)})
    return graph.array(indices.chunks)


# ---- What is given ---------------------------------------------------------------------------------------------------------


def _known(call, role, array):
    for d, sizes in enumerate(array.chunks):
        if any(math.isnan(size) for size in sizes):
            raise _garner.BadShape(
                f"{call}: {role} has chunks of unknown size on axis {d}; its compute_chunk_sizes() finds them out"
            )
    return array


def _operand(call, x, axis):
    """The data, checked, and the axis counted from 0."""
    if not isinstance(x, da.Array):
        raise _garner.BadType(f"{call}: x is a {type(x).__name__}; garner.dask takes dask arrays, and garner.{call} all others")
    _known(call, "x", x)
    if x.ndim == 0:
        raise _garner.BadShape(f"{call}: x has rank 0; there is no axis to take from")
    axis = operator.index(axis)
    if not -x.ndim <= axis < x.ndim:
        raise _garner.BadShape(f"{call}: axis {axis} is outside [{-x.ndim}, {x.ndim - 1}] for x of rank {x.ndim}")
    return x, axis % x.ndim


def _indices(call, indices):
    if isinstance(indices, da.Array):
        _known(call, "indices", indices)
    else:
        indices = np.asarray(indices)
        if indices.size == 0 and indices.dtype == np.float64:
            indices = indices.astype(np.intp)  # an empty list says nothing of its type
    if indices.dtype.kind not in "iu":
        raise _garner.BadType(f"{call}: indices of type {indices.dtype}; they must be integers of 8 to 64 bits")
    return indices


def _broadcast(x, indices, axis):
    """x with the extents off the axis that both agree on, and the shape of indices with these."""
    if indices.ndim != x.ndim:
        raise _garner.BadShape(f"take_along_axis: indices has rank {indices.ndim} and x has rank {x.ndim}; they must be equal")
    off = {}
    for d in set(range(x.ndim)) - {axis}:
        here, there = x.shape[d], indices.shape[d]
        if here != there and 1 not in (here, there):
            raise _garner.BadShape(
                f"take_along_axis: indices has extent {there} on axis {d}, where x has {here}; "
                "off the axis they must be equal, or one of them 1"
            )
        off[d] = there if here == 1 else here
    shape = tuple(off.get(d, extent) for d, extent in enumerate(indices.shape))
    return _stretched(x, tuple(off.get(d, extent) for d, extent in enumerate(x.shape))), shape


def _stretched(array, shape):
    """An array broadcast; dask does that right where an extent of 1 is one chunk, and none beside it is empty."""
    if array.shape == shape:
        return array
    return da.broadcast_to(array.rechunk({d: 1 for d, extent in enumerate(array.shape) if extent == 1}), shape)


def _bounds(x, axis):
    """Where the chunks along the axis begin, and where the last one ends."""
    return [0, *itertools.accumulate(x.chunks[axis])]


def _slices_in_a_chunk(x, axis, count):
    """How many slices a chunk of the result holds where the indices have no chunks yet: an eighth of all, unless that is less
    than a chunk of x or more than half of dask's array.chunk-size. Each chunk of the result costs a task for each of x, and
    for a moment thrice its size."""
    item = max(x.dtype.itemsize * math.prod(max(sizes) for d, sizes in enumerate(x.chunks) if d != axis), 1)
    least = max(*x.chunks[axis], 1)
    most = max(parse_bytes(dask.config.get("array.chunk-size")) // 2 // item, 1)
    return min(max(-(-count // 8), least), most)


def _in_chunks(indices, slices):
    """Indices as a dask array, cut along their first axis, and of each chunk its lowest and highest index."""
    if indices.ndim == 0:
        return da.from_array(indices), None
    each = max(math.prod(indices.shape[1:]), 1)
    cut = da.from_array(indices, chunks=(max(slices // each, 1), *indices.shape[1:]))
    starts = [0, *itertools.accumulate(cut.chunks[0])]
    parts = [indices[a:b] for a, b in itertools.pairwise(starts)]
    return cut, [(int(part.min()), int(part.max())) if part.size else (0, 0) for part in parts]


# ---- The graph -------------------------------------------------------------------------------------------------------------


def _positions(chunks):
    return itertools.product(*(range(len(sizes)) for sizes in chunks))


class _Graph:
    """The tasks of one call: routes, one for each chunk of indices; parts, one for each chunk of data that such a chunk needs
    rows of; and the result, whose tasks put parts in order."""

    def __init__(self, call, x, indices, axis, bounds, shape):
        token = tokenize(call, x.name, indices.name, axis)
        self.name, self.routes, self.parts = f"garner-{call}-{token}", f"garner-route-{token}", f"garner-part-{token}"
        self.x, self.indices, self.axis, self.bounds, self.shape = x, indices, axis, bounds, shape
        self.operator, self.pick, self.whole = _OPERATORS[call]
        self.starts = [[0, *itertools.accumulate(sizes)] for sizes in indices.chunks]
        self.tasks = {}

    def owners(self, at, ends=None):
        """The chunks of data that a chunk of indices may need: those between its lowest and its highest index, if it is known."""
        if not self.x.shape[self.axis] or any(self.indices.chunks[d][i] == 0 for d, i in enumerate(at)):
            return range(1)
        first, last = np.searchsorted(self.bounds[:-1], ends or (0, self.bounds[-1] - 1), side="right")
        return range(first - 1, last)

    def place(self, to, at, sources):
        """Adds the tasks of one chunk of the result: the number and the key of each chunk of data that it may need are given."""
        offsets = tuple(starts[i] for starts, i in zip(self.starts, at))
        about = (self.axis, self.bounds, offsets, self.shape)
        if len(sources) == 1:
            [(j, source)] = sources.items()
            self.tasks[self.name, *to] = (self.whole, source, (self.indices.name, *at), self.bounds[j], *about)
            return
        route = (self.routes, *at)
        self.tasks[route] = (_route, (self.indices.name, *at), self.operator, *about)
        parts = {(self.parts, j, *to): (self.pick, source, route, j, self.bounds[j], self.axis) for j, source in sources.items()}
        self.tasks |= parts
        self.tasks[self.name, *to] = (_place, route, list(parts), self.axis if self.operator == "Gather" else 0)

    def array(self, chunks):
        graph = HighLevelGraph.from_collections(self.name, self.tasks, dependencies=[self.x, self.indices])
        return da.Array(graph, self.name, chunks, dtype=self.x.dtype)


# ---- The tasks, run by workers ---------------------------------------------------------------------------------------------


def _refusal(name, block, bad, axis, bound, offsets, shape):
    """The error that garner raises where it sees all indices, which have that shape unless they were broadcast."""
    local = np.unravel_index(bad, block.shape)
    coordinates = tuple(0 if extent == 1 else int(i) + offset for i, offset, extent in zip(local, offsets, shape))
    value = int(block[local])
    where = f"[{','.join(map(str, coordinates))}]" if coordinates else ""
    of = f"[{-bound}, {bound - 1}] of data axis {axis}" if bound else f"data axis {axis}, which is empty"
    error = _garner.OutOfRange(f"{name}: indices{where} = {value} is outside {of}")
    error.axis, error.value, error.bound, error.coordinates = axis, value, bound, coordinates
    error.position = int(np.ravel_multi_index(coordinates, shape)) if coordinates else 0
    return error


def _wrapped(name, block, axis, bounds, offsets, shape):
    """Indices counted from 0, each checked; as narrow as they may be, because they travel."""
    bound = bounds[-1]
    low, high = (int(block.min()), int(block.max())) if block.size else (0, -1)
    if low < -bound or high >= bound:
        outside = block >= bound
        if block.dtype.kind == "i":
            outside |= block < -bound
        raise _refusal(name, block, outside.argmax(), axis, bound, offsets, shape)
    block = block.astype(np.int32 if bound <= 2**31 - 1 else np.int64, copy=False)
    return np.where(block < 0, block + block.dtype.type(bound), block) if low < 0 else block


def _owner(flat, bounds):
    """The number of the chunk that each index falls into, in as few bytes as it takes: these are sorted by counting."""
    narrow = np.min_scalar_type(len(bounds))
    each = bounds[1]
    if each and all(b == i * each for i, b in enumerate(bounds[:-1])) and bounds[-1] <= each * (len(bounds) - 1):
        return (flat // flat.dtype.type(each)).astype(narrow)
    return (np.searchsorted(np.asarray(bounds[:-1], flat.dtype), flat, side="right") - 1).astype(narrow)


def _route(block, name, axis, bounds, offsets, shape):
    """A chunk of indices by the chunks of data that they fall into: the indices of the first, then of the second, and so on;
    where those of each begin; where each stood before; the chunk's shape."""
    block = _wrapped(name, np.ascontiguousarray(block), axis, bounds, offsets, shape)
    owner = _owner(block.ravel(), bounds)
    order = np.argsort(owner, kind="stable")
    if order.size < 2**31:
        order = order.astype(np.int32)
    begins = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(bounds) - 1))])
    return _garner.gather(block.ravel(), order, threads=1), begins, order, block.shape


def _own(route, j, start):
    """The indices that fall into the j-th chunk, counted from its beginning, and where they stood."""
    ordered, begins, order, _ = route
    mine = slice(begins[j], begins[j + 1])
    return ordered[mine] - ordered.dtype.type(start), order[mine]


def _pick_slices(chunk, route, j, start, axis):
    own, _ = _own(route, j, start)
    return _garner.gather(chunk, own, axis=axis, threads=1)


def _pick_elements(chunk, route, j, start, axis):
    own, stood = _own(route, j, start)
    shape = route[3]
    inner = math.prod(shape[axis + 1 :])
    before, rest = np.divmod(stood.astype(np.int64), max(shape[axis] * inner, 1))
    flat = (before * chunk.shape[axis] + own) * inner + rest % max(inner, 1)
    return _garner.gather(np.ascontiguousarray(chunk).ravel(), flat, threads=1)


def _place(route, parts, axis):
    """The parts' rows in the order in which their indices stood."""
    _, _, order, shape = route
    back = np.empty_like(order)
    back[order] = np.arange(order.size, dtype=order.dtype)
    return _garner.gather(np.concatenate(parts, axis=axis), back.reshape(shape), axis=axis, threads=1)


def _whole_slices(chunk, block, start, *about):
    block = _wrapped("Gather", np.asarray(block), *about)
    return _garner.gather(chunk, block - block.dtype.type(start), axis=about[0], threads=1)


def _whole_elements(chunk, block, start, *about):
    block = _wrapped("GatherElements", np.asarray(block), *about)
    return _garner.gather_elements(chunk, block - block.dtype.type(start), axis=about[0], threads=1)


_OPERATORS = {
    "take": ("Gather", _pick_slices, _whole_slices),
    "take_along_axis": ("GatherElements", _pick_elements, _whole_elements),
}
