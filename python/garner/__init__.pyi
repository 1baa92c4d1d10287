# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, SupportsIndex, TypeVar, final

from typing_extensions import Buffer

from . import cuda as cuda, dask as dask, mpi as mpi, onnxruntime as onnxruntime, openvino as openvino

class _DLPack(Protocol):
    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

_Data = TypeVar("_Data")
_Out = TypeVar("_Out")
_Spec = Literal[
    "onnx-1", "onnx-11", "onnx-12", "onnx-13",
    "openvino-1", "openvino-5", "openvino-6", "openvino-7", "openvino-8",
]
_OOB = Literal["error", "zero", "clamp", "wrap"]
_Operator = Literal["gather", "gather_elements", "gather_nd", "gather-elements", "gather-nd"]
_Indices = _DLPack | Buffer | SupportsIndex | Sequence[Any]
_Axis = SupportsIndex | _DLPack | Buffer

__version__: str

class Error(Exception):
    status: str | None
    axis: int | None
    position: int | None
    coordinates: tuple[int, ...] | None
    value: int | None
    bound: int | None

class OutOfRange(Error, IndexError): ...
class BadShape(Error, ValueError): ...
class BadType(Error, TypeError): ...
class BadFile(Error, ValueError): ...
class BadArgument(Error, ValueError): ...
class BadSpec(BadArgument): ...

@final
class Array:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def tolist(self) -> Any: ...
    def tobytes(self) -> bytes: ...
    def all(self) -> bool: ...
    def any(self) -> bool: ...
    def __eq__(self, other: object, /) -> Any: ...
    def __ne__(self, other: object, /) -> Any: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __bool__(self) -> bool: ...
    def __contains__(self, value: object, /) -> bool: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: SupportsIndex | slice | tuple[SupportsIndex | slice, ...], /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

@final
class Plan:
    def __new__(
        cls,
        op: _Operator,
        data_shape: Sequence[int],
        indices_shape: Sequence[int],
        *,
        dtype: Any = "f32",
        index_dtype: Any = "i64",
        axis: _Axis = 0,
        batch_dims: SupportsIndex = 0,
        spec: _Spec | None = None,
        strict: bool = False,
        oob: _OOB | None = None,
    ) -> Plan: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    def __call__(self, data: _Data, indices: _Indices, out: Any = None, threads: int | None = None) -> _Data: ...

# The result is of data's kind: NumPy gives NumPy, torch gives torch, JAX gives JAX; where there is no such kind
# (bytes, array.array, lists) it is an Array.
def gather(
    data: _Data,
    indices: _Indices,
    axis: _Axis = 0,
    batch_dims: SupportsIndex = 0,
    *,
    spec: _Spec | None = None,
    strict: bool = False,
    oob: _OOB | None = None,
    out: Any = None,
    threads: int | None = None,
) -> _Data: ...
def gather_elements(
    data: _Data,
    indices: _Indices,
    axis: _Axis = 0,
    *,
    spec: _Spec | None = None,
    strict: bool = False,
    oob: _OOB | None = None,
    out: Any = None,
    threads: int | None = None,
) -> _Data: ...
def gather_nd(
    data: _Data,
    indices: _Indices,
    batch_dims: SupportsIndex = 0,
    *,
    spec: _Spec | None = None,
    strict: bool = False,
    oob: _OOB | None = None,
    out: Any = None,
    threads: int | None = None,
) -> _Data: ...
def take(
    x: _Data,
    indices: _Indices,
    axis: _Axis | None = None,
    out: Any = None,
    mode: Literal["raise", "wrap", "clip"] = "raise",
) -> _Data: ...
def take_along_axis(x: _Data, indices: _Indices, axis: _Axis | None = -1) -> _Data: ...
def index_select(input: _Data, dim: _Axis, index: _Indices, *, out: Any = None) -> _Data: ...
def take_along_dim(input: _Data, indices: _Indices, dim: _Axis | None = None, *, out: Any = None) -> _Data: ...
def get_num_threads() -> int: ...
def set_num_threads(n: int) -> None: ...
def cpu_info() -> dict[str, Any]: ...

class Tensors(Mapping[str, Array]):
    def __getitem__(self, name: str) -> Array: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...

def load(path: str | bytes | PathLike[Any], *, copy: bool = False, follow_links: bool = False) -> Any: ...
def save(path: str | bytes | PathLike[Any], array_or_mapping: Any) -> None: ...

class Table:
    shape: tuple[int, ...]
    dtype: str
    def __init__(
        self,
        path: str | bytes | PathLike[Any],
        name: str | None = None,
        *,
        how: Literal["mapped", "ring", "pread"] | None = None,
        memory: int | None = None,
        follow_links: bool = False,
    ) -> None: ...
    def gather(
        self,
        indices: _Indices,
        axis: _Axis = 0,
        batch_dims: SupportsIndex = 0,
        *,
        spec: _Spec | None = None,
        strict: bool = False,
        oob: _OOB | None = None,
        out: Any = None,
    ) -> Any: ...
    def take(self, indices: _Indices, axis: _Axis = 0, out: Any = None) -> Any: ...
    def batches(self, iterable: Iterable[_Indices]) -> Iterator[Any]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Table: ...
    def __exit__(self, *_: object) -> None: ...
    def __len__(self) -> int: ...

def open(path: str | bytes | PathLike[Any], name: str | None = None) -> Table: ...

class Port(NamedTuple):
    dtype: str | None
    shape: tuple[int | str | None, ...] | None
    optional: bool

class Model:
    inputs: dict[str, Port]
    outputs: dict[str, Port]
    def __init__(self, path: str | bytes | PathLike[Any]) -> None: ...
    def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]: ...

class Drawing:
    def _repr_svg_(self) -> str: ...

def explain(
    op: _Operator,
    data: Any,
    indices: _Indices,
    axis: _Axis = 0,
    batch_dims: SupportsIndex = 0,
    *,
    spec: _Spec | None = None,
    strict: bool = False,
    oob: _OOB | None = None,
) -> Drawing: ...
