# SPDX-License-Identifier: MIT
"""Arrays on GPUs whose libraries the C part does not ask itself: CuPy's, JAX's, and others' by the Array API.

Called for such arrays alone. Nothing is imported here: who has an array of a library has imported that.
"""

import sys


def _is_of(array, library):
    return any(kind.__module__.partition(".")[0] == library for kind in type(array).__mro__)


def _module(array, library):
    return sys.modules.get(library) if _is_of(array, library) else None


def _namespace(array):
    find = getattr(array, "__array_namespace__", None)
    return find() if find else None


def stream(array, device):
    """The current stream of the array's library, as a number; None if it has none, and then the array is ready."""
    if torch := _module(array, "torch"):
        return torch.cuda.current_stream(device).cuda_stream
    if cupy := _module(array, "cupy"):
        with cupy.cuda.Device(device):
            return cupy.cuda.get_current_stream().ptr
    ready = getattr(array, "block_until_ready", None)  # JAX's
    if ready is not None:
        ready()
    return None


def empty(array, shape, device):
    """A new array of the same library, type and device; None if nobody says how to make one."""
    if cupy := _module(array, "cupy"):
        with cupy.cuda.Device(device):
            return cupy.empty(shape, array.dtype)
    namespace = _namespace(array)
    return namespace.empty(shape, dtype=array.dtype, device=array.device) if namespace else None


def is_immutable(array):
    """Whether others may be looking at the array's memory in the belief that it does not change."""
    return _is_of(array, "jax") or _is_of(array, "jaxlib")


def upload(array, memory, device):
    """A bytearray as an array of bytes on the device; None if nobody says how to make one."""
    if torch := _module(array, "torch"):
        return torch.frombuffer(memory, dtype=torch.uint8).to(array.device)
    cupy, namespace = _module(array, "cupy"), _namespace(array)
    if cupy is None and namespace is None:
        return None
    numpy = sys.modules.get("numpy")
    host = numpy.frombuffer(memory, numpy.uint8) if numpy else memoryview(memory)
    if cupy is None:
        return namespace.asarray(host, device=array.device)
    with cupy.cuda.Device(device):
        return cupy.asarray(host)
