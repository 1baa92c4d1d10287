# SPDX-License-Identifier: MIT
"""convert: every bit arrives, or nothing is written."""

import errno
import io
import itertools
import os
import shutil
import stat

import numpy
import onnx
import pytest
from onnx import numpy_helper
from safetensors.numpy import load_file

from test_writer import OLD, failed_calls, names

KINDS = ["npy", "npz", "safetensors", "pb"]


def load(path):
    """The only array of a file, and its name, as the format's own package reads it."""
    if path.suffix == ".npy":
        return None, numpy.load(path)
    if path.suffix == ".npz":
        with numpy.load(path) as archive:
            (name,) = archive.files
            return name, archive[name]
    if path.suffix == ".pb":
        tensor = onnx.TensorProto.FromString(path.read_bytes())
        return tensor.name, numpy_helper.to_array(tensor)
    ((name, array),) = load_file(path).items()
    return name, array


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8"])
def test_a_round_through_all_formats(garner, tmp_path, dtype):
    raw = numpy.random.default_rng(5).integers(0, 2 if dtype == "?" else 256, 6 * numpy.dtype(dtype).itemsize, "u1")
    data = raw.view(dtype).reshape(2, 3)
    numpy.save(tmp_path / "start.npy", numpy.asfortranarray(data))
    before = "start.npy"
    for number, kind in enumerate(["npz", "safetensors", "pb", "npz", "pb", "safetensors", "npy"]):
        after = f"{number}.{kind}"
        answer = garner("convert", before, after)
        assert (answer.code, answer.out, answer.err) == (0, b"", ""), answer
        name, array = load(tmp_path / after)
        assert name in (None, "start"), "the file's name becomes the tensor's, and stays"
        assert array.dtype == data.dtype and array.shape == data.shape and array.tobytes() == data.tobytes()
        assert garner("diff", before, after).code == 0
        before = after


def test_names(garner, tmp_path):
    numpy.save(tmp_path / "a b.npy", numpy.arange(3))
    numpy.savez(tmp_path / "two.npz", x=numpy.arange(3), y=numpy.arange(4))
    (tmp_path / "sub.dir").mkdir()
    for name in ("npy.bin", "sub.dir/a.tar.gz", "sub.dir/plain", ".hidden", ".hidden.bin", ".npy"):
        shutil.copy(tmp_path / "a b.npy", tmp_path / name)
    for source, target, expected in [
        ("a b.npy", "t.npz", "a b"),
        ("./a b.npy", "t.npz:new:name", "new:name"),
        ("two.npz:y", "t.npz", "y"),
        ("two.npz:y", "t.safetensors:z", "z"),
        ("two.npz:y", "t.pb", "y"),
        ("[1,2]", "t.npz", "t"),
        ("[1,2]", "t.pb:p", "p"),
        ("file:a b.npy", "t.safetensors", "a b"),
        ("file:npy.bin", "t.npz", "npy"),
        ("file:sub.dir/a.tar.gz", "t.npz", "a.tar"),
        ("file:sub.dir/plain", "t.npz", "plain"),
        ("file:.hidden", "t.npz", ".hidden"),
        ("file:.hidden.bin", "t.npz", ".hidden"),
        (".npy", "t.npz", ".npy"),
        ("[1,2]", "a.b.npz", "a.b"),
    ]:
        assert garner("convert", source, target).code == 0
        assert load(tmp_path / target.split(":")[0])[0] == expected, (source, target)
    stored = io.BytesIO()
    numpy.save(stored, numpy.arange(3))
    assert garner("convert", "-", "piped.npz", stdin=stored.getvalue()).code == 0
    assert load(tmp_path / "piped.npz")[0] == "piped"


def test_whole_files(garner, tmp_path):
    tensors = {f"{i}/é": numpy.arange(i).astype(t) for i, t in enumerate(["i1", "f4", "u8", "f2", "?", "c8"])}
    numpy.savez_compressed(tmp_path / "x.npz", **tensors)
    assert garner("convert", "x.npz", "y.safetensors").code == 0
    assert garner("convert", "y.safetensors", "z.npz").code == 0
    for found in (load_file(tmp_path / "y.safetensors"), dict(numpy.load(tmp_path / "z.npz"))):
        assert set(found) == set(tensors)
        assert all(found[n].dtype == t.dtype and found[n].tobytes() == t.tobytes() for n, t in tensors.items())
    assert garner("diff", "x.npz", "z.npz").code == 0


def test_standard_output(garner):
    answer = garner("convert", "[[1,2]]:u8", "-")
    assert answer.code == 0 and numpy.load(io.BytesIO(answer.out)).tolist() == [[1, 2]], answer


def test_refusals_write_nothing(refuses, tmp_path):
    numpy.savez(tmp_path / "two.npz", a=numpy.arange(3), text=numpy.array(["x", "y"]))
    (tmp_path / "y.safetensors").write_bytes(OLD)
    refuses(4, ["2 tensors", "'a'", "'text'"], "convert", "two.npz", "y.npy")
    refuses(4, ["2 tensors", "'a'", "'text'"], "convert", "two.npz", "y.pb")
    refuses(2, ["2 tensors", "one"], "convert", "two.npz", "y.npz:a")
    refuses(4, ["y.safetensors", "opaque"], "convert", "two.npz", "y.safetensors")
    refuses(4, ["y.npz", "bf16"], "convert", "[1,2]:bf16", "y.npz")
    refuses(4, ["y.npy", "u4"], "convert", "[1,2]:u4", "y.npy")
    refuses(4, ["y.npy", "str"], "convert", '["a"]', "y.npy")
    refuses(2, ["B", ".npz"], "convert", "[1]", "y.txt")
    refuses(2, ["B", ".npz"], "convert", "[1]", "y.npy:name")
    refuses(2, "A", "convert", "nothing", "y.npy")
    refuses(5, "nosuch", "convert", "nosuch.npz", "y.npy")
    assert names(tmp_path) == ["two.npz", "y.safetensors"]
    assert (tmp_path / "y.safetensors").read_bytes() == OLD


def test_types_that_only_some_formats_have(garner, tmp_path):
    for literal, kind in [("[1,2]:bf16", "safetensors"), ('["a","é\\n"]', "pb"), ("[1,2,3]:i4", "pb"), ("[1,2]:f8e8m0", "pb")]:
        assert garner("convert", literal, f"x.{kind}").code == 0, literal
        assert garner("diff", literal, f"x.{kind}").code == 0, literal
        assert garner("convert", f"x.{kind}", f"y.{kind}").code == 0
        assert garner("diff", f"x.{kind}", f"y.{kind}").code == 0


def test_onto_itself(garner, tmp_path):
    numpy.savez_compressed(tmp_path / "x.npz", a=numpy.arange(1000))
    for _ in range(2):
        assert garner("convert", "x.npz", "x.npz").code == 0
        assert (numpy.load(tmp_path / "x.npz")["a"] == numpy.arange(1000)).all()
    assert names(tmp_path) == ["x.npz"]


# ---- Each format is written whole or not at all -------------------------------------------------


@pytest.mark.parametrize(("kind", "call"), [*itertools.product(KINDS, ["write", "fsync", "linkat", "renameat"])])
def test_failing_calls_for_each_format(garner, failing, tmp_path, kind, call):
    target = tmp_path / f"x.{kind}"
    target.write_bytes(OLD)
    environment = {**failing, "FAIL_CALL": f"{call}:1:{errno.EIO}"}
    answer = garner("convert", "iota(30000)", target.name, env=environment)
    assert failed_calls(answer) == [f"failing: {call}"], answer
    assert answer.code == 5 and f"garner: x.{kind}: cannot write: Input/output error" in answer.err, answer
    assert names(tmp_path) == [target.name] and target.read_bytes() == OLD
    assert garner("convert", "iota(30000)", target.name).code == 0
    assert (load(target)[1] == numpy.arange(30000)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_links_and_devices_for_each_format(garner, refuses, tmp_path, kind):
    (tmp_path / "sub").mkdir()
    link = tmp_path / f"link.{kind}"
    link.symlink_to(f"sub/target.{kind}")
    assert garner("convert", "[1,2]", link.name).code == 0
    assert link.is_symlink() and load(tmp_path / "sub" / f"target.{kind}")[1].tolist() == [1, 2]
    full = tmp_path / f"full.{kind}"
    full.symlink_to("/dev/full")
    refuses(5, "No space left", "convert", "[1,2]", full.name)
    assert full.is_symlink() and stat.S_ISCHR(os.stat("/dev/full").st_mode)
    fifo = tmp_path / f"fifo.{kind}"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    assert garner("convert", "[1,2]", fifo.name).code == 0
    (tmp_path / f"read.{kind}").write_bytes(os.read(reader, 65536))
    os.close(reader)
    assert stat.S_ISFIFO(os.stat(fifo).st_mode) and load(tmp_path / f"read.{kind}")[1].tolist() == [1, 2]
