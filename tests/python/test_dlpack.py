# SPDX-License-Identifier: MIT
"""DLPack from producers good and bad: what is read, and that ownership ends exactly once."""

import array
import ctypes
import sys
import types
import weakref

import pytest
from capsule import Deleter, Producer, Versioned, capsule, deleted

import garner

DATA = (ctypes.c_uint8 * 12)(*range(12))
HERE = ctypes.addressof(DATA)


@pytest.fixture(autouse=True)
def count_deletions():
    deleted.clear()


@pytest.mark.parametrize("version", [None, (1, 0), (1, 3), (1, 99), (0, 8)])
def test_both_kinds(version):
    picked = garner.gather(capsule(HERE, [3, 4], version=version), [2, 0])
    assert picked.tolist() == [[8, 9, 10, 11], [0, 1, 2, 3]] and len(deleted) == 1


@pytest.mark.parametrize("versioned", [True, False])
def test_producers(versioned):
    producer = Producer(lambda: capsule(HERE, [12], version=(1, 1) if versioned else None), versioned=versioned)
    picked = garner.gather(producer, [11, -12])
    assert type(picked) is garner.Array and picked.tolist() == [11, 0] and len(deleted) == 1


def test_layouts():
    assert garner.gather(capsule(HERE, [4, 3], strides=[1, 4]), [1]).tolist() == [[1, 5, 9]]
    assert garner.gather(capsule(HERE, [2], strides=[-2], offset=11), [0, 1]).tolist() == [11, 9]
    assert garner.gather(capsule(HERE, [3], offset=5), [0]).tolist() == [5]
    assert garner.gather(capsule(HERE, [2], strides=[0], offset=7), [0, 1]).tolist() == [7, 7]
    assert garner.gather(capsule(None, [0, 5]), []).shape == (0, 5)
    assert garner.gather(capsule(HERE + 1, [3], code=0, bits=16), [0]).tolist() == [0x0201]
    assert len(deleted) == 6


def test_as_indices_and_as_out():
    indices = array.array("q", [2, 0])
    address, _ = indices.buffer_info()
    assert garner.gather([7, 8, 9], capsule(address, [2], code=0, bits=64)).tolist() == [9, 7]
    out = (ctypes.c_uint8 * 2)()
    producer = Producer(lambda: capsule(ctypes.addressof(out), [2], version=(1, 0)))
    assert garner.gather(bytes(range(12)), [3, 4], out=producer) is producer and list(out) == [3, 4]
    frozen = Producer(lambda: capsule(ctypes.addressof(out), [2], version=(1, 0), flags=1))
    with pytest.raises(garner.BadArgument, match="read-only"):
        garner.gather(bytes(range(12)), [3, 4], out=frozen)
    assert len(deleted) == 3


def test_used_twice():
    once = capsule(HERE, [3])
    garner.gather(once, [0])
    with pytest.raises(garner.BadType, match="used before"):
        garner.gather(once, [0])
    assert len(deleted) == 1


BAD = {
    "name": dict(name=b"tensor"),
    "no-name": dict(name=b""),
    "major": dict(version=(2, 0)),
    "rank-negative": dict(ndim=-1),
    "rank-beyond": dict(ndim=65),
    "rank-huge": dict(ndim=2**31 - 1),
    "no-shape": dict(shape_pointer=False),
    "lanes": dict(lanes=4),
    "no-lanes": dict(lanes=0),
    "no-bits": dict(bits=0),
    "no-bits-padded": dict(code=2, bits=0, version=(1, 0), flags=4),
    "unknown-code-padded": dict(code=77, bits=4, version=(1, 0), flags=4),
    "odd-bits": dict(bits=7),
    "handles": dict(code=3, bits=64),
    "unknown-code": dict(code=77),
    "cuda": dict(device=(2, 1)),
    "unknown-device": dict(device=(77, 0)),
    "negative-device": dict(device=(-1, 0)),
    "negative-extent": dict(shape=[-3]),
    "far-strides": dict(strides=[2**62]),
    "wrapping-strides": dict(bits=32, strides=[2**62]),
    "lowest-stride": dict(bits=16, strides=[-(2**63)]),
    "strides-too-far-together": dict(shape=[2, 2], strides=[2**62, 2**62]),
    "offset-before": dict(offset=2**64 - 1),
    "offset-beyond": dict(offset=2**63 - 1),
    "offset-to-nowhere": dict(shape=[0], offset=2**64 - 1),
    "too-many-elements": dict(shape=[2**62, 4]),
    "too-many-bytes": dict(shape=[2**61], bits=64),
}

def test_padded_types():
    """Elements of less than a byte, each in a byte of its own, are bytes; packed ones are not. Others may not be padded."""
    for code, bits in (0, 4), (1, 4), (0, 2), (1, 1), (17, 4):
        padded = capsule(HERE, [3], code, bits, version=(1, 0), flags=4)
        assert garner.gather(padded, [2, 0]).tolist() == garner.gather(capsule(HERE, [3]), [2, 0]).tolist()
    for more in dict(code=1, bits=8), dict(code=2, bits=16):
        assert len(garner.gather(capsule(HERE, [1], version=(1, 0), flags=4, **more), [0])) == 1
    with pytest.raises(garner.BadType, match="pairs of 4-bit floats"):
        garner.gather(capsule(HERE, [1], 17, 4, lanes=2, version=(1, 0)), [0])


# Whoever reads a view refuses the same ones.
READERS = {
    "gather": ("Gather: data", lambda x, path: garner.gather(x, [0])),
    "gather_elements": ("GatherElements: data", lambda x, path: garner.gather_elements(x, [0])),
    "gather_nd": ("GatherND: data", lambda x, path: garner.gather_nd(x, [[0]])),
    "indices": ("Gather: indices", lambda x, path: garner.gather([5], x)),
    "out": ("Gather: out", lambda x, path: garner.gather(b"abc", [0, 1, 2], out=x)),
    "take": ("take: x", lambda x, path: garner.take(x, [0])),
    "take along": ("take: x", lambda x, path: garner.take(x, [0], 0)),
    "take_along_axis": ("take_along_axis: x", lambda x, path: garner.take_along_axis(x, [0], None)),
    "take_along_dim": ("take_along_dim: input", lambda x, path: garner.take_along_dim(x, [0])),
    "index_select": ("index_select: input", lambda x, path: garner.index_select(x, 0, [0])),
    "plan": ("Gather: data", lambda x, path: garner.Plan("gather", [3], [1], dtype="u8")(x, [0])),
    "explain": ("Gather: data", lambda x, path: garner.explain("gather", x, [0])),
    "save": ("save: ", lambda x, path: garner.save(path / "a.npy", x)),
    "save.pb": ("save: ", lambda x, path: garner.save(path / "a.pb", x)),
}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("reader", READERS)
def test_bad_tensors(what, reader, tmp_path):
    options = {"shape": [3]} | BAD[what]
    begins, call = READERS[reader]
    with pytest.raises(garner.Error) as caught:
        call(capsule(HERE, **options), tmp_path)
    assert str(caught.value).startswith(begins)
    not_consumed = what in ("name", "no-name", "major")
    assert len(deleted) == (0 if not_consumed else 1)
    assert not list(tmp_path.iterdir())


def test_strides_along_which_nobody_goes(tmp_path):
    """Those of one element, or of none, may be anything."""
    for shape, strides in ([1, 3], [2**62, 1]), ([3, 1], [1, -(2**63)]), ([0, 3], [2**63 - 1, 2**62]):
        make = lambda shape=shape, strides=strides: capsule(HERE, shape, strides=strides, code=0, bits=32)  # noqa: E731
        size = shape[0] * shape[1]
        expected = list((ctypes.c_int32 * 3).from_buffer(DATA))[:size]
        assert [x for row in garner.gather(make(), range(shape[0])).tolist() for x in row] == expected
        assert garner.take(make(), range(size)).tolist() == expected
        garner.save(tmp_path / "a.npy", make())
        assert [x for row in garner.load(tmp_path / "a.npy").tolist() for x in row] == expected


def test_no_deleter():
    assert garner.gather(capsule(HERE, [3], deleter=False), [1]).tolist() == [1]


def test_device_is_asked_first():
    def never():
        raise AssertionError("asked for memory of a GPU")

    with pytest.raises(garner.BadType, match="cuda:3.*CPU"):
        garner.gather(Producer(never, device=(2, 3)), [0])
    for odd in (None, (1,), "cpu", (1.5, 0)):
        with pytest.raises(garner.BadType, match="device"):
            garner.gather(Producer(never, device=odd), [0])


def test_pinned_memory_is_memory():
    assert garner.gather(Producer(lambda: capsule(HERE, [3], device=(3, 0)), device=(3, 0)), [1]).tolist() == [1]


def test_producers_that_fail():
    def fails():
        raise BufferError("not today")

    with pytest.raises(garner.BadType, match="DLPack") as caught:
        garner.gather(Producer(fails), [0])
    assert isinstance(caught.value.__cause__, BufferError)
    with pytest.raises(garner.BadType):
        garner.gather(Producer(lambda: 7), [0])

    def stops():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        garner.gather(Producer(stops), [0])


def test_released_on_every_error():
    for call in (
        lambda: garner.gather(capsule(HERE, [3]), [9]),
        lambda: garner.gather(capsule(HERE, [3]), object()),
        lambda: garner.gather(capsule(HERE, [3]), [0], axis=5),
        lambda: garner.gather(capsule(HERE, [3]), [0], out=b"x"),
        lambda: garner.gather_elements(capsule(HERE, [3]), [[0]]),
        lambda: garner.take_along_axis(capsule(HERE, [3]), [[0]]),
        lambda: garner.take_along_axis(capsule(HERE, [3]), [[0]], None),
        lambda: garner.index_select(capsule(HERE, [3]), 0, [[0]]),
        lambda: garner.Plan("gather", [4], [1], dtype="u8")(capsule(HERE, [3]), [0]),
    ):
        deleted.clear()
        with pytest.raises(garner.Error):
            call()
        assert len(deleted) == 1


def test_result_of_the_same_library(monkeypatch):
    """An array's own library imports the result, by __array_namespace__ or by its package's from_dlpack."""

    class Namespace:
        @staticmethod
        def from_dlpack(x):
            return ("imported", garner.gather(x, [0]).tolist())

    class WithNamespace(Producer):
        def __array_namespace__(self):
            return Namespace

    assert garner.gather(WithNamespace(lambda: capsule(HERE, [12])), [5]) == ("imported", [5])

    package = types.ModuleType("some_library")
    package.from_dlpack = Namespace.from_dlpack
    monkeypatch.setitem(sys.modules, "some_library", package)
    child = type("Tensor", (Producer,), {"__module__": "some_library.tensors"})
    assert garner.gather(child(lambda: capsule(HERE, [12])), [6]) == ("imported", [6])


def test_tensors_without_memory_or_with_negative_extents(tmp_path):
    for shape, kind in [([2], garner.BadArgument), ([], garner.BadArgument), ([-2], garner.BadShape), ([-2, -2], garner.BadShape)]:
        make = lambda shape=shape: capsule(None if shape in ([2], []) else HERE, shape, code=0, bits=64)  # noqa: E731
        for call in [lambda: garner.gather(make(), [0]), lambda: garner.take(make(), [0]), lambda: garner.gather([1, 2], make()),
                     lambda: garner.gather(array.array("q", [1]), [0], out=make()), lambda: garner.save(tmp_path / "a.npy", make()),
                     lambda: garner.explain("gather", make(), [0])]:  # fmt: skip
            with pytest.raises(kind):
                call()
        with pytest.raises(garner.BadType, match="axis"):
            garner.gather([[1, 2]], [0], axis=make())
    assert len(deleted) == 4 * 7


def test_packed_elements_with_strides(tmp_path):
    """There is no such thing: what begins in the middle of a byte has no address."""
    data = (ctypes.c_uint8 * 2)(0x21, 0x43)
    make = lambda: capsule(ctypes.addressof(data), [2, 2], bits=4, strides=[1, 2])  # noqa: E731
    for call in [lambda: garner.gather(make(), [0]), lambda: garner.take(make(), [0]), lambda: garner.take_along_dim(make(), [0]),
                 lambda: garner.save(tmp_path / "a.pb", make()), lambda: garner.explain("gather", make(), [0])]:  # fmt: skip
        with pytest.raises(garner.BadShape, match="dense"):
            call()
    assert len(deleted) == 5 and not list(tmp_path.iterdir())
    assert garner.take(capsule(ctypes.addressof(data), [2, 2], bits=4, strides=[2, 1]), [3, 0]).tolist() == [4, 1]


def test_packed_inputs_of_models_with_strides(tmp_path):
    """An output that is an input is a copy of it, which has room for dense elements."""
    onnx = pytest.importorskip("onnx")
    values = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.UINT4, [64, 64]) for name in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Identity", ["x"], ["y"])], "g", values[:1], values[1:])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10), tmp_path / "m.onnx")
    data = (ctypes.c_uint8 * 4096)(*[0x21] * 4096)
    model = garner.Model(tmp_path / "m.onnx")
    with pytest.raises(garner.BadShape, match="dense"):
        model.run({"x": capsule(ctypes.addressof(data), [64, 64], bits=4, strides=[1, 64])})
    model.run({"x": capsule(ctypes.addressof(data), [64, 64], bits=4)})


def test_no_elements_and_very_long_axes():
    """Where one extent is 0 the others may be of any size, and steps along them may not fit in 64 bits."""
    empty = garner.gather(capsule(HERE, [0, 2**62, 2**62], code=2, bits=32), [])
    assert empty.shape == (0, 2**62, 2**62) and empty.tolist() == [] and empty.tobytes() == b"" and repr(empty) == "garner.Array([], dtype='f32')"
    assert memoryview(empty).shape == empty.shape and empty[:, 5:, ::3].shape == (0, 2**62 - 5, (2**62 + 2) // 3)
    assert empty[:, 2**61].shape == (0, 2**62) and empty[::-1, 7:9, -1].shape == (0, 2)
    assert garner.gather(empty.__dlpack__(max_version=(1, 0)), []).shape == empty.shape
    many = garner.gather(capsule(HERE, [2**40, 0]), [], axis=1)
    assert repr(many) == f"<garner.Array, shape ({2**40}, 0), dtype 'u8'>"


def stumbles(address):
    """Python code that raises and catches, as destructors may run."""
    try:
        int("x")
    except ValueError:
        deleted.append(address)


STUMBLES = Deleter(stumbles)
LEAVES_AN_ERROR = Deleter(ctypes.cast(ctypes.pythonapi.PyErr_NoMemory, ctypes.c_void_p).value)


@pytest.mark.parametrize("ends", [STUMBLES, LEAVES_AN_ERROR], ids=["stumbles", "leaves-an-error"])
@pytest.mark.parametrize("what", ["major", "lanes", "offset-before", "handles", "name", "cuda"])
def test_errors_survive_destructors(what, ends, tmp_path):
    """Whatever runs when a refused capsule or its tensor goes: the error is the one that says why it was refused."""
    options = {"shape": [3]} | BAD[what]
    for reader, (begins, call) in READERS.items():
        for more in dict(destructor=ends), dict(destructor=ends, deleter=ends):
            deleted.clear()
            with pytest.raises(garner.Error) as caught:
                call(Producer(lambda more=more: capsule(HERE, **options, **more)), tmp_path)
            assert str(caught.value).startswith(begins), reader
            assert deleted or ends is LEAVES_AN_ERROR


def test_deleters_that_leave_an_error_behind():
    data = Producer(lambda: capsule(HERE, [3], destructor=LEAVES_AN_ERROR, deleter=LEAVES_AN_ERROR))
    assert garner.gather(data, [2]).tolist() == [2]


class Records(Producer):
    """As torch's tensors that require grad; made while none is recorded."""

    requires_grad = True

    def __init__(self, make, detached):
        super().__init__(make)
        self.detached = detached

    def detach(self):
        return self.detached()


@pytest.fixture
def nothing_is_recorded(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(is_grad_enabled=lambda: False))


def refuses():
    raise BufferError("not today")


@pytest.mark.parametrize("make", [refuses, lambda: 7, lambda: capsule(HERE, [3], lanes=2), lambda: capsule(HERE, [3], offset=2**64 - 1),
                                  lambda: capsule(HERE, [3], version=(2, 0))])  # fmt: skip
def test_what_detach_gave_is_released(nothing_is_recorded, make, tmp_path):
    """Also if it cannot be read after all; and so is everything else that a refused call has made."""
    made = weakref.WeakSet()
    count = []

    def detached():
        made.add(one := Producer(make))
        count.append(1)
        return one

    data = Records(refuses, detached)
    before = sys.getrefcount(data)
    for _, call in READERS.values():
        for _ in range(8):
            with pytest.raises(garner.Error):
                call(data, tmp_path)
    assert len(count) == 8 * len(READERS) and len(made) == 0 and sys.getrefcount(data) == before


def test_detach_may_fail_or_give_anything(nothing_is_recorded):
    with pytest.raises(BufferError, match="not today"):
        garner.gather(Records(refuses, refuses), [0])
    for other in (7, "text", None, [1, 2, 3], object()):
        with pytest.raises(garner.BadType, match="detach"):
            garner.gather(Records(refuses, lambda other=other: other), [0])
    given = Records(refuses, lambda: Producer(lambda: capsule(HERE, [3])))
    assert garner.gather(given, [2]).tolist() == [2]


def test_interrupts_stay_interrupts():
    class Asked:
        def __dlpack_device__(self):
            raise KeyboardInterrupt

        def __dlpack__(self, **options):
            raise AssertionError

    with pytest.raises(KeyboardInterrupt):
        garner.gather(Asked(), [0])


class FakeTensor(Producer):
    """A tensor as torch has them, of a type that DLPack calls otherwise, or cannot hand over."""

    requires_grad = False

    def __init__(self, values, dtype, code, bits, lanes=1, is_quantized=False):
        self.values = (ctypes.c_uint8 * len(values))(*values)
        self.dtype, self.is_quantized = dtype, is_quantized
        item = max(bits * lanes // 8, 1)
        super().__init__(lambda: capsule(ctypes.addressof(self.values), [len(values) // item], code, bits, lanes=lanes, version=(1, 0)))

    def __dlpack__(self, **options):
        if self.is_quantized:
            raise BufferError("QUInt/QInt types are not supported by dlpack")
        return super().__dlpack__(**options)

    def __array_namespace__(self):
        return FakeTorch


class FakeTorch:
    """Its from_dlpack, which gives what the capsule says, until somebody views it as something else."""

    @staticmethod
    def from_dlpack(array):
        return FakeResult(array)


class FakeResult:
    def __init__(self, array, dtype=None):
        capsule = array.__dlpack__(max_version=(1, 0))
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        tensor = Versioned.from_address(pointer(capsule, b"dltensor_versioned")).tensor
        self.array, self.type, self.dtype = array, (tensor.code, tensor.bits, tensor.lanes), dtype

    def view(self, dtype):
        return FakeResult(self.array, dtype)


def test_a_type_of_dlpack_s_alone_comes_back_as_it_was():
    """complex32: garner moves four bytes, and the result is told apart from other four bytes."""
    given = FakeTensor(range(12), "torch.complex32", 5, 32)
    picked = garner.gather(given, [2, 0])
    assert picked.type == (5, 32, 1) and picked.array.tobytes() == bytes([8, 9, 10, 11, 0, 1, 2, 3]) and picked.array.dtype == "opaque"
    for part in (picked.array[1:], garner.gather(picked.array, [0]), picked.array):
        assert FakeResult(part).type == (5, 32, 1)
    with pytest.raises(garner.BadType, match="another element type"):
        garner.gather(given, [2, 0], out=FakeTensor(range(8), "torch.other", 4, 32))


@pytest.mark.parametrize("bits", range(1, 8))
@pytest.mark.parametrize("kind", ["int", "uint"])
def test_torch_s_narrow_integers_come_back_as_they_were(kind, bits):
    """torch hands int1 to int7 over as int8."""
    name, code = f"torch.{kind}{bits}", 0 if kind == "int" else 1
    given = FakeTensor([7, 8, 9], name, code, 8)
    picked = garner.gather(given, [2, 0])
    assert picked.dtype == name and picked.array.tobytes() == bytes([9, 7])
    assert garner.take(FakeTensor([7, 8, 9], f"torch.{kind}8", code, 8), [2, 0]).dtype is None
    out = FakeTensor([0, 0], f"torch.{kind}8", code, 8)
    with pytest.raises(garner.BadType, match="out has another element type than data"):
        garner.gather(given, [2, 0], out=out)
    with pytest.raises(garner.BadType, match=f"indices is of {name}; indices are integers of 8 to 64 bits"):
        garner.gather([1, 2], FakeTensor([1, 0], name, code, 8))


def test_types_that_cannot_come_back_say_what_to_do():
    with pytest.raises(garner.BadType, match=r"^Gather: data is quantized, .*\.int_repr\(\) or its \.dequantize\(\)$"):
        garner.gather(FakeTensor([1, 2], "torch.quint8", 1, 8, is_quantized=True), [0])
    with pytest.raises(garner.BadType, match=r"^Gather: data holds pairs of 4-bit floats, .*\.view\(torch\.uint8\)"):
        garner.gather(FakeTensor([1, 2], "torch.float4_e2m1fn_x2", 17, 4, 2), [0])


def test_a_tensor_of_one_bool_is_no_axis():
    """torch's has an __index__."""

    class Bool(FakeTensor):
        def __index__(self):
            return 1

    with pytest.raises(TypeError, match="axis is of type bool; it must be an integer"):
        garner.gather([[1, 2]], [0], axis=Bool([1], "torch.bool", 6, 8))
    assert garner.gather([[1, 2]], [0], axis=Bool([1], "torch.uint8", 1, 8)).tolist() == [[1]]
