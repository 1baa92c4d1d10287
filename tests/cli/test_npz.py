# SPDX-License-Identifier: MIT
"""Files of real NumPy's savez and savez_compressed read by garner, and the other way round."""

import io
import os
import stat
import struct
import zipfile
import zlib

import numpy
import pytest

from test_npy import FIXED, NAMED, bits, random_array

pytestmark = pytest.mark.filterwarnings("ignore:Stored array in format 3.0")


def many_members(path, count):
    """A .npz file of so many small arrays, in less time than zipfile takes."""
    small = io.BytesIO()
    numpy.save(small, numpy.array([7], "i1"))
    member = small.getvalue()
    crc, size = zlib.crc32(member), len(member)
    records = io.BytesIO()
    with open(path, "wb") as file:
        for i in range(count):
            name = b"%d.npy" % i
            shared = struct.pack("<4H3I2H", 0, 0, 0, 33, crc, size, size, len(name), 0)
            place = struct.pack("<3H2I", 0, 0, 0, 0, file.tell())
            records.write(struct.pack("<4sHH", b"PK\1\2", 45, 45) + shared + place + name)
            file.write(struct.pack("<4sH", b"PK\3\4", 45) + shared + name + member)
        at, directory = file.tell(), records.getvalue()
    end = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, len(directory), at)
    end += struct.pack("<4sIQI", b"PK\6\7", 0, at + len(directory), 1)
    end += struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, len(directory), at, 0)
    with open(path, "ab") as file:
        file.write(directory + end)


@pytest.fixture(params=["savez", "savez_compressed"])
def savez(request):
    return getattr(numpy, request.param)


def test_every_type_order_and_name(garner, tmp_path, savez):
    arrays = {}
    for dtype in NAMED + FIXED:
        for order in "CF":
            data = random_array(dtype, (3, 2), order)
            arrays[f"é {len(arrays)}/x"] = data
            if dtype in NAMED and data.dtype.itemsize > 1:
                arrays[f"swapped{len(arrays)}"] = data.byteswap().view(data.dtype.newbyteorder())
    savez(tmp_path / "x.npz", **arrays)
    answer = garner("convert", "x.npz", "y.npz")
    assert answer.code == 0 and answer.out == b"" and answer.err == "", answer
    with numpy.load(tmp_path / "y.npz") as ours:
        assert ours.files == list(arrays)
        for name, data in arrays.items():
            native = data.view(data.dtype.newbyteorder("=")).byteswap() if name.startswith("swapped") else data
            assert ours[name].dtype == native.dtype or data.dtype.kind in "UM", name
            assert bits(ours[name]) == bits(native), name
    assert zipfile.ZipFile(tmp_path / "y.npz").testzip() is None
    assert garner("diff", "x.npz", "y.npz").code == 0


def test_a_member(garner, refuses, tmp_path, savez):
    savez(tmp_path / "x.npz", table=numpy.arange(6.0).reshape(3, 2), rows=numpy.array([2, 0]))
    assert garner("gather", "x.npz:table", "x.npz:rows").text == "[[4.0,5.0],[0.0,1.0]]\n"
    assert garner("gather", "file:x.npz#table", "[1]").text == "[[2.0,3.0]]\n"
    assert garner("gather-elements", "x.npz:table", "[[2,0]]").text == "[[4.0,1.0]]\n"
    answer = garner("explain", "gather", "x.npz:rows", "[1]")
    assert answer.code == 0, answer
    os.rename(tmp_path / "x.npz", tmp_path / "any name")
    assert garner("gather", "file:any name#rows", "[1]").text == "[0]\n"
    refuses(4, ["any name", "'cols'", "'table'", "'rows'"], "gather", "file:any name#cols", "[0]")
    refuses(4, ["2 tensors", "'table'", "'rows'"], "gather", "file:any name", "[0]")


def test_the_only_member_needs_no_name(garner, tmp_path, savez):
    savez(tmp_path / "x.npz", numpy.arange(3))
    assert garner("gather", "x.npz", "[1]").text == "[1]\n"
    assert garner("gather", "x.npz:arr_0", "[1]").text == "[1]\n"


def test_through_a_pipe(garner, tmp_path, savez):
    buffer = io.BytesIO()
    savez(buffer, a=numpy.arange(3), b=numpy.arange(4))
    answer = garner("gather", "file:/dev/stdin#b", "[3]", stdin=buffer.getvalue())
    assert answer.text == "[3]\n", answer


def test_sizes_that_follow_the_members(garner, tmp_path, savez):
    """What NumPy writes to something that it cannot go back in."""

    class Stream(io.RawIOBase):
        def __init__(self):
            self.bytes = b""

        def writable(self):
            return True

        def write(self, data):
            self.bytes += bytes(data)
            return len(data)

    stream = Stream()
    savez(stream, a=numpy.arange(3000), b=numpy.arange(4))
    (tmp_path / "x.npz").write_bytes(stream.bytes)
    assert garner("gather", "x.npz:a", "[2999]").text == "[2999]\n"
    assert garner("gather", "x.npz:b", "[3]").text == "[3]\n"


def test_results_are_written(garner, tmp_path):
    assert garner("gather", "iota(3,2)", "[2]", "-o", "rows.npz").code == 0
    assert garner("gather", "iota(3,2)", "[2]", "-o", "more.npz:a/b").code == 0
    with numpy.load(tmp_path / "rows.npz") as rows, numpy.load(tmp_path / "more.npz") as more:
        assert rows.files == ["rows"] and rows["rows"].tolist() == [[4, 5]]
        assert more.files == ["a/b"] and more["a/b"].tolist() == [[4, 5]]
    assert stat.S_IMODE(os.stat(tmp_path / "rows.npz").st_mode) & 0o600 == 0o600


def test_written_files_are_aligned_and_always_the_same(garner, tmp_path):
    numpy.savez(tmp_path / "x.npz", a=numpy.arange(3), long_name=numpy.arange(5.0), c=numpy.array(7, "i1"))
    assert garner("convert", "x.npz", "y.npz").code == 0
    assert garner("convert", "y.npz", "z.npz").code == 0
    content = (tmp_path / "y.npz").read_bytes()
    assert content == (tmp_path / "z.npz").read_bytes()
    for array in (numpy.arange(3), numpy.arange(5.0)):
        assert content.index(array.tobytes()) % 64 == 0


def test_empty_and_many(garner, refuses, tmp_path):
    with zipfile.ZipFile(tmp_path / "empty.npz", "w"):
        pass
    assert garner("info", "empty.npz").text == "empty.npz: .npz, 0 tensors\n"
    refuses(4, "no tensors", "gather", "empty.npz:a", "[0]")
    assert garner("convert", "empty.npz", "y.npz").code == 0
    assert (tmp_path / "y.npz").read_bytes() == (tmp_path / "empty.npz").read_bytes()


@pytest.mark.slow
def test_more_members_than_a_directory_without_zip64_counts(garner, tmp_path):
    count = 66_000
    many_members(tmp_path / "many.npz", count)
    assert garner("convert", "many.npz", "again.npz").code == 0
    with zipfile.ZipFile(tmp_path / "again.npz") as file:
        assert len(file.namelist()) == count and file.read("65999.npy")[-1] == 7
    assert garner("gather", "again.npz:65999", "[0]").text == "[7]\n"
    assert garner("diff", "many.npz", "again.npz").code == 0


def test_other_members_are_no_tensors(garner, refuses, tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as file:
        file.writestr("readme.txt", "hello")
    numpy.savez(tmp_path / "y.npz", a=numpy.arange(3))
    with zipfile.ZipFile(tmp_path / "y.npz", "a") as file:
        file.writestr("readme.txt", "hello")
    assert garner("gather", "y.npz:a", "[2]").text == "[2]\n"
    refuses(4, "no .npy member", "gather", "y.npz:readme.txt", "[2]")
    refuses(4, "no .npy member", "gather", "x.npz", "[0]")
    assert "not readable here" in garner("info", "y.npz").text
