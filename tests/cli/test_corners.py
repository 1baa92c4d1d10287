# SPDX-License-Identifier: MIT
"""Arguments and contents at their edges, command by command: what is just allowed, just refused, cut off, or not there."""

import errno
import json
import os
import pty
import struct
import subprocess
import termios
import xml.etree.ElementTree
import zipfile

import ml_dtypes
import numpy
import pytest
from onnx import TensorProto, helper, numpy_helper
from protobuf import model, save, value
from terminal import read_terminal

# ---- Words and numbers ----


@pytest.mark.parametrize("words, arguments", [
    ("whole number", ["gather", "[1]", "[0]", "--threads", "-1"]),
    ("whole number", ["gather", "[1]", "[0]", "--threads", "2147483648"]),
    ("whole number", ["gather", "[1]", "[0]", "--threads", "x"]),
    ("bytes such as 512M", ["gather", "[1]", "[0]", "--memory", "M"]),
    ("bytes such as 512M", ["gather", "[1]", "[0]", "--memory", "5X"]),
    ("bytes such as 512M", ["gather", "[1]", "[0]", "--memory", "5MB"]),
    ("bytes such as 512M", ["gather", "[1]", "[0]", "--memory", "123456789012345678901234M"]),
    ("bytes such as 512M", ["gather", "[1]", "[0]", "--memory", "99999999999999999999"]),
    ("bytes such as 512M", ["gather", "[1]", "[0]", "--memory", "9999999999T"]),
    ("bytes such as 512M", ["gather", "[1]", "[0]", "--memory", "1048575"]),
    ("no option", ["gather", "--" + "long" * 40]),
    ("no option", ["gather", "--" + "x" * 25]),
    ("no option", ["gather", "--Axiss", "0"]),
    ("no command", ["gather-" + "x" * 60]),
    ("no command", ["GATHER"]),
    ("no shape", ["bench", "gather", "--data-shape", "1" * 24, "--indices-shape", "3"]),
    ("no shape", ["bench", "gather", "--data-shape", "3,", "--indices-shape", "3"]),
    ("no shape", ["bench", "gather", "--data-shape", ",".join("1" * 65), "--indices-shape", "3"]),
    ("no shape", ["bench", "gather", "--data-shape", "[3", "--indices-shape", "3"]),
    ("no shape", ["bench", "gather", "--data-shape", "3]2", "--indices-shape", "3"]),
    ("no shape", ["bench", "gather", "--data-shape", "-3", "--indices-shape", "3"]),
    ("given together", ["bench", "gather", "--indices-shape", "3"]),
    ("given together", ["bench", "gather", "--data-shape", "3"]),
    ("bench makes no opaque", ["bench", "gather", "--dtype", "opaque"]),
    ("bench makes no str", ["bench", "gather", "--dtype", "str"]),
    ("the result is empty", ["bench", "gather", "--data-shape", "3", "--indices-shape", "0", "--seconds", "0"]),
    ("the result is empty", ["bench", "gather", "--data-shape", "3,0", "--indices-shape", "2", "--seconds", "0"]),
    ("file: is followed by no path", ["gather", "file:", "[0]"]),
    ("nor is it a model", ["explain", "nothing", "[0]"]),
    ("neither a literal nor", ["gather", "nothing", "[0]"]),
    ("GARNER_NUM_THREADS", ["gather", "[1]", "[0]", "GARNER_NUM_THREADS=99999999999999999999"]),
    ("GARNER_NUM_THREADS", ["gather", "[1]", "[0]", "GARNER_NUM_THREADS=2147483648"]),
    ("GARNER_NUM_THREADS", ["gather", "[1]", "[0]", "GARNER_NUM_THREADS=01"]),
], ids=str)  # fmt: skip
def test_refused(garner, words, arguments):
    variables = dict(word.split("=") for word in arguments if word.startswith("GARNER_"))
    answer = garner(*(word for word in arguments if not word.startswith("GARNER_")), env=variables)
    assert answer.code in (2, 4) and words in answer.err and answer.out == b"", answer


def test_taken(garner, tmp_path):
    assert garner("gather", "[1,2]", "[0]", "--Batch_dims", "0").code == 2  # letters of another case are other letters
    assert garner("gather", "[1,2]", "[0]", "--batch_dims", "0").code == 0
    assert garner("gather", "[1,2]", "[0]", "--threads", "2147483647", env={"GARNER_NUM_THREADS": ""}).code == 0
    assert garner("gather", "-o", "a.npy", "[1,2]", "-o", "b.npy", "[0]").code == 0  # the last counts
    assert (tmp_path / "b.npy").exists() and not (tmp_path / "a.npy").exists()
    numpy.save(tmp_path / "x.npy", [1, 2])
    assert garner("gather", "x.npy", "[0]", "--memory", "1048576", "-o", "y.npy").code == garner("gather", "x.npy", "[0]", "--memory", "2g").code == 0
    (tmp_path / "x.npy").rename(tmp_path / "-")  # which is a file's name here, and not standard input
    assert garner("gather", "file:-", "[1]").text == "[2]\n"


@pytest.mark.parametrize("columns", ["0", "-5", "10000", "x", ""])
def test_widths_that_are_none(garner, columns):
    plain = garner("explain", "gather", "iota(3)", "[0,1]", env={"COLUMNS": "80"})
    assert garner("explain", "gather", "iota(3)", "[0,1]", env={"COLUMNS": columns}).text == plain.text


@pytest.mark.parametrize("terminal, rows", [("xterm", 40), ("dumb", 0), ("xterm", 0)])
def test_a_terminal_of_any_width(program, surroundings, terminal, rows):
    lead, follow = pty.openpty()
    termios.tcsetwinsize(follow, (24, rows))
    subprocess.run([program, "explain", "gather", "iota(30)", "[0,1]"], stdout=follow, env={**surroundings, "TERM": terminal, "COLUMNS": "70"}, check=True)
    os.close(follow)
    shown = read_terminal(lead).decode()
    assert ("\x1b[" in shown) == (terminal != "dumb") and "out" in shown


# ---- bench ----


@pytest.mark.parametrize("arguments", [
    ["gather", "--data-shape", "[40,4]", "--indices-shape", "[]", "--axis", "-1"],
    ["gather", "--data-shape", "40,4", "--indices-shape", "7", "--index-dtype", "u8"],
    ["gather", "--data-shape", "40,4", "--indices-shape", "7", "--index-dtype", "u16", "--batch-dims", "0"],
    ["gather", "--data-shape", "40,4", "--indices-shape", "40,2", "--index-dtype", "i32", "--axis", "1", "--batch-dims", "-1"],
    ["gather-nd", "--data-shape", "9,40,4", "--indices-shape", "9,7,1", "--batch-dims", "1"],
    ["gather", "--axis", "0"],
], ids=str)  # fmt: skip
def test_bench(garner, arguments):
    answer = garner("bench", *arguments, "--seconds", "0", "--threads", "1", "--json")
    assert answer.code == 0 and json.loads(answer.text), answer
    assert garner("bench", *arguments, "--seconds", "0", "--threads", "1").code == 0


def test_bench_of_opaque_elements(garner, tmp_path):
    numpy.save(tmp_path / "x.npy", numpy.zeros(5, [("a", "i4"), ("b", "u1")]))
    assert "opaque[5]" in garner("bench", "gather", "x.npy", "[0,1]", "--seconds", "0", "--threads", "1").text


# ---- diff ----


@pytest.mark.parametrize("left, right, words", [
    ([b"a" * 40, b"b"], [b"a" * 39 + b"c", b"b"], "first difference at [0]"),
    (numpy.zeros(3, "V40"), numpy.ones(3, "u1").repeat(40).view("V40"), "bytes 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 ... and bytes 01"),
    (numpy.zeros(3, [("a", "i4")]), numpy.zeros(3, [("b", "i4")]), "types differ: opaque"),
    (numpy.zeros(3, "V7"), numpy.zeros(3, "V8"), "types differ: opaque"),
    (numpy.array(5), numpy.array(6), "first difference at []: 5 and 6; 1 of 1 element differs"),
    (numpy.array("x" * 300), numpy.array("x" * 299 + "y"), "... and "),
    (numpy.array(["same", ""]), numpy.array(["same", "z"]), "bytes 00"),
    (numpy.asfortranarray([[1, 2], [3, 4]]), numpy.array([[1, 2], [3, 5]]), "[1,1]: 4 and 5"),
], ids=str)  # fmt: skip
def test_differences(garner, tmp_path, left, right, words):
    numpy.save(tmp_path / "a.npy", left)
    numpy.save(tmp_path / "b.npy", right)
    answer = garner("diff", "a.npy", "b.npy")
    assert answer.code == 1 and words in answer.text, answer
    assert garner("diff", "a.npy", "a.npy").code == 0


def test_strings(garner):
    for left, right, words in (('["same",""]', '["same","z"]', '[1]: "" and "z"; 1 of 2'), ('["ab"]', '["ac"]', '[0]: "ab" and "ac"'),
                               ('["' + "x" * 300 + '"]', '["' + "x" * 299 + 'y"]', "... and ")):  # fmt: skip
        answer = garner("diff", left, right)
        assert answer.code == 1 and words in answer.text, answer
        assert garner("diff", left, left).code == 0


def test_files_of_which_several_differ(garner, tmp_path):
    numpy.savez(tmp_path / "a.npz", x=[1], y=[2], z=[3])
    numpy.savez(tmp_path / "b.npz", x=[1], y=[3], z=[4])
    numpy.savez(tmp_path / "c.npz", x=[1], y=[2], z=[4])
    assert garner("diff", "a.npz", "b.npz").text.endswith("2 tensors differ\n")
    assert garner("diff", "a.npz", "c.npz").text.endswith("1 tensor differs\n")
    content = (tmp_path / "b.npz").read_bytes()
    at = content.index(struct.pack("<q", 3))
    (tmp_path / "d.npz").write_bytes(content[:at] + b"\7" + content[at + 1 :])
    answer = garner("diff", "a.npz", "d.npz")
    assert answer.code == 4 and "d.npz" in answer.err


# ---- run, check, info ----


def test_run_names(garner, refuses, tmp_path):
    many = [f"a_long_name_of_an_input_{k}" for k in range(20)]
    save(model([helper.make_node("Identity", [many[0]], ["y"])], many), tmp_path / "many.onnx")
    refuses(2, "'a_long_name_of_an_input_0', ", "run", "many.onnx", "zz=1")
    save(model([helper.make_node("Constant", [], ["y"], value_int=3)], [], [value("y", 7)]), tmp_path / "none.onnx")
    refuses(2, "its inputs are: none", "run", "none.onnx", "zz=1")
    refuses(2, "no output 'other'", "run", "none.onnx", "-o", "other=x.npy")
    refuses(2, "--out that nothing is printed", "run", "none.onnx", "-o", "x.npy", "--format", "json")
    refuses(2, "--output-dir that nothing is printed", "run", "none.onnx", "--output-dir", "d", "--format", "json")
    save(model([helper.make_node("Constant", [], ["y"], value_int=3)], [], []), tmp_path / "mute.onnx")
    assert garner("run", "mute.onnx", "--format", "json").text == "{}\n"
    assert garner("run", "mute.onnx").text == ""


def test_run_of_types_without_npy(garner, tmp_path):
    """Into a folder each type goes as a file that has it."""
    arrays = {"f8": numpy.ones(2, ml_dtypes.float8_e4m3fn), "half": numpy.ones(2, ml_dtypes.bfloat16), "text": numpy.array(["a", "b"]), "plain": numpy.ones(2)}
    tensors = [numpy_helper.from_array(array.astype(object) if array.dtype.kind == "U" else array, name) for name, array in arrays.items()]
    nodes = [helper.make_node("Identity", [name], ["out_" + name]) for name in arrays]
    outputs = [value("out_" + tensor.name, tensor.data_type, [2]) for tensor in tensors]
    save(model(nodes, [], outputs, tensors), tmp_path / "m.onnx")
    assert garner("run", "m.onnx", "--output-dir", "d").code == 0
    assert sorted(os.listdir(tmp_path / "d")) == ["out_f8.pb", "out_half.pb", "out_plain.npy", "out_text.pb"]
    answer = garner("run", "m.onnx", "--format", "json")
    assert answer.code in (0, 4) and (answer.code or set(json.loads(answer.text)) == {tensor.name for tensor in outputs})
    assert garner("run", "m.onnx", "-v").code == 0


def test_check_of_several_outputs(garner, tmp_path):
    nodes = [helper.make_node("Identity", ["x"], ["y"]), helper.make_node("Identity", ["x"], ["z"])]
    for name, outputs in (("first", [5, 0]), ("second", [0, 5]), ("neither", [0, 0])):
        for number in range(2):
            data = tmp_path / "all" / name / f"test_data_set_{number}"
            data.mkdir(parents=True)
            save(numpy_helper.from_array(numpy.zeros(2, "f4")), data / "input_0.pb")
            for i, content in enumerate(outputs):
                save(numpy_helper.from_array(numpy.full(2, content, "f4")), data / f"output_{i}.pb")
        save(model(nodes, ["x"], ["y", "z"]), tmp_path / "all" / name / "model.onnx")
    (tmp_path / "all" / ".hidden").mkdir()
    (tmp_path / "all" / "empty").mkdir()
    (tmp_path / "all" / "file").write_text("")
    save(model(nodes, ["x"], ["y", "z"], opset=99), tmp_path / "all" / "newer.onnx")
    (tmp_path / "all" / "newer").mkdir()
    (tmp_path / "all" / "newer.onnx").rename(tmp_path / "all" / "newer" / "model.onnx")
    for more in ([], ["--follow-links"], ["--json"]):
        answer = garner("check", "all/", *more)
        assert answer.code == 1, answer
    assert json.loads(answer.text)["failed"] == 2 and json.loads(answer.text)["unsupported"] == 1
    assert [folder["result"] for folder in json.loads(answer.text)["folders"]] == ["fail", "pass", "unsupported", "fail"]
    answer = garner("check", "all/empty")
    assert answer.code == 4 and "no model.onnx in it" in answer.err


def test_info_of_odd_ports(garner, tmp_path):
    """Inputs that are no tensors, that have a default, or of which nothing is said; nodes without a name, and notes."""
    sequence = helper.make_tensor_sequence_value_info("list", TensorProto.FLOAT, None)
    nothing = helper.make_empty_tensor_value_info("bare")
    default = numpy_helper.from_array(numpy.zeros((2, 3), "f4"), "given")
    nodes = [helper.make_node("Gather", ["given", "i"], ["y"]), helper.make_node("SequenceLength", ["list"], ["n"]), helper.make_node("Relu", ["bare"], ["r"]),
             helper.make_node("Identity", ["y"], ["z"], name="long" * 300)]
    save(model(nodes, [sequence, nothing, value("i", 7, ["n", None]), value("given", 1, [2, 3])], [value("z", 1, [5, 5]), "r", value("n", 7)], [default]),
         tmp_path / "m.onnx")  # fmt: skip
    text = garner("info", "m.onnx")
    assert text.code == 0 and "sequence" in text.text, text
    whole = json.loads(garner("info", "m.onnx", "--json", "--follow-links").text)
    assert [port["name"] for port in whole["inputs"]] == ["list", "bare", "i", "given"]
    for arguments in (["explain", "m.onnx"], ["explain", "m.onnx", "--follow-links", "--gathers"], ["info", "m.onnx", "--gathers"]):
        assert garner(*arguments).code == 0
    answer = garner("run", "m.onnx", "i=[[0]]")
    assert answer.code == 4 and "operators that do not run here" in answer.err, answer


# ---- Calls that are interrupted, or that this system does not know ----


@pytest.fixture
def far(tmp_path):
    """A model whose table lies in another file, and an array as large as several reads."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x.bin").write_bytes(numpy.arange(6, dtype="f4").tobytes())
    table = TensorProto(name="w", dims=[3, 2], data_type=1, data_location=TensorProto.EXTERNAL)
    table.external_data.add(key="location", value="sub/x.bin")
    save(model([helper.make_node("Gather", ["w", "i"], ["y"])], [value("i", 7, ["n"])], ["y"], [table]), tmp_path / "m.onnx")
    numpy.save(tmp_path / "x.npy", numpy.arange(60000))
    (tmp_path / "old.npy").write_bytes(b"old")
    return tmp_path


HARMLESS = [("open", errno.EINTR), ("openat2", errno.EINTR), ("openat2", errno.EAGAIN), ("openat2", errno.ENOSYS), ("openat2", errno.EPERM),
            ("openat2", errno.EINVAL), ("fsync", errno.EINVAL), ("fsync", errno.ENOTSUP), ("getrandom", errno.EINTR), ("read", errno.EINTR),
            ("write", errno.EINTR), ("close", errno.EINTR)]  # fmt: skip


@pytest.mark.parametrize("call, number", HARMLESS, ids=str)
def test_calls_that_may_fail_like_this(garner, failing, far, call, number):
    env = {**failing, "FAIL_CALL": f"{call}:1:{number}"}
    answer = garner("run", "m.onnx", "i=[2,0]", env=env)
    assert answer.code == 0 and answer.text == "[[4.0,5.0],[0.0,1.0]]\n", answer
    for out in ("new.npy", "old.npy", "/dev/null"):
        answer = garner("gather", "-", "iota(60000)", "-o", out, env=env, stdin=(far / "x.npy").read_bytes())
        assert answer.code == 0, answer
    assert (numpy.load(far / "new.npy") == numpy.arange(60000)).all() and (numpy.load(far / "old.npy") == numpy.arange(60000)).all()


@pytest.mark.parametrize("call, number, words", [
    ("openat2", errno.EACCES, "open external data 'sub/x.bin': Permission denied"),
    ("openat2", errno.EXDEV, "is a symbolic link or lies behind one"),
    ("openat2", errno.ENXIO, "is no regular file"),
    ("mmap", errno.ENOMEM, "x.bin"),
    ("fstat", errno.EIO, ""),
], ids=str)  # fmt: skip
def test_calls_that_may_not(garner, failing, far, call, number, words):
    for n in range(1, 4):
        answer = garner("run", "m.onnx", "i=[2,0]", env={**failing, "FAIL_CALL": f"{call}:{n}:{number}"})
        assert answer.code in (0, 4, 5) and (answer.code or answer.text == "[[4.0,5.0],[0.0,1.0]]\n"), answer
        if answer.code and n == 1:
            assert words in answer.err, answer


def test_a_device_that_cannot_be_looked_at(garner, failing, far):
    for call in ("fstat", "open", "close", "write"):
        for n in range(1, 9):
            answer = garner("gather", "x.npy", "[1]", "-o", "/dev/null", env={**failing, "FAIL_CALL": f"{call}:{n}:{errno.EIO}"})
            assert answer.code in (0, 5), answer


# ---- Files of many names, and of more than 4 GiB ----


def test_many_names(refuses, tmp_path):
    numpy.savez(tmp_path / "x.npz", **{f"a_name_that_takes_some_room_{k}": [k] for k in range(50)})
    refuses(4, ["holds no 'none'; it has 'a_name_that_takes_some_room_0', ", " and ", " more"], "gather", "x.npz:none", "[0]")
    numpy.savez(tmp_path / "one.npz", **{"n" * 300: [1]})
    refuses(4, ["holds no 'none'", "nnn"], "gather", "one.npz:none", "[0]")
    with zipfile.ZipFile(tmp_path / "empty", "w"):
        pass
    refuses(4, "empty", "gather", "file:empty", "[0]")


@pytest.mark.long
@pytest.mark.slow
def test_archives_beyond_4_gib(program, surroundings, tmp_path):
    """Written through a FIFO, so that only the beginning and the end are kept; Python's zipfile reads them, with a hole between."""
    size, second = (1 << 32) + 5, numpy.arange(4).tobytes()
    header = json.dumps({"x": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]},
                         "y": {"dtype": "I64", "shape": [4], "data_offsets": [size, size + len(second)]}}).encode()  # fmt: skip
    header += b" " * (-len(header) % 8)
    with open(tmp_path / "x.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + size)
        file.seek(0, os.SEEK_END)
        file.write(second)
    os.mkfifo(tmp_path / "x.npz")
    with subprocess.Popen([program, "convert", "x.safetensors", "x.npz"], cwd=tmp_path, env=surroundings) as process:
        kept, at = [], 0
        with open(tmp_path / "x.npz", "rb", buffering=0) as pipe, open(tmp_path / "copy.npz", "wb") as copy:
            while piece := pipe.read(1 << 20):
                if piece.count(0) < len(piece):
                    copy.seek(at)
                    copy.write(piece)
                    kept.append(len(piece))
                at += len(piece)
    assert process.returncode == 0 and at > size and sum(kept) < 1 << 26
    with zipfile.ZipFile(tmp_path / "copy.npz") as archive:
        assert [info.filename for info in archive.infolist()] == ["x.npy", "y.npy"]
        assert archive.getinfo("x.npy").file_size == size + 128 and archive.getinfo("y.npy").header_offset > size
        assert archive.read("y.npy").endswith(second)


# ---- Literals ----

REFUSED_LITERALS = ['["\\u12"]', '["\\ud83dx"]', '["\\ud83d\\u0041"]', '["\\ud83d\\n"]', '["\\ue000', '["\\', '["\\u12g4"]', '["\\ud83d\\ude0"]', '["\\x"]',
                    '["\\udfff"]', '["\\udbff\\ue000"]', "[1]]", "[[1],2]", "[1,[2]]", "[[1],[2,3]]", "[1", "[1,]x", "[,]", "[1 2]", '["a",1]', '[1,"a"]',
                    "[1]:f33", "[1]:" + "f" * 70, "[" * 70 + "1" + "]" * 70, "[[[1]],[2]]", "[[],[1]]",
                    "[1j2]:c64", "[j]:c64", "[1+]:c64", "[1+2]:c64", "[+j]:c64", "[--1j]:c64", "[1+2j3]:c64", "[xj]:c64", "[1+xj]:c64", "[]x:c64",
                    "[0x]:i32", "[99999999999999999999]:u64", "[18446744073709551616]:u64", "[1.5]:i32", "[-1]:u8", "[256]:u8", "[-129]:i8", "[+]:i32", "[-]:i32",
                    "[-1]:f8e8m0", "[0]:f8e8m0", "[1e-50]:f8e8m0", "[1e50]:f8e8m0", "[1e400]:f32", "[1e]:f32", "[.]:f32", "[nan(0x]:f32", "[nan(0x1]:f32",
                    "[nan(0xfffffffffffffffff)]:f64", "[nan()]:f32", "[nan(0x0)]:f32", "[1e5]:f4e2m1", "[2]:bool", "[x]:bool", "[100]:i4", "iota(-1)", "iota(3",
                    "iota(99999999999999999999)", "iota(9223372036854775807,2)", "iota()x", "[truefalse]", "[" + "x" * 80 + "]:i32"]  # fmt: skip
TAKEN_LITERALS = {'["\\ud83d\\ude00"]': '["😀"]', '["\\ue000\\uffff"]': None, '["\\udc80"]': None, '["\\/\\b"]': None, "[\t1,\r\n2 ]": "[1]", "[1.0e0]": "[1.0]",
                  "[1E2]:f32": "[100.0]", "[1j]:c64": None, "[1-2j]:c64": None, "[1e2+3e-1j]:c64": None, "[-1e+2-j]:c64": None, "[inf+nanj]:c128": None,
                  "[-0.0]:f32": "[-0.0]", "[nan(0x1)]:f32": None, "[-nan]:f64": None, "[-inf]:f16": "[-inf]", "[1e-45]:f32": "[1e-45]", "[0.0001]:f8e8m0": None,
                  "[448]:f8e4m3fn": "[448.0]", "[18446744073709551615]:u64": "[18446744073709551615]", "[-9223372036854775808]": "[-9223372036854775808]",
                  "[true]": "[true]", "[1]:bool": "[true]", "[6]:f4e2m1": "[6.0]", "[-8]:i4": "[-8]", "[0x10]:i32": None, "[123456789.5]:f32": None,
                  "[179769313486231570000000000000000000000]:f64": None, "[4.9406564584124654e-324]:f64": "[5e-324]",
                  "[0.1]:f16": None, "[9007199254740993]:f64": None, "[0e5]:f32": "[0.0]"}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED_LITERALS)
def test_refused_literals(garner, text):
    answer = garner("gather", text, "[0]")
    assert answer.code in (2, 4) and answer.out == b"" and answer.err.count("\n") == 1, answer


@pytest.mark.parametrize("text", TAKEN_LITERALS)
def test_taken_literals(garner, text):
    answer = garner("gather", text, "[0]")
    assert answer.code in (0, 2) if TAKEN_LITERALS[text] is None else answer.text == TAKEN_LITERALS[text] + "\n", answer


@pytest.mark.parametrize("arguments", [
    ["gather", '["' + "é" * 100 + '","e\u0301\u0370"]', "[0,1]"],
    ["gather", '["' + "日本" * 600 + '"]', "[0]"],
    ["gather", '["😀😀😀"]', "[0]"],
    ["gather", "iota(3,0)", "[0,1]"],
    ["gather", "iota(3,4)", "[]"],
    ["gather", "iota(3,3,3,3,3)", "[[0,1],[1,0]]", "--axis", "2", "--batch-dims", "0"],
    ["gather", "iota(3,4,5)", "[[0,1],[1,0],[2,2]]", "--axis", "-2", "--batch-dims", "-1", "--spec", "openvino-8"],
    ["gather", "iota(3,4)", "[0,9,-1]", "--oob", "zero"],
    ["gather", "iota(3,4)", "[0,9,-1]", "--oob", "clamp"],
    ["gather", "iota(3,4)", "[0,9,-1]", "--oob", "wrap"],
    ["gather", "iota(300,400)", "[3]:u8", "--axis", "1"],
    ["gather", "iota(300)", "iota(200)"],
    ["gather-nd", "iota(3,4,5)", "[[[0],[1]],[[2],[2]],[[3],[0]]]", "--batch-dims", "1"],
    ["gather-nd", "iota(3,4,5)", "[[0,1,2],[2,3,4]]"],
    ["gather-elements", "iota(3,4)", "[[0,1,2,0]]"],
    ["gather-elements", "iota(300,4)", "[[0],[299],[7]]", "--axis", "0"],
    ["gather", "[1,2,3]:u4", "[2,0]"],
    ["gather", "[1+2j,3]:c64", "[1]"],
], ids=str)  # fmt: skip
def test_explain(garner, arguments):
    for width in ("40", "160"):
        answer = garner("explain", *arguments, env={"COLUMNS": width})
        assert answer.code == 0 and "out" in answer.text, answer
    picture = garner("explain", *arguments, "--svg", "-")
    assert picture.code == 0 and xml.etree.ElementTree.fromstring(picture.text).tag.endswith("svg")


def test_drawings_into_a_full_disk(garner, tmp_path):
    """Pictures longer than the writer's buffer, whose end is not the first that fails."""
    (tmp_path / "x.svg").symlink_to("/dev/full")
    for arguments in (["gather", "iota(300,400)", "iota(40)"], ["gather-nd", "iota(30,40,50)", "[[1,2,3],[2,3,4]]"]):
        assert garner("explain", *arguments, "--svg", "x.svg").code == 5
    with open("/dev/full", "wb") as full:
        for more in (["--format", "json"], ["--format", "raw"], ["--format", "text"], ["-v"]):
            assert garner("gather", "iota(90000)", "iota(80000)", *more, stdout=full).code == 5


# ---- Arrays of nothing, and of very much that is said of them ----


def test_arrays_of_nothing(garner, tmp_path):
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }"
    for shape in (b"0,", b"3,0", b"4611686018427387904,4,0", b"200000,0", b"2,200000,0"):
        text = header % shape
        content = b"\x93NUMPY\1\0" + struct.pack("<H", len(text) + 1) + text + b"\n"
        (tmp_path / "x.npy").write_bytes(content)
        last = str(shape.count(b",") if not shape.endswith(b",") else 0)
        for arguments in (["gather", "-", "[]", "--axis", last], ["gather", "x.npy", "[]", "--axis", last], ["gather", "x.npy", "[]", "--axis", last, "-v"]):
            answer = garner(*arguments, stdin=content)
            assert answer.code in (0, 3, 4) and len(answer.out) < 10_000_000, answer
            assert answer.code or answer.text.splitlines()[-1].endswith("]"), answer
        assert garner("info", "-", stdin=content).code == 0
    numpy.save(tmp_path / "x.npy", numpy.zeros((0, 3), "f4"))
    for how in ("mapped", "pread", "ring"):
        assert garner("gather", "x.npy", "[]", "--how", how, "-o", "y.npy").code == 0 and numpy.load(tmp_path / "y.npy").shape == (0, 3)
        printed = garner("gather", "x.npy", "[]", "--how", how, "-o", "-")
        assert printed.code == 0 and printed.out.startswith(b"\x93NUMPY")


def test_types_of_many_fields(garner, tmp_path):
    """As long a header as is read, and a longer one; a file whose name is one letter."""
    numpy.save(tmp_path / "x.npy", numpy.zeros(3, [(f"a_field_with_a_long_name_{k}", "i1") for k in range(3000)]))
    answer = garner("gather", "x.npy", "[2,1]", "-o", "y.npy")
    assert answer.code == 4 and "is above the limit of 65536" in answer.err, answer
    array = numpy.zeros(3, [(f"a_field_with_a_long_name_{k}", "i1") for k in range(1500)])
    numpy.save(tmp_path / "x.npy", array)
    assert garner("gather", "x.npy", "[2,1]", "-o", "y.npy").code == 0
    assert numpy.load(tmp_path / "y.npy", max_header_size=70000).dtype == array.dtype
    (tmp_path / "x.npy").rename(tmp_path / "x")
    assert garner("gather", "file:x", "[2,1]", "--how", "pread", "-o", "z.npy").code == 0
    assert (tmp_path / "z.npy").read_bytes() == (tmp_path / "y.npy").read_bytes()


def test_an_ir_by_another_name(garner, tmp_path):
    """Its constants lie in the file of its name and .bin, whatever its ending is; that file may be empty or missing."""
    xml = ("<net name='n' version='11'><layers><layer id='0' name='c' type='Const' version='opset1'><data element_type='u8' shape='2' offset='0' size='2'/>"
           "<output><port id='0'/></output></layer><layer id='1' name='y' type='Result' version='opset1'><input><port id='0'/></input></layer></layers>"
           "<edges><edge from-layer='0' from-port='0' to-layer='1' to-port='0'/></edges></net>")  # fmt: skip
    for name in ("m.xml", "x.xml.xml", ".xml"):
        (tmp_path / name).write_text(xml)
        answer = garner("run", name)
        if "built without expat" in answer.err:
            pytest.skip("this garner was built without expat")
        assert answer.code == 5 and ".bin" in answer.err, answer
        bin_file = tmp_path / (name[:-4] + ".bin" if len(name) > 4 else name + ".bin")
        bin_file.write_bytes(b"")
        answer = garner("run", name)
        assert answer.code == 4 and "do not lie in the .bin file, which has 0" in answer.err, answer
        bin_file.write_bytes(b"\7\x08")
        assert garner("run", name).text == "[7,8]\n"
