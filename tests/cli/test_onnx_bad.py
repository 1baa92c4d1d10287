# SPDX-License-Identifier: MIT
"""Bad ONNX files: exit 4 and one sentence that begins with the file's path. The file made good again runs right afterwards."""

import os

import numpy
import pytest

from protobuf import TensorProto, block, gathering, helper, model, number, numpy_helper, passing, save, value, varint

TABLE = numpy.arange(12, dtype="<f4").reshape(4, 3)
ROWS = numpy.array([3, 0])
PICKED = "[[9.0,10.0,11.0],[0.0,1.0,2.0]]\n"


def external(location, offset=None, length=None, array=TABLE):
    tensor = TensorProto(name="w", dims=array.shape, data_type=1, data_location=TensorProto.EXTERNAL)
    for key, text in (("location", location), ("offset", offset), ("length", length)):
        if text is not None:
            entry = tensor.external_data.add()
            entry.key = key
            entry.value = str(text)
    return tensor


@pytest.fixture
def folder(tmp_path):
    """A folder with good external data in w.bin and in sub/w.bin, and bad neighbours."""
    (tmp_path / "sub").mkdir()
    for path in (tmp_path / "w.bin", tmp_path / "sub" / "w.bin"):
        path.write_bytes(TABLE.tobytes())
    return tmp_path


@pytest.fixture
def bad(refuses, garner, folder):
    """bad(proto or bytes, words, code=4): refused; then a good model in the same place works."""

    def check(content, words, code=4, *options):
        path = folder / "m.onnx"
        path.write_bytes(content if isinstance(content, bytes) else content.SerializeToString())
        answer = refuses(code, words, "run", "m.onnx", *options)
        assert answer.err.startswith("garner: m.onnx: "), answer
        good(garner, folder, numpy_helper.from_array(TABLE, "w"))
        return answer

    return check


def good(garner, folder, tensor, *options, text=PICKED):
    save(gathering(tensor, ROWS), folder / "m.onnx")
    answer = garner("run", "m.onnx", *options)
    assert (answer.code, answer.text, answer.err) == (0, text, ""), answer


# ---- External data -------------------------------------------------------------------------------


@pytest.mark.parametrize("location", ["w.bin", "sub/w.bin", "./w.bin", "sub/./w.bin", "sub//w.bin"])
def test_external_data(garner, folder, location):
    good(garner, folder, external(location))


def test_locations_that_escape(bad, folder):
    outside = folder.parent / f"{folder.name}-outside.bin"
    outside.write_bytes(TABLE.tobytes())
    for location, word in [(str(outside), "absolute"), ("/etc/passwd", "absolute"), (f"../{outside.name}", "'..'"),
                           (f"sub/../../{outside.name}", "'..'"), ("sub/../w.bin", "'..'"), ("..", "'..'"),
                           ("", "empty"), ("w.bin\0x", "zero byte"), ("a" * 5000, "too long")]:
        bad(gathering(external(location), ROWS), [word, "external data"])
        bad(gathering(external(location), ROWS), word, 4, "--follow-links")


def test_no_location(bad):
    bad(gathering(external(None), ROWS), ["'w'", "no location"])


def test_symbolic_links(bad, garner, folder):
    (folder / "link.bin").symlink_to("w.bin")
    (folder / "linked").symlink_to("sub")
    (folder / "away").symlink_to(folder.parent)
    (folder / "loop.bin").symlink_to("loop.bin")
    for location in ("link.bin", "linked/w.bin", f"away/{folder.name}/w.bin"):
        bad(gathering(external(location), ROWS), ["symbolic link", "--follow-links"])
        good(garner, folder, external(location), "--follow-links")
    bad(gathering(external("loop.bin"), ROWS), "loop", 4, "--follow-links")


def test_what_is_no_regular_file_with_one_link(bad, garner, folder):
    os.link(folder / "w.bin", folder / "second.bin")
    os.mkfifo(folder / "fifo.bin")
    bad(gathering(external("second.bin"), ROWS), ["hard links", "--follow-links"])
    good(garner, folder, external("second.bin"), "--follow-links")
    for options in ((), ("--follow-links",)):
        bad(gathering(external("fifo.bin"), ROWS), "no regular file", 4, *options)
        bad(gathering(external("sub"), ROWS), "folder", 4, *options)
    (folder / "zero").symlink_to("/dev/zero")
    bad(gathering(external("zero"), ROWS), "no regular file", 4, "--follow-links")


def test_and_49_for_tensor_files(garner, refuses, folder):
    """A .pb has external data too, and stands for a tensor in every command."""
    (folder / "link.bin").symlink_to("w.bin")
    (folder / "x.pb").write_bytes(external("link.bin").SerializeToString())
    save(model([helper.make_node("Identity", ["x"], ["y"])], [value("x", 1)], [value("y", 1)]), folder / "m.onnx")
    for words in (["gather", "x.pb", "[3,0]"], ["gather-elements", "x.pb", "[[3,3,3]]"], ["gather-nd", "x.pb", "[[3]]"],
                  ["explain", "gather", "x.pb", "[3,0]"], ["diff", "x.pb", "iota(4,3):f32"], ["convert", "x.pb", "y.npy"],
                  ["run", "m.onnx", "x=x.pb"], ["bench", "gather", "x.pb", "[0]", "--seconds", "0"]):
        refuses(4, ["x.pb: ", "symbolic link", "--follow-links"], *words)
        answer = garner(*words, "--follow-links")
        assert (answer.code, answer.err) == (0, ""), answer
    assert numpy.array_equal(numpy.load(folder / "y.npy"), TABLE)


def test_missing_external_file(bad):
    bad(gathering(external("none.bin"), ROWS), ["none.bin", "No such file"], 5)
    bad(gathering(external("none/w.bin"), ROWS), ["none/w.bin", "No such file"], 5)


def test_external_file_is_opened_once(program, surroundings, folder):
    """Every system call on the data's name is one open; what follows works on the descriptor."""
    import shutil
    import subprocess

    if not shutil.which("strace"):
        pytest.skip("strace is not installed: the calls are not counted")
    save(gathering(external("w.bin"), ROWS), folder / "m.onnx")
    done = subprocess.run(["strace", "-f", "-o", "calls.txt", program, "run", "m.onnx"], cwd=folder,
                          env=surroundings, capture_output=True, check=False)
    calls = (folder / "calls.txt").read_text() if (folder / "calls.txt").exists() else ""
    if "w.bin" not in calls:
        pytest.skip(f"strace does not work here: {done.stderr.decode()[:200]}")
    assert len([line for line in calls.splitlines() if "w.bin" in line]) == 1


def test_shared_and_overlapping_ranges(garner, folder):
    """Two tensors on the same bytes, one of them in the middle of the other, in any order."""
    whole, part = external("w.bin"), external("w.bin", 12, 24, TABLE[1:3])
    part.name = "v"
    save(model([helper.make_node("Identity", ["v"], ["a"]), helper.make_node("Identity", ["w"], ["b"])], (), ("a", "b"),
               [part, whole]), folder / "m.onnx")
    assert garner("run", "m.onnx").text == (
        "a=[[3.0,4.0,5.0],[6.0,7.0,8.0]]\n"
        "b=[[0.0,1.0,2.0],[3.0,4.0,5.0],[6.0,7.0,8.0],[9.0,10.0,11.0]]\n")


def test_external_ranges(bad, garner, folder):
    good(garner, folder, external("w.bin", 0, 48))
    for offset, length, words in [(1, None, ["48 bytes at offset 1", "past the end"]), (2**64 - 1, None, "past the end"),
                                  (0, 47, ["47", "48"]), (0, 49, ["49", "48"]), ("-1", None, "decimal"),
                                  ("0x0", None, "decimal"), (" 1", None, "decimal"), ("", None, "decimal"),
                                  (2**64, None, "decimal"), (0, "1e3", "decimal")]:
        bad(gathering(external("w.bin", offset, length), ROWS), words)
    (folder / "empty.bin").write_bytes(b"")
    bad(gathering(external("empty.bin"), ROWS), "past the end")
    both = external("w.bin")
    both.raw_data = TABLE.tobytes()
    bad(gathering(both, ROWS), "raw_data")


# ---- Sizes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 47, 49, 96])
def test_raw_data_of_another_size(bad, size):
    tensor = TensorProto(name="w", dims=(4, 3), data_type=1, raw_data=bytes(size))
    bad(gathering(tensor, ROWS), ["'w'", f"{size} bytes" if size else "no elements"])


def test_sizes_that_no_machine_has(bad):
    """Refused by what the file holds, before any of it is allocated."""
    for dims in [(2**40,), (2**30, 2**29)]:
        for fields in ({"raw_data": bytes(8)}, {"float_data": [1.0, 2.0]}):
            bad(gathering(TensorProto(name="w", dims=dims, data_type=1, **fields), ROWS), "'w'")
        bad(gathering(TensorProto(name="w", dims=dims, data_type=7, int64_data=[1, 2]), ROWS), "int64_data")


@pytest.mark.parametrize("count", [0, 11, 13])
def test_typed_data_of_another_size(bad, count):
    bad(gathering(TensorProto(name="w", dims=(4, 3), data_type=1, float_data=[0] * count), ROWS), "'w'")
    bad(gathering(TensorProto(name="w", dims=(4, 3), data_type=7, int64_data=[0] * count), ROWS), "'w'")
    bad(gathering(TensorProto(name="w", dims=(4, 3), data_type=8, string_data=[b"x"] * count), ROWS), "'w'")


def test_data_in_the_wrong_field(bad):
    bad(gathering(TensorProto(name="w", dims=(1,), data_type=1, int32_data=[1]), ROWS), "int32_data")
    bad(gathering(TensorProto(name="w", dims=(1,), data_type=1, float_data=[1], raw_data=bytes(4)), ROWS), "raw_data")
    bad(gathering(TensorProto(name="w", dims=(1,), data_type=8, raw_data=bytes(16)), ROWS), "raw_data")
    bad(gathering(TensorProto(name="w", dims=(1,), data_type=3, int32_data=[128]), ROWS), ["number 0", "i8"])
    bad(gathering(TensorProto(name="w", dims=(2,), data_type=2, int32_data=[0, -1]), ROWS), ["number 1", "u8"])
    bad(gathering(TensorProto(name="w", dims=(1,), data_type=12, uint64_data=[2**32]), ROWS), ["number 0", "u32"])


# ---- The wire --------------------------------------------------------------------------------------

WHOLE = gathering(numpy_helper.from_array(TABLE, "w"), ROWS).SerializeToString()


def nested_type(depth):
    """An input whose type is a sequence of sequences of ..., two levels each."""
    content = b""
    for _ in range(depth):
        content = block(4, block(1, content))
    return WHOLE + block(7, block(11, block(1, b"x") + block(2, content)))


@pytest.mark.parametrize(
    "content, words",
    [
        (WHOLE + b"\x48" + b"\xff" * 10 + b"\x01", ["10 bytes", f"byte {len(WHOLE) + 1}"]),
        (WHOLE + b"\x48\xff", ["past the end", f"byte {len(WHOLE) + 1}"]),
        (WHOLE + b"\x3a\x7f", ["length", f"byte {len(WHOLE) + 1}"]),
        (WHOLE + b"\x3a" + varint(2**63), "length"),
        (WHOLE + b"\x3a" + varint(2**64 - 1), "length"),
        (WHOLE + b"\x00\x00", ["field number 0", f"byte {len(WHOLE)}"]),
        (WHOLE + b"\x07", ["field number 0", f"byte {len(WHOLE)}"]),
        (WHOLE + b"\x4b\x4c", ["group", f"byte {len(WHOLE)}"]),
        (WHOLE + b"\x4c", ["group", f"byte {len(WHOLE)}"]),
        (WHOLE + b"\x4e", ["wire type", f"byte {len(WHOLE)}"]),
        (WHOLE + b"\x4f", ["wire type", f"byte {len(WHOLE)}"]),
        (WHOLE + varint(2**32 << 3), "field number"),
        (WHOLE + b"\x4d\x00\x00\x00", "past the end"),
        (WHOLE + b"\x49" + bytes(7), "past the end"),
        (WHOLE + block(7, block(5, b"\x4a\x05abc")), ["length", f"byte {len(WHOLE) + 5}"]),
        (WHOLE + block(25, block(7, block(5, b"\x00"))), "field number 0"),
        (nested_type(60), ["64 levels", "byte "]),
        (nested_type(20000), "64 levels"),
        (b"", "no graph"),
        (number(1, 8) + block(8, number(2, 13)) + block(7, b""), ["neither nodes nor outputs"]),
        (model([], ["x"], [], [numpy_helper.from_array(TABLE, "w")]).SerializeToString(), ["neither nodes nor outputs"]),
        (b"hello, world", "malformed"),
        (WHOLE[:-1], "past the end"),
    ],
)
def test_damaged_wire(bad, content, words):
    bad(content, words)


def test_every_truncation_is_refused(refuses, folder):
    for size in range(0, len(WHOLE), 7):
        (folder / "m.onnx").write_bytes(WHOLE[:size])
        refuses(4, "garner: m.onnx: ", "run", "m.onnx")


# ---- What protobuf allows ----------------------------------------------------------------------------


def tensor_fields(**order):
    fields = {
        "dims": number(1, 4) + number(1, 3),
        "type": number(2, 1),
        "name": block(8, b"w"),
        "raw": block(9, TABLE.tobytes()),
    }
    return b"".join(order.get(name, fields[name]) for name in ("dims", "type", "name", "raw"))


PACKED_THEN_NOT = block(4, TABLE.tobytes()[:20]) + b"".join(b"\x25" + TABLE.tobytes()[i:i + 4] for i in range(20, 48, 4))


@pytest.mark.parametrize(
    "tensor",
    [
        tensor_fields(),
        tensor_fields()[::1] + block(12, b"doc") + number(999, 1) + block(1000, b"??") + b"\x7d" + bytes(4),
        block(9, TABLE.tobytes()) + block(8, b"w") + number(2, 1) + block(1, b"\x04\x03"),
        tensor_fields(dims=block(1, b"\x04") + number(1, 3)),
        tensor_fields(type=number(2, 7) + number(2, 1)),
        tensor_fields(name=block(8, b"v") + block(8, b"w")),
        tensor_fields(raw=block(9, b"other") + block(9, TABLE.tobytes())),
        tensor_fields(raw=block(4, TABLE.tobytes())),
        tensor_fields(raw=block(4, TABLE.tobytes()[:12]) + block(4, TABLE.tobytes()[12:])),
        tensor_fields(raw=PACKED_THEN_NOT),
        tensor_fields(type=b"\x10\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00"),
        tensor_fields(type=number(2, 1) + block(2, b"not a number")),
    ],
)
def test_any_order_and_form(garner, folder, tensor):
    indices = numpy_helper.from_array(ROWS, "i").SerializeToString()
    node = helper.make_node("Gather", ["w", "i"], ["y"]).SerializeToString()
    graph = [block(12, value("y", 1).SerializeToString()), block(1, node), block(5, indices), block(5, tensor)]
    opset = block(8, number(2, 13))
    for content in (block(7, b"".join(graph)) + opset, opset + b"".join(block(7, part) for part in graph),
                    number(1, 99) + number(1, 8) + opset + block(7, b"".join(reversed(graph)))):
        (folder / "m.onnx").write_bytes(content)
        answer = garner("run", "m.onnx")
        assert (answer.code, answer.text, answer.err) == (0, PICKED, ""), answer


# ---- Shapes --------------------------------------------------------------------------------------------


def test_bad_dims(bad):
    bad(gathering(TensorProto(name="w", dims=[1] * 65, data_type=1, raw_data=bytes(4)), ROWS), ["'w'", "64"])
    bad(gathering(TensorProto(name="w", dims=(-1, 3), data_type=1), ROWS), ["'w'", "negative"])
    bad(gathering(TensorProto(name="w", dims=(-2**63,), data_type=1), ROWS), "negative")
    bad(gathering(TensorProto(name="w", dims=(2**32, 2**32), data_type=1), ROWS), "63 bits")
    bad(gathering(TensorProto(name="w", dims=(2**61, 2), data_type=1), ROWS), "63 bits")
    bad(gathering(TensorProto(name="w", dims=(1,), raw_data=bytes(4)), ROWS), "no element type")
    bad(gathering(TensorProto(name="w", dims=(1,), data_type=27, raw_data=bytes(4)), ROWS), ["27", "26"])
    bad(gathering(TensorProto(name="w", dims=(1,), data_type=63, raw_data=bytes(4)), ROWS), "63")


def test_empty_and_huge(garner, folder):
    """No elements, whatever the other extents."""
    save(gathering(TensorProto(name="w", dims=(4, 0, 2**62), data_type=1), ROWS), folder / "m.onnx")
    answer = garner("run", "m.onnx", "-o", "y=y.npy")
    assert (answer.code, answer.err) == (0, ""), answer
    assert b"'shape': (2, 0, 4611686018427387904)," in (folder / "y.npy").read_bytes()


def test_strings_with_zero_bytes(garner, folder):
    texts = [b"a\0b", b"", b"\xff\xfe", "é".encode()]
    save(gathering(TensorProto(name="w", dims=(4,), data_type=8, string_data=texts), ROWS), folder / "m.onnx")
    assert garner("run", "m.onnx").text == '["é","a\\u0000b"]\n'


# ---- Long files, and operators ---------------------------------------------------------------------------


def test_beyond_two_gigabytes(garner, folder):
    """raw_data of more than 2 GiB, almost all of it a hole in the file."""
    rows, width = 2**21 + 3, 1025
    raw = rows * width
    head = number(1, rows) + number(1, width) + number(2, 2) + block(8, b"w")
    tensor = len(head) + 1 + len(varint(raw)) + raw
    rest = block(1, helper.make_node("Gather", ["w", "i"], ["y"]).SerializeToString()) + block(
        5, numpy_helper.from_array(numpy.array([-1, 0, rows - 2]), "i").SerializeToString()) + block(
        12, value("y", 2).SerializeToString())
    with open(folder / "m.onnx", "wb") as file:
        file.write(block(8, number(2, 13)) + b"\x3a" + varint(1 + len(varint(tensor)) + tensor + len(rest)))
        file.write(b"\x2a" + varint(tensor) + head + b"\x4a" + varint(raw))
        at = file.tell()
        file.seek(at + raw - 1)
        file.write(b"\x07" + rest)
        file.seek(at)
        file.write(b"\x05")
    answer = garner("run", "m.onnx", "-o", "y=y.npy")
    assert (answer.code, answer.err) == (0, ""), answer
    got = numpy.load(folder / "y.npy")
    assert got.shape == (3, width) and got[0, -1] == 7 and got[1, 0] == 5 and got.sum() == 12


def test_a_length_beyond_the_file(bad):
    bad(b"\x3a" + varint(2**31 + 5) + bytes(100), "length")


def test_onnx_operators_that_do_not_run(bad):
    nodes = [helper.make_node("Relu", ["x"], ["a"], name="first"), helper.make_node("Gather", ["a", "i"], ["b"], name="ok"),
             helper.make_node("Relu", ["b"], ["c"], name="second"), helper.make_node("Foo", ["c"], ["d"], domain="com.example"),
             helper.make_node("If", ["d"], ["y"], name="\x1b[31mred",
                              then_branch=helper.make_graph([], "t", [], []), else_branch=helper.make_graph([], "e", [], []))]
    answer = bad(model(nodes, ["x", value("i", 7)]), "2 × Relu, 1 × Foo of domain com.example, 1 × If: 3 operators that do not run here")
    assert "Gather" not in answer.err


def test_thousands_of_operators_stay_one_line(refuses, folder):
    """The most frequent first, the others counted; whatever their names."""
    nodes = [helper.make_node(f"Op{i}", [f"v{i}"], [f"v{i + 1}"], name=f"node-{i}") for i in range(3000)]
    nodes += [helper.make_node("MatMul", [f"v{i}"], [f"w{i}"]) for i in range(12)]
    nodes += [helper.make_node("Add", [f"w{i % 12}"], [f"a{i}"]) for i in range(48)]
    save(model(nodes, ["v0"], ["v3000"]), folder / "m.onnx")
    answer = refuses(4, ["m.onnx: 48 × Add, 12 × MatMul, 1 × Op0, ", ", …: 3002 operators that do not run here"], "run", "m.onnx")
    assert len(answer.err) < 300, answer
    nodes = [helper.make_node(f"{i}" + "\x1b" * 5000, ["v0"], [f"v{i + 1}"]) for i in range(4)]
    save(model(nodes, ["v0"], ["v1"]), folder / "m.onnx")
    answer = refuses(4, ": 4 operators that do not run here", "run", "m.onnx")
    assert len(answer.err) < 512 and "\x1b" not in answer.err, answer


def test_functions_and_versions(bad, garner, folder):
    with_function = model([helper.make_node("Gather", ["x", "i"], ["y"], name="g", domain="own")], ["x", value("i", 7)],
                          functions=[helper.make_function("own", "Gather", ["x", "i"], ["y"], [], [helper.make_opsetid("", 21)])])
    bad(with_function, "1 × Gather is a function of the model")
    old = model([helper.make_node("GatherElements", ["x", "i"], ["y"], name="g")], ["x", value("i", 7)], opset=10)
    bad(old, "GatherElements does not exist in opset 10")
    bad(gathering(numpy_helper.from_array(TABLE, "w"), ROWS, opset=29), ["29", "28"])
    bad(gathering(numpy_helper.from_array(TABLE, "w"), ROWS, opset=2**62), "no version")
    save(gathering(numpy_helper.from_array(TABLE, "w"), ROWS, opset=28), folder / "m.onnx")
    assert garner("run", "m.onnx").text == PICKED


# ---- Graphs that are none ----------------------------------------------------------------------------------


def test_names_and_cycles(bad):
    x, i = "x", value("i", 7)
    gather = helper.make_node("Gather", ["x", "i"], ["y"], name="g")
    bad(model([gather], [x]), ["'g'", "'i'", "made by nothing"])
    bad(model([gather], [x, i], ["z"]), ["'z'", "made by nothing"])
    bad(model([gather, gather], [x, i]), ["'y'", "two tensors"])
    bad(model([gather], [x, x, i]), ["'x'", "two tensors"])
    bad(model([gather], [x, i], ["y", "y"]), ["'y'", "twice"])
    bad(model([helper.make_node("Gather", ["x", "i"], ["x"])], [x, i], ["x"]), ["'x'", "two tensors"])
    twice = [numpy_helper.from_array(TABLE, "x")] * 2
    bad(model([gather], [i], ["y"], twice), ["'x'", "twice"])
    loop = [helper.make_node("Gather", ["b", "i"], ["a"], name="one"), helper.make_node("Identity", ["a"], ["b"], name="two")]
    bad(model(loop, [i], ["b"]), ["cycle", "'one'"])
    bad(model([helper.make_node("Identity", ["y"], ["y"], name="self")], [], ["y"]), ["cycle", "'self'"])


def test_nodes_that_no_version_allows(bad):
    x, i = "x", value("i", 7)
    for attributes, word in [({"axes": 1}, "'axes'"), ({"batch_dims": 1}, "'batch_dims'"), ({"axis": 1.5}, "no integer")]:
        bad(model([helper.make_node("Gather", ["x", "i"], ["y"], name="g", **attributes)], [x, i]), ["'g'", word])
    bad(model([helper.make_node("Gather", ["x"], ["y"], name="g")], [x]), "takes 2 inputs, not 1")
    bad(model([helper.make_node("Gather", ["x", ""], ["y"], name="g")], [x]), "left out")
    bad(model([helper.make_node("Gather", ["x", "i"], ["y", "z"], name="g")], [x, i]), "one output")
    bad(model([helper.make_node("Constant", [], ["y"], name="c")]), "no value")
    bad(model([helper.make_node("Constant", [], ["y"], name="c", value_int=1, value_float=1.0)], (), [value("y", 7)]), "more than one")
    bad(model([helper.make_node("Constant", [], ["y"], name="c", value_int=1)], (), [value("y", 7)], opset=11), "'value_int'")


@pytest.mark.slow
def test_a_deep_chain_needs_no_stack(garner, folder):
    """A hundred thousand nodes in a row, the last one first."""
    count = 100_000
    nodes = [helper.make_node("Identity", [f"v{i}"], [f"v{i + 1}"]) for i in reversed(range(count))]
    save(model(nodes, ["v0"], [f"v{count}"]), folder / "m.onnx")
    assert garner("run", "m.onnx", "v0=[1.5]").text == "[1.5]\n"


def test_escapes_in_names(refuses, folder):
    save(model([helper.make_node("Identity", ["x\x1b[2J"], ["y"])], ["x\x1b[2J"]), folder / "m.onnx")
    answer = refuses(2, "\\x1b[2J", "run", "m.onnx")
    assert "\x1b" not in answer.err


@pytest.mark.parametrize("opset, code", [(11, 3), (12, 3), (13, 0)])
def test_bf16_came_with_opset_13(garner, folder, opset, code):
    tensor = TensorProto(name="w", dims=(4,), data_type=16, int32_data=[0x3F80] * 4)
    save(gathering(tensor, ROWS, opset=opset), folder / "m.onnx")
    answer = garner("run", "m.onnx")
    assert answer.code == code, answer
    assert ("bf16" in answer.err and "'g'" in answer.err) == (code == 3)
    save(passing(tensor, opset), folder / "m.onnx")
    assert garner("run", "m.onnx").code == code
