# SPDX-License-Identifier: MIT
"""The gather operators of ONNX and OpenVINO, for anyone's arrays.

>>> import garner
>>> garner.gather([[1.0, 1.2], [2.3, 3.4], [4.5, 5.7]], [2, -3]).tolist()
[[4.5, 5.7], [1.0, 1.2]]

Data may be NumPy's, torch's or JAX's arrays, or anything else with the buffer protocol or DLPack; nothing is copied,
and the result is of the same kind. Indices may also be lists.
"""

from . import _pickles  # noqa: F401
from ._drawing import Drawing, explain
from ._files import Tensors, load, save
from ._garner import (
    Array,
    BadArgument,
    BadFile,
    BadShape,
    BadSpec,
    BadType,
    Error,
    OutOfRange,
    Plan,
    __version__,
    cpu_info,
    gather,
    gather_elements,
    gather_nd,
    get_num_threads,
    index_select,
    set_num_threads,
    take,
    take_along_axis,
    take_along_dim,
)
from ._model import Model, Port
from ._table import Table, open

__all__ = [
    "Array",
    "BadArgument",
    "BadFile",
    "BadShape",
    "BadSpec",
    "BadType",
    "Drawing",
    "Error",
    "Model",
    "OutOfRange",
    "Plan",
    "Port",
    "Table",
    "Tensors",
    "__version__",
    "cpu_info",
    "explain",
    "gather",
    "gather_elements",
    "gather_nd",
    "get_num_threads",
    "index_select",
    "load",
    "open",
    "save",
    "set_num_threads",
    "take",
    "take_along_axis",
    "take_along_dim",
]


def __getattr__(name):
    """garner.onnxruntime and the like are there without being imported, and load when they are first used."""
    if name not in ("cuda", "dask", "mpi", "onnxruntime", "openvino"):
        raise AttributeError(f"module 'garner' has no attribute {name!r}")
    import importlib

    return importlib.import_module(f"garner.{name}")
