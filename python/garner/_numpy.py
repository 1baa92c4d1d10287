# SPDX-License-Identifier: MIT
"""garner.Arrays as NumPy's, where the buffer protocol has no name for the type. Called by Array.__array__."""

import ast

_ML_DTYPES = {
    "bf16": "bfloat16", "f8e4m3fn": "float8_e4m3fn", "f8e4m3fnuz": "float8_e4m3fnuz", "f8e5m2": "float8_e5m2",
    "f8e5m2fnuz": "float8_e5m2fnuz", "f8e8m0": "float8_e8m0fnu",
}  # fmt: skip
_PACKED = {"i4": "int4", "u4": "uint4", "i2": "int2", "u2": "uint2", "f4e2m1": "float4_e2m1fn"}


def _of_package(name, array):
    try:
        import ml_dtypes
    except ModuleNotFoundError:
        raise TypeError(f"NumPy has no type for {array.dtype} without the package ml_dtypes") from None
    return getattr(ml_dtypes, name)


def as_array(array, dtype=None, copy=None):
    """The elements as an ndarray: in place where they are whole bytes, else converted."""
    import numpy

    name = array.dtype
    if name in _ML_DTYPES or name == "opaque":
        kind = numpy.dtype(ast.literal_eval(array._descr)) if name == "opaque" and array._descr else None
        if name in _ML_DTYPES:
            kind = numpy.dtype(_of_package(_ML_DTYPES[name], array))
        dense = array.tobytes() if copy or not array._is_dense else array
        made = numpy.frombuffer(dense, kind or f"V{array.nbytes // max(array.size, 1) or 1}").reshape(array.shape)
    elif copy is False:
        raise ValueError(f"elements of type {name} cannot be NumPy's without a copy")
    elif name in _PACKED:
        made = numpy.array(array.tolist(), numpy.float32 if name[0] == "f" else numpy.int8).astype(_of_package(_PACKED[name], array))
    else:  # strings, and codes that no package has
        made = numpy.array(array.tolist(), None if name == "str" else numpy.uint8).reshape(array.shape)
    return made if dtype is None else made.astype(dtype)
