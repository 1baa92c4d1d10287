# SPDX-License-Identifier: MIT
"""Files of real NumPy read by garner, and the other way round: every type, order and version."""

import io

import numpy
import pytest

NAMED = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
FIXED = [
    "S5",
    "U3",
    "V7",
    "M8[ns]",
    "M8[25s]",
    "m8[us]",
    "g",
    "G",
    [("a", "f4"), ("b", "i2", (2, 3))],
    [("x", [("y", "i8"), ("z", "S3")], (2,)), ("w", "?")],
    [("é", "f4"), ("日本", "u1")],
    [(("title", "name"), "f4")],
    numpy.dtype([("a", "i1"), ("b", "f8")], align=True),
]
pytestmark = pytest.mark.filterwarnings("ignore:Stored array in format 3.0")


def random_array(dtype, shape, order, seed=1):
    """Random bits of any type; text and truth values are made valid."""
    dtype = numpy.dtype(dtype)
    count = int(numpy.prod(shape))
    raw = numpy.random.default_rng(seed).integers(0, 256, count * dtype.itemsize, numpy.uint8)
    if dtype.kind == "b":
        raw &= 1
    if dtype.kind == "U":
        raw = numpy.frombuffer((raw[: count * dtype.itemsize // 4] % 90 + 32).astype("u4").tobytes(), numpy.uint8)
    # copies element by element as raw bytes, so that padding is kept, too
    flat = raw.view(f"V{dtype.itemsize}").reshape(shape)
    return numpy.array(flat, order=order).view(dtype)


def bits(array):
    return numpy.ascontiguousarray(array).tobytes()


def load(path):
    return numpy.load(path, allow_pickle=False)


@pytest.mark.parametrize("swap", [False, True], ids=["native", "swapped"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", NAMED)
def test_named_types(garner, tmp_path, dtype, order, swap):
    data = random_array(dtype, (4, 3, 2), order)
    stored = data.astype(data.dtype.newbyteorder()) if swap else data
    if swap:  # astype quiets signalling NaNs: swap the bytes themselves
        stored = data.byteswap().view(data.dtype.newbyteorder())
    numpy.save(tmp_path / "data.npy", stored)
    answer = garner("gather", "data.npy", "[3,0,-1]", "-o", "out.npy")
    assert answer.code == 0 and answer.out == b"", answer
    out = load(tmp_path / "out.npy")
    expected = numpy.take(data, [3, 0, -1], axis=0)
    assert out.dtype == data.dtype and out.shape == expected.shape
    assert bits(out) == bits(expected)
    # NumPy would have written the same file, to the byte.
    ours = (tmp_path / "out.npy").read_bytes()
    buffer = io.BytesIO()
    numpy.save(buffer, numpy.ascontiguousarray(expected))
    assert ours == buffer.getvalue()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", FIXED, ids=str)
def test_fixed_size_types_pass_from_npy_to_npy(garner, refuses, tmp_path, dtype, order):
    data = random_array(dtype, (4, 2), order)
    numpy.save(tmp_path / "data.npy", data)
    answer = garner("gather", "data.npy", "[3,0,-1]", "-o", "out.npy")
    assert answer.code == 0, answer
    out = load(tmp_path / "out.npy")
    assert out.dtype == load(tmp_path / "data.npy").dtype
    assert bits(out) == bits(numpy.take(data.view(f"V{data.dtype.itemsize}"), [3, 0, -1], axis=0))
    refuses(4, [], "gather", "data.npy", "[0]")


def test_big_endian_fixed_types_keep_their_order(garner, tmp_path):
    for dtype in [">U2", ">M8[ns]", [("a", ">f4"), ("b", "<i2")]]:
        data = random_array(dtype, (3,), "C") if dtype != ">U2" else numpy.array(["ab", "é", "z"], ">U2")
        numpy.save(tmp_path / "data.npy", data)
        assert garner("gather", "data.npy", "[2,1]", "-o", "out.npy").code == 0
        out = load(tmp_path / "out.npy")
        assert out.dtype == data.dtype and bits(out) == bits(data[[2, 1]])


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_versions(garner, tmp_path, version):
    with open(tmp_path / "data.npy", "wb") as file:
        numpy.lib.format.write_array(file, numpy.arange(6, dtype="i4").reshape(2, 3), version)
    assert garner("gather", "data.npy", "[1]").text == "[[3,4,5]]\n"


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,) * 32])
def test_shapes(garner, tmp_path, shape):
    data = numpy.arange(numpy.prod(shape, dtype=int), dtype="f4").reshape(shape)
    numpy.save(tmp_path / "indices.npy", data.astype("i8"))
    answer = garner("gather", "[7,8,9]", "indices.npy", "-o", "out.npy")
    assert answer.code == 0, answer
    out = load(tmp_path / "out.npy")
    assert out.shape == shape and (out == numpy.take([7, 8, 9], data.astype("i8"))).all()


def test_standard_input_and_output(garner, tmp_path):
    buffer = io.BytesIO()
    numpy.save(buffer, numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3)))
    answer = garner("gather", "-", "[1]", "-o", "-", stdin=buffer.getvalue())
    assert answer.code == 0, answer
    assert (numpy.load(io.BytesIO(answer.out)) == [[3, 4, 5]]).all()
    answer = garner("gather", "file:/dev/stdin", "[1]", stdin=buffer.getvalue())
    assert answer.text == "[[3.0,4.0,5.0]]\n", answer


def test_types_that_npy_lacks(refuses, tmp_path):
    for literal, name in [("[1,2]:bf16", "bf16"), ("[1,2]:u4", "u4"), ('["a"]', "str"), ("[1,2]:f8e5m2", "f8e5m2")]:
        refuses(4, ["out.npy", name], "gather", literal, "[0]", "-o", "out.npy")
        assert list(tmp_path.iterdir()) == []
