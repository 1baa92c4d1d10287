# SPDX-License-Identifier: MIT
"""The cells of workloads.tsv and what follows from them: shapes, sizes, which extents are gathered."""

import fnmatch
from dataclasses import dataclass
from math import prod

# Type -> NumPy's name and bytes of an element. Strings are 16-byte views to garner.
DTYPES = {
    "f32": ("float32", 4), "f16": ("float16", 2), "f64": ("float64", 8), "bool": ("bool", 1),
    "u8": ("uint8", 1), "u16": ("uint16", 2), "u32": ("uint32", 4), "u64": ("uint64", 8),
    "i8": ("int8", 1), "i16": ("int16", 2), "i32": ("int32", 4), "i64": ("int64", 8),
    "c64": ("complex64", 8), "c128": ("complex128", 16), "str": ("object", 16),
}  # fmt: skip
OPERATORS = ("gather", "gather_elements", "gather_nd")
DISTRIBUTIONS = ("uniform", "sorted", "zipf", "same", "negative", "perm")
FRESH_FROM = 32 << 20


@dataclass(frozen=True)
class Workload:
    name: str
    op: str
    dtype: str
    data: tuple
    indices: tuple
    axis: int
    batch_dims: int
    index_dtype: str
    dist: str
    offsets: tuple = (0, 0, 0)  # bytes that data, indices and out lie off a 64-byte line

    @classmethod
    def from_json(cls, fields):
        return cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()})

    @property
    def item(self):
        return DTYPES[self.dtype][1]

    @property
    def numpy_dtype(self):
        return DTYPES[self.dtype][0]

    @property
    def numpy_index_dtype(self):
        return DTYPES[self.index_dtype][0]

    @property
    def data_bytes(self):
        return prod(self.data) * self.item

    @property
    def index_bytes(self):
        return prod(self.indices) * DTYPES[self.index_dtype][1]

    @property
    def out_bytes(self):
        return prod(self.out) * self.item

    @property
    def out(self):
        """The shape of the result."""
        if self.op == "gather":
            return self.data[: self.axis] + self.indices[self.batch_dims :] + self.data[self.axis + 1 :]
        if self.op == "gather_elements":
            return self.indices
        return self.indices[:-1] + self.data[self.batch_dims + self.indices[-1] :]

    @property
    def gathered(self):
        """The data axes that indices choose from."""
        if self.op == "gather_nd":
            return tuple(range(self.batch_dims, self.batch_dims + self.indices[-1]))
        return (self.axis,)

    @property
    def bounds(self):
        return tuple(self.data[a] for a in self.gathered)

    @property
    def run(self):
        """Bytes that one index (or one tuple) copies."""
        if self.op == "gather_elements":
            return self.item
        return prod(self.data[self.gathered[-1] + 1 :]) * self.item

    @property
    def cut(self):
        """Slices that make data fit indices off the axis, or None if it does: GatherElements alone lets
        indices be smaller, and some peers must be given less data for it."""
        if self.op != "gather_elements":
            return None
        pairs = list(enumerate(zip(self.data, self.indices)))
        if all(n == m for d, (n, m) in pairs if d != self.axis):
            return None
        return tuple(slice(n) if d == self.axis else slice(m) for d, (n, m) in pairs)

    @property
    def points(self):
        """How many runs are moved."""
        return self.out_bytes // self.run if self.run else 0

    @property
    def tiny(self):
        return self.name.startswith("tiny-")

    @property
    def fresh(self):
        """Whether each sample gets other indices: else a table that is to lie in memory would come
        out of the cache, since a cell touches only a part of it."""
        return self.data_bytes >= FRESH_FROM and self.dist in ("uniform", "sorted", "zipf")


def line_of(cell):
    """The cell as a line of a table."""
    data, indices = ("x".join(map(str, shape)) or "-" for shape in (cell.data, cell.indices))
    return "\t".join(map(str, (cell.name, cell.op, cell.dtype, data, indices, cell.axis, cell.batch_dims, cell.index_dtype, cell.dist)))


def _shape(text):
    return () if text == "-" else tuple(int(n) for n in text.split("x"))


def _parse(line, where):
    fields = line.split("\t")
    if len(fields) != 9:
        raise ValueError(f"{where}: {len(fields)} fields, not 9")
    name, op, dtype, data, indices, axis, batch_dims, index_dtype, dist = fields
    for value, known in ((op, OPERATORS), (dtype, DTYPES), (index_dtype, DTYPES), (dist, DISTRIBUTIONS)):
        if value not in known:
            raise ValueError(f"{where}: {value!r} is none of {', '.join(known)}")
    return Workload(name, op, dtype, _shape(data), _shape(indices), int(axis), int(batch_dims), index_dtype, dist)


def read(path):
    cells = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if line and not line.startswith("#"):
                cells.append(_parse(line, f"{path}:{number}"))
    names = [cell.name for cell in cells]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{path}: named twice: {', '.join(twice)}")
    return cells


def select(cells, globs):
    """Those whose name or operator matches one of the comma-separated patterns."""
    patterns = globs.split(",")
    return [c for c in cells if any(fnmatch.fnmatchcase(n, p) for p in patterns for n in (c.name, c.op))]
