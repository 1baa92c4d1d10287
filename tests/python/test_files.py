# SPDX-License-Identifier: MIT
"""load and save: mapped without a copy, whole or not at all, and as NumPy and safetensors read and write."""

import array
import gc
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Mapping

import pytest

import garner


def test_round_trips(tmp_path):
    table = garner.gather([[1.5, 2.5], [3.5, 4.5]], [1, 0])
    for suffix in (".npy", ".pb"):
        path = tmp_path / f"a{suffix}"
        garner.save(path, table)
        back = garner.load(path)
        assert type(back) is garner.Array and back.tolist() == table.tolist() and back.dtype == "f64"
    for suffix in (".npz", ".safetensors"):
        path = tmp_path / f"b{suffix}"
        garner.save(path, {"x": table, "y": array.array("b", [1, -2])})
        back = garner.load(path)
        assert isinstance(back, Mapping) and sorted(back) == ["x", "y"] and len(back) == 2
        assert back["x"].tolist() == table.tolist() and back["y"].dtype == "i8"
        assert "x" in back and "z" not in back and back.get("z") is None and dict(back.items()).keys() == {"x", "y"}
        with pytest.raises(KeyError):
            back["z"]
        garner.save(path, table)
        assert list(garner.load(path)) == ["b"]
        garner.save(path, {})
        assert list(garner.load(path)) == []
        garner.save(tmp_path / f"c{suffix}", garner.load(path))


def test_arrays_outlive_the_file(tmp_path):
    path = tmp_path / "a.npz"
    garner.save(path, {"x": list(range(1000))})
    array_x = garner.load(path)["x"]
    os.unlink(path)
    gc.collect()
    assert array_x.tolist() == list(range(1000)) and memoryview(array_x).readonly
    assert garner.gather(array_x, [999]).tolist() == [999]
    with pytest.raises(garner.BadArgument, match="read-only"):
        garner.gather([1] * 1000, list(range(1000)), out=array_x)
    with pytest.raises(BufferError):
        array_x.__dlpack__()
    assert garner.gather(array_x.__dlpack__(max_version=(1, 0)), [5]).tolist() == [5]


def test_copy(tmp_path):
    path = tmp_path / "a.npy"
    garner.save(path, [1, 2, 3])
    copied = garner.load(path, copy=True)
    os.truncate(path, 10)
    memoryview(copied)[0] = 7
    assert copied.tolist() == [7, 2, 3]


def test_paths(tmp_path):
    garner.save(str(tmp_path / "a.npy"), [1])
    assert garner.load(os.fsencode(tmp_path / "a.npy")).tolist() == [1]
    with pytest.raises(FileNotFoundError):
        garner.load(tmp_path / "none.npy")
    with pytest.raises(FileNotFoundError):
        garner.save(tmp_path / "none" / "a.npy", [1])
    with pytest.raises(OSError):
        garner.load(tmp_path)
    with pytest.raises(TypeError):
        garner.load(7.5)
    for name in ("a.txt", "A.NPY"):
        with pytest.raises(garner.BadArgument, match=r"\.safetensors"):
            garner.save(tmp_path / name, [1])
    with pytest.raises(ValueError):
        garner.load("a\0.npy")
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        os.link("a.npy", "-")
        assert garner.load("-").tolist() == [1]  # a file's name, not standard input
        assert garner.open("-").take([0]).tolist() == [1]
        with pytest.raises(ValueError, match="./-"):
            garner.Model("-")
    finally:
        os.chdir(before)


WAITS = {
    "load": "garner.load(path)",
    "load what begins": "garner.load(path)",
    "open": "garner.open(path)",
    "save": "garner.save(path, [1])",
    "a handler that raises": "garner.load(path)",
}


@pytest.mark.parametrize("name", WAITS)
def test_a_wait_for_a_fifo_can_be_ended(tmp_path, name):
    path = tmp_path / "fifo.npy"
    os.mkfifo(path)
    script = f"""if True:
        import garner, signal, sys
        path = sys.argv[1]
        def late(number, frame):
            raise TimeoutError("late")
        signal.signal(signal.SIGINT, {"late" if "raises" in name else "signal.default_int_handler"})
        print("begins", flush=True)
        {WAITS[name]}"""
    process = subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begins\n"
    writer = os.open(path, os.O_WRONLY) if name == "load what begins" else None
    if writer is not None:
        os.write(writer, b"\x93NUM")
    for _ in range(10):
        process.send_signal(signal.SIGINT)  # another one, if the first came just before the wait
        try:
            process.wait(5)
            break
        except subprocess.TimeoutExpired:
            continue
    said = process.communicate(timeout=20)[1]
    if writer is not None:
        os.close(writer)
    assert said.splitlines()[-1] == ("TimeoutError: late" if "raises" in name else "KeyboardInterrupt"), said


def test_lists_of_nothing(tmp_path):
    numpy = pytest.importorskip("numpy")
    numpy.save(tmp_path / "some.npy", numpy.empty((3, 2, 0), "i4"))
    numpy.save(tmp_path / "many.npy", numpy.empty((1 << 40, 0, 7), "i4"))
    assert garner.load(tmp_path / "some.npy").tolist() == [[[], []]] * 3
    with pytest.raises(garner.Error, match=r"more than 2\^24 lists") as caught:
        garner.load(tmp_path / "many.npy").tolist()
    assert caught.value.status == "too_large"


def test_bad_files(tmp_path):
    path = tmp_path / "a.npy"
    for content in (b"", b"x", b"\x93NUMPY\x01\x00", b"\x93NUMPY\x04\x00" + bytes(100)):
        path.write_bytes(content)
        with pytest.raises(garner.BadFile) as caught:
            garner.load(path)
        assert caught.value.status == "bad_file" or caught.value.status == "unsupported"
        assert isinstance(caught.value, ValueError) and str(path) in str(caught.value)


def test_whole_or_not_at_all(tmp_path):
    path = tmp_path / "a.npy"
    garner.save(path, [1, 2, 3])
    mode = stat.S_IMODE(path.stat().st_mode)
    with pytest.raises(garner.Error):
        garner.save(path, {"x": [1], "y": [2]})
    with pytest.raises(garner.BadType):
        garner.save(path, object())
    assert garner.load(path).tolist() == [1, 2, 3] and os.listdir(tmp_path) == ["a.npy"] and stat.S_IMODE(path.stat().st_mode) == mode
    with pytest.raises(garner.BadArgument, match="names"):
        garner.save(tmp_path / "a.npz", {1: [1]})


def same(a, b):
    return repr(a.tolist()) == repr(b.tolist())


def test_numpy_files(tmp_path):
    np = pytest.importorskip("numpy")
    types = ["f4", ">i4", "?", "c16", ">c8", "U5", "S3", "M8[ms]", "V6", [("a", "u1"), ("b", ">f8", (2,))], "g"]
    for i, dtype in enumerate(types):
        a = np.frombuffer(bytes(range(12)) * np.dtype(dtype).itemsize, np.uint8)
        a = (a % 2 if dtype == "?" else a).view(dtype).reshape(3, 4) if "U" not in str(dtype) else np.array([["ab", "ü", "", "x"]] * 3)
        for layout in (a, np.asfortranarray(a), a[::-1, ::2]):
            path = tmp_path / f"{i}.npy"
            np.save(path, layout)
            for copy in (False, True):
                back = np.asarray(garner.load(path, copy=copy))
                assert back.shape == layout.shape and back.dtype.newbyteorder("=") == layout.dtype.newbyteorder("=") and same(back, layout)
            picked = garner.gather(garner.load(path), [1, 0])
            assert same(np.asarray(picked), layout[[1, 0]])
            garner.save(path, layout)
            assert same(np.load(path), layout)
            garner.save(path, picked)
            again = np.load(path)
            assert same(again, layout[[1, 0]]) and again.dtype.newbyteorder("=") == layout.dtype.newbyteorder("=")
    np.savez_compressed(tmp_path / "z.npz", x=np.arange(5), y=np.eye(2))
    assert {k: v.tolist() for k, v in garner.load(tmp_path / "z.npz").items()} == {"x": [0, 1, 2, 3, 4], "y": [[1, 0], [0, 1]]}
    garner.save(tmp_path / "w.npz", {"x": np.arange(5), "y": np.eye(2).T})
    assert np.load(tmp_path / "w.npz")["y"].tolist() == [[1, 0], [0, 1]]


def field(number, wire, value):
    """How a field of protocol buffers begins: its key, and a number or the length of what follows."""
    return bytes([number << 3 | wire, *(value >> 7 * i & 127 | 128 for i in range(4)), 0])


@pytest.mark.parametrize(("code", "name"), [
    (10, "float16"), (16, "bfloat16"), (17, "float8_e4m3fn"), (18, "float8_e4m3fnuz"), (19, "float8_e5m2"), (20, "float8_e5m2fnuz"),
    (24, "float8_e8m0fnu"), (23, "float4_e2m1fn"), (21, "uint4"), (22, "int4"),
])  # fmt: skip
def test_every_code_of_small_types(tmp_path, code, name):
    """What an element is to Python, against ml_dtypes: a TensorProto with each code once."""
    np = pytest.importorskip("numpy")
    ml_dtypes = pytest.importorskip("ml_dtypes")
    bits = 4 if "4_e2" in name or "int4" in name else 8 if "float8" in name else 16
    codes = np.arange(1 << bits, dtype="<u2" if bits == 16 else "u1")
    raw = (codes[1::2] << 4 | codes[::2] if bits == 4 else codes).tobytes()
    proto = field(1, 0, len(codes)) + field(2, 0, code) + field(9, 2, len(raw)) + raw
    (tmp_path / "x.pb").write_bytes(proto)
    expected = codes.view(np.float16 if name == "float16" else getattr(ml_dtypes, name)).tolist()
    assert [repr(float(x)) for x in garner.load(tmp_path / "x.pb").tolist()] == [repr(float(x)) for x in expected]


def test_ml_dtypes_and_safetensors(tmp_path):
    np = pytest.importorskip("numpy")
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a = np.array([[1, 2], [0.5, 3]], ml_dtypes.bfloat16)
    garner.save(tmp_path / "a.safetensors", {"a": a})
    back = garner.load(tmp_path / "a.safetensors")["a"]
    assert back.dtype == "bf16" and back.tolist() == a.tolist()
    assert np.asarray(back).dtype == a.dtype and np.array(back, copy=True).tolist() == a.tolist()
    with pytest.raises(garner.BadFile) as caught:
        garner.save(tmp_path / "a.npy", a)
    assert caught.value.status == "unsupported"
    load_file = pytest.importorskip("safetensors.numpy").load_file
    garner.save(tmp_path / "b.safetensors", {"x": np.eye(3, dtype="f4"), "y": [1, 2]})
    theirs = load_file(tmp_path / "b.safetensors")
    assert theirs["x"].tolist() == np.eye(3).tolist() and theirs["y"].tolist() == [1, 2]


# ---- Strings, whose elements point to characters -------------------------------------------------


def strings_file(path, texts):
    """A TensorProto of strings, each of less than 128 bytes."""
    elements = b"".join(b"\x32" + bytes([len(text)]) + text.encode() for text in texts)
    count = len(texts)
    path.write_bytes(b"\x08" + bytes([count & 127 | 128, count >> 7]) + b"\x10\x08" + elements)
    return path


WORDS = [f"{i:04d} a word of its own" * 4 for i in range(1000)]
STRING_GATHERS = {
    "gather": lambda a: garner.gather(a, [-1, 0]),
    "gather_elements": lambda a: garner.gather_elements(a, [999, 0]),
    "gather_nd": lambda a: garner.gather_nd(a, [[999], [0]]),
    "take": lambda a: garner.take(a, [999, 0], axis=0),
    "take_along_axis": lambda a: garner.take_along_axis(a, [999, 0], 0),
    "index_select": lambda a: garner.index_select(a, 0, [999, 0]),
    "take_along_dim": lambda a: garner.take_along_dim(a, [999, 0], 0),
    "plan": lambda a: garner.Plan("gather", (1000,), (2,), dtype="str")(a, [-1, 0]),
    "a result of a result": lambda a: garner.gather(garner.gather(a, [0, -1]), [1, 0]),
    "a part": lambda a: a[::-999],
}


def test_refusals_from_python_have_a_status(tmp_path):
    for path, what in [("a.txt", [1]), ("a.npz", {1: [1]}), ("a.npz", {"a\0b": [1], "a\0c": [2]})]:
        with pytest.raises(garner.BadArgument) as caught:
            garner.save(tmp_path / path, what)
        assert caught.value.status == "bad_argument" and caught.value.axis is None
    kinds = {"OutOfRange": "out_of_range", "BadShape": "bad_shape", "BadType": "bad_type", "BadArgument": "bad_argument",
             "BadSpec": "bad_argument", "BadFile": "bad_file", "Error": None}  # fmt: skip
    assert {name: getattr(garner, name)("of one's own").status for name in kinds} == kinds


@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize("name", STRING_GATHERS)
def test_strings_outlive_what_they_were_taken_from(tmp_path, name, copied):
    source = garner.load(strings_file(tmp_path / "words.pb", WORDS), copy=copied)
    taken = STRING_GATHERS[name](source)
    del source
    gc.collect()
    churn = [bytes([i % 256]) * 100 for i in range(20000)]  # in the memory that was given back
    assert taken.tolist() == [WORDS[-1], WORDS[0]] and len(churn) == 20000
    garner.save(tmp_path / "taken.pb", taken)
    assert garner.load(tmp_path / "taken.pb").tolist() == taken.tolist()


def test_strings_are_not_replaced_and_have_no_bytes(tmp_path):
    source = garner.load(strings_file(tmp_path / "words.pb", WORDS))
    taken = garner.gather(source, [1, 2])
    with pytest.raises(garner.BadType, match="out is of strings"):
        garner.gather(source, [3, 4], out=taken)
    for bytes_of in (garner.Array.tobytes, bytes, memoryview):
        with pytest.raises((TypeError, BufferError)):
            bytes_of(taken)
    assert taken.tolist() == WORDS[1:3] and garner.gather(source, []).tolist() == []
