# SPDX-License-Identifier: MIT
"""Makes random cases: make(rng, style). A style is a module that knows a file format (graph_onnx, graph_ir)."""

import numpy as np
from graph_case import BATCHED, INTEGERS, NUMPY, Case, Node, Value, Wrong, as_array, result_of

WORDS = ("", "a", "four", "ü", "日本", "x" * 15, "y" * 16, "z" * 40, "in\x00side")
MANY = 600  # elements: what is bigger is not gathered from again


def fits(array, dtype):
    """Whether an integer type holds all of an array."""
    info = np.iinfo(NUMPY[dtype])
    return array.size == 0 or (int(array.min()) >= info.min and int(array.max()) <= info.max)


class Maker:
    def __init__(self, rng, style):
        self.rng, self.style = rng, style
        self.case = Case(style.FORMAT, traits=style.traits(rng))

    def chance(self, share):
        return self.rng.random() < share

    def one_of(self, things):
        return things[int(self.rng.integers(len(things)))]

    def numbers(self, low, high, count):
        return tuple(int(n) for n in self.rng.integers(low, high, count))

    # ---- Values ----------------------------------------------------------------------------------

    def random_array(self, dtype, shape):
        """Random bits, or what the runtimes keep of a type where they narrow it."""
        count = int(np.prod(shape))
        if dtype == "str":
            return as_array(np.empty(0, object), shape, [self.one_of(WORDS) for _ in range(count)])
        if dtype == "bool":
            return self.rng.integers(0, 2, shape).astype(bool)
        plain = self.style.PLAIN.get(dtype)
        if plain is None:
            bits = np.frombuffer(self.rng.bytes(count * np.dtype(NUMPY[dtype]).itemsize), NUMPY[dtype]).reshape(shape)
            return np.where(np.abs(bits) < 2e-38, 1, bits) if dtype == "f32" and self.style.FLUSHES else bits.copy()
        values = np.asarray(self.rng.integers(*plain, shape))
        return (values.astype("f4").view("u4") >> 16).astype("u2") if dtype == "bf16" else values.astype(NUMPY[dtype])

    def stated(self, shape):
        """A shape as a model may state it: each extent as it is, by a name, or open; or nothing at all."""
        way = self.rng.random()
        if way < 0.4:
            return tuple(shape)
        if way < 0.5:
            return None
        return tuple(n if self.chance(0.4) else None if self.chance(0.5) else f"n{n}" for n in shape)

    def new_value(self, dtype, array, last_known=False):
        name = f"{self.one_of(('v', 'a/b.', 'ü', 'x y'))}{len(self.case.values)}"
        source = self.one_of(self.style.sources(dtype, array.size == 0))
        stated = self.stated(array.shape) if source == "input" else array.shape
        if last_known and stated:
            stated = (*stated[:-1], array.shape[-1])
        value = Value(name, dtype, source, np.asarray(array), stated, is_fixed=source != "input")
        self.case.values.append(value)
        if self.style.PASSES_ON and self.chance(0.15):
            return self.add_node("Identity", "", [value], array, dtype)
        return value

    def add_node(self, operator, version, inputs, array, dtype, **attributes):
        number = len(self.case.nodes)
        doubts, fixed = frozenset().union(*(value.doubts for value in inputs)), all(value.is_fixed for value in inputs)
        out = Value(f"o{number}", dtype, "node", array, None, doubts, fixed)
        self.case.nodes.append(Node(f"{self.one_of(('node', 'n/ö '))}{number}", operator, version, inputs, out, **attributes))
        if self.chance(0.2):
            self.case.shown.add(out.name)
        return out

    def all_values(self):
        return self.case.values + [node.out for node in self.case.nodes]

    def some_data(self):
        there = [value for value in self.all_values() if value.array.ndim and value.array.size < MANY]
        if there and self.chance(0.6):
            return self.one_of(there)
        dtype = self.one_of(self.style.types(self.case.traits))
        shape = self.numbers(0 if self.chance(0.06) else 1, 6, self.rng.integers(1, 5))
        return self.new_value(dtype, self.random_array(dtype, shape))

    # ---- Indices that fit ------------------------------------------------------------------------

    def picks(self, extent, shape, version, operator):
        """Indices into an axis; the shape without elements where there is nothing to pick."""
        if extent == 0:
            return np.zeros((*shape[:-1], 0) if shape else (0,), "i8")
        low = -extent if self.chance(self.style.NEGATIVE) else 0
        picked = np.asarray(self.rng.integers(low, extent, shape))
        if operator == "Gather" and version == "openvino-8" and self.chance(0.2):  # outside is zeros
            picked = np.where(self.rng.random(shape) < 0.3, self.rng.integers(-3 * extent - 2, 3 * extent + 2, shape), picked)
        return picked

    def fitting(self, operator, version, shape):
        """Attributes and indices for data of a shape."""
        rank = len(shape)
        if operator == "GatherND":
            batch = 0 if version == "onnx-11" else int(self.rng.integers(0, rank))
            width = int(self.rng.integers(1, rank - batch + 1))
            inner = self.numbers(0 if self.chance(0.1) else 1, 4, self.rng.integers(0, 3))
            if 0 in shape[batch : batch + width]:
                inner = (*inner[:-1], 0)
            parts = [self.picks(max(n, 1), shape[:batch] + inner, version, operator) for n in shape[batch : batch + width]]
            return {"batch_dims": batch}, np.stack(parts, -1)
        axis = int(self.rng.integers(0, rank))
        written = axis - rank * int(self.chance(0.4))
        if operator == "GatherElements":
            wanted = [n if self.style.EQUAL or self.chance(0.5) else int(self.rng.integers(0, n + 1)) for n in shape]
            wanted[axis] = int(self.rng.integers(0 if self.chance(0.1) else 1, 7)) if shape[axis] else 0
            return {"axis": written}, self.picks(max(shape[axis], 1), tuple(wanted), version, operator)
        batch = int(self.rng.integers(0, axis + 1)) if version in BATCHED and self.chance(0.5) else 0
        inner = self.numbers(0 if self.chance(0.1) else 1, 4, self.rng.integers(0, 3))
        indices = self.picks(shape[axis], shape[:batch] + inner, version, operator)
        if shape[axis] == 0 and indices.shape[:batch] != shape[:batch]:
            indices, batch = np.zeros((0,), "i8"), 0
        if version in BATCHED and batch < indices.ndim <= rank and self.chance(0.3):
            batch -= indices.ndim
        return {"axis": written, "batch_dims": batch}, indices

    # ---- Nodes -----------------------------------------------------------------------------------

    def try_node(self, operator, version, data, indices, attributes):
        """Adds a node and its result; or, if its version refuses it, notes the error and that there is no result."""
        out = self.add_node(operator, version, [data, indices], None, data.dtype, **attributes)
        node = self.case.nodes[-1]
        try:
            out.array = np.asarray(result_of(node))
        except Wrong as wrong:
            self.case.error = str(wrong)
        out.doubts |= self.style.doubts(node)
        if self.style.axis_is_input(node):
            dtype, shape = self.one_of(("i32", "i64")), self.one_of(((), (1,)))
            axis = np.full(shape, node.axis, NUMPY[dtype])
            node.axis_value = Value(f"axis{len(self.case.nodes)}", dtype, self.one_of(("constant", "constant", "input")), axis, shape)
            self.case.values.append(node.axis_value)

    def old_indices(self, operator, version, data, attributes):
        """Something that is there already and would do."""
        allowed = self.style.index_types(operator, version)
        for value in self.rng.permutation(np.array([*self.all_values(), None], object)):
            if value is None or value.dtype not in allowed or value.array.size > 60:
                continue
            try:
                result_of(Node("", operator, version, [data, value], None, **attributes))
                return value
            except Wrong:
                continue
        return None

    def add_gather(self):
        operator, version = self.one_of(self.style.operators(self.case.traits))
        data = self.some_data()
        attributes, array = self.fitting(operator, version, data.array.shape)
        indices = self.old_indices(operator, version, data, attributes) if self.chance(0.2) else None
        if indices is None:
            indices = self.new_indices(operator, version, array)
        self.try_node(operator, version, data, indices, attributes)

    def new_indices(self, operator, version, array):
        """In a type that the operator reads, or in another and converted, where the format has conversions."""
        dtype = self.one_of([name for name in self.style.index_types(operator, version) if fits(array, name)])
        others = [name for name in self.style.CONVERSIONS if name != dtype and fits(array, name)]
        last_known = operator == "GatherND" and self.chance(0.8)  # how long tuples are says what rank the result has
        if not others or not self.chance(0.3):
            return self.new_value(dtype, array.astype(NUMPY[dtype]), last_known)
        other = self.one_of(others)
        first = self.new_value(other, array.astype(NUMPY[other]), last_known)
        return self.add_node("Convert", "", [first], array.astype(NUMPY[dtype]), dtype)

    # ---- One thing wrong -------------------------------------------------------------------------

    def add_wrong(self):
        """A node with one thing wrong, if chance will have it; there are more ways than the reference finds wrong."""
        operator, version = self.one_of(self.style.operators(self.case.traits))
        data = self.some_data()
        shape = data.array.shape
        attributes, array = self.fitting(operator, version, shape)
        types = self.style.index_types(operator, version)
        way = self.one_of(("range", "range", "axis", "batch", "shape", "type"))
        if way == "range" and array.size:
            extent = max(shape) + int(self.one_of((0, 0, 1, 1000, 2**31 - 1 - max(shape))))
            array.reshape(-1)[int(self.rng.integers(array.size))] = self.one_of((extent, -extent - 1))
            types = [name for name in types if fits(array, name)]
        elif way == "axis" and operator != "GatherND":
            attributes["axis"] = self.one_of((len(shape), -len(shape) - 1, 2**31 - 1, -(2**31)))
        elif way == "batch" and operator != "GatherElements":
            attributes["batch_dims"] = self.one_of((len(shape), len(shape) + 1, array.ndim, -array.ndim - 1, 2**31 - 1))
        elif way == "shape":
            array = self.one_of((array[None], np.zeros((), "i8"), np.concatenate([array, array, array]) if array.ndim else array, array[..., :0] if array.ndim else array))
        elif way == "type":
            types = [name for name in INTEGERS if fits(array, name)]
        if not types:
            return
        dtype = self.one_of(types)
        self.try_node(operator, version, data, self.new_value(dtype, np.asarray(array).astype(NUMPY[dtype])), attributes)

    def make(self):
        count = int(self.rng.integers(1, 7))
        wrong_at = int(self.rng.integers(count)) if self.chance(0.25) else None
        for n in range(count):
            (self.add_wrong if n == wrong_at else self.add_gather)()
            if self.case.error:
                break
        if not self.case.nodes:
            self.add_gather()
        return self.case


def make(rng, style):
    return Maker(rng, style).make()
