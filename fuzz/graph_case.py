# SPDX-License-Identifier: MIT
"""Random graphs of gathers and what they mean, without a file format: values with their arrays, nodes, and the result of each
by NumPy, written from the specifications.

A case is whole, or has one thing wrong with it, and then `error` says of what kind: range, shape, type, or file for what its text does not know.
"""

import dataclasses

import numpy as np

# Element types by the names of garner; bf16 is kept as its bits.
NUMPY = {
    "f32": "f4", "f64": "f8", "f16": "f2", "bf16": "u2", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8",
    "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8", "bool": "?", "str": "O",
}  # fmt: skip
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")


class Wrong(Exception):
    """What a specification refuses; its kind."""


@dataclasses.dataclass(eq=False)
class Value:
    name: str
    dtype: str
    source: str  # input, initializer, constant or node
    array: np.ndarray | None  # None where there is no result
    shape: tuple | None = ()  # as the model states it: numbers, names, None; None is no word about it
    doubts: frozenset = frozenset()  # rules by which a runtime is known to have another result here
    is_fixed: bool = False  # the model says all of it


@dataclasses.dataclass(eq=False)
class Node:
    name: str
    operator: str
    version: str  # as garner names it: onnx-13, openvino-8
    inputs: list
    out: Value
    axis: int = 0
    batch_dims: int = 0
    axis_value: Value | None = None  # where the axis is an input


@dataclasses.dataclass(eq=False)
class Case:
    format: str
    values: list = dataclasses.field(default_factory=list)
    nodes: list = dataclasses.field(default_factory=list)
    error: str | None = None
    traits: dict = dataclasses.field(default_factory=dict)  # of the file: its style's business
    shown: set = dataclasses.field(default_factory=set)  # nodes' results that are outputs though a node reads them

    def of_source(self, *sources):
        return [value for value in self.values if value.source in sources]

    def outputs(self):
        """Whatever no node reads, and what is shown all the same."""
        read = {id(value) for node in self.nodes for value in (*node.inputs, node.axis_value)}
        made = [node.out for node in self.nodes]
        return [value for value in made if id(value) not in read or value.name in self.shown]


# ---- What the operators mean -----------------------------------------------------------------------


def resolve(indices, extent, outside):
    """Indices counted from 0, and which of them are outside; only `zero` lets those through."""
    wide = indices.astype("i8") if indices.dtype.kind == "i" else indices.astype("u8").astype("f8")
    bad = (wide < -extent) | (wide >= extent)
    if bad.any() and outside == "error":
        raise Wrong("range")
    wide = np.where(bad, 0, wide).astype("i8")
    return np.where(wide < 0, wide + extent, wide), bad


def zero_of(data):
    return "" if data.dtype == object else data.dtype.type(0)


def as_array(data, shape, items):
    out = np.empty(len(items), data.dtype)
    for i, item in enumerate(items):
        out[i] = item
    return out.reshape(shape)


def gather(data, indices, axis, batch, outside):
    if data.ndim == 0 or not -data.ndim <= axis < data.ndim:
        raise Wrong("shape")
    axis %= data.ndim
    if not -min(data.ndim, indices.ndim) <= batch <= min(data.ndim, indices.ndim):
        raise Wrong("shape")
    batch += indices.ndim if batch < 0 else 0
    if batch > axis or data.shape[:batch] != indices.shape[:batch]:
        raise Wrong("shape")
    at, bad = resolve(indices, data.shape[axis], outside)
    shape = data.shape[:axis] + indices.shape[batch:] + data.shape[axis + 1 :]
    out = np.empty(shape, data.dtype)
    for where in np.ndindex(*data.shape[:batch]):
        part, picks, wrong = data[where], at[where], bad[where]
        if part.shape[axis - batch] == 0:
            out[where] = zero_of(data)
            continue
        picked = np.take(part, picks, axis - batch)
        tail = (1,) * (part.ndim - (axis - batch) - 1)
        out[where] = np.where(np.reshape(wrong, np.shape(wrong) + tail), zero_of(data), picked)
    return out


def gather_elements(data, indices, axis, equal):
    if data.ndim == 0 or indices.ndim != data.ndim or not -data.ndim <= axis < data.ndim:
        raise Wrong("shape")
    axis %= data.ndim
    for d, (n, m) in enumerate(zip(indices.shape, data.shape)):
        if d != axis and (n != m if equal else n > m):
            raise Wrong("shape")
    at, _ = resolve(indices, data.shape[axis], "error")
    items = []
    for where in np.ndindex(*indices.shape):
        items.append(data[where[:axis] + (int(at[where]),) + where[axis + 1 :]])
    return as_array(data, indices.shape, items)


def gather_nd(data, indices, batch, joins):
    if data.ndim == 0 or indices.ndim == 0 or not 0 <= batch < min(data.ndim, indices.ndim):
        raise Wrong("shape")
    count = indices.shape[-1]
    if data.shape[:batch] != indices.shape[:batch] or not 1 <= count <= data.ndim - batch:
        raise Wrong("shape")
    parts = [resolve(indices[..., n], data.shape[batch + n], "error")[0] for n in range(count)]
    tail = data.shape[batch + count :]
    out = np.empty(indices.shape[:-1] + tail, data.dtype)
    for where in np.ndindex(*indices.shape[:-1]):
        out[where] = data[where[:batch] + tuple(int(part[where]) for part in parts)]
    if joins and batch > 1:
        out = out.reshape((int(np.prod(data.shape[:batch])),) + out.shape[batch:])
    return out


BATCHED = ("openvino-7", "openvino-8")


def result_of(node):
    """By the version's rules, or Wrong."""
    data, indices = (value.array for value in node.inputs)
    if node.operator == "Gather" and node.version.startswith("onnx") and node.batch_dims:
        raise Wrong("file")  # there is no such attribute
    check_types(node)
    if node.operator == "Gather":
        if node.version not in BATCHED and node.batch_dims:
            raise Wrong("shape")
        return gather(data, indices, node.axis, node.batch_dims, "zero" if node.version == "openvino-8" else "error")
    if node.operator == "GatherElements":
        return gather_elements(data, indices, node.axis, node.version.startswith("openvino"))
    if node.version == "onnx-11" and node.batch_dims:
        raise Wrong("shape")
    return gather_nd(data, indices, node.batch_dims, node.version == "openvino-5")


def check_types(node):
    data, indices = (value.dtype for value in node.inputs)
    onnx = node.version.startswith("onnx")
    if onnx and node.operator == "GatherND":
        allowed = ("i64",)
    elif onnx or node.operator == "GatherElements":
        allowed = ("i32", "i64")
    else:
        allowed = INTEGERS
    if indices not in allowed or (onnx and node.version != "onnx-13" and data == "bf16"):
        raise Wrong("type")
