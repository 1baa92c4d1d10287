# SPDX-License-Identifier: MIT
"""Bad .npz files: exit 4, one sentence, nothing written."""

import io
import os
import struct
import zipfile
import zlib

import numpy
import pytest

from test_npy_bad import npy, shrink_while_read

DATA = numpy.arange(6, dtype="<f4").reshape(2, 3)


def saved(array):
    buffer = io.BytesIO()
    numpy.save(buffer, array)
    return buffer.getvalue()


def archive(members, method=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name), content, method)
    return bytearray(buffer.getvalue())


def whole(method=zipfile.ZIP_STORED):
    return archive({"a.npy": saved(DATA), "b.npy": saved(DATA + 1)}, method)


def directory(content):
    """Where the directory begins, and the end record."""
    end = content.rindex(b"PK\5\6")
    return struct.unpack_from("<I", content, end + 16)[0], end


def patched(content, offset, form, *values):
    content = bytearray(content)
    struct.pack_into(form, content, offset, *values)
    return content


@pytest.fixture
def bad(refuses, tmp_path):
    """bad(bytes, words): refused, beginning with the path, and convert writes nothing."""

    def check(content, words, member="a"):
        (tmp_path / "x.npz").write_bytes(content)
        answer = refuses(4, words, "gather", f"x.npz:{member}", "[0]", "-o", "y.npy")
        assert answer.err.startswith("garner: x.npz"), answer
        refuses(4, [], "convert", "x.npz", "y.npz")
        assert os.listdir(tmp_path) == ["x.npz"]
        return answer

    return check


def test_no_zip_file(bad):
    bad(b"", "empty")
    bad(b"PK", "no zip file")
    bad(b"\x93NUMPY" + bytes(100), "no zip file")
    bad(whole()[:-1], "truncated")
    bad(whole() + b"x", "truncated")
    bad(whole()[: len(whole()) // 2], "truncated")


@pytest.mark.parametrize("method", [0, 8])
def test_bad_npy_file_within_a_member(bad, method):
    """Everything that is wrong with a .npy file is wrong in a .npz file, too."""
    for content, words in [
        (b"", "empty"),
        (b"\x93NUM", "93 4e 55 4d"),
        (npy("{}", version=4), "version 4.0"),
        (npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2), }", version=2, length=70000), "65536"),
        (npy("__import__('os').system('touch owned')"), "expected '{'"),
        (npy("{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }"), "Python objects"),
        (npy("{'descr': '<i4', 'fortran_order': False, }"), "no 'shape'"),
        (saved(DATA)[:-1], "declares"),
        (saved(DATA) + b"x", "declares"),
        (npy("{'descr': '<i4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }"), "63 bits"),
    ]:
        bad(archive({"a.npy": content}, method), words)


def test_members_that_overlap(bad):
    content = whole()
    first, _ = directory(content)
    second = content.index(b"PK\1\2", first + 4)
    bad(patched(content, second + 42, "<I", 0), "overlap")
    bad(patched(content, second + 42, "<I", 40), "overlap")


def test_ratio_that_deflate_cannot_reach(bad):
    content = archive({"a.npy": saved(numpy.zeros(1000))}, 8)
    first, _ = directory(content)
    packed = struct.unpack_from("<I", content, first + 20)[0]
    bad(patched(content, first + 24, "<I", packed * 1032 + 1032), "1032")


def bomb(header, size, claimed):
    """A deflated member of `size` bytes that the directory says are `claimed`."""
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    packed, crc, piece = packer.compress(header), zlib.crc32(header), bytes(1 << 20)
    for at in range(len(header), size, len(piece)):
        piece = piece[: size - at]
        packed += packer.compress(piece)
        crc = zlib.crc32(piece, crc)
    packed += packer.flush()
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 8, 0, 33, crc, len(packed), claimed, 5, 0) + b"a.npy"
    record = struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 8, 0, 33, crc, len(packed), claimed, 5, 0, 0, 0, 0, 0, 0)
    record += b"a.npy"
    at = len(local) + len(packed)
    return local + packed + record + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(record), at, 0)


@pytest.mark.slow
def test_bombs(bad, peak):
    header = saved(numpy.zeros(1000))[:128]
    size = 1 << 28
    for claimed, words in [(8128, "more than the directory says"), (size, ["268435456", "8128"])]:
        bad(bomb(header, size, claimed), words)
        # It takes no memory for what it would inflate to.
        code, _, memory = peak("gather", "x.npz:a", "[0]")
        assert code == 4 and memory < 200_000  # sanitizers take their share


@pytest.mark.parametrize("method", [0, 8])
def test_headers_disagree(bad, method):
    content = whole(method)
    other = 8 - method
    bad(patched(content, 8, "<H", other), "disagree")
    bad(patched(content, 14, "<I", 1), "disagree")
    bad(patched(content, 18, "<I", 1), "disagree")
    bad(patched(content, 22, "<I", 1), "disagree")
    bad(patched(content, 30, "<5s", b"c.npy"), "disagree")
    bad(patched(content, 26, "<H", 4), "disagree")
    bad(patched(content, 28, "<H", 60000), "runs into the next one")
    bad(patched(content, 0, "<4s", b"PK\3\5"), "no member begins")


def test_places_of_members(bad):
    content = whole()
    first, end = directory(content)
    bad(patched(content, first + 42, "<I", len(content)), "outside the file")
    bad(patched(content, first + 42, "<I", 0xFFFFFFFE), "outside the file")
    bad(patched(content, first + 20, "<II", 0xFFFFFFF0, 0xFFFFFFF0), "outside the file")
    bad(patched(content, first + 20, "<I", 5), "two sizes")
    bad(patched(content, first + 42, "<I", 0xFFFFFFFF), "zip64")
    bad(patched(content, first + 28, "<H", 60000), "ends too early")
    bad(patched(content, first, "<4s", b"PK\1\3"), "ends too early")
    bad(patched(content, end + 16, "<I", 0xFFFFFFFE), "does not lie")
    bad(patched(content, end + 16, "<I", first + 1), "does not lie")
    bad(patched(content, end + 12, "<I", 0xFFFFFFFE), "does not lie")
    bad(patched(content, end + 8, "<HH", 1000, 1000), "too small")
    bad(patched(content, end + 8, "<HH", 1, 1), "longer than its entries")
    bad(patched(content, end + 8, "<HH", 1, 2), "several parts")
    bad(patched(content, end + 4, "<H", 1), "several parts")


def zip64(count=1, size=None, offset=None, extra_offset=None, extra_size=8, place=None):
    """One stored member, everything about it in zip64 fields."""
    member = saved(DATA)
    crc = zlib.crc32(member)
    most = 0xFFFFFFFF
    local_extra = struct.pack("<HHQQ", 1, 16, len(member), len(member))
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 45, 0, 0, 0, 33, crc, most, most, 5, len(local_extra)) + b"a.npy"
    local += local_extra + member
    values = struct.pack("<QQQ", len(member), len(member), 0 if extra_offset is None else extra_offset)
    extra = struct.pack("<HH", 1, extra_size + 16) + values[: extra_size + 16]
    record = struct.pack("<4s6H3I5H2I", b"PK\1\2", 45, 45, 0, 0, 0, 33, crc, most, most, 5, len(extra), 0, 0, 0, 0, most)
    record += b"a.npy" + extra
    size = len(record) if size is None else size
    offset = len(local) if offset is None else offset
    end = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, offset)
    place = len(local) + len(record) if place is None else place
    return local + record + end + struct.pack("<4sIQI", b"PK\6\7", 0, place, 1) + struct.pack(
        "<4s4H2IH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, most, most, 0
    )


def test_zip64_is_read(garner, tmp_path):
    (tmp_path / "x.npz").write_bytes(zip64())
    with numpy.load(tmp_path / "x.npz") as theirs:
        assert (theirs["a"] == DATA).all()
    assert garner("gather", "x.npz:a", "[1]").text == "[[3.0,4.0,5.0]]\n"


def test_zip64_wraps(bad):
    top = 2**64 - 1
    bad(zip64(count=top), "too small")
    bad(zip64(count=2**60), "too small")
    bad(zip64(size=top), "does not lie")
    bad(zip64(offset=top), "does not lie")
    bad(zip64(offset=2**63), "does not lie")
    bad(zip64(place=top), "leads nowhere")
    bad(zip64(place=top - 55), "leads nowhere")
    bad(zip64(extra_offset=top), "outside the file")
    bad(zip64(extra_offset=top - 100), "outside the file")
    bad(zip64(extra_size=0), "zip64")
    bad(patched(zip64(), 0, "<4s", b"PK\3\3"), "no member begins")
    content = zip64()
    _, end = directory(content)
    bad(patched(content, end + 10, "<H", 7), "disagree")


def test_encrypted_and_unknown_methods(bad, garner, tmp_path):
    content = whole()
    first, _ = directory(content)
    bad(patched(patched(content, 6, "<H", 1), first + 8, "<H", 1), "encrypted")
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        bad(whole(method), [f"method {method}", "stored", "deflated"])
    # One that cannot be read does not keep others from being read.
    (tmp_path / "x.npz").write_bytes(patched(patched(content, 6, "<H", 1), first + 8, "<H", 1))
    assert garner("gather", "x.npz:b", "[0]").text == "[[1.0,2.0,3.0]]\n"
    assert "encrypted" in garner("info", "x.npz").text


def test_corruption(bad):
    content = whole()
    at = content.index(DATA.tobytes())
    bad(patched(content, at + 5, "<B", 77), ["corrupt", "CRC-32"])
    packed = whole(8)
    # Cut short: the directory knows fewer bytes than the stream has.
    first, _ = directory(packed)
    size = struct.unpack_from("<I", packed, first + 20)[0]
    bad(patched(patched(packed, 18, "<I", size - 3), first + 20, "<I", size - 3), "corrupt")
    bad(patched(packed, 35, "<4s", b"\xff\xff\xff\xff"), "corrupt")
    crc = struct.unpack_from("<I", packed, first + 16)[0] ^ 1
    bad(patched(patched(packed, 14, "<I", crc), first + 16, "<I", crc), ["corrupt", "CRC-32"])


def test_large_members_are_verified_where_all_is_read(garner, refuses, tmp_path):
    """Above 16 MiB a stored member is mapped without a look at all of it; convert and diff do look."""
    content = archive({"a.npy": saved(numpy.zeros((1 << 21) + 1))})
    content[len(content) // 2] ^= 1
    (tmp_path / "x.npz").write_bytes(content)
    assert garner("gather", "x.npz:a", "[0]").text == "[0.0]\n"
    refuses(4, ["corrupt", "CRC-32"], "convert", "x.npz", "y.npz")
    refuses(4, ["corrupt", "CRC-32"], "diff", "x.npz:a", "x.npz:a")
    assert os.listdir(tmp_path) == ["x.npz"]


def test_two_of_a_name(bad):
    content = whole()
    for at in (content.index(b"b.npy"), content.rindex(b"b.npy")):
        content[at : at + 5] = b"a.npy"
    bad(content, ["two tensors", "'a'"])


def test_member_names_cannot_steer_a_terminal(garner, refuses, tmp_path):
    evil = "\x1b[31mred\x07\u202e"
    numpy.savez(tmp_path / "x.npz", **{evil: numpy.arange(3)})
    for arguments in (["info", "x.npz"], ["info", "x.npz", "--json"], ["gather", "x.npz:a", "[0]"], ["diff", "x.npz", "y.npz"]):
        numpy.savez(tmp_path / "y.npz", a=numpy.arange(3))
        answer = garner(*arguments)
        for text in (answer.text, answer.err):
            assert not set(text) & {"\x1b", "\x07", "\u202e"}, answer
        assert "red" in answer.text + answer.err
    refuses(4, ["x.npz", "\\x1b[31mred\\x07\\xe2\\x80\\xae'"], "gather", "x.npz:a", "[0]")


def test_npz_file_that_shrinks(program, tmp_path):
    """The member is mapped, then garner waits for its indices; meanwhile the file goes away."""
    numpy.savez(tmp_path / "data.npz", a=numpy.zeros((1 << 21) + 1))
    shrink_while_read(program, tmp_path, "data.npz:a", "data.npz")
