# SPDX-License-Identifier: MIT
"""Bad .npy files: exit 4 and one sentence."""

import os
import pickle
import subprocess
import sys

import numpy
import pytest

GOOD = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2), }"
PAYLOAD = numpy.arange(4, dtype="<i4").tobytes()


def npy(header, payload=PAYLOAD, version=1, length=None):
    header = header.encode("latin1")
    size = len(header) if length is None else length
    return b"\x93NUMPY" + bytes([version, 0]) + size.to_bytes(2 if version == 1 else 4, "little") + header + payload


@pytest.fixture
def bad(refuses, tmp_path):
    """bad(bytes, words): refused as a file and from a pipe, each beginning with the path."""

    def check(content, words):
        (tmp_path / "x.npy").write_bytes(content)
        answer = refuses(4, words, "gather", "x.npy", "[0]")
        assert answer.err.startswith("garner: x.npy: "), answer
        refuses(4, words, "gather", "-", "[0]", stdin=content)
        return answer

    return check


@pytest.fixture
def good(garner, tmp_path):
    def check(content, text="[[0,1]]\n"):
        (tmp_path / "x.npy").write_bytes(content)
        answer = garner("gather", "x.npy", "[0]")
        assert (answer.code, answer.text, answer.err) == (0, text, ""), answer
        assert garner("gather", "-", "[0]", stdin=content).text == text

    return check


def test_not_a_npy_file(bad):
    bad(b"", "empty")
    for size in range(1, 10):
        bad(npy(GOOD)[:size], ["93"] if size < 6 else ["truncated", f"found {size}"])
    bad(b"\x89PNG\r\n\x1a\n" + bytes(100), "89 50 4e 47 0d 0a")
    bad(npy(GOOD, version=4), "version 4.0")
    bad(b"\x93NUMPY\x01\x01" + npy(GOOD)[8:], "version 1.1")


def test_row_37_no_header_is_written_that_is_too_long_to_read(garner, refuses, tmp_path):
    """A name in Latin-1 grows as UTF-8; one that still fits is written."""
    for letters, code in ((30000, 0), (50000, 4)):
        header = "{'descr': [('" + "\xe9" * letters + "', '<i4')], 'fortran_order': False, 'shape': (1,), }"
        (tmp_path / "x.npy").write_bytes(npy(header, b"\x07\0\0\0", version=2))
        for target in ("y.npy", "y.npz"):
            if code:
                refuses(code, [target, "65536"], "convert", "x.npy", target)
                assert not (tmp_path / target).exists()
            else:
                assert garner("convert", "x.npy", target).code == 0
                assert garner("info", target).code == 0
                (tmp_path / target).unlink()


@pytest.mark.parametrize("version", [2, 3])
def test_npy_header_length(bad, version):
    bad(npy(GOOD, version=version, length=60000), ["truncated", "60012"])
    bad(npy(GOOD, version=version, length=2**32 - 1), ["4294967295", "65536"])
    bad(npy(GOOD.ljust(65537), version=version), ["65537", "65536"])


def test_huge_shape_is_refused_before_allocating(peak, tmp_path):
    (tmp_path / "x.npy").write_bytes(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (%d,)}" % 2**60))
    with open(tmp_path / "x.npy", "rb") as pipe:
        code, message, memory = peak("gather", "-", "[0]", stdin=pipe)
    assert code == 4 and b"truncated: expected %d bytes" % 2**62 in message
    assert memory < 200_000  # sanitizers take their share


def test_headers_that_are_programs(bad, tmp_path):
    bad(npy("__import__('os').system('touch owned')"), "expected '{'")
    bad(npy("{'descr': __import__('os').system('touch owned'), 'fortran_order': False, 'shape': (2,)}"), "string")
    bad(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2 for x in y)}"), "expected")
    bad(npy("{'descr': '<i4', 'fortran_order': False, 'shape': " + "(" * 60000), "expected")
    bad(npy("{'descr': " + "[('a'," * 9000 + "'<i4'", version=1), "nested")
    bad(npy("{" * 65000), "expected")
    bad(pickle.dumps({"descr": "<i4"}), "begins with")
    assert not (tmp_path / "owned").exists()


def test_object_arrays(bad, tmp_path):
    objects = numpy.array([1, 2.5, 3], dtype=object)
    numpy.save(tmp_path / "y.npy", objects)
    answer = bad((tmp_path / "y.npy").read_bytes(), ["Python objects", "allow_pickle=True"])
    # The command that the sentence shows does what it says.
    command = answer.err[answer.err.index("python3 ") :].strip()
    environment = {**os.environ, "PATH": os.path.dirname(os.sys.executable) + ":" + os.environ["PATH"]}
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True, env=environment)
    assert numpy.load(tmp_path / "plain.npy").tolist() == [1.0, 2.5, 3.0]
    bad(npy("{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (2,)}"), "allow_pickle=True")


def test_header_keys(bad):
    bad(npy("{'descr': '<i4', 'fortran_order': False, }"), "no 'shape'")
    bad(npy("{'descr': '<i4', 'shape': (2, 2), }"), "no 'fortran_order'")
    bad(npy("{'fortran_order': False, 'shape': (2, 2), }"), "no 'descr'")
    bad(npy("{}"), "no 'descr'")
    bad(npy(GOOD[:-1] + "'shape': (2, 2), }"), "'shape' twice")
    bad(npy(GOOD[:-1] + "'more': (2, 2), }"), "'more'")


def test_headers_that_numpy_accepts(good):
    good(npy(GOOD))
    good(npy(GOOD + " " * 20 + "\n"))
    good(npy("{'shape': (2, 2), 'fortran_order': False, 'descr': '<i4'}"))
    good(npy('  {  "shape"  :(2,2)  ,\n\t\'fortran_order\':False,"descr" :\'<i4\' , }'))
    good(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2L, 2L), }"))
    good(npy("{u'descr': u'<i4', u'fortran_order': False, U\"shape\": (2, 2L), }"))


def test_leading_zeros(bad, garner, tmp_path):
    header = "{'descr': '<i4', 'fortran_order': False, 'shape': (%s), }"
    for shape in ["02, 2", "2, 02", "2, 0002L"]:
        bad(npy(header % shape), "without a leading zero")
    (tmp_path / "x.npy").write_bytes(npy(header % "2, 00", b""))
    assert numpy.load(tmp_path / "x.npy").shape == (2, 0)
    assert garner("gather", "x.npy", "[0]").text == "[[]]\n"


def test_truncated_data(bad):
    for found in [0, 1, 15]:
        bad(npy(GOOD, PAYLOAD[:found]), f"truncated: expected 16 bytes, found {found}")


def test_trailing_bytes(garner, good, tmp_path):
    good(npy(GOOD) + b"more")
    with open(tmp_path / "x.npy", "wb") as file:
        for value in [1, 2]:
            numpy.save(file, numpy.full((2, 2), value))
    answer = garner("gather", "x.npy", "[0]", "-v")
    assert answer.code == 0 and "[[1,1]]" in answer.text, answer
    assert "160 bytes" in answer.err and answer.err.startswith("garner: x.npy"), answer


def test_byte_and_axis_orders(good, garner, tmp_path):
    good(npy(GOOD.replace("False", "True")), "[[0,2]]\n")
    good(npy(GOOD.replace("<", ">"), numpy.arange(4, dtype=">i4").tobytes()))
    (tmp_path / "x.npy").write_bytes(npy("{'descr': '>i2', 'fortran_order': True, 'shape': (), }", b"\0\2"))
    assert garner("gather", "[5,6,7]", "x.npy").text == "7\n"


def test_opaque_is_not_printed(refuses, garner, tmp_path):
    for dtype in ["U3", "S3", "M8[s]", [("a", "f4")]]:
        numpy.save(tmp_path / "x.npy", numpy.zeros(2, dtype))
        for form in ["text", "json"]:
            refuses(4, [], "gather", "x.npy", "[0]", "--format", form)
        assert garner("gather", "x.npy", "[0]", "-o", "y.npy").code == 0


def test_shapes_that_do_not_fit(bad, good, garner, tmp_path):
    header = "{'descr': '<i4', 'fortran_order': False, 'shape': (%s), }"
    bad(npy(header % "4611686018427387904, 4"), "63 bits")
    bad(npy(header % "9223372036854775808,"), "63 bits")
    bad(npy(header % ("1, " * 65)), "64")
    (tmp_path / "x.npy").write_bytes(npy(header % "2, 0, 4611686018427387904, 4611686018427387904", b""))
    assert garner("gather", "x.npy", "[0]", "-o", "y.npy").code == 0


def test_no_memory(program, tmp_path):
    """Indices in the other byte order need a copy; a limit of the shell leaves no room for it."""
    with open(program, "rb") as file:
        if b"__asan_init" in file.read():
            pytest.skip("SKIP: the address sanitizer does not run under a memory limit")
    order = ">" if sys.byteorder == "little" else "<"
    with open(tmp_path / "x.npy", "wb") as file:
        file.write(npy("{'descr': '%si2', 'fortran_order': False, 'shape': (%d,)}" % (order, 1 << 29), b""))
        file.truncate(file.tell() + (1 << 30))  # sparse
    command = 'ulimit -v 1500000; exec "$0" gather "[5]" x.npy'
    process = subprocess.run(["sh", "-c", command, program], cwd=tmp_path, capture_output=True, check=False)
    assert process.returncode == 5, process
    assert process.stderr == b"garner: x.npy: not enough memory for 1073741824 bytes\n"


def shrink_while_read(program, tmp_path, argument, name):
    """garner maps the data and waits for its indices; meanwhile the file is cut short."""
    indices = tmp_path / "indices.npy"
    os.mkfifo(indices)
    process = subprocess.Popen(
        [program, "gather", argument, "indices.npy"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with open(indices, "wb") as pipe:  # opens when garner has opened the other end
        os.truncate(tmp_path / name, 4096)
        pipe.write(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (1,)}", b"\0\0\x08\0"))
    out, message = process.communicate(timeout=600)
    assert process.returncode == 5 and out == b"", (process.returncode, message)
    assert message.startswith(b"garner: ") and message.count(b"\n") == 1


def test_npy_file_that_shrinks(program, tmp_path):
    """The data is mapped, then garner waits for its indices; meanwhile the data goes away."""
    numpy.save(tmp_path / "data.npy", numpy.zeros(1 << 20))
    shrink_while_read(program, tmp_path, "data.npy", "data.npy")


def test_names_cannot_steer_a_terminal(refuses, garner, tmp_path):
    name = "\x1b[31mred\x07.npy"
    (tmp_path / name).write_bytes(b"nothing")
    answer = refuses(4, ["red"], "gather", name, "[0]")
    assert "\x1b" not in answer.err and "\x07" not in answer.err
    answer = refuses(5, ["red"], "gather", "\x1b[2Jred-none.npy", "[0]")
    assert "\x1b" not in answer.err
