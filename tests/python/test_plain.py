# SPDX-License-Identifier: MIT
"""Everything that needs no other library: lists, bytes, array.array, memoryview, ctypes, garner.Array."""

import array
import ctypes
import gc
import math
import weakref

import pytest

import garner


def grid(values, shape, letter="B"):
    """A memoryview of any rank."""
    return memoryview(array.array(letter, values)).cast("B").cast(letter, shape)


def test_lists():
    assert garner.gather([[1, 2], [3, 4]], [1]).tolist() == [[3, 4]]
    assert garner.gather([1.5, 2], 1).tolist() == 2.0
    assert garner.gather([True, False], [1, 0]).dtype == "bool"
    assert garner.gather([1j, 2], [0, 1]).tolist() == [1j, 2]
    assert garner.gather([], []).shape == (0,)
    assert garner.gather((1, 2, 3), range(2, -1, -1)).tolist() == [3, 2, 1]
    assert garner.gather([[], []], [0], axis=0).shape == (1, 0)


@pytest.mark.parametrize("letter, dtype", [("b", "i8"), ("B", "u8"), ("h", "i16"), ("H", "u16"), ("i", "i32"), ("I", "u32"),
                                           ("q", "i64"), ("Q", "u64"), ("f", "f32"), ("d", "f64")])  # fmt: skip
def test_array_array(letter, dtype):
    picked = garner.gather(array.array(letter, [1, 2, 3]), [2, -3])
    assert type(picked) is garner.Array and picked.dtype == str(picked.dtype) == dtype
    assert picked.tolist() == [3, 1]
    assert memoryview(picked).format == letter and memoryview(picked).tolist() == [3, 1]


@pytest.mark.parametrize("letter", "bBhHiIlLqQ")
def test_every_index_type(letter):
    assert garner.gather(b"abcdef", array.array(letter, [5, 0])).tolist() == [102, 97]


@pytest.mark.parametrize("bad", [array.array("d", [0]), array.array("f", [0]), memoryview(b"\0").cast("?"), [0.5], [True], ["a"],
                                 [None], 1.5, True, "0", None, {0}, object()])  # fmt: skip
def test_what_is_no_index(bad):
    with pytest.raises(garner.BadType) as caught:
        garner.gather([1, 2], bad)
    assert caught.value.status == "bad_type" and str(caught.value).startswith("Gather: indices")


def test_strided_memory():
    view = grid(range(24), [4, 6])
    assert garner.gather(view[::2], [1, 0]).tolist() == [[12, 13, 14, 15, 16, 17], [0, 1, 2, 3, 4, 5]]
    assert garner.gather(memoryview(b"abcdef")[::-2], [0, 2]).tolist() == [102, 98]
    assert garner.gather(b"abc", memoryview(array.array("q", [2, 9, 0, 9]))[::2]).tolist() == [99, 97]


def test_out_of_every_kind():
    for out in (bytearray(2), memoryview(bytearray(2)), array.array("B", [0, 0]), (ctypes.c_uint8 * 2)(), memoryview(bytearray(4))[::2],
                garner.gather(b"zz", [0, 1])):  # fmt: skip
        assert garner.gather(b"abc", [2, 0], out=out) is out
        assert list(memoryview(out).cast("B") if memoryview(out).c_contiguous else out) == [99, 97]


@pytest.mark.parametrize("out, kind", [(b"xx", garner.BadArgument), (memoryview(b"xx"), garner.BadArgument), (bytearray(3), garner.BadShape),
                                       (array.array("H", [0, 0]), garner.BadType), ([0, 0], garner.BadType), (7, garner.BadType)])  # fmt: skip
def test_bad_out(out, kind):
    with pytest.raises(kind, match="out"):
        garner.gather(b"abc", [2, 0], out=out)


def test_an_out_of_another_shape_says_on_which_axis():
    data = grid(range(12), [3, 4])
    plan = garner.Plan("gather", [3, 4], [1], dtype="u8")
    for shape, axis in [([1, 3], 1), ([2, 4], 0), ([4], None), ([1, 4, 1], None)]:
        out = grid([0] * math.prod(shape), shape)
        for call in (lambda out=out: garner.gather(data, [0], out=out), lambda out=out: plan(data, [0], out),
                     lambda out=out: garner.take(data, [0], 0, out), lambda out=out: garner.index_select(data, 0, [0], out=out)):  # fmt: skip
            with pytest.raises(garner.BadShape, match="out") as caught:
                call()
            assert caught.value.axis == axis


def test_out_that_shares_memory():
    memory = bytearray(b"abcdef")
    view = memoryview(memory)
    with pytest.raises(garner.BadShape, match="overlaps data"):
        garner.gather(view[:4], [0, 1], out=view[3:5])
    garner.gather(view[:4], [0, 1], out=view[4:])
    assert memory == b"abcdab"


def test_error_fields():
    with pytest.raises(IndexError) as caught:
        garner.gather_elements([[1, 2, 3], [4, 5, 6]], [[0, 2], [1, -9]], axis=1)
    error = caught.value
    assert type(error) is garner.OutOfRange and error.status == "out_of_range"
    assert (error.axis, error.position, error.coordinates, error.value, error.bound) == (1, 3, (1, 1), -9, 3)
    assert str(error) == "GatherElements: indices[1,1] = -9 is outside [-3, 2] of data axis 1"
    with pytest.raises(garner.OutOfRange) as caught:
        garner.gather([1], array.array("Q", [2**64 - 1]))
    assert caught.value.value == 2**64 - 1
    with pytest.raises(garner.BadShape) as caught:
        garner.gather_elements([[1, 2]], [[0], [0]], axis=1)
    assert caught.value.axis == 0 and caught.value.value is None


def test_integers_beyond_64_bits_are_indices_outside():
    """Python's integers have no end; the lowest bad position is reported all the same, with the number as it was given."""

    def refused(call):
        with pytest.raises(garner.OutOfRange) as caught:
            call()
        error = caught.value
        assert error.status == "out_of_range"
        return error.axis, error.position, error.coordinates, error.value, error.bound, str(error)

    table = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
    assert refused(lambda: garner.gather(table, [0, 99, 2**70]))[1:4] == (1, (1,), 99)
    assert refused(lambda: garner.gather(table, [0, 2**70, 99])) == (
        0, 1, (1,), 2**70, 3, f"Gather: indices[1] = {2**70} is outside [-3, 2] of data axis 0")  # fmt: skip
    assert refused(lambda: garner.gather(table, 2**63))[1:5] == (0, (), 2**63, 3)
    assert refused(lambda: garner.gather(table, [[0, 1], [-(2**63) - 1, 7]]))[1:5] == (2, (1, 0), -(2**63) - 1, 3)
    assert refused(lambda: garner.gather_nd(table, [[0, 1], [2, -(2**100)]]))[:5] == (1, 3, (1, 1), -(2**100), 4)
    assert refused(lambda: garner.take_along_axis(table, [[0], [2**64], [0]]))[:5] == (1, 1, (1, 0), 2**64, 4)
    assert refused(lambda: garner.take_along_dim(table, [[0], [2**64]]))[1:5] == (1, (1, 0), 2**64, 12)
    assert refused(lambda: garner.index_select(table, 0, 2**64))[1:5] == (0, (), 2**64, 3)
    assert refused(lambda: garner.Plan("gather", [3], [1], dtype="i64")([1, 2, 3], [2**64]))[1:5] == (0, (0,), 2**64, 3)
    assert refused(lambda: garner.explain("gather", table, [0, 2**70]))[1:5] == (1, (1,), 2**70, 3)
    huge = refused(lambda: garner.gather(table, [1 << 100_000]))  # which Python would not write out
    assert huge[3] == 1 << 100_000 and "an integer of 100001 bits" in huge[5]


def test_policies_for_integers_beyond_64_bits():
    given = [2**70, -(2**70), 1, 2**63, -(2**63) - 1]
    assert garner.gather([1, 2, 3], given, oob="zero").tolist() == [0, 0, 2, 0, 0]
    assert garner.gather([1, 2, 3], given, oob="clamp").tolist() == [3, 1, 2, 3, 1]
    assert garner.gather([1, 2, 3], given, oob="wrap").tolist() == [i % 3 + 1 for i in given]
    assert garner.gather([1, 2, 3], given, spec="openvino-8").tolist() == [0, 0, 2, 0, 0]
    table = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
    assert garner.gather_nd(table, [[2**70, 2**70 + 1], [-(2**71), 5]], oob="wrap").tolist() == [
        table[2**70 % 3][(2**70 + 1) % 4], table[-(2**71) % 3][1]]  # fmt: skip
    assert garner.gather_nd(table, [[2**70 + 1]] * 3, 1, oob="wrap").tolist() == [row[1] for row in table]
    assert garner.gather(table, [2**70 + 3], axis=-1, oob="wrap").tolist() == [[4], [8], [12]]
    assert garner.take(table, [2**70, -(2**70)], mode="wrap").tolist() == [2**70 % 12 + 1, -(2**70) % 12 + 1]
    assert garner.take(table, [2**70, -(2**70)], mode="clip").tolist() == [12, 1]
    for bad in ({"oob": "wrap", "axis": 7}, {"oob": "wrap", "batch_dims": 3}):
        with pytest.raises(garner.BadShape):
            garner.gather(table, [2**70], **bad)
    with pytest.raises(garner.OutOfRange) as caught:
        garner.gather([], [2**70], oob="wrap")
    assert caught.value.value == 2**70 and caught.value.bound == 0
    with pytest.raises(garner.BadType, match="64 bits"):
        garner.explain("gather", table, [2**70], oob="zero")
    with pytest.raises(garner.BadType, match="64 bits"):
        garner.gather([2**70], [0])
    with pytest.raises(garner.BadShape, match="64 bits"):
        garner.gather(table, [0], axis=2**70)

    class Odd(int):
        def __mod__(self, other):
            raise AssertionError("nobody asked for this")

        __str__ = __repr__ = __rmod__ = __mod__

    assert garner.gather([1, 2, 3], [Odd(2**70)], oob="wrap").tolist() == [2]
    with pytest.raises(garner.OutOfRange, match=str(2**70)):
        garner.gather([1, 2, 3], [Odd(2**70)])


def test_axis_is_one_integer():
    """An array of one integer will do, as OpenVINO's third input; lists and tuples never, nor more elements, nor other types."""
    table = [[1, 2, 3], [4, 5, 6]]
    calls = [
        lambda axis: garner.gather(table, [1], axis), lambda axis: garner.gather_elements(table, [[1], [1]], axis),
        lambda axis: garner.take(table, [1], axis), lambda axis: garner.take_along_axis(table, [[1], [1]], axis),
        lambda axis: garner.index_select(table, axis, [1]), lambda axis: garner.take_along_dim(table, [[1], [1]], axis),
        lambda axis: garner.explain("gather", table, [1], axis), lambda axis: garner.Plan("gather", (2, 3), (1,), axis=axis),
        lambda axis: garner.gather(table, [[1], [1]], 1, batch_dims=axis), lambda axis: garner.gather_nd(table, [[1], [1]], axis),
    ]  # fmt: skip
    good = [array.array("q", [1]), array.array("B", [1]), memoryview(b"\1").cast("B", (1, 1)), garner.take(array.array("h", [1]), 0)]
    bad = [[1], (1,), [], [[1]], range(1), range(10**15), [1, 0], "1", 1.0, array.array("q", [1, 0]), array.array("q"),
           array.array("d", [1]), memoryview(b"\1").cast("?"), garner.take(b"01", [1, 0])]  # fmt: skip
    for call in calls:
        for axis in good:
            assert repr(call(axis)) == repr(call(1))
        for axis in bad:
            with pytest.raises(TypeError, match="axis|dim|batch_dims"):
                call(axis)


def test_positions_speak_of_the_indices_that_were_given():
    with pytest.raises(garner.OutOfRange) as caught:
        garner.take_along_axis([[[1, 2]], [[3, 4]], [[5, 6]]], [[[0, 0], [0, 7]]], axis=1)
    assert (caught.value.position, caught.value.coordinates) == (3, (0, 1, 1))
    with pytest.raises(garner.OutOfRange) as caught:
        garner.take_along_dim([[1, 2], [3, 4]], [[0, 1], [9, 0]])
    assert (caught.value.position, caught.value.coordinates) == (2, (1, 0))
    with pytest.raises(garner.OutOfRange) as caught:
        garner.index_select([1, 2], 0, 5)
    assert (caught.value.position, caught.value.coordinates) == (0, ())


def test_indices_that_broadcasting_hides_are_checked():
    """Every index is, also where nothing is to be moved for another reason."""
    for call in (garner.take_along_axis, garner.take_along_dim):
        with pytest.raises(garner.OutOfRange) as caught:
            call([[], [], []], [[0], [9]], 0)
        assert (caught.value.axis, caught.value.position, caught.value.coordinates, caught.value.value, caught.value.bound) == (0, 1, (1, 0), 9, 3)
        with pytest.raises(garner.OutOfRange) as caught:
            call([[], [], []], [[2**70]], 0)
        assert caught.value.value == 2**70
        assert call([[], [], []], [[0], [-3], [2]], 0).shape == (3, 0)
        assert call([[], [], []], [[], []], 0).shape == (2, 0)
        with pytest.raises(garner.BadType):
            call([[], [], []], garner.gather([[0.5]], [0]), 0)
        with pytest.raises(garner.BadShape):
            call([[], []], garner.gather([[1, 2]], [0]), 0)


def test_specs():
    with pytest.raises(garner.BadSpec) as caught:
        garner.gather([1], [0], spec="onnx-12")
    assert "onnx-13" in str(caught.value) and isinstance(caught.value, ValueError)
    for bad in ("", "onnx-13\0", 13, b"onnx-13"):
        with pytest.raises(ValueError):
            garner.gather([1], [0], spec=bad)
    with pytest.raises(garner.BadType):
        garner.gather([1], array.array("b", [0]), spec="onnx-13")
    assert garner.gather([10, 20], [5, -9], spec="openvino-8").tolist() == [0, 0]
    assert garner.gather([10, 20], [5], spec="openvino-8", oob="clamp").tolist() == [20]
    with pytest.raises(garner.OutOfRange):
        garner.gather([10, 20], [-1], spec="openvino-7", strict=True)
    with pytest.raises(garner.BadShape):
        garner.gather([[1]], [[0]], axis=1, batch_dims=1, spec="onnx-13")


def test_policies():
    given = [-7, -1, 0, 9]
    assert garner.gather([1, 2, 3], given, oob="zero").tolist() == [0, 3, 1, 0]
    assert garner.gather([1, 2, 3], given, oob="clamp").tolist() == [1, 3, 1, 3]
    assert garner.gather([1, 2, 3], given, oob="wrap").tolist() == [3, 3, 1, 1]
    assert garner.take([1, 2, 3], given, mode="clip").tolist() == [1, 1, 1, 3]
    for bad in ("ERROR", "", 1):
        with pytest.raises(ValueError, match="oob"):
            garner.gather([1], [0], oob=bad)
    with pytest.raises(ValueError, match="mode"):
        garner.take([1], [0], mode="zero")


def test_a_bad_axis_is_named():
    for bad, kind in [(1.0, garner.BadType), ("1", garner.BadType), (None, garner.BadType), (2**80, garner.BadShape), (-(2**63), garner.BadShape),
                      (2, garner.BadShape)]:  # fmt: skip
        with pytest.raises(kind, match="axis"):
            garner.gather([[1, 2, 3]], [2], axis=bad)


def test_plan():
    plan = garner.Plan("gather-nd", [2, 2], [3, 2], dtype="int64")
    assert plan.shape == (3,) and "kernel" in repr(plan) and repr(plan).startswith("<garner.Plan GatherND")
    data, indices = grid([1, 2, 3, 4], [2, 2], "q"), grid([0, 0, 1, 1, 0, 1], [3, 2], "q")
    assert plan(data, indices).tolist() == [1, 4, 2]
    out = array.array("q", [0] * 3)
    assert plan(data, indices, out, threads=1) is out and out.tolist() == [1, 4, 2]
    strided = memoryview(array.array("q", [0] * 6))[::2]
    assert plan(data, indices, out=strided) is strided and strided.tolist() == [1, 4, 2]
    for given, axis in [((grid([1] * 6, [3, 2], "q"), indices), 0), ((data, grid([0] * 3, [3, 1], "q")), 1), ((data, array.array("q", [0])), None)]:
        with pytest.raises(garner.BadShape, match="the plan is for") as caught:
            plan(*given)
        assert caught.value.axis == axis and caught.value.status == "bad_shape"
    with pytest.raises(garner.BadType, match="i32"):
        plan(grid([1] * 4, [2, 2], "i"), indices)
    with pytest.raises(garner.BadShape):
        plan(data, indices, out=array.array("q", [0] * 4))
    for bad in [("scatter", [1], [1]), ("gather", [1] * 65, [1]), ("gather", [-1], [1])]:
        with pytest.raises(ValueError):
            garner.Plan(*bad)
    for name in ("float", "nonsense", "opaque", 3):
        with pytest.raises(garner.BadType):
            garner.Plan("gather", [1], [1], dtype=name)
    assert garner.Plan("gather", [0, 2**62, 2**62], [0]).shape == (0, 2**62, 2**62)


def test_array_object():
    a = garner.gather([[1, 2, 3], [4, 5, 6]], [1, 0])
    assert (a.shape, a.ndim, a.size, a.nbytes, len(a)) == ((2, 3), 2, 6, 48, 2)
    assert repr(a) == "garner.Array([[4, 5, 6], [1, 2, 3]], dtype='i64')"
    assert bytes(a) == a.tobytes() and a.__dlpack_device__() == (1, 0)
    assert not memoryview(a).readonly
    gone = weakref.ref(a)
    kept = memoryview(a)
    del a
    gc.collect()
    assert gone() is not None and kept.tolist()[1] == [1, 2, 3]
    kept.release()
    assert gone() is None
    with pytest.raises(TypeError):
        garner.Array()
    with pytest.raises(TypeError):
        len(garner.gather([1], 0))


def test_array_through_dlpack():
    a = garner.gather(array.array("f", [1, 2, 3]), [2, 1])
    assert garner.gather(a.__dlpack__(), [1]).tolist() == [2.0]
    assert garner.gather(a.__dlpack__(max_version=(1, 0)), [0]).tolist() == [3.0]
    assert 'dltensor"' in repr(a.__dlpack__()) and "dltensor_versioned" in repr(a.__dlpack__(max_version=(1, 3)))
    copied = a.__dlpack__(max_version=(1, 0), copy=True)
    memoryview(a)[0] = 9.0
    assert garner.gather(copied, [0]).tolist() == [3.0]
    with pytest.raises(BufferError):
        a.__dlpack__(dl_device=(2, 0))
    for bad in ({"max_version": 1}, {"nonsense": 1}):
        with pytest.raises(TypeError):
            a.__dlpack__(**bad)


def test_formats_that_are_no_numbers():
    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int32), ("b", ctypes.c_double)]

    pairs = (Pair * 3)(Pair(1, 1.5), Pair(2, 2.5), Pair(3, 3.5))
    picked = garner.gather(pairs, [2, 0])
    assert picked.dtype == "opaque" and memoryview(picked).format == memoryview(pairs).format
    assert [p.a for p in (Pair * 2).from_buffer_copy(picked)] == [3, 1]
    with pytest.raises(garner.BadType):
        picked.tolist()
    with pytest.raises(garner.BadType, match="objects"):
        garner.gather((ctypes.py_object * 2)(1, 2), [0])


def test_big_endian_memory():
    data = (ctypes.c_int32.__ctype_be__ * 3)(1, -2, 300)
    picked = garner.gather(data, (ctypes.c_int64.__ctype_be__ * 2)(2, 1))
    assert picked.tolist() == [300, -2] and picked.dtype == "i32" and bytes(picked) == b"\0\0\1\x2c\xff\xff\xff\xfe"
    assert garner.gather(picked, [0]).tolist() == [300]
    with pytest.raises(garner.BadType):
        garner.gather(data, [0], out=array.array("i", [0]))


def test_packed_types_through_dlpack():
    """Packed elements cannot come from buffers, so they come as a capsule that says so."""
    from capsule import capsule

    data = (ctypes.c_uint8 * 2)(0x21, 0x43)
    picked = garner.gather(capsule(ctypes.addressof(data), [4], code=1, bits=4), [3, 0, 1])
    assert (picked.dtype, picked.tolist(), picked.nbytes, picked.tobytes()) == ("u4", [4, 1, 2], 2, b"\x14\x02")
    assert garner.gather(picked, [2]).tolist() == [2]
    with pytest.raises(BufferError):
        memoryview(picked)


def test_values_of_small_floats():
    from capsule import capsule

    codes = {(2, 16): [(0x3C00, 1.0), (0x8000, -0.0), (0x0001, 2.0**-24), (0xFC00, float("-inf"))], (4, 16): [(0x3FC0, 1.5), (0x0001, 2.0**-133)],
             (10, 8): [(0x7E, 448.0), (0x01, 2.0**-9)], (11, 8): [(0x7F, 240.0)], (12, 8): [(0x7B, 57344.0), (0xFC, float("-inf"))],
             (13, 8): [(0x7F, 57344.0)], (14, 8): [(0x80, 2.0)]}  # fmt: skip
    for (code, bits), pairs in codes.items():
        kind = ctypes.c_uint16 if bits == 16 else ctypes.c_uint8
        data = (kind * len(pairs))(*[bitwise for bitwise, _ in pairs])
        listed = garner.gather(capsule(ctypes.addressof(data), [len(pairs)], code, bits), list(range(len(pairs)))).tolist()
        assert [repr(v) for v in listed] == [repr(v) for _, v in pairs]
    for code, bitwise in [(10, 0x7F), (10, 0xFF), (11, 0x80), (13, 0x80), (14, 0xFF), (12, 0x7D)]:
        data = (ctypes.c_uint8 * 1)(bitwise)
        value = garner.gather(capsule(ctypes.addressof(data), [1], code, 8), [0]).tolist()[0]
        assert value != value


def test_hostile_lists():
    loop = []
    loop.append(loop)
    with pytest.raises(garner.BadShape, match="64"):
        garner.gather([1], loop)
    with pytest.raises(garner.BadShape, match=r"indices\[1\]"):
        garner.gather([1], [[0], [0, 0]])
    with pytest.raises(garner.BadShape, match=r"indices\[1\]"):
        garner.gather([1], [[0], 0])
    with pytest.raises(garner.OutOfRange, match=r"indices\[0\]"):
        garner.gather([1], [2**70])

    shrinking = [0, 0, 0]

    class Shrinks:
        def __index__(self):
            shrinking.clear()
            return 0

    shrinking[0] = Shrinks()
    with pytest.raises((IndexError, garner.Error)):
        garner.gather([1], shrinking)

    class Raises:
        def __index__(self):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        garner.gather([1], [Raises()])


def test_exports_are_held_and_released():
    memory = bytearray(b"abc")
    garner.gather(memory, [0])
    memory.append(1)  # would raise BufferError if an export were left
    with pytest.raises(IndexError):
        garner.gather(memory, [9])
    memory.append(1)


def test_zero_extents():
    empty = memoryview(b"").cast("B")
    assert garner.gather(empty, []).shape == (0,)
    with pytest.raises(garner.OutOfRange):
        garner.gather(empty, [0])
    with pytest.raises(garner.OutOfRange):  # every index is checked, though nothing is to be moved
        garner.gather([[], []], [2], axis=0)
