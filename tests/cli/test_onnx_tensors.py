# SPDX-License-Identifier: MIT
"""TensorProto in every form that the onnx package writes, of every type that ONNX has, as a file and within a
model; and files written here, read by the onnx package."""

import json

import numpy
import onnx
import pytest

from protobuf import TensorProto, block, helper, model, numpy_helper, passing, save, value

RANDOM = numpy.random.default_rng(7)
# ONNX's number of each type, our name, and the typed field that holds it.
TYPES = {
    1: ("f32", "float_data"), 2: ("u8", "int32_data"), 3: ("i8", "int32_data"), 4: ("u16", "int32_data"),
    5: ("i16", "int32_data"), 6: ("i32", "int32_data"), 7: ("i64", "int64_data"), 9: ("bool", "int32_data"),
    10: ("f16", "int32_data"), 11: ("f64", "double_data"), 12: ("u32", "uint64_data"), 13: ("u64", "uint64_data"),
    14: ("c64", "float_data"), 15: ("c128", "double_data"), 16: ("bf16", "int32_data"), 17: ("f8e4m3fn", "int32_data"),
    18: ("f8e4m3fnuz", "int32_data"), 19: ("f8e5m2", "int32_data"), 20: ("f8e5m2fnuz", "int32_data"),
    21: ("u4", "int32_data"), 22: ("i4", "int32_data"), 23: ("f4e2m1", "int32_data"), 24: ("f8e8m0", "int32_data"),
    25: ("u2", "int32_data"), 26: ("i2", "int32_data"),
}
SHAPES = [(), (0,), (1,), (7,), (3, 5), (2, 0, 3)]


def raw_bytes(number, shape):
    """Random elements of a type as raw_data; bits that no element has are 0."""
    count = int(numpy.prod(shape, dtype=int))
    if number == 9:
        return RANDOM.integers(0, 2, count, dtype="u1").tobytes()
    bits = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2}.get(number)
    if bits:
        data = bytearray(RANDOM.bytes((count * bits + 7) // 8))
        if count * bits % 8:
            data[-1] &= (1 << count * bits % 8) - 1
        return bytes(data)
    size = {1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 10: 2, 11: 8, 12: 4, 13: 8, 14: 8, 15: 16, 16: 2}.get(number, 1)
    return RANDOM.bytes(count * size)


# What the numbers of a typed field are, where that is not the unsigned byte.
NUMBERS = {1: "<f4", 3: "<i1", 4: "<u2", 5: "<i2", 6: "<i4", 7: "<i8", 10: "<u2", 11: "<f8", 12: "<u4", 13: "<u8",
           14: "<f4", 15: "<f8", 16: "<u2"}


def typed(number, shape, raw):
    """The same elements in the field of their type, serialized."""
    tensor = TensorProto(dims=shape, data_type=number, name="w")
    field = TYPES[number][1]
    if field in ("float_data", "double_data"):  # by hand: some NaNs do not survive Python's floats
        return tensor.SerializeToString() + (block(4 if field == "float_data" else 10, raw) if raw else b"")
    getattr(tensor, field).extend(numpy.frombuffer(raw, NUMBERS.get(number, "<u1")).tolist())
    return tensor.SerializeToString()


@pytest.mark.parametrize("number", TYPES)
@pytest.mark.slow
def test_every_type_and_form(garner, tmp_path, number):
    name = TYPES[number][0]
    for shape in SHAPES:
        raw = raw_bytes(number, shape)
        plain = TensorProto(dims=shape, data_type=number, name="w", raw_data=raw).SerializeToString()
        for content in (plain, typed(number, shape, raw)):
            (tmp_path / "x.pb").write_bytes(content)
            save(passing(TensorProto.FromString(content), 28), tmp_path / "m.onnx")
            answer = garner("run", "m.onnx", "--format", "raw")
            assert (answer.code, answer.err, answer.out) == (0, "", raw), answer
            described = json.loads(garner("run", "m.onnx", "--format", "json").text)
            assert (described["dtype"], tuple(described["shape"])) == (name, shape)
        answer = garner("run", "m.onnx", "-o", "y=y.pb")
        assert (answer.code, answer.err) == (0, ""), answer
        assert (tmp_path / "y.pb").read_bytes() == TensorProto(dims=shape, data_type=number, name="y",
                                                               raw_data=raw).SerializeToString()
        back = onnx.load_tensor(str(tmp_path / "y.pb"))
        assert (tuple(back.dims), back.data_type, back.raw_data) == (shape, number, raw)
        numpy_helper.to_array(back)  # the onnx package takes it


def test_strings(garner, tmp_path):
    texts = ["", "a", "é", "x" * 1000, "a\0b"]
    tensor = helper.make_tensor("w", TensorProto.STRING, [5], [t.encode() for t in texts])
    save(passing(tensor), tmp_path / "m.onnx")
    assert json.loads(garner("run", "m.onnx", "--format", "json").text)["data"] == texts
    assert garner("run", "m.onnx", "-o", "y=y.pb").code == 0
    assert onnx.load_tensor(str(tmp_path / "y.pb")).string_data == [t.encode() for t in texts]


def test_files_as_tensors(garner, tmp_path):
    array = numpy.arange(6, dtype="f4").reshape(2, 3)
    (tmp_path / "x.pb").write_bytes(numpy_helper.from_array(array, "x").SerializeToString())
    (tmp_path / "i.pb").write_bytes(numpy_helper.from_array(numpy.array([1]), "i").SerializeToString())
    assert garner("gather", "x.pb", "i.pb").text == "[[3.0,4.0,5.0]]\n"
    assert garner("gather", "x.pb", "i.pb", "--axis=1", "-o", "out.pb").code == 0
    assert numpy_helper.to_array(onnx.load_tensor(str(tmp_path / "out.pb"))).tolist() == [[1.0], [4.0]]


def test_the_writer_writes_what_the_onnx_package_writes(garner, tmp_path):
    for array in (numpy.arange(6, dtype="f4").reshape(2, 3), numpy.array(2.5), numpy.zeros((0, 2), "i2")):
        numpy.save(tmp_path / "x.npy", array)
        save(model([helper.make_node("Identity", ["x"], ["y"])], [value("x", helper.np_dtype_to_tensor_dtype(array.dtype))],
                   [value("y", 0)]), tmp_path / "m.onnx")
        assert garner("run", "m.onnx", "x=x.npy", "-o", "y=y.pb").code == 0
        assert (tmp_path / "y.pb").read_bytes() == numpy_helper.from_array(array, "y").SerializeToString()


def test_types_that_onnx_lacks(refuses, tmp_path):
    answer = refuses(4, ["u3", "y.pb"], "gather", "[1,2,3]:u3", "[0]", "-o", "y.pb")
    assert not (tmp_path / "y.pb").exists(), answer


def test_external_data_of_a_file(garner, refuses, tmp_path):
    tensor = TensorProto(dims=(3,), data_type=1, data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="x.bin")
    tensor.external_data.add(key="offset", value="4")
    (tmp_path / "x.pb").write_bytes(tensor.SerializeToString())
    (tmp_path / "x.bin").write_bytes(numpy.arange(4, dtype="<f4").tobytes())
    assert garner("gather", "x.pb", "[2,0]").text == "[3.0,1.0]\n"
    tensor.external_data[0].value = "../x.bin"
    (tmp_path / "x.pb").write_bytes(tensor.SerializeToString())
    refuses(4, ["x.pb", "'..'"], "gather", "x.pb", "[0]")


def test_external_data_as_the_onnx_package_saves_them(garner, tmp_path):
    array = numpy.arange(5000, dtype="f4").reshape(50, 100)
    made = model([helper.make_node("Gather", ["w", "i"], ["y"])], [value("i", 7)], ["y"],
                 [numpy_helper.from_array(array, "w")])
    onnx.save(made, tmp_path / "m.onnx", save_as_external_data=True, location="w.data", size_threshold=100)
    assert (tmp_path / "w.data").stat().st_size >= array.nbytes
    assert garner("run", "m.onnx", "i=[49]", "-o", "y=y.npy").code == 0
    assert (numpy.load(tmp_path / "y.npy") == array[[49]]).all()


CONSTANTS = [
    ({"value_int": -7}, "-7\n"), ({"value_ints": [3, -1, 2**63 - 1]}, "[3,-1,9223372036854775807]\n"),
    ({"value_float": 1.5}, "1.5\n"), ({"value_floats": [1.0, -2.5]}, "[1.0,-2.5]\n"),
    ({"value_string": b"caf\xc3\xa9"}, '"café"\n'), ({"value_strings": [b"a", b""]}, '["a",""]\n'),
    ({"value": numpy_helper.from_array(numpy.array([[1, 2]], "i2"))}, "[[1,2]]\n"),
]


@pytest.mark.parametrize("attribute, text", CONSTANTS, ids=[next(iter(a)) for a, _ in CONSTANTS])
def test_constants(garner, tmp_path, attribute, text):
    node = helper.make_node("Constant", [], ["y"], **attribute)
    made = model([node], (), [value("y", 0)])
    save(made, tmp_path / "m.onnx")
    answer = garner("run", "m.onnx")
    assert (answer.code, answer.text, answer.err) == (0, text, ""), answer


def test_sparse_constants_are_refused(refuses, tmp_path):
    sparse = helper.make_sparse_tensor(numpy_helper.from_array(numpy.ones(1, "f4"), "v"),
                                       numpy_helper.from_array(numpy.zeros(1, "i8")), [3])
    made = model([helper.make_node("Constant", [], ["y"], name="c", sparse_value=sparse)])
    save(made, tmp_path / "m.onnx")
    refuses(4, "1 × Constant with a sparse value: 1 operator that does not run here", "run", "m.onnx")


def test_a_file_of_any_name(garner, refuses, tmp_path):
    """A TensorProto has no magic: what is nothing else is read as one."""
    elements = numpy.frombuffer(b"ab{" + bytes(13), "<i8")  # { is the ninth byte of the file, as in .safetensors
    contents = {"t.bin": TensorProto(dims=[2], data_type=7, raw_data=elements.tobytes()).SerializeToString(),
                "scalar": typed(7, (), (9).to_bytes(8, "little")), "#0": typed(7, (3,), bytes(24))}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        answer = garner("convert", f"file:{name}#", "y.npy")
        assert answer.code == 0 and answer.err == "", answer
        want = numpy_helper.to_array(TensorProto.FromString(content))
        assert numpy.load(tmp_path / "y.npy").tolist() == want.tolist()
    assert contents["t.bin"][8:9] == b"{"
    assert "t.bin: .pb, 1 tensor\n  i64  [2]  16 bytes\n" in garner("info", "file:t.bin").text
    (tmp_path / "cut").write_bytes(contents["t.bin"][:-1])
    refuses(4, ["cut: not a .npy, .npz or .safetensors file, nor a TensorProto (malformed at byte ", "08 02 10 07 4a 10 61 62 7b"],
            "gather", "file:cut", "[0]")
    save(passing(numpy_helper.from_array(elements, "w")), tmp_path / "model")
    refuses(4, ["nor a TensorProto (tensor ", "no element type"], "gather", "file:model", "[0]")
    (tmp_path / "new").write_bytes(TensorProto(dims=[2], data_type=99).SerializeToString())
    refuses(4, "new: tensor '': element type 99 is not known here", "gather", "file:new", "[0]")
    refuses(4, "nor a TensorProto: it begins with the bytes 00 00", "gather", "file:/dev/zero", "[0]")
