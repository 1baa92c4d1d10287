# SPDX-License-Identifier: MIT
"""pyarrow's arrays: read where they lie, and made of results without a copy. Called by the C part for pyarrow's objects alone.

Lists of a fixed size are axes: a FixedSizeListArray of 1000 lists of 64 floats is a tensor of the shape (1000, 64).
"""

import sys
from math import prod

from . import _garner

_NUMBERS = {
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "halffloat": "f16", "float": "f32", "double": "f64", "bool": "bool",
}  # fmt: skip
_TYPES = {name: kind for kind, name in _NUMBERS.items()}


def _is_opaque(types, kind):
    """Whether elements have a fixed size and no meaning to garner."""
    return types.is_temporal(kind) or types.is_decimal(kind) or types.is_fixed_size_binary(kind)


def _refusal(types, kind):
    """What to do instead with arrays of a type."""
    if types.is_dictionary(kind):
        return "; give its .indices, and look them up in its .dictionary"
    if hasattr(kind, "storage_type"):
        return "; give its .storage"
    return ", whose elements have no fixed size; pyarrow's own .take() moves them"


def _refuse(operator, name, why):
    raise _garner.BadType(f"{operator}: {name} {why}")


def _one_array(pyarrow, given):
    if not isinstance(given, pyarrow.ChunkedArray):
        return given
    return given.chunk(0) if given.num_chunks == 1 else pyarrow.concat_arrays(given.chunks or [pyarrow.array([], given.type)])


def read(given, operator, name):
    """An array's memory: its buffer, the first element's place there in bytes, type, bytes and format of elements, and the shape.

    None for objects of pyarrow's that are no arrays.
    """
    pyarrow = sys.modules["pyarrow"]
    types = pyarrow.types
    if isinstance(given, (pyarrow.Table, pyarrow.RecordBatch)):
        _refuse(operator, name, f"is a pyarrow {type(given).__name__}; give one of its columns")
    if not isinstance(given, (pyarrow.Array, pyarrow.ChunkedArray)):
        return None
    array = _one_array(pyarrow, given)
    shape = [len(array)]
    while True:
        if array.null_count:
            _refuse(operator, name, f"has {array.null_count} nulls, which garner does not carry along; give it .drop_null() or .fill_null(value)")
        if not types.is_fixed_size_list(array.type):
            break
        shape.append(array.type.list_size)
        array = array.flatten()
    kind = str(array.type)
    if kind not in _NUMBERS and not _is_opaque(types, array.type):
        _refuse(operator, name, f"is of pyarrow's type {kind}{_refusal(types, array.type)}")
    dtype = _NUMBERS.get(kind, "opaque")
    if dtype == "bool":  # bits in pyarrow, bytes here
        array = array.cast(pyarrow.uint8())
    item = array.type.bit_width // 8
    buffer = array.buffers()[1]
    if buffer is None or not len(array):
        return b"", 0, dtype, item, f"{item}s", tuple(shape)
    if not buffer.is_cpu:
        _refuse(operator, name, "is on a device; garner works in the CPU's memory, so copy it there first")
    return buffer, array.offset * item, dtype, item, f"{item}s", tuple(shape)


def _levels(pyarrow, kind):
    """The type of the innermost elements, and the types of the lists around them, from inside."""
    lists = []
    while pyarrow.types.is_fixed_size_list(kind):
        lists.insert(0, kind)
        kind = kind.value_type
    return kind, lists


def write(like, made):
    """A garner.Array as pyarrow's, of the type of another array of pyarrow's where the elements have the same.

    An element alone is a scalar, and further axes are lists of a fixed size. What pyarrow has no type for stays as it is.
    """
    pyarrow = sys.modules["pyarrow"]
    kind, lists = _levels(pyarrow, like.type)
    if _NUMBERS.get(str(kind), "opaque") != made.dtype:
        if made.dtype not in _TYPES:
            return made
        kind = pyarrow.type_for_alias(_TYPES[made.dtype])
    is_bool = made.dtype == "bool"
    values = pyarrow.Array.from_buffers(pyarrow.uint8() if is_bool else kind, made.size, [None, pyarrow.py_buffer(made)])
    if is_bool:
        values = values.cast(pyarrow.bool_())
    shape = made.shape
    for axis in range(len(shape) - 1, 0, -1):
        own = [each for each in lists if each.list_size == shape[axis] and each.value_type == values.type]
        around = own[0] if own else pyarrow.list_(values.type, shape[axis])
        values = pyarrow.Array.from_buffers(around, prod(shape[:axis]), [None], children=[values])
    if not shape:
        return values[0]
    return pyarrow.chunked_array([values]) if isinstance(like, pyarrow.ChunkedArray) else values
