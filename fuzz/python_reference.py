# SPDX-License-Identifier: MIT
"""What the package's gathers give, by the specifications' formulas: one element after the other, by its coordinates.

Shares nothing with the package. Data are a shape and the bytes of each element; indices a shape and integers. `Refused` stands
for an error of the package's, `Outside` for that about an index outside its axis.
"""

import itertools
import math


class Refused(Exception):
    pass


class Outside(Refused):
    pass


class Tensor:
    def __init__(self, shape, elements):
        self.shape, self.elements = tuple(shape), elements
        assert len(elements) == math.prod(self.shape)

    def at(self, coordinates):
        flat = 0
        for extent, at in zip(self.shape, coordinates):
            flat = flat * extent + at
        return self.elements[flat]


def positions(shape):
    return itertools.product(*map(range, shape))


def build(shape, element):
    return Tensor(shape, [element(p) for p in positions(shape)])


def axis_of(axis, rank):
    if not -rank <= axis < rank:
        raise Refused("axis")
    return axis % rank


def resolve(index, extent, oob):
    """The place that an index means; None: an element of zeros."""
    if oob == "clip":  # NumPy's: a negative index is below the first
        oob, index = "clamp", max(index, 0)
    if -extent <= index < extent:
        return index % extent
    if oob == "zero":
        return None
    if oob == "error" or extent == 0:
        raise Outside(index)
    return index % extent if oob == "wrap" else 0 if index < 0 else extent - 1


def pick(data, coordinates, item):
    return bytes(item) if None in coordinates else data.at(coordinates)


def gather(data, indices, item, axis=0, batch_dims=0, oob="error"):
    axis = axis_of(axis, len(data.shape))
    b = batch_dims
    if not 0 <= b <= min(len(indices.shape), axis) or data.shape[:b] != indices.shape[:b]:
        raise Refused("batch_dims")
    places = Tensor(indices.shape, [resolve(i, data.shape[axis], oob) for i in indices.elements])
    inner = len(indices.shape) - b

    def element(p):
        return pick(data, (*p[:axis], places.at(p[:b] + p[axis : axis + inner]), *p[axis + inner :]), item)

    return build(data.shape[:axis] + indices.shape[b:] + data.shape[axis + 1 :], element)


def gather_elements(data, indices, item, axis=0, oob="error"):
    if len(data.shape) != len(indices.shape):
        raise Refused("ranks")
    axis = axis_of(axis, len(data.shape))
    if any(i != axis and n > m for i, (n, m) in enumerate(zip(indices.shape, data.shape))):
        raise Refused("extents")
    places = Tensor(indices.shape, [resolve(i, data.shape[axis], oob) for i in indices.elements])
    return build(indices.shape, lambda p: pick(data, (*p[:axis], places.at(p), *p[axis + 1 :]), item))


def gather_nd(data, indices, item, batch_dims=0, oob="error"):
    b, rank = batch_dims, len(data.shape)
    if not indices.shape or rank == 0 or not 0 <= b < min(rank, len(indices.shape)) or data.shape[:b] != indices.shape[:b]:
        raise Refused("batch_dims")
    width = indices.shape[-1]
    if not 1 <= width <= rank - b:
        raise Refused("tuples")
    places = Tensor(indices.shape, [resolve(i, data.shape[b + at % width], oob) for at, i in enumerate(indices.elements)])
    outer = indices.shape[:-1]

    def element(p):
        here = p[: len(outer)]
        return pick(data, (*p[:b], *(places.at((*here, k)) for k in range(width)), *p[len(outer) :]), item)

    return build(outer + data.shape[b + width :], element)


def take(data, indices, item, axis=None, mode="raise"):
    if axis is None:
        data, axis = Tensor([len(data.elements)], data.elements), 0
    elif not data.shape:
        data = Tensor([1], data.elements)
    return gather(data, indices, item, axis, oob={"raise": "error"}.get(mode, mode))


def take_along_axis(data, indices, item, axis):
    if axis is None:
        if len(indices.shape) != 1:
            raise Refused("rank")
        data, axis = Tensor([len(data.elements)], data.elements), 0
    if len(data.shape) != len(indices.shape):
        raise Refused("ranks")
    axis = axis_of(axis, len(data.shape))
    shape = []
    for i, (n, m) in enumerate(zip(indices.shape, data.shape)):
        if i != axis and n != m and 1 not in (n, m):
            raise Refused("extents")
        shape.append(n if i == axis or m == 1 else m)
    places = Tensor(indices.shape, [resolve(i, data.shape[axis], "error") for i in indices.elements])

    def element(p):
        at = places.at([k if n > 1 else 0 for k, n in zip(p, indices.shape)])
        return data.at([at if i == axis else k if n > 1 else 0 for i, (k, n) in enumerate(zip(p, data.shape))])

    return build(shape, element)


def take_along_dim(data, indices, item, dim=None):
    if dim is None:
        indices = Tensor([len(indices.elements)], indices.elements)
    return take_along_axis(data, indices, item, dim)


def index_select(data, indices, item, dim):
    if len(indices.shape) > 1:
        raise Refused("rank")
    if not data.shape:
        if dim not in (0, -1) or len(indices.elements) != 1:
            raise Refused("scalar")
        return Tensor([], [data.elements[resolve(indices.elements[0], 1, "error")]])
    return gather(data, Tensor([len(indices.elements)], indices.elements), item, dim)
