# SPDX-License-Identifier: MIT
"""pyarrow's arrays: as data and as indices, and results that are pyarrow's again."""

import datetime
import decimal
import subprocess
import sys

import pytest

import garner
import garner._arrow

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (tools/testenv installs it)")

NUMBERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float32(), pa.float64()]
DAY = datetime.date(2020, 1, 1)
OTHERS = [
    pa.array([True, False, True, True, False]),
    pa.array([0.5, 1.5, 2.5, 3.5, -4.5]).cast(pa.float16()),
    pa.array([DAY + datetime.timedelta(n) for n in range(5)]),
    pa.array([datetime.datetime(2020, 1, 1, n) for n in range(5)], pa.timestamp("ns", "UTC")),
    pa.array([datetime.timedelta(n) for n in range(5)], pa.duration("ms")),
    pa.array([datetime.time(n) for n in range(5)]),
    pa.array([decimal.Decimal(n) / 4 for n in range(5)], pa.decimal128(20, 3)),
    pa.array([b"abc", b"def", b"ghi", b"jkl", b"mno"], pa.binary(3)),
]


def same(ours, right):
    """Type and values, and that what came back is well formed."""
    assert type(ours) is type(right) and ours.type == right.type
    ours.validate(full=True)
    assert ours.equals(right) if isinstance(right, pa.Array) else ours == right


@pytest.mark.parametrize("data", [pa.array([10, 11, 12, 13, 14]).cast(t) for t in NUMBERS] + OTHERS, ids=lambda a: str(a.type))
def test_every_type_of_a_fixed_size(data):
    at = pa.array([4, 0, 0, 2])
    for index in (at, at.cast(pa.uint8()), at.to_pylist(), at.cast(pa.int16())):
        same(garner.gather(data, index), data.take(at))
        same(garner.take(data, index), data.take(at))
    for part, right in [(data[1:4], [2, 0]), (data[3:], [1, 0]), (pa.concat_arrays([data, data])[7:9], [1, 1])]:
        same(garner.gather(part, pa.array([9, 9, *right, 9])[2:4]), part.take(pa.array(right)))
    same(garner.gather(data, []), data[:0])
    same(garner.gather(data[:0], pa.array([], pa.int64())), data[:0])
    assert garner.gather(data, 3) == data[3] and type(garner.gather(data, 3)) is type(data[3])
    same(garner.gather_elements(data, [4, 1]), data.take(pa.array([4, 1])))
    same(garner.gather_nd(data, [[4], [1]]), data.take(pa.array([4, 1])))
    with pytest.raises(garner.OutOfRange, match=r"indices\[1\] = 5 is outside \[-5, 4\]"):
        garner.gather(data, pa.array([0, 5]))


def test_indices_alone_leave_the_data_s_kind():
    assert garner.gather([10, 20, 30], pa.array([2, 0])).tolist() == [30, 10]
    assert garner.gather(b"spam", pa.array([3], pa.uint16())).tolist() == [109]
    for bad in (pa.array([1.0]), pa.array([True]), pa.array([DAY])):
        with pytest.raises(garner.BadType, match="indices"):
            garner.gather([1, 2], bad)


def test_lists_of_a_fixed_size_are_axes():
    table = pa.FixedSizeListArray.from_arrays(pa.array(range(12), pa.float32()), 3)
    same(garner.gather(table, [2, 0]), table.take(pa.array([2, 0])))
    same(garner.gather(table[1:], [2, 0]), table[1:].take(pa.array([2, 0])))
    assert garner.gather(table, [2, 0], axis=1).to_pylist() == [[2, 0], [5, 3], [8, 6], [11, 9]]
    assert garner.gather(table, 1).to_pylist() == [3, 4, 5] and garner.take(table, [4, 0]).to_pylist() == [4, 0]
    named = table.cast(pa.list_(pa.field("x", pa.float32(), nullable=False), 3))
    assert garner.gather(named, [1]).type == named.type
    deep = pa.FixedSizeListArray.from_arrays(table, 2)
    same(garner.gather(deep, [1, 1, 0]), deep.take(pa.array([1, 1, 0])))
    grid = garner.gather(pa.array([10, 20, 30]), [[0, 2], [1, 1], [2, 0]])
    assert grid.type == pa.list_(pa.int64(), 2) and grid.to_pylist() == [[10, 30], [20, 20], [30, 10]]
    grid.validate(full=True)
    bits = garner.gather(pa.array([True, False]), [[0, 1], [1, 1]])
    assert bits.type == pa.list_(pa.bool_(), 2) and bits.to_pylist() == [[True, False], [False, False]]
    empty = garner.gather(pa.array([1, 2]), [[], []])
    assert len(empty) == 2 and empty.type == pa.list_(pa.int64(), 0)


def test_chunks_are_joined_and_come_back_as_chunks():
    for chunks in ([[1, 2], [3], []], [[1, 2, 3]]):
        data = pa.chunked_array(chunks, pa.int16())
        picked = garner.gather(data, [2, 0])
        assert type(picked) is pa.ChunkedArray and picked.type == pa.int16() and picked.to_pylist() == [3, 1]
    assert garner.gather(pa.chunked_array([], pa.int16()), []).to_pylist() == []
    assert garner.gather([5, 6, 7], pa.chunked_array([[2], [0]])).tolist() == [7, 5]


def test_refusals_say_what_to_do():
    for bad, way_out in [
        (pa.array([1, None, 3]), r"has 1 nulls, .*\.drop_null\(\) or \.fill_null\(value\)"),
        (pa.array([[1, 2], None], pa.list_(pa.int8(), 2)), "has 1 nulls"),
        (pa.array([[1, None], [3, 4]], pa.list_(pa.int8(), 2)), "has 1 nulls"),
        (pa.nulls(3), "nulls"),
        (pa.array(["a", "b"]), r"pyarrow's type string, whose elements have no fixed size; pyarrow's own \.take\(\)"),
        (pa.array([b"a", b"b"]), r"\.take\(\)"),
        (pa.array([[1], [2, 3]]), r"\.take\(\)"),
        (pa.array([{"a": 1}]), r"\.take\(\)"),
        (pa.array(["a", "b"]).dictionary_encode(), r"\.indices, .* \.dictionary"),
        (pa.table({"a": [1]}), "Table; give one of its columns"),
        (pa.record_batch({"a": [1]}), "RecordBatch; give one of its columns"),
    ]:
        with pytest.raises(garner.BadType, match=f"^Gather: data .*{way_out}"):
            garner.gather(bad, [0])
    with pytest.raises(garner.BadType, match="^take: indices has 1 nulls"):
        garner.take(pa.array([1, 2]), pa.array([0, None]))
    assert garner.gather(pa.array([None, 1, 2])[1:], [1]).to_pylist() == [2]  # the null is outside
    with pytest.raises(garner.BadArgument, match="out is read-only"):
        garner.gather(pa.array([1, 2]), [0], out=pa.array([0]))
    with pytest.raises(garner.BadType, match="Scalar"):
        garner.gather(pa.scalar(1), [0])


def test_extensions_are_refused():
    tensor = pa.FixedShapeTensorArray.from_storage(pa.fixed_shape_tensor(pa.int8(), [2]), pa.array([[1, 2]], pa.list_(pa.int8(), 2)))
    with pytest.raises(garner.BadType, match=r"\.storage"):
        garner.gather(tensor, [0])


def test_nothing_is_copied_on_the_way_in_and_out():
    data = pa.array(range(1 << 20), pa.int64())
    before = pa.total_allocated_bytes()
    picked = garner.gather(data, [5, 6])
    assert pa.total_allocated_bytes() == before and picked.to_pylist() == [5, 6]


def test_elsewhere(tmp_path):
    data = pa.array([[1, 2], [3, 4]], pa.list_(pa.int32(), 2))
    garner.save(tmp_path / "a.npy", data)
    assert (garner.load(tmp_path / "a.npy") == data).all() and (garner.take([1, 2, 3], [0, 1]) == pa.array([1.0, 2.5])).tolist() == [True, False]
    plan = garner.Plan("gather", (2, 2), (1,), dtype="i32")
    assert plan(data, pa.array([1])).to_pylist() == [[3, 4]]
    assert garner.gather(data, [0], axis=pa.array([1])).to_pylist() == [[1], [3]]


@pytest.mark.parametrize("name", ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "bool"])
def test_a_result_of_another_type_than_the_array_it_is_like(name):
    """A model's may be."""
    made = garner._garner._array_of_bytes(bytes(16), name, 0, (16 // {"8": 1, "16": 2, "32": 4, "64": 8, "ool": 1}[name[1:]],), None, None)
    given = garner._arrow.write(pa.array([datetime.date(2020, 1, 1)]), made)
    assert isinstance(given, pa.Array) and len(given) == made.size and not any(given.to_pylist())
    assert garner.gather(given, [0]).type == given.type
    packed = garner._garner._array_of_bytes(bytes(1), "i4", 0, (2,), None, None)
    assert garner._arrow.write(given, packed) is packed


def test_pyarrow_is_not_imported():
    code = "import sys, garner; garner.gather(b'spam', [1]); garner.gather([1], [0]); sys.exit('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
