# SPDX-License-Identifier: MIT
"""Literals: what they mean, what is printed of them, and where a malformed one goes wrong."""

import json
import random

import pytest

# literal, type and shape it has, text of its elements
GOOD = [
    ("[[1,2],[3,4]]", "i64", [2, 2], "[[1,2],[3,4]]"),
    ("[ [1 , 2],\n\t[3, 4] ]", "i64", [2, 2], "[[1,2],[3,4]]"),
    ("[1,2]:u8", "u8", [2], "[1,2]"),
    ("[1,2] : u8", "u8", [2], "[1,2]"),
    ('["a","b"]', "str", [2], '["a","b"]'),
    ('["a:b","[,]"]:str', "str", [2], '["a:b","[,]"]'),
    ('["",""]', "str", [2], '["",""]'),
    ("[7]", "i64", [1], "[7]"),
    ("[-1,+2,007]", "i64", [3], "[-1,2,7]"),
    ("[1.0,2]", "f32", [2], "[1.0,2.0]"),
    ("[.5,5.,1e3,1E-3,-0.0]", "f32", [5], "[0.5,5.0,1000.0,0.001,-0.0]"),
    ("[nan,inf,-inf]", "f32", [3], "[nan,inf,-inf]"),
    ("[nan(0x7fc00001),nan(0xffc00000)]", "f32", [2], "[nan(0x7fc00001),nan(0xffc00000)]"),
    ("[true,false]", "bool", [2], "[true,false]"),
    ("[1,0]:bool", "bool", [2], "[true,false]"),
    ("[1.0+2.0j,3j,-4,nan-infj]", "c64", [4], "[1.0+2.0j,0.0+3.0j,-4.0+0.0j,nan-infj]"),
    ("[1e-5-2.5e+3j]:c128", "c128", [1], "[1e-05-2500.0j]"),
    ("[1]:complex64", "c64", [1], "[1.0+0.0j]"),
    ("[1]:float32", "f32", [1], "[1.0]"),
    ("[1]:double", "f64", [1], "[1.0]"),
    ("[-9223372036854775808,9223372036854775807]", "i64", [2], "[-9223372036854775808,9223372036854775807]"),
    ("[18446744073709551615]:u64", "u64", [1], "[18446744073709551615]"),
    ("[-8,7]:i4", "i4", [2], "[-8,7]"),
    ("[-2,1]:i2", "i2", [2], "[-2,1]"),
    ("[0,63,21]:u6", "u6", [3], "[0,63,21]"),
    ("[15,0,9]:nf4", "nf4", [3], "[15,0,9]"),
    ("[6,-0.5,1.5]:f4e2m1", "f4e2m1", [3], "[6.0,-0.5,1.5]"),
    ("iota(2,3):f32", "f32", [2, 3], "[[0.0,1.0,2.0],[3.0,4.0,5.0]]"),
    ("iota( 2 , 2 )", "i64", [2, 2], "[[0,1],[2,3]]"),
    ("iota(8):u3", "u3", [8], "[0,1,2,3,4,5,6,7]"),
]


@pytest.mark.parametrize("literal,dtype,shape,text", GOOD, ids=lambda v: str(v)[:40])
def test_literal_means(garner, literal, dtype, shape, text):
    rows = ",".join(map(str, range(shape[0])))
    answer = garner("gather", literal, f"[{rows}]")
    assert (answer.code, answer.text) == (0, text + "\n"), answer
    answer = json.loads(garner("gather", literal, f"[{rows}]", "--format", "json").text)
    assert (answer["dtype"], answer["shape"]) == (dtype, shape)


@pytest.mark.parametrize("scalar,text", [("1", "[6,7,8]"), ("-1", "[6,7,8]"), ("0:u8", "[3,4,5]"), (" 0 ", "[3,4,5]")])
def test_scalar_operand_drops_the_axis(garner, scalar, text):
    answer = garner("gather", "[[3,4,5],[6,7,8]]", scalar)
    assert (answer.code, answer.text) == (0, text + "\n"), answer


def test_negative_words_are_operands(refuses):
    refuses(3, "rank 0", "gather", "-1", "0")
    refuses(3, "rank 0", "gather", "-inf", "0")
    refuses(3, "rank 0", "gather", "-.5", "0")
    refuses(3, "rank 0", "gather", "-1.5e3:f64", "0")


@pytest.mark.parametrize(
    "literal,shape,text",
    [
        ("[]", [0], "[]"),
        ("[[],[]]:f32", [2, 0], "[[],[]]"),
        ("[[[]],[[]]]", [2, 1, 0], "[[[]],[[]]]"),
        ("iota(0,3)", [0, 3], "[]"),
        ("iota(0,4611686018427387904,4611686018427387904)", [0, 2**62, 2**62], "[]"),
        ("iota(2,0,3):str", [2, 0, 3], "[[],[]]"),
    ],
)
def test_empty(garner, literal, shape, text):
    rows = "[" + ",".join(map(str, range(shape[0]))) + "]"
    answer = garner("gather", literal, rows)
    assert (answer.code, answer.text) == (0, text + "\n"), answer
    assert json.loads(garner("gather", literal, rows, "--format=json").text)["shape"] == shape


def test_empty_lists_beyond_counting_are_refused(refuses):
    refuses(3, "4611686018427387904 empty lists", "gather", "iota(4611686018427387904,0)", "[]", "--axis", "1")


def test_rank_64_and_no_more(garner, refuses):
    deep = "[" * 64 + "5" + "]" * 64
    assert garner("gather", deep, "[0]").text == deep + "\n"
    refuses(2, ["character 65", "64"], "gather", "[" + deep + "]", "[0]")
    assert garner("gather", "iota(" + ",".join(["1"] * 64) + ")", "[0]").text == deep.replace("5", "0") + "\n"
    refuses(2, "more than 64", "gather", "iota(" + ",".join(["1"] * 65) + ")", "[0]")


# literal, character where it goes wrong, words of the message
BAD = [
    ("[1,2", 5, "missing"),
    ("[1,,2]", 4, "missing"),
    ("[,1]", 2, "missing"),
    ("[1,]", 4, "missing"),
    ("[1 2]", 4, "missing"),
    ("[1]]", 4, "follow"),
    ("[1]x", 4, "follow"),
    ("1,2", 2, "follow"),
    ("[[1,2],[3]]", 10, "neighbours"),
    ("[[],[1]]", 7, "neighbours"),
    ("[[1],[]]", 7, "neighbours"),
    ("[1,[2]]", 4, "a list where"),
    ("[[1],2]", 6, "an element where"),
    ("[[],1]", 5, "an element where"),
    ("[1,a]", 4, "neither"),
    ("[0x10]", 2, "neither"),
    ("[1e]", 2, "neither"),
    ("[1.0+2.0]", 2, "neither"),
    ("[1.0+j]", 2, "neither"),
    ("[-]", 2, "neither"),
    ("[.]", 2, "neither"),
    ("[nan()]", 2, "neither"),
    ("[nan(0x)]", 2, "neither"),
    ("[infinity]", 2, "neither"),
    ("[True]", 2, "neither"),
    ('[1,"a"]', 4, "mix"),
    ("[true,1]", 7, "mix"),
    ('["a]', 2, "no end"),
    ('["a\\q"]', 4, "escape"),
    ('["\\x4"]', 3, "escape"),
    ('["\\u12"]', 3, "escape"),
    ('["\\ud800"]', 3, "escape"),
    ('["\\ud800\\u0041"]', 3, "escape"),
    ("[1]:", 5, "no type"),
    ("[1]:i65", 5, "no type"),
    ("[1]:float", 5, "f32 or f64"),
    ("[1]:opaque", 5, "no type"),
    ('["a"]:u8', 7, "str"),
    ("[1]:str", 5, "str"),
    ("[300]:u8", 2, "fit"),
    ("[0,-1]:u8", 4, "fit"),
    ("[-129]:i8", 2, "fit"),
    ("[9223372036854775808]", 2, "fit"),
    ("[-9223372036854775809]", 2, "fit"),
    ("[99999999999999999999999]:u64", 2, "fit"),
    ("[8]:i4", 2, "fit"),
    ("[2]:u1", 2, "fit"),
    ("[1.5]:i32", 2, "integer"),
    ("[nan]:i32", 2, "integer"),
    ("[2]:bool", 2, "true nor false"),
    ("[1j]:f32", 2, "number"),
    ("[1e39]", 2, "large"),
    ("[1e309]:f64", 2, "large"),
    ("[65520]:f16", 2, "large"),
    ("[500]:f8e4m3fn", 2, "large"),
    ("[7.5]:f4e2m1", 2, "large"),
    ("[inf]:f8e4m3fn", 2, "no inf"),
    ("[nan]:f4e2m1", 2, "no nan"),
    ("[-1]:f8e8m0", 2, "no sign"),
    ("[0]:f8e8m0", 2, "small"),
    ("[-nan]", 2, "sign"),
    ("[nan(0x1)]", 2, "no nan"),
    ("[nan(0x17fc00001)]", 2, "no nan"),
    ("iota(", 6, "extents"),
    ("iota(2", 7, "missing"),
    ("iota(-1)", 6, "extents"),
    ("iota(2 3)", 8, "missing"),
    ("iota(99999999999999999999)", 6, "too large"),
]


@pytest.mark.parametrize("literal,position,words", BAD, ids=lambda v: str(v)[:40])
def test_malformed_literal(refuses, literal, position, words):
    refuses(2, ["DATA", f"character {position}:", words], "gather", literal, "[0]")
    refuses(2, ["INDICES", f"character {position}:", words], "gather", "[0]", literal)


def test_iota_beyond_its_type(refuses):
    refuses(2, ["iota", "256", "u8"], "gather", "iota(300):u8", "[0]")
    refuses(2, ["iota", "8", "u3"], "gather", "iota(9):u3", "[0]")
    refuses(2, ["iota", "str"], "gather", "iota(3):str", "[0]")
    for extents in ("4611686018427387904,4", "9999999999,9999999999", "2305843009213693952"):
        allowed = "at most 9223372036854775807 bytes"
        refuses(2, ["DATA: the literal", "63 bits", allowed], "gather", f"iota({extents})", "[0]")
        refuses(2, ["INDICES: the literal", "63 bits", allowed], "gather", "[0]", f"iota({extents})")


STRINGS = [
    (r"plain", "plain"),
    (r"\"\\\/\b\f\n\r\t", r"\"\\/\b\f\n\r\t"),
    (r"\u0041\u00e9\u20ac", "Aé€"),
    (r"\ud83d\ude00", "😀"),
    (r"é€😀", "é€😀"),
    (r"\x41\xff", r"A\xff"),
    (r"\xe9", r"\xe9"),
    (r"\xed\xa0\x80", r"\xed\xa0\x80"),  # a surrogate in UTF-8 is none
    (r"\xc0\x80", r"\xc0\x80"),  # nor is a long form
    (r"\udcff", r"\xff"),
    (r"\u0000\u001b[31m\u007f\u009b\u202e", r"\u0000\u001b[31m\u007f\u009b\u202e"),
]


@pytest.mark.parametrize("typed,text", STRINGS, ids=range(len(STRINGS)))
def test_strings(garner, typed, text):
    answer = garner("gather", f'["{typed}"]', "[0]")
    assert (answer.code, answer.text) == (0, f'["{text}"]\n'), answer
    again = garner("gather", answer.text.strip() + ":str", "[0]")
    assert again.text == answer.text


def test_json_strings_keep_every_byte(garner):
    every = "".join(rf"\x{b:02x}" for b in range(256))
    answer = garner("gather", f'["{every}","é"]', "[0,1]", "--format", "json")
    data = json.loads(answer.out.decode("utf-8"))["data"]
    assert [s.encode("utf-8", "surrogateescape") for s in data] == [bytes(range(256)), "é".encode()]
    again = garner("gather", json.dumps(data), "[0,1]", "--format", "json")
    assert again.out == answer.out


@pytest.mark.slow
def test_random_literals_never_crash(garner):
    """Mutations of good and bad literals: any exit code of the contract, one line for each refusal."""
    random.seed(20240607)
    alphabet = '[],:"\\0123456789.e+-jnaifxu()tr 8\x01\xff'
    seeds = [g[0] for g in GOOD] + [b[0] for b in BAD]
    codes = set()
    for _ in range(400):
        text = list(random.choice(seeds))
        for _ in range(random.randint(1, 4)):
            at = random.randint(0, len(text))
            cut = random.randint(0, 2)
            text[at : at + cut] = random.choices(alphabet, k=random.randint(0, 3))
        data = "".join(text)
        if data.startswith("iota") and sum(c.isdigit() for c in data) > 5:
            continue  # it might well fit, and take long
        answer = garner("gather", "--axis", "0", "--", data.encode("latin-1"), "[0]")
        assert answer.code in (0, 2, 3, 4, 5), (data, answer)
        assert (answer.code == 0) == (answer.err == ""), (data, answer)
        assert answer.err.count("\n") <= 1
        codes.add(answer.code)
    assert {0, 2, 3} <= codes


def test_memory_that_cannot_be_had_names_the_argument(garner):
    """A sanitizer warns in lines of its own, so only the last one is looked at."""
    env = {f"{name}_OPTIONS": "allocator_may_return_null=1:detect_leaks=0" for name in ("ASAN", "TSAN")}
    for role, operands in (("DATA", ["iota(1000000000000000000)", "[0]"]), ("INDICES", ["[0]", "iota(1000000000000000000)"])):
        answer = garner("gather", *operands, env=env)
        assert (answer.code, answer.out) == (5, b""), answer
        assert answer.err.splitlines()[-1] == f"garner: {role}: not enough memory for 8000000000000000000 bytes"
