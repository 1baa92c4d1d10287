# SPDX-License-Identifier: MIT
"""What a cell must give, by NumPy's plain indexing, and whether a peer gave exactly that, bit by bit."""

import numpy as np

POISON = 0xA5


def _grid(shape, without):
    """Open grids over the shape, as np.ogrid, all but the axis `without`."""
    return [g for d, g in enumerate(np.ogrid[tuple(slice(n) for n in shape)]) if d != without]


def _batched(indices, batch_dims):
    """Grids for the leading axes that data and indices share, fit to be used beside `indices`."""
    shape = indices.shape[:batch_dims]
    grids = np.ogrid[tuple(slice(n) for n in shape)] if batch_dims else []
    return [np.reshape(g, g.shape + (1,) * (indices.ndim - batch_dims)) for g in grids]


def key(cell, indices):
    """What goes between the brackets of data[...]; views of `indices`, so it follows their changes."""
    if cell.op == "gather_elements":
        grids = _grid(indices.shape, cell.axis)
        return tuple(grids[: cell.axis] + [indices] + grids[cell.axis :])
    if cell.op == "gather_nd":
        parts = [indices[..., k] for k in range(indices.shape[-1])]
        return tuple(_batched(parts[0], cell.batch_dims) + parts)
    if cell.batch_dims:
        if cell.axis != cell.batch_dims:
            raise ValueError(f"{cell.name}: axis {cell.axis} with batch_dims {cell.batch_dims}")
        return tuple(_batched(indices, cell.batch_dims) + [indices])
    return (slice(None),) * cell.axis + (indices,)


def expected(cell, data, indices):
    return data[key(cell, indices)]


def poison(out):
    out.reshape(-1).view(np.uint8)[:] = POISON


def _bits(array):
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def difference(got, want):
    """None if they are the same, else one sentence."""
    got = np.asarray(got)
    if got.shape != want.shape:
        return f"the shape is {got.shape}, not {want.shape}"
    if want.dtype == object:
        wrong = [i for i, (a, b) in enumerate(zip(got.reshape(-1).tolist(), want.reshape(-1).tolist())) if a != b]
        return f"{len(wrong)} of {want.size} strings differ" if wrong else None
    if got.dtype != want.dtype:
        return f"the type is {got.dtype}, not {want.dtype}"
    a, b = _bits(got), _bits(want)
    if np.array_equal(a, b):
        return None
    wrong = (a != b).reshape(want.size, -1).any(axis=1)
    return f"{np.count_nonzero(wrong)} of {want.size} elements differ"
