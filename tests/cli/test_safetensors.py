# SPDX-License-Identifier: MIT
"""Files of the real safetensors package read by garner, and the other way round."""

import io
import json
import os
import struct
import subprocess

import ml_dtypes
import numpy
import pytest
import safetensors
from safetensors.numpy import load_file, save_file

from test_npy import bits, random_array

NUMPY = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8"]

# What the format calls types that NumPy lacks, and their bits.
FOREIGN = {
    "BF16": ("bf16", 16),
    "F8_E4M3": ("f8e4m3fn", 8),
    "F8_E5M2": ("f8e5m2", 8),
    "F8_E8M0": ("f8e8m0", 8),
    "F8_E4M3FNUZ": ("f8e4m3fnuz", 8),
    "F8_E5M2FNUZ": ("f8e5m2fnuz", 8),
    "F4": ("f4e2m1", 4),
}


def write(path, tensors, metadata=None):
    """tensors: name to (type, shape, bytes)."""
    header, data = {"__metadata__": metadata} if metadata else {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read(path):
    """The other way, with offsets: an own reader for types that the package's NumPy side refuses."""
    content = path.read_bytes()
    size = struct.unpack_from("<Q", content)[0]
    header = json.loads(content[8 : 8 + size])
    metadata = header.pop("__metadata__", None)
    return {
        name: (t["dtype"], t["shape"], content[8 + size :][slice(*t["data_offsets"])]) for name, t in header.items()
    }, metadata


def test_every_type_there_and_back(garner, tmp_path):
    tensors = {f"é\n {dtype}": random_array(dtype, (3, 2), "C") for dtype in NUMPY}
    tensors |= {"scalar": numpy.array(7.5), "none": numpy.zeros((2, 0, 3), "f4")}
    save_file(tensors, tmp_path / "x.safetensors")
    answer = garner("convert", "x.safetensors", "y.safetensors")
    assert answer.code == 0 and answer.out == b"" and answer.err == "", answer
    ours = load_file(tmp_path / "y.safetensors")
    assert set(ours) == set(tensors)
    for name, data in tensors.items():
        assert ours[name].dtype == data.dtype and ours[name].shape == data.shape, name
        assert bits(ours[name]) == bits(data), name
    assert garner("diff", "x.safetensors", "y.safetensors").code == 0
    assert garner("convert", "x.safetensors", "y.npz").code == 0
    with numpy.load(tmp_path / "y.npz") as archive:
        assert all(bits(archive[name]) == bits(data) for name, data in tensors.items())


def test_types_that_numpy_lacks(garner, tmp_path):
    random = numpy.random.default_rng(3)
    tensors = {name: (name, [4, 2], random.bytes(width)) for name, (_, width) in FOREIGN.items()}
    write(tmp_path / "x.safetensors", tensors, {"format": "pt"})
    assert garner("convert", "x.safetensors", "y.safetensors").code == 0
    assert read(tmp_path / "y.safetensors") == (tensors, {"format": "pt"})
    listed = json.loads(garner("info", "x.safetensors", "--json").text)["tensors"]
    assert [t["dtype"] for t in listed] == [ours for ours, _ in FOREIGN.values()]
    with safetensors.safe_open(tmp_path / "y.safetensors", "numpy") as file:  # checks the whole header
        assert set(file.keys()) == set(tensors)


def test_bfloat16_means_what_it_does_elsewhere(garner, tmp_path):
    values = numpy.array([1.5, -2.0, 3e38], ml_dtypes.bfloat16)
    write(tmp_path / "x.safetensors", {"a": ("BF16", [3], values.tobytes())})
    answer = garner("gather", "x.safetensors:a", "[2,0]", "--format", "json")
    data = json.loads(answer.text)
    assert data["dtype"] == "bf16", answer
    assert (numpy.array(data["data"]).astype(ml_dtypes.bfloat16) == values[[2, 0]]).all(), answer


def test_a_tensor(garner, refuses, tmp_path):
    save_file({"table": numpy.arange(6.0).reshape(3, 2), "rows": numpy.array([2, 0])}, tmp_path / "x.safetensors")
    assert garner("gather", "x.safetensors:table", "x.safetensors:rows").text == "[[4.0,5.0],[0.0,1.0]]\n"
    assert garner("explain", "gather", "x.safetensors:rows", "[0]").code == 0
    refuses(4, ["x.safetensors", "'cols'", "'table'", "'rows'"], "gather", "x.safetensors:cols", "[0]")
    refuses(4, ["2 tensors", "'table'", "'rows'"], "gather", "x.safetensors", "[0]")
    os.rename(tmp_path / "x.safetensors", tmp_path / "model#1")
    assert garner("gather", "file:model#1#rows", "[0]").text == "[2]\n"
    refuses(5, ["model", "No such file"], "gather", "file:model#rows", "[0]")


def test_results_are_written(garner, tmp_path):
    assert garner("gather", "iota(3,2)", "[2]", "-o", "rows.safetensors").code == 0
    assert garner("gather", "iota(3,2)", "[2]", "-o", 'more.safetensors:a"\\b').code == 0
    assert load_file(tmp_path / "rows.safetensors")["rows"].tolist() == [[4, 5]]
    assert load_file(tmp_path / "more.safetensors")['a"\\b'].tolist() == [[4, 5]]


def test_types_that_the_format_lacks(refuses, tmp_path):
    for literal, name in [("[1,2]:u4", "u4"), ('["a"]', "str"), ("[1,2]:c128", "c128"), ("[1,2]:nf4", "nf4")]:
        refuses(4, ["y.safetensors", name], "gather", literal, "[0]", "-o", "y.safetensors")
    refuses(4, ["odd number", "f4e2m1"], "gather", "[1,2,0]:f4e2m1", "[0]", "-o", "y.safetensors")
    refuses(4, "__metadata__", "gather", "[1]", "[0]", "-o", "y.safetensors:__metadata__")
    assert os.listdir(tmp_path) == []


def test_written_files_are_aligned_and_always_the_same(garner, tmp_path):
    tensors = {"a": numpy.arange(3, dtype="i1"), "b": numpy.arange(5.0), "c": numpy.arange(3, dtype="f2")}
    numpy.savez(tmp_path / "x.npz", **tensors)
    assert garner("convert", "x.npz", "y.safetensors").code == 0
    assert garner("convert", "y.safetensors", "z.safetensors").code == 0
    content = (tmp_path / "y.safetensors").read_bytes()
    assert content == (tmp_path / "z.safetensors").read_bytes()
    assert (8 + struct.unpack_from("<Q", content)[0]) % 64 == 0
    for data in tensors.values():
        assert content.index(data.tobytes()) % data.itemsize == 0


def test_metadata_are_kept_unless_told_otherwise(garner, refuses, tmp_path):
    save_file({"a": numpy.arange(3)}, tmp_path / "x.safetensors", {"who": "é\n"})
    for target, name in (("y.safetensors", "a"), ("z.safetensors:b", "b")):
        answer = garner("convert", "x.safetensors", target)
        assert answer.code == 0 and answer.err == "", answer
        with safetensors.safe_open(tmp_path / target.split(":")[0], "numpy") as file:
            assert file.metadata() == {"who": "é\n"} and list(file.keys()) == [name]
    for target in ("y.npz", "y.npy", "y.pb", "w.npz:b"):
        refuses(4, ["x.safetensors: has metadata", "--drop-metadata"], "convert", "x.safetensors", target)
        assert not (tmp_path / target.split(":")[0]).exists()
        answer = garner("convert", "x.safetensors", target, "--drop-metadata")
        assert (answer.code, answer.err) == (0, ""), answer
    assert garner("convert", "x.safetensors", "y.safetensors", "--drop-metadata").code == 0
    with safetensors.safe_open(tmp_path / "y.safetensors", "numpy") as file:
        assert not file.metadata()
    answer = garner("convert", "x.safetensors:a", "z.npy")  # one tensor, and metadata are the file's
    assert (answer.code, answer.err) == (0, ""), answer
    save_file({"a": numpy.arange(3)}, tmp_path / "x.safetensors", {})
    answer = garner("convert", "x.safetensors", "z.npz")
    assert (answer.code, answer.err) == (0, ""), answer


def test_safetensors_file_that_shrinks(program, tmp_path):
    save_file({"a": numpy.zeros(1 << 20)}, tmp_path / "data.safetensors")
    os.mkfifo(tmp_path / "indices.npy")
    command = [program, "gather", "data.safetensors:a", "indices.npy"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open(tmp_path / "indices.npy", "wb") as pipe:  # opens when garner has opened the other end
        os.truncate(tmp_path / "data.safetensors", 4096)
        indices = io.BytesIO()
        numpy.save(indices, numpy.array([1 << 19]))
        pipe.write(indices.getvalue())
    out, message = process.communicate(timeout=600)
    assert process.returncode == 5 and out == b"", (process.returncode, message)
    assert message.startswith(b"garner: ") and message.count(b"\n") == 1
