# SPDX-License-Identifier: MIT
"""Random inputs of the three operators, with what NumPy makes of them: MAKERS[operator](rng, dtype) gives data
of that type, or of any, indices, attributes and the result. And the versions of each operator in ONNX."""

import numpy as np

VERSIONS = {"Gather": (1, 11, 13), "GatherElements": (11, 13), "GatherND": (11, 12, 13)}
TYPES = ["f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "c8", "c16"]


def random_data(rng, shape, dtype):
    dtype = np.dtype(rng.choice(TYPES) if dtype is None else dtype)
    count = int(np.prod(shape))
    if dtype.kind == "O":
        return np.array(["s" * int(n) for n in rng.integers(0, 40, size=count)], object).reshape(shape)
    if dtype.kind == "b":
        return rng.integers(0, 2, size=shape).astype(bool)
    return np.frombuffer(rng.bytes(count * dtype.itemsize), dtype=dtype).reshape(shape)


def as_array(result, data):
    """NumPy gives a bare object for a single one."""
    return result if isinstance(result, (np.ndarray, np.generic)) else np.array(result, data.dtype)


def random_gather(rng, dtype=None):
    shape = tuple(rng.integers(1, 6, size=rng.integers(1, 5)))
    axis = int(rng.integers(-len(shape), len(shape)))
    extent = shape[axis]
    picked = tuple(rng.integers(0, 4, size=rng.integers(0, 4)))
    indices = rng.integers(-extent, extent, size=picked, dtype=rng.choice(["i4", "i8"]))
    data = random_data(rng, shape, dtype)
    return data, np.asarray(indices), {"axis": axis}, as_array(np.take(data, indices, axis=axis), data)


def random_gather_elements(rng, dtype=None):
    shape = tuple(rng.integers(1, 6, size=rng.integers(1, 5)))
    axis = int(rng.integers(-len(shape), len(shape)))
    extent = shape[axis]
    smaller = [int(rng.integers(1, n + 1)) for n in shape]
    smaller[axis] = int(rng.integers(1, 8))
    indices = rng.integers(-extent, extent, size=smaller, dtype=rng.choice(["i4", "i8"]))
    data = random_data(rng, shape, dtype)
    corner = tuple(slice(None) if d == axis % len(shape) else slice(n) for d, n in enumerate(smaller))
    return data, indices, {"axis": axis}, np.take_along_axis(data[corner], indices.astype("i8"), axis)


def random_gather_nd(rng, dtype=None):
    shape = tuple(rng.integers(1, 5, size=rng.integers(1, 5)))
    batch = int(rng.integers(0, len(shape)))
    k = int(rng.integers(1, len(shape) - batch + 1))
    inner = tuple(rng.integers(0, 4, size=rng.integers(0, 3)))
    indices = np.stack([rng.integers(-n, n, size=shape[:batch] + inner) for n in shape[batch:batch + k]], axis=-1)
    data = random_data(rng, shape, dtype)
    want = np.empty(shape[:batch] + inner + shape[batch + k:], data.dtype)
    for at in np.ndindex(*shape[:batch], *inner):
        want[at] = data[at[:batch] + tuple(indices[at])]
    return data, indices, {"batch_dims": batch}, want


MAKERS = {"Gather": random_gather, "GatherElements": random_gather_elements, "GatherND": random_gather_nd}
