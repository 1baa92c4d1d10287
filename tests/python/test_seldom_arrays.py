# SPDX-License-Identifier: MIT
"""What other libraries' arrays seldom do: a test for each way through the readers and writers of DLPack that the tests of its forms
do not take."""

import ctypes
import sys

import pytest

import garner
import small_ir
from capsule import Producer, capsule
from test_dlpack import FakeTensor
from test_model import model  # noqa: F401

np = pytest.importorskip("numpy")
X = np.arange(8, dtype="f4").reshape(4, 2)
FLOATS = (ctypes.c_float * 8)(*X.ravel().tolist())
NUMBERS = garner.gather(memoryview(np.arange(6, dtype="i4").reshape(3, 2)), [0, 1, 2])
OPAQUE = garner.gather(memoryview(np.array([b"ab", b"c"])), [0, 1])


def made(shape=(4, 2), code=2, bits=32, **options):
    return capsule(ctypes.addressof(FLOATS), list(shape), code, bits, **options)


# ---- In ------------------------------------------------------------------------------------------------


class ByNumPy:
    """A library of the Array API whose type DLPack does not have, as JAX's int4."""

    def __init__(self, array, broken=None):
        self.array, self.broken = array, broken

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        raise BufferError("no such type")

    def __array__(self, *options, **named):
        return self.array

    def __array_namespace__(self, *options, **named):
        if self.broken == "namespace":
            raise AttributeError("none")
        return self

    def asarray(self, made):
        if self.broken == "asarray":
            raise ValueError("not so")
        return "converted", made.tolist()


def test_types_that_dlpack_lacks_go_by_way_of_numpy():
    assert garner.gather(ByNumPy(X), [3]) == ("converted", [[6, 7]])
    for broken, error in ("namespace", AttributeError), ("asarray", ValueError):
        with pytest.raises(error):
            garner.gather(ByNumPy(X, broken), [3])
    with pytest.raises((garner.Error, BufferError, TypeError)):
        garner.gather(ByNumPy(np.array([object()])), [0])
    alone = type("Alone", (), {name: getattr(ByNumPy, name) for name in ("__dlpack_device__", "__dlpack__", "__array__")})()
    alone.array = X
    with pytest.raises(garner.BadType, match="cannot be read through DLPack"):
        garner.gather(alone, [3])


def test_a_type_is_no_array_though_its_arrays_are():
    class Arrays:
        def __array__(self):
            return X

    with pytest.raises((garner.Error, TypeError)):
        garner.gather(Arrays, [0])
    assert garner.gather(Arrays(), [3]).tolist() == [[6, 7]]


def test_versioned_capsules():
    given = made(version=(1, 0))
    assert garner.gather(given, [3]).tolist() == [[6, 7]]
    with pytest.raises(garner.BadType, match="used before"):
        garner.gather(given, [3])
    assert garner.gather(made(version=(1, 0), deleter=False), [3]).tolist() == [[6, 7]]
    assert garner.gather(made((4,), 0, 8, version=(1, 1), flags=4), [0]).dtype == "i8"
    assert garner.gather(made((4,), 17, 4, version=(1, 1), flags=4), [0]).shape == (1,)
    try:
        assert garner.gather(made((4,), 17, 4), [0]).shape == (1,)
    except garner.BadType as error:
        assert "DLPack" in str(error) or "type" in str(error)


@pytest.mark.parametrize(("device", "what"), [((99, 0), "99"), ((-1, 0), "-1"), ((2, -1), "cuda"), ((2, 1 << 20), "cuda"), ((4, 0), "opencl")])
def test_devices_that_nobody_has(device, what):
    for call in (lambda given: garner.gather(given, [0]), lambda given: garner.take(given, [0])):
        with pytest.raises(garner.BadType, match=what):
            call(Producer(lambda: made(device=device), device=device))


def test_memory_that_is_pinned_for_rocm():
    assert garner.gather(Producer(lambda: made(device=(11, 0)), device=(11, 0)), [3]).tolist() == [[6, 7]]


class Frozen(bytes):
    """Read-only, which its capsule cannot say."""

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self):
        return capsule(ctypes.addressof(FLOATS), [4], 1, 8)


class Thawed(bytearray):
    __dlpack_device__, __dlpack__ = Frozen.__dlpack_device__, Frozen.__dlpack__


def test_an_out_without_a_version_is_asked_by_its_buffer():
    data = np.arange(9, dtype="u1")
    with pytest.raises(garner.BadArgument, match="read-only"):
        garner.gather(data, [1, 2, 3, 4], out=Frozen(4))
    for out in Thawed(4), Producer(lambda: capsule(ctypes.addressof(FLOATS), [4], 1, 8)):
        try:
            garner.gather(data, [1, 2, 3, 4], out=out)
        except garner.Error as error:
            assert "out" in str(error)
    ctypes.memmove(FLOATS, X.ctypes.data, X.nbytes)


def test_an_out_of_another_opaque_type():
    room = (ctypes.c_ubyte * 64)()
    for code, bits, lanes in ((5, 32, 1), (5, 16, 2), (5, 16, 1), (4, 32, 1)):
        out = Producer(lambda code=code, bits=bits, lanes=lanes: capsule(ctypes.addressof(room), [1], code, bits, lanes=lanes))
        data = Producer(lambda: capsule(ctypes.addressof(FLOATS), [2], 5, 32))
        if (code, bits, lanes) == (5, 32, 1):
            garner.gather(data, [1], out=out)
            assert bytes(room)[:4] == bytes(FLOATS)[4:8]
        else:
            with pytest.raises(garner.BadType):
                garner.gather(data, [1], out=out)


@pytest.mark.parametrize("name", ["torch.float4", "torch.int8", "torch.int16", "torch.uint", "torch.intern"])
def test_names_of_types_that_are_not_narrow(name):
    try:
        assert garner.take(FakeTensor([7, 8, 9], name, 0, 8), [2, 0]) is not None
    except garner.BadType as error:
        assert name in str(error)


# ---- Out -----------------------------------------------------------------------------------------------


class Liar(type):
    __mro__ = property(lambda self: 5)


def test_packages_that_cannot_be_found():
    """The result is garner's own Array then."""
    numbered, ordered = type("Numbered", (Producer,), {"__module__": 3}), Liar("Ordered", (Producer,), {})
    for kind in numbered, ordered:
        picked = garner.gather(kind(lambda: made(version=(1, 0))), [3])
        assert np.from_dlpack(picked).tolist() == [[6, 7]]


@pytest.mark.parametrize("module", [3, "pyarrowish", "pyarrow", "pyarrow.lib"])
def test_objects_that_say_they_are_pyarrow_s(module):
    pytest.importorskip("pyarrow")
    for kind in type("Array", (), {"__module__": module}), type("Array", (Producer,), {"__module__": module}):
        try:
            assert np.asarray(garner.gather(kind(*[lambda: made(version=(1, 0))] * (kind.__base__ is Producer)), [3])).tolist() == [[6, 7]]
        except (garner.Error, TypeError) as error:
            assert kind.__base__ is object, error
    assert "pyarrow" in sys.modules


def test_what_asks_for_a_capsule():
    assert "dltensor_versioned" in repr(NUMBERS.__dlpack__(max_version=(1, 0))) and "versioned" not in repr(NUMBERS.__dlpack__(max_version=None))
    assert "versioned" not in repr(NUMBERS.__dlpack__(max_version=(0, 8))) and NUMBERS.__dlpack__(copy=True, max_version=(1, 0))
    for version in (1,), (1, 0, 0), 1, "10", ("1", 0), [1, 0]:
        with pytest.raises(TypeError, match="max_version"):
            NUMBERS.__dlpack__(max_version=version)
    assert NUMBERS.__dlpack__(dl_device=(1, 0))
    for device in (2, 0), (1,), (1, 0, 0), "10", ("1", 0), 1, (2**70, 0):
        with pytest.raises(BufferError, match="CPU's memory"):
            NUMBERS.__dlpack__(dl_device=device)
    with pytest.raises(TypeError):
        NUMBERS.__dlpack__(nothing=1)


def test_types_that_no_capsule_has():
    for options in {}, {"max_version": (1, 0)}:
        with pytest.raises(BufferError, match="DLPack has no type"):
            OPAQUE.__dlpack__(**options)


# ---- Models --------------------------------------------------------------------------------------------


def written(folder, *changes):
    """The path of small_ir.py's model with parts of its text changed."""
    path, text = small_ir.write(folder), small_ir.IR
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    with open(path, "w") as file:
        file.write(text)
    return path


def test_models_of_any_rank_and_of_other_operators(tmp_path, model):  # noqa: F811
    ranked = written(tmp_path, ('shape="?,3"', 'shape="..."'), ("<dim>-1</dim><dim>3</dim>", ""))
    assert garner.Model(ranked).inputs["x"].shape is None
    with pytest.raises(garner.Error, match="Relu"):
        garner.Model(written(tmp_path, ('type="Gather"', 'type="Relu"')))


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_results_are_of_the_input_s_library_if_it_takes_them(model, version):  # noqa: F811
    x = Producer(lambda: made((2, 3), version=version))
    assert model.run({"x": x, "i": [2, 0]})["picked"].tolist() == [[2, 0], [5, 3]]


def test_a_member_of_an_archive_that_is_none(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, a=np.arange(3), b=np.arange(4))
    content = path.read_bytes()
    at = content.rindex(b"\x93NUMPY")
    for damage in b"\x93NUMPX", b"\x93NUMPY\x09":
        path.write_bytes(content[:at] + damage + content[at + len(damage) :])
        with pytest.raises(garner.BadFile):
            garner.load(path)["b"].tolist()
