# SPDX-License-Identifier: MIT
"""torch, CuPy and JAX on buffers that are given as addresses. Each has ways(cell, buffers): label, the n-th call, and
where its result lies. One that is missing is named."""

import os
from typing import Any, Callable, NamedTuple

import numpy as np

from ..peers import Way, one_line

NAMES = ("torch", "cupy", "jax")


class Buffers(NamedTuple):
    """Addresses; a set of indices each."""

    data: int
    indices: list
    out: int


class GpuWay(NamedTuple):
    label: str
    call: Callable  # with the number of the call, which says what set of indices it takes
    address: Callable  # of what a call gave: where the result lies, and how many bytes it has
    wait: Any = None  # waits for all calls, where they are not on the default stream


class View:
    """Memory of the device as others take it."""

    def __init__(self, address, shape, dtype):
        typestr = np.dtype(dtype).str
        self.__cuda_array_interface__ = {"shape": tuple(shape), "typestr": typestr, "data": (address, False), "version": 3}


def _views(cell, buffers):
    """data, the sets of indices, out."""
    return (View(buffers.data, cell.data, cell.numpy_dtype), [View(a, cell.indices, cell.numpy_index_dtype) for a in buffers.indices],
            View(buffers.out, cell.out, cell.numpy_dtype))  # fmt: skip


def _turns(ways, address):
    """Ways for each set of indices, alike, as ways that take turns."""
    for alike in zip(*ways):
        calls = [way.call for way in alike]
        yield GpuWay(alike[0].label, lambda n, calls=calls: calls[n % len(calls)](), address)


class Torch:
    def __init__(self):
        import torch

        from ..peers import torch as ways

        torch.set_grad_enabled(False)
        torch.set_default_device("cuda")
        self.torch, self.known, self.version = torch, ways, torch.__version__

    def supports(self, cell):
        return self.known.supports(cell)

    def tensors(self, cell, buffers):
        data, sets, out = _views(cell, buffers)
        return (self.torch.as_tensor(data, device="cuda"), [self.torch.as_tensor(one, device="cuda") for one in sets],
                self.torch.as_tensor(out, device="cuda"))  # fmt: skip

    def ways(self, cell, buffers):
        data, sets, out = self.tensors(cell, buffers)

        def address(result):
            if result is None or result is out:
                return out.data_ptr(), cell.out_bytes
            result = result.contiguous()
            return result.data_ptr(), result.numel() * result.element_size()

        return _turns([list(self.known.WAYS[cell.op](cell, data, one, out)) for one in sets], address)


class Cupy:
    def __init__(self):
        import cupy

        self.cupy, self.version = cupy, cupy.__version__

    def supports(self, cell):
        return ""

    def _grids(self, shape, rank):
        arange = self.cupy.arange
        return [arange(n).reshape([-1 if d == axis else 1 for d in range(rank)]) for axis, n in enumerate(shape)]

    def _ways(self, cell, data, indices, out):
        cupy, axis = self.cupy, cell.axis
        if cell.op == "gather" and not cell.batch_dims:
            key = (slice(None),) * axis + (indices,)
            yield Way("take(out=)", lambda: cupy.take(data, indices, axis, out))
        elif cell.op == "gather_elements":
            part = data[cell.cut] if cell.cut else data
            yield Way("take_along_axis", lambda: cupy.take_along_axis(part, indices, axis))
            grids = self._grids(cell.indices, indices.ndim)
            key = tuple(indices if d == axis else grids[d] for d in range(indices.ndim))
        else:
            parts = [indices[..., k] for k in range(indices.shape[-1])] if cell.op == "gather_nd" else [indices]
            key = (*self._grids(cell.indices[: cell.batch_dims], parts[0].ndim), *parts)
        yield Way("data[...]", lambda: data[key])

    def ways(self, cell, buffers):
        data, sets, out = (
            [self.cupy.asarray(one) for one in view] if isinstance(view, list) else self.cupy.asarray(view) for view in _views(cell, buffers)
        )

        def address(result):
            result = out if result is None else self.cupy.ascontiguousarray(result)
            return result.data.ptr, result.nbytes

        return _turns([list(self._ways(cell, data, one, out)) for one in sets], address)


class Jax:
    """It runs on a stream of its own, so its time is the host's, from the first of several calls until all are done."""

    def __init__(self):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax

        jax.config.update("jax_enable_x64", True)
        from ..peers import jax as ways

        self.jax, self.known, self.version = jax, ways, jax.__version__
        if not any(device.platform in ("gpu", "cuda") for device in jax.devices()):
            raise RuntimeError("JAX has no GPU here")
        self.others = self._other()

    @staticmethod
    def _other():
        """Whoever hands memory over by DLPack."""
        for peer in (Torch, Cupy):
            try:
                return peer()
            except Exception:  # whatever a broken install raises
                continue
        raise RuntimeError("JAX takes memory of others by way of torch or CuPy, and there is neither")

    def supports(self, cell):
        return self.known.supports(cell)

    def ways(self, cell, buffers):
        views = _views(cell, buffers)
        take = (lambda v: self.others.torch.as_tensor(v, device="cuda")) if isinstance(self.others, Torch) else self.others.cupy.asarray
        give = self.jax.dlpack.from_dlpack
        data, sets, cut = give(take(views[0])), [give(take(one)) for one in views[1]], cell.cut

        def address(result):
            result.block_until_ready()
            return result.unsafe_buffer_pointer(), result.nbytes

        for mode in self.known._modes(cell):
            if mode == "fill" and cell.dist != "negative":
                continue  # the slowest of the three
            function = self.known._function(cell, mode)
            compiled = self.jax.jit((lambda d, i, f=function: f(d[cut], i)) if cut else function)
            yield GpuWay(f"mode='{mode}'", lambda n, f=compiled: f(data, sets[n % len(sets)]), address,
                         lambda result: result.block_until_ready())  # fmt: skip


KINDS = {"torch": Torch, "cupy": Cupy, "jax": Jax}


def load(wanted):
    """The peers that there are, and why the others are missing."""
    found, missing = {}, {}
    for name in wanted:
        try:
            found[name] = KINDS[name]()
        except Exception as error:  # a broken install is missing too, whatever it raises
            missing[name] = one_line(error)
    return found, missing
