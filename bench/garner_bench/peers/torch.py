# SPDX-License-Identifier: MIT
"""PyTorch: index_select and gather into a given out, embedding, advanced indexing, and take over offsets."""

import numpy as np
import torch

from . import Way

TYPES = ("f32", "f16", "f64", "bool", "u8", "i8", "i16", "i32", "i64", "c64", "c128")


def version():
    return torch.__version__


def supports(cell):
    return "" if cell.dtype in TYPES else f"no {cell.dtype}"


def _grids(shape, rank):
    """Index tensors 0..n-1 for the leading axes, to broadcast against an index of that rank."""
    return [torch.arange(n).reshape([-1 if d == axis else 1 for d in range(rank)]) for axis, n in enumerate(shape)]


def _gather(cell, data, indices, out):
    axis = cell.axis
    if cell.batch_dims:
        yield from _batched_gather(cell, data, indices, out)
        return
    flat = indices.reshape(-1)
    target = out.reshape(cell.data[:axis] + (-1,) + cell.data[axis + 1 :])
    if cell.dist != "negative":
        yield Way("index_select(out=)", lambda: torch.index_select(data, axis, flat, out=target))
        yield Way("index_select", lambda: torch.index_select(data, axis, flat).reshape(cell.out))
        if axis == 0 and data.dim() == 2 and data.is_floating_point():
            yield Way("embedding", lambda: torch.nn.functional.embedding(indices, data))
    key = (slice(None),) * axis + (indices,)
    yield Way("data[indices]", lambda: data[key])


def _batched_gather(cell, data, indices, out):
    batch, axis = cell.batch_dims, cell.axis
    if axis == batch == indices.dim() - 1:
        shape = cell.indices + (1,) * (data.dim() - axis - 1)
        wide = indices.reshape(shape).expand(cell.out)
        yield Way("gather(out=) over expanded indices", lambda: torch.gather(data, axis, wide, out=out))
    key = tuple(_grids(cell.indices[:batch], indices.dim())) + (indices,)
    yield Way("data[grid, indices]", lambda: data[key])


def _gather_elements(cell, data, indices, out):
    axis = cell.axis
    wide = indices.dtype == torch.int64
    if cell.dist != "negative":
        if wide:
            yield Way("gather(out=)", lambda: torch.gather(data, axis, indices, out=out))
            yield Way("gather", lambda: torch.gather(data, axis, indices))
        else:
            yield Way("gather(out=) after long()", lambda: torch.gather(data, axis, indices.long(), out=out))
    grids = _grids(cell.indices, indices.dim())
    key = tuple(indices if d == axis else grids[d] for d in range(indices.dim()))
    yield Way("data[grid, indices]", lambda: data[key])


def _gather_nd(cell, data, indices, out):
    parts = indices.unbind(-1)
    key = tuple(_grids(cell.indices[: cell.batch_dims], parts[0].dim())) + tuple(parts)
    yield Way("data[i, j, ...]", lambda: data[key])
    if cell.dist != "negative" and not cell.batch_dims:
        steps = [int(np.prod(cell.bounds[k + 1 :])) for k in range(len(parts))]
        rows = data.reshape((int(np.prod(cell.bounds)),) + cell.data[len(parts) :])
        target = out.reshape((-1,) + cell.data[len(parts) :])

        def call():
            offsets = parts[0] * steps[0]
            for part, step in zip(parts[1:], steps[1:]):
                offsets = offsets.add_(part, alpha=step)
            torch.index_select(rows, 0, offsets.reshape(-1), out=target)

        yield Way("index_select(out=) over computed offsets", call, lambda _: out)


WAYS = {"gather": _gather, "gather_elements": _gather_elements, "gather_nd": _gather_nd}


def prepare(cell, inputs, context):
    torch.set_num_threads(context.threads)
    torch.set_grad_enabled(False)
    data, indices, out = (torch.from_numpy(array) for array in (inputs.data, inputs.indices, inputs.out))
    ways = []
    for way in WAYS[cell.op](cell, data, indices, out):
        given = "(out=)" in way.label
        fetch = (lambda _: inputs.out) if given else (lambda tensor: tensor.numpy())
        ways.append(Way(way.label, way.call, fetch))
    return ways
