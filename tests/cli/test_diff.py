# SPDX-License-Identifier: MIT
"""diff: the same to the bit, or the first difference, how many there are, and exit 1."""

import io

import numpy
import pytest


@pytest.fixture
def same(garner):
    def check(*arguments, **options):
        answer = garner("diff", *arguments, **options)
        assert (answer.code, answer.out, answer.err) == (0, b"", ""), answer

    return check


@pytest.fixture
def differ(garner):
    def check(text, *arguments, **options):
        answer = garner("diff", *arguments, **options)
        assert (answer.code, answer.text, answer.err) == (1, text + "\n", ""), answer

    return check


def test_values(same, differ):
    same("[1,2]", "[1,2]")
    differ("first difference at [1,0]: 3 and 5; 2 of 4 elements differ", "[[1,2],[3,4]]", "[[1,2],[5,6]]")
    differ("first difference at []: 1.5 and 2.5; 1 of 1 element differs", "1.5", "2.5")
    differ('first difference at [1]: "b" and "c"; 1 of 2 elements differs', '["a","b"]', '["a","c"]')
    differ('first difference at [0]: "\\u001b" and ""; 1 of 1 element differs', '["\\u001b"]', '[""]')
    differ("first difference at [0]: true and false; 1 of 1 element differs", "[true]", "[false]")
    differ("first difference at [0]: 1.0+2.0j and 1.0-2.0j; 1 of 1 element differs", "[1.0+2.0j]", "[1.0-2.0j]")


def test_bits(same, differ):
    same("[nan,nan(0x7fc00001),-0.0,inf]", "[nan,nan(0x7fc00001),-0.0,inf]:f32")
    differ("first difference at [0]: nan and nan(0x7fc00001); 1 of 1 element differs", "[nan]", "[nan(0x7fc00001)]")
    differ("first difference at [0]: 0.0 and -0.0; 1 of 1 element differs", "[0.0]", "[-0.0]")


@pytest.mark.parametrize("dtype", "i2 i4 u1 u2 u3 u4 u6 nf4 f4e2m1".split())
def test_packed_types(same, differ, dtype):
    zeros = [0] * 17
    same(f"{zeros}:{dtype}".replace(" ", ""), f"{zeros}:{dtype}".replace(" ", ""))
    ones = [*zeros[:-1], 1]
    shown = ("0.0 and 1.0") if dtype == "f4e2m1" else "0 and 1"
    differ(
        f"first difference at [16]: {shown}; 1 of 17 elements differs",
        f"{zeros}:{dtype}".replace(" ", ""),
        f"{ones}:{dtype}".replace(" ", ""),
    )


def test_types_and_shapes(differ, same):
    differ("types differ: i64 and f32", "[1]", "[1.0]")
    differ("shapes differ: [2] and [2,1]", "[1,2]", "[[1],[2]]")
    differ("shapes differ: [] and [1]", "1", "[1]")
    same("[[],[]]:f32", "[[],[]]:f32")
    differ("shapes differ: [0] and [0,0]", "[]", "iota(0,0)")


def test_orders_and_formats(same, tmp_path):
    data = numpy.arange(24, dtype="i4").reshape(2, 3, 4)
    numpy.save(tmp_path / "c.npy", data)
    numpy.save(tmp_path / "f.npy", numpy.asfortranarray(data))
    numpy.save(tmp_path / "b.npy", data.astype(">i4"))
    numpy.savez_compressed(tmp_path / "z.npz", data=numpy.asfortranarray(data).astype(">i4"))
    for other in ("f.npy", "b.npy", "z.npz", "z.npz:data", "file:f.npy", "iota(2,3,4):i32"):
        same("c.npy", other)
    piped = io.BytesIO()
    numpy.save(piped, data)
    same("-", "c.npy", stdin=piped.getvalue())
    same("z.npz", "-", stdin=piped.getvalue())


def test_large(differ, tmp_path):
    data = numpy.zeros(3_000_000, "f8")
    numpy.save(tmp_path / "a.npy", data)
    data[[2_999_999, 1_500_000, 7]] = 1
    numpy.save(tmp_path / "b.npy", data)
    differ("first difference at [7]: 0.0 and 1.0; 3 of 3000000 elements differ", "a.npy", "b.npy")


def test_opaque_elements(differ, same, tmp_path):
    numpy.save(tmp_path / "a.npy", numpy.array(["abc", "de"]))
    numpy.save(tmp_path / "b.npy", numpy.array(["abc", "df"]))
    numpy.save(tmp_path / "c.npy", numpy.array([b"abc", b"de"]))
    same("a.npy", "a.npy")
    differ(
        "first difference at [1]: bytes 64 00 00 00 65 00 00 00 00 00 00 00 and "
        "bytes 64 00 00 00 66 00 00 00 00 00 00 00; 1 of 2 elements differs",
        "a.npy",
        "b.npy",
    )
    differ("types differ: opaque '<U3' and opaque '|S3'", "a.npy", "c.npy")


def test_booleans_that_read_the_same(differ, tmp_path):
    for name, byte in (("a", 1), ("b", 2)):
        numpy.save(tmp_path / f"{name}.npy", numpy.array([byte], "u1").view("?"))
    differ("first difference at [0]: bytes 01 and bytes 02; 1 of 1 element differs", "a.npy", "b.npy")


def test_files_by_name(differ, same, tmp_path):
    numpy.savez(tmp_path / "a.npz", x=numpy.arange(3), y=numpy.arange(4), z=numpy.zeros(2))
    numpy.savez(tmp_path / "b.npz", z=numpy.zeros(2), x=numpy.arange(3), y=numpy.arange(4))
    numpy.savez(tmp_path / "c.npz", z=numpy.ones(2), x=numpy.arange(3), w=numpy.arange(4))
    same("a.npz", "b.npz")
    differ(
        "only A has 'y'\n'z': first difference at [0]: 0.0 and 1.0; 2 of 2 elements differ\n"
        "only B has 'w'\n3 tensors differ",
        "a.npz",
        "c.npz",
    )


def test_refusals(refuses, tmp_path):
    numpy.savez(tmp_path / "a.npz", x=numpy.arange(3), y=numpy.arange(4))
    refuses(4, ["a.npz", "'x'", "'y'"], "diff", "a.npz", "[1]")
    refuses(4, ["'w'", "'x'", "'y'"], "diff", "a.npz:w", "[1]")
    refuses(5, "nosuch.npy", "diff", "nosuch.npy", "[1]")
    refuses(2, "once", "diff", "-", "-")
    refuses(2, "B", "diff", "[1]", "[1")
    refuses(2, "diff", "diff", "[1]")
