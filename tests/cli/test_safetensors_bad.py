# SPDX-License-Identifier: MIT
"""Bad .safetensors files: exit 4, one sentence.

What the safetensors package refuses, garner refuses; the few rules in which garner is stricter are said."""

import json
import os
import struct
import time

import pytest
import safetensors

ENTRY = '{"dtype":"F32","shape":[2],"data_offsets":[0,8]}'
GOOD = '{"a":' + ENTRY + "}"


def content(header, data=bytes(8), length=None):
    header = header if isinstance(header, bytes) else header.encode()
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def package_reads(file):
    try:
        safetensors.deserialize(file)
    except safetensors.SafetensorError:
        return False
    return True


@pytest.fixture
def bad(refuses, tmp_path):
    """bad(bytes, words): refused by garner in every command, and by the package unless `stricter`."""

    def check(file, words, stricter=False):
        assert package_reads(bytes(file)) == stricter
        (tmp_path / "x.safetensors").write_bytes(file)
        answer = refuses(4, words, "gather", "x.safetensors:a", "[0]", "-o", "y.npy")
        assert answer.err.startswith("garner: x.safetensors"), answer
        refuses(4, words, "info", "x.safetensors")
        refuses(4, words, "convert", "x.safetensors", "y.npz")
        assert os.listdir(tmp_path) == ["x.safetensors"]

    return check


@pytest.fixture
def good(garner, tmp_path):
    def check(file, text="[0.0]\n", name="a"):
        assert package_reads(bytes(file))
        (tmp_path / "x.safetensors").write_bytes(file)
        answer = garner("gather", f"x.safetensors:{name}", "[0]")
        assert (answer.code, answer.text, answer.err) == (0, text, ""), answer

    return check


def test_safetensors_header_length(bad):
    for size in range(8):
        bad(content(GOOD)[:size], ["truncated", f"this has {size}"])
    bad(content("", b"", 0), "empty")
    bad(content(GOOD, length=100_000_001), ["100000001", "100000000"])
    bad(content(GOOD, length=2**64 - 8), "limit")
    bad(content(GOOD, length=2**64 - 1), "limit")
    bad(content(GOOD, b"", length=len(GOOD) + 1), ["truncated", str(len(GOOD) + 9), str(len(GOOD) + 8)])


def test_header_text(bad, good):
    good(content(GOOD))
    good(content(GOOD + "   "))
    good(content('{ "a"\n:\t{"shape" :[ 2 ],\r"data_offsets":[0 ,8],"dtype":"F32" } }'))
    bad(content(" " + GOOD), ["byte 0", "'{'"], stricter=True)  # the specification says so, too
    bad(content("[]", b""), "'{'")
    bad(content(GOOD + "\0\0"), "spaces")
    bad(content(GOOD + "{}"), "spaces")
    bad(content(GOOD + "\n"), "spaces", stricter=True)
    for name in [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82", b"a\nb", b"\0"]:
        bad(content(b'{"' + name + b'":' + ENTRY.encode() + b"}"), "UTF-8")
    for name in [r"\ud800", r"\udc00", r"\ud800\u0041"]:
        bad(content('{"%s":%s}' % (name, ENTRY)), "half a character")
    bad(content(r'{"\u0000":%s}' % ENTRY), "zero byte", stricter=True)
    for name in [r"\x41", r"\u00", r"\q"]:
        bad(content('{"%s":%s}' % (name, ENTRY)), "escapes")
    good(content(r'{"\ud83d\ude00\u00e9\n\"\\\/":%s}' % ENTRY), name='😀é\n"\\/')


def test_truncated_anywhere(bad):
    for size in range(1, len(GOOD)):
        bad(content(GOOD[:size]), "malformed")


def test_names_and_fields(bad, good):
    double = '{"a":%s,"a":%s}' % (ENTRY, ENTRY.replace("[0,8]", "[8,16]"))
    bad(content(double, bytes(16)), ["two tensors", "'a'"], stricter=package_reads(content(double, bytes(16))))
    for field in ('"dtype":"F32",', '"shape":[2],', ',"data_offsets":[0,8]'):
        bad(content(GOOD.replace(field, "")), ["'a'", "lacks"])
    bad(content(GOOD.replace("}}", ',"more":1}}')), ["'a'", "other than"], stricter=True)
    bad(content(GOOD.replace("}}", ',"shape":[2]}}')), ["'a'", "twice"])
    for value in ('"2"', "[2.0]", "[2e0]", "[-2]", "[02]", "[2,]", "[,2]", "2", "null", "[[2]]", "[true]", "[0x2]"):
        bad(content(GOOD.replace("[2]", value)), "expected")
    for value in ("[0]", "[0,4,8]", "[]"):
        bad(content(GOOD.replace("[0,8]", value)), "two numbers")
    bad(content(GOOD.replace('"F32"', "32")), "a string")
    for value in ("1", '{"b":1}', '{"b":null}', '{"b":{}}', '{"b":["c"]}', "[]"):
        bad(content('{"__metadata__":%s,"a":%s}' % (value, ENTRY)), "expected")
    good(content('{"__metadata__":{"b":"c","d":""},"a":%s}' % ENTRY))
    good(content('{"a":%s,"__metadata__":{}}' % ENTRY))
    bad(content('{"__metadata__":{},"a":%s,"__metadata__":{}}' % ENTRY), "twice", stricter=package_reads(content('{"__metadata__":{},"a":%s,"__metadata__":{}}' % ENTRY)))


def two(first, second, size, shapes=(1, 1)):
    header = {n: {"dtype": "U8", "shape": [s], "data_offsets": o} for n, s, o in zip("ab", shapes, (first, second))}
    return content(json.dumps(header), bytes(size))


def test_places_of_tensors(bad, good):
    good(two([0, 1], [1, 2], 2), "[0]\n")
    good(two([1, 2], [0, 1], 2), "[0]\n")
    good(two([0, 1], [1, 1], 1, (1, 0)), "[0]\n")
    bad(two([1, 0], [1, 2], 2), ["'a'", "begin after"])
    bad(two([0, 1], [1, 3], 2, (1, 2)), "truncated")
    bad(two([0, 1], [2, 3], 3), "byte 1 of the data belongs to no tensor")
    bad(two([1, 2], [2, 3], 3), "byte 0 of the data belongs to no tensor")
    bad(two([0, 1], [0, 1], 1), "two tensors share byte 0")
    bad(two([0, 2], [1, 3], 3, (2, 2)), "two tensors share byte 1")
    bad(two([0, 1], [1, 2], 3), "the file has 3")
    bad(two([0, 1], [1, 2], 1), "truncated")
    bad(two([0, 2], [2, 3], 3), ["'a'", "span 2 bytes", "U8"])
    bad(two([0, 2**63 - 1], [1, 2], 2, (2**63 - 1, 1)), [])
    bad(two([0, 2**64 - 1], [1, 2], 2), "63 bits")
    bad(two([0, 2**64], [1, 2], 2), "63 bits")
    bad(content(GOOD.replace("[2]", "[4611686018427387904,4611686018427387904]")), ["'a'", "F32"])
    good(content(GOOD.replace("[2]", "[2,1,1]")), "[[[0.0]]]\n")
    none = content('{"a":{"dtype":"F32","shape":[2,0,4611686018427387904],"data_offsets":[0,0]}}', b"")
    good(none, "[[]]\n")


def test_unknown_types(garner, refuses, bad, tmp_path):
    header = '{"a":%s,"odd":{"dtype":"%s","shape":[4],"data_offsets":[8,11]}}'
    for name in ("F6_E2M3", "F6_E3M2", "Q4_K", "\\u001b[31m", "x" * 100):
        (tmp_path / "x.safetensors").write_bytes(content(header % (ENTRY, name), bytes(11)))
        assert garner("gather", "x.safetensors:a", "[0]").text == "[0.0]\n"
        answer = refuses(4, ["odd", "not supported"], "gather", "x.safetensors:odd", "[0]")
        assert "\x1b" not in answer.err
        listed = garner("info", "x.safetensors")
        assert listed.code == 0 and "not readable here" in listed.text and "\x1b" not in listed.text, listed
        assert json.loads(garner("info", "x.safetensors", "--json").text)["tensors"][1]["dtype"] is None
        refuses(4, ["odd", "not supported"], "convert", "x.safetensors", "y.npz")
    # Its place is checked all the same.
    bad(content(header % (ENTRY, "F6_E2M3"), bytes(12)), "the file has 12")
    bad(content(header.replace("8,11", "7,11") % (ENTRY, "F6_E2M3"), bytes(11)), "share byte 7")


def test_ranks_above_64(garner, refuses, tmp_path):
    for rank in (64, 65):
        header = GOOD.replace("[2]", json.dumps([2] + [1] * (rank - 1)))
        (tmp_path / "x.safetensors").write_bytes(content(header))
        if rank == 64:
            assert garner("gather", "x.safetensors:a", "0").code == 0
        else:
            refuses(4, ["rank 65", "64"], "gather", "x.safetensors:a", "[0]")


@pytest.mark.parametrize("deep", ['{"a":', "[", '{"a":{"shape":[', '{"__metadata__":{"b":'])
def test_deep_nesting(bad, deep):
    bad(content(deep * 100_000), [])


def write_entries(path, count):
    """Entry by entry, so that Python's own memory does not grow: other tests measure that of their children."""
    with open(path, "wb") as file:
        file.write(bytes(8))
        for i in range(count):
            file.write(b'%c"%d":{"dtype":"U8","shape":[1],"data_offsets":[%d,%d]}' % (b",{"[i == 0], i, i, i + 1))
        file.write(b"}")
        size = file.tell() - 8
        file.truncate(8 + size + count)
        file.seek(0)
        file.write(struct.pack("<Q", size))


@pytest.mark.slow
def test_a_million_entries(garner, tmp_path):
    """Linear, or nearly: ten times the entries take not much more than ten times as long."""
    times = []
    for count in (100_000, 1_000_000):
        write_entries(tmp_path / "x.safetensors", count)
        started = time.monotonic()
        answer = garner("gather", f"x.safetensors:{count - 1}", "[0]")
        times.append(time.monotonic() - started)
        assert answer.text == "[0]\n", answer
    assert times[1] < 40 * max(times[0], 0.02), times
