# SPDX-License-Identifier: MIT
"""JAX: compiled indexing and take_along_axis on arrays laid over the shared memory. It takes
no out; it uses every CPU that it sees."""

import jax
import jax.numpy as jnp
import numpy as np

from . import Way

TYPES = ("f32", "f16", "f64", "bool", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "c64", "c128")


def version():
    return jax.__version__


def supports(cell):
    return "" if cell.dtype in TYPES else f"no {cell.dtype}"


def _modes(cell):
    """With mode "fill" negative indices count from the end; the other two do not check as much."""
    return ("fill",) if cell.dist == "negative" else ("fill", "clip", "promise_in_bounds")


def _gather_nd(cell, mode):
    def one(data, indices):
        return data.at[tuple(jnp.moveaxis(indices, -1, 0))].get(mode=mode)

    for _ in range(cell.batch_dims):
        one = jax.vmap(one)
    return one


def _function(cell, mode):
    if cell.op == "gather_nd":
        return _gather_nd(cell, mode)
    if cell.op == "gather_elements":
        return lambda data, indices: jnp.take_along_axis(data, indices, cell.axis, mode=mode)
    before = (slice(None),) * (cell.axis - cell.batch_dims)

    def take(data, indices):
        return data.at[before + (indices,)].get(mode=mode)

    for _ in range(cell.batch_dims):
        take = jax.vmap(take)
    return take


def _indices(inputs):
    """The indices as they are when called for. JAX copies an array that does not begin at a line."""
    laid = jax.dlpack.from_dlpack(inputs.indices)
    if laid.unsafe_buffer_pointer() == inputs.indices.ctypes.data:
        return lambda: laid
    return lambda: jax.dlpack.from_dlpack(inputs.indices)


def prepare(cell, inputs, context):
    data, indices = jax.dlpack.from_dlpack(inputs.data), _indices(inputs)
    cut = cell.cut
    ways = []
    for mode in _modes(cell):
        function = _function(cell, mode)
        compiled = jax.jit((lambda d, i, f=function: f(d[cut], i)) if cut else function)
        ways.append(Way(f"mode='{mode}'", lambda c=compiled: c(data, indices()).block_until_ready(), np.asarray))
    return ways
