# SPDX-License-Identifier: MIT
"""info: what a file of tensors holds, as a table and as JSON, without loading it."""

import io
import json
import os
import select
import subprocess
import time

import numpy
import onnx
import pytest


def tensors(answer):
    assert answer.code == 0 and answer.err == "", answer
    return json.loads(answer.text)["tensors"]


def test_table(garner, tmp_path):
    numpy.savez(tmp_path / "x.npz", é=numpy.zeros((2, 3), "f4"), long_name=numpy.zeros((), "i8"), t=numpy.array(["abc"]))
    assert garner("info", "x.npz").text == (
        "x.npz: .npz, 3 tensors\n"
        "  é          f32  [2,3]  24 bytes\n"
        "  long_name  i64  []     8 bytes\n"
        "  t          <U3  [1]    12 bytes\n"
    )
    assert garner("info", "x.npz:é").text == "x.npz: .npz, 1 tensor\n  é  f32  [2,3]  24 bytes\n"
    numpy.save(tmp_path / "x.npy", numpy.zeros((2, 3), ">f8"))
    assert garner("info", "x.npy").text == "x.npy: .npy, 1 tensor\n  f64  [2,3]  48 bytes\n"
    assert garner("info", "file:x.npy").text == garner("info", "x.npy").text


def test_json(garner, tmp_path):
    numpy.savez(tmp_path / "x.npz", **{'a"\n': numpy.zeros((2, 3), "f4"), "t": numpy.array(["abc"])})
    answer = garner("info", "x.npz", "--json")
    assert json.loads(answer.text) == {
        "file": "x.npz",
        "format": "npz",
        "tensors": [
            {"name": 'a"\n', "dtype": "f32", "shape": [2, 3], "bytes": 24},
            {"name": "t", "dtype": "opaque", "type": "<U3", "shape": [1], "bytes": 12},
        ],
    }


def test_tensor_protos(garner, tmp_path):
    tensor = onnx.helper.make_tensor("w", onnx.TensorProto.INT4, [3], [1, 2, 3])
    (tmp_path / "x.pb").write_bytes(tensor.SerializeToString())
    assert tensors(garner("info", "x.pb", "--json")) == [{"name": "w", "dtype": "i4", "shape": [3], "bytes": 2}]


def test_standard_input(garner):
    stored = io.BytesIO()
    numpy.save(stored, numpy.arange(3))
    assert garner("info", "-", stdin=stored.getvalue()).text == "-: .npy, 1 tensor\n  i64  [3]  24 bytes\n"


def test_refusals(refuses, tmp_path):
    numpy.savez(tmp_path / "x.npz", a=numpy.arange(3))
    (tmp_path / "junk").write_bytes(b"junk and more junk")
    (tmp_path / "empty").write_bytes(b"")
    refuses(4, ["x.npz", "'b'", "'a'"], "info", "x.npz:b")
    refuses(4, ["junk", "6a 75 6e 6b", ".safetensors", "TensorProto (malformed at byte 1"], "info", "file:junk")
    refuses(4, "empty: not a .npy, .npz or .safetensors file, nor a TensorProto: it is empty", "info", "file:empty")
    refuses(5, "nosuch.npz", "info", "nosuch.npz")
    refuses(2, "literal", "info", "[1,2]")
    refuses(2, "file:PATH", "info", "nosuch")


def sparse(path, head, size):
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(len(head) + size)


@pytest.fixture
def at_once(program, surroundings, tmp_path):
    """at_once(arguments): one of a few runs takes less than 50 ms, however busy the machine is otherwise."""
    with open(program, "rb") as file:
        limit = 2 if b"__asan_init" in file.read() else 0.05

    def check(*arguments):
        times = []
        while len(times) < 20 and min(times, default=limit) >= limit:
            started = time.monotonic()
            subprocess.run([program, *arguments], cwd=tmp_path, env=surroundings, stdout=subprocess.DEVNULL, check=True)
            times.append(time.monotonic() - started)
        assert min(times) < limit, times

    return check


@pytest.mark.parametrize("kind", ["npy", "npz", "safetensors"])
def test_a_gibibyte_in_no_time(garner, at_once, tmp_path, kind):
    rows = 1 << 22
    big_table(tmp_path, kind, rows)
    at_once("info", f"x.{kind}")
    assert f"f32  [{rows},64]  {rows * 256} bytes" in garner("info", f"x.{kind}").text


def big_table(folder, kind, rows, columns=64):
    """A table of so many zeros that takes no room on the disk."""
    size = rows * columns * 4
    header = io.BytesIO()
    numpy.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (rows, columns)})
    head = header.getvalue()
    if kind == "npy":
        sparse(folder / "x.npy", head, size)
    elif kind == "safetensors":
        text = json.dumps({"table": {"dtype": "F32", "shape": [rows, columns], "data_offsets": [0, size]}}).encode()
        sparse(folder / "x.safetensors", len(text).to_bytes(8, "little") + text, size)
    else:
        sparse_npz(folder / "x.npz", head, size)


def sparse_npz(path, head, size):
    """The checksum of so many zeros is not computed: nothing that is tested here reads all of them."""
    from struct import pack

    total, most = len(head) + size, 0xFFFFFFFF
    sizes = pack("<HHQQ", 1, 16, total, total)
    shared = pack("<4H3I2H", 0, 0, 0, 33, 0, most, most, 9, len(sizes))
    local = pack("<4sH", b"PK\3\4", 45) + shared + b"table.npy" + sizes
    record = pack("<4sHH", b"PK\1\2", 45, 45) + shared + pack("<3H2I", 0, 0, 0, 0, 0) + b"table.npy" + sizes
    at = len(local) + total
    end = pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, len(record), at)
    end += pack("<4sIQI", b"PK\6\7", 0, at + len(record), 1)
    end += pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(record), most if at > most else at, 0)
    with open(path, "wb") as file:
        file.write(local + head)
        file.seek(at)
        file.write(record + end)


@pytest.mark.parametrize("kind", ["npy", "npz", "safetensors"])
def test_a_table_of_4_gib_loads_in_no_time(at_once, tmp_path, kind):
    rows = 1 << 24
    big_table(tmp_path, kind, rows)
    member = "" if kind == "npy" else ":table"
    at_once("gather", f"x.{kind}{member}", f"[0,-1,{rows // 2}]", "-o", "/dev/null")


@pytest.mark.parametrize("kind", ["npy", "npz", "safetensors"])
def test_memory_is_that_of_the_result(program, tmp_path, kind):
    """On a table larger than half of the machine's memory, what is not the file's own pages stays near the result."""
    with open(program, "rb") as file:
        if b"__asan_init" in file.read():
            pytest.skip("SKIP: the address sanitizer's own memory hides what is measured")
    with open("/proc/meminfo", encoding="ascii") as file:
        memory = int(file.readline().split()[1]) * 1024
    columns, count = 1 << 15, 1 << 7  # few rows, since each one's pages are fetched one by one
    rows = max(memory * 6 // 10, 4 << 30) // (4 * columns)
    big_table(tmp_path, kind, rows, columns)
    indices = numpy.random.default_rng(1).integers(-rows, rows, count)
    numpy.save(tmp_path / "indices.npy", indices)
    os.mkfifo(tmp_path / "out.npy")
    member = "" if kind == "npy" else ":table"
    command = [program, "gather", f"x.{kind}{member}", "indices.npy", "-o", "out.npy"]
    reading = os.open(tmp_path / "out.npy", os.O_RDONLY | os.O_NONBLOCK)  # waits for no writer
    process = subprocess.Popen(command, cwd=tmp_path)
    while not select.select([reading], [], [], 1)[0]:
        assert process.poll() is None, "it ended without a result"
    os.set_blocking(reading, True)
    with open(reading, "rb") as pipe:
        assert pipe.read(1)  # the result is there and is being written
        with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
            anonymous = next(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon"))
        rest = pipe.read()
    size = count * columns * 4
    assert process.wait() == 0 and len(rest) + 1 == 128 + size
    assert anonymous < 1.25 * size + (4 << 20), f"{anonymous} bytes for a result of {size}"
