# SPDX-License-Identifier: MIT
"""Elements of every type: printed, read back, and compared with NumPy, ml_dtypes and Python."""

import json
import random
import struct

import pytest

np = pytest.importorskip("numpy", reason="SKIP: numpy is not installed")

TYPES = (
    "f32 f16 f64 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool c64 c128 str i2 i4 u1 u2 u3 u4 u6 nf4 "
    "f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0 f4e2m1"
).split()

SMALL_FLOATS = {
    "f16": ("float16", 16),
    "bf16": ("bfloat16", 16),
    "f8e4m3fn": ("float8_e4m3fn", 8),
    "f8e4m3fnuz": ("float8_e4m3fnuz", 8),
    "f8e5m2": ("float8_e5m2", 8),
    "f8e5m2fnuz": ("float8_e5m2fnuz", 8),
    "f8e8m0": ("float8_e8m0fnu", 8),
    "f4e2m1": ("float4_e2m1fn", 4),
}

INTEGERS = {
    **{f"i{b}": (-(2 ** (b - 1)), 2 ** (b - 1) - 1) for b in (2, 4, 8, 16, 32, 64)},
    **{f"u{b}": (0, 2**b - 1) for b in (1, 2, 3, 4, 6, 8, 16, 32, 64)},
    "nf4": (0, 15),
}

SAMPLES = {
    "bool": "[true,false,true]",
    "c64": "[1.0+2.0j,-0.0-0.0j,nan+infj,nan(0x7fc00001)-1e-45j]",
    "c128": "[1.0+2.0j,-0.0-0.0j,nan+infj,nan(0x7ff8000000000001)-5e-324j]",
    "str": r'["a","","\"\\\n","\xff","é"]',
    "f32": "[0.1,-0.0,1e-45,3.4028235e+38,nan,nan(0x7f800001),-inf]",
    "f64": "[0.1,-0.0,5e-324,1.7976931348623157e+308,nan,nan(0x7ff0000000000001),-inf]",
}


def outside(name):
    """The type that a peer calls so, or a loud skip."""
    if hasattr(np, name):
        return getattr(np, name)
    module = pytest.importorskip("ml_dtypes", reason="SKIP: ml_dtypes is not installed")
    return getattr(module, name)


def every(count):
    return f"iota({count})"


def unpack(raw, bits, count):
    """Codes of packed floats: element 0 in the low bits."""
    if bits == 16:
        return np.frombuffer(raw, "<u2").tolist()
    if bits == 8:
        return list(raw)
    return [raw[i // 2] >> (4 * (i % 2)) & 15 for i in range(count)]


def sample(dtype):
    if dtype in SAMPLES:
        return SAMPLES[dtype]
    if dtype in INTEGERS:
        low, high = INTEGERS[dtype]
        return str([low, high, (low + high) // 2, max(low, high - 1), high]).replace(" ", "")
    return "[1.0,0.5,2.0,4.0,1.0]"


@pytest.mark.parametrize("dtype", TYPES)
def test_text_reads_back(garner, dtype):
    """print -> literal -> print, and the bytes are the same too."""
    text = sample(dtype)
    count = 7 if dtype in ("f32", "f64") else 3 if dtype == "bool" else 4 if dtype in ("c64", "c128") else 5
    first = garner("gather", f"{text}:{dtype}", every(count))
    assert (first.code, first.text) == (0, text + "\n"), first
    again = garner("gather", f"{first.text.strip()}:{dtype}", every(count))
    assert again.text == first.text
    form = json.loads(garner("gather", f"{text}:{dtype}", every(count), "--format", "json").text)
    assert form["dtype"] == dtype and form["shape"] == [count]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_exact(garner, dtype):
    low, high = INTEGERS[dtype]
    values = [low, high] + [random.Random(dtype).randint(low, high) for _ in range(19)]
    answer = garner("gather", f"{values}:{dtype}", every(21), "--format", "json")
    assert json.loads(answer.text)["data"] == values


@pytest.mark.parametrize("dtype", SMALL_FLOATS)
def test_every_small_float(garner, dtype):
    """All codes of a type: value, text, JSON and raw bytes agree with the peer's."""
    name, bits = SMALL_FLOATS[dtype]
    peer = outside(name)
    codes = np.arange(2**bits, dtype=np.uint16 if bits == 16 else np.uint8)
    if bits == 16:
        codes = codes[::11]
    with np.errstate(invalid="ignore"):
        values = codes.view(peer).astype(np.float64)
    finite = codes[np.isfinite(values)]
    values = values[np.isfinite(values)]
    literal = "[" + ",".join(map(repr, values.tolist())) + "]:" + dtype
    raw = garner("gather", literal, every(len(values)), "--format", "raw")
    assert raw.code == 0 and unpack(raw.out, bits, len(values)) == finite.tolist()
    text = garner("gather", literal, every(len(values))).text.strip()
    again = garner("gather", f"{text}:{dtype}", every(len(values)), "--format", "raw")
    assert again.out == raw.out
    data = json.loads(garner("gather", literal, every(len(values)), "--format", "json").text)["data"]
    assert np.array(data, np.float64).astype(peer).view(codes.dtype).tolist() == finite.tolist()
    if bits <= 8:
        assert data == values.tolist()


@pytest.mark.parametrize("dtype", SMALL_FLOATS)
def test_rounds_to_nearest_even(garner, dtype):
    name, bits = SMALL_FLOATS[dtype]
    peer = outside(name)
    generator = np.random.default_rng(5)
    values = generator.uniform(0, 6, 500) if bits == 4 else np.exp2(generator.uniform(-20, 7, 2000))
    middles = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 3.0, 6.0] + [1.0625, 1.1875, 1.125, 1.375]
    values = np.concatenate([values, middles])
    unsigned = np.uint16 if bits == 16 else np.uint8
    want = values.astype(peer).view(unsigned).tolist()
    literal = "[" + ",".join(map(repr, values.tolist())) + "]:" + dtype
    raw = garner("gather", literal, every(len(values)), "--format", "raw").out
    assert unpack(raw, bits, len(values)) == want


@pytest.mark.parametrize(
    "text,code",
    [
        # halfway between two f16, then a digit that a double cannot hold
        ("1.00048828125", 0x3C00),
        ("1.00048828125000000000000000000000001", 0x3C01),
        ("1.00146484375", 0x3C02),
        ("1.00146484374999999999999999999999999", 0x3C01),
        ("65519.99999999999999999999999999", 0x7BFF),
        ("0.000000029802322387695312500000000000000001", 0x0001),
        ("0.0000000298023223876953125", 0x0000),
    ],
)
def test_decimal_digits_round_once(garner, text, code):
    raw = garner("gather", f"[{text}]:f16", "[0]", "--format", "raw").out
    assert struct.unpack("<H", raw) == (code,)


def floats(kind):
    generator = np.random.default_rng(7)
    unsigned = {"f32": "<u4", "f64": "<u8"}[kind]
    floating = unsigned.replace("u", "f")
    bits = np.frombuffer(generator.bytes(2000 * np.dtype(unsigned).itemsize), unsigned)
    powers = np.exp2(np.arange(-149.0, 128.0) if kind == "f32" else np.arange(-1074.0, 1024.0))
    plain = [0.1, 1e22, 1e23, 1e15, 1e16, 1e-4, 1e-5, 123456.0, 16777216.0, 9007199254740993.0, 5e-324]
    with np.errstate(over="ignore", under="ignore"):
        values = np.concatenate([bits.view(floating), powers.astype(floating), np.array(plain, floating)])
    return values[np.isfinite(values)]


def test_doubles_print_as_python_prints_them(garner, tmp_path):
    values = floats("f64")
    np.save(tmp_path / "x.npy", values)
    text = garner("gather", "x.npy", every(len(values))).text
    assert text == "[" + ",".join(map(repr, values.tolist())) + "]\n"


def test_singles_print_shortest(garner, tmp_path):
    values = floats("f32")
    np.save(tmp_path / "x.npy", values)
    words = garner("gather", "x.npy", every(len(values))).text.strip("[]\n").split(",")
    assert len(words) == len(values)
    for value, word in zip(values, words):
        assert np.float32(word) == value and ("." in word or "e" in word)
        assert float(word) == float(np.format_float_scientific(value, unique=True)), (value, word)


@pytest.mark.parametrize(
    "dtype,literal,text,form",
    [
        ("f16", "[nan,nan(0x7e01),nan(0xfe00)]", "[nan,nan(0x7e01),nan(0xfe00)]", ["nan", "nan(0x7e01)", "nan(0xfe00)"]),
        ("bf16", "[nan,-inf]", "[nan,-inf]", ["nan", "-inf"]),
        ("f8e4m3fn", "[nan,nan(0xff)]", "[nan,nan(0xff)]", ["nan", "nan(0xff)"]),
        ("f8e4m3fnuz", "[nan,-0.0]", "[nan,0.0]", ["nan", 0.0]),
        ("f8e5m2", "[nan,inf,nan(0x7d)]", "[nan,inf,nan(0x7d)]", ["nan", "inf", "nan(0x7d)"]),
        ("f8e8m0", "[nan]", "[nan]", ["nan"]),
        ("c64", "[nan-infj]", "[nan-infj]", ["nan-infj"]),
        ("f64", "[nan(0x7ff8000000000001)]", "[nan(0x7ff8000000000001)]", ["nan(0x7ff8000000000001)"]),
    ],
)
def test_not_finite(garner, dtype, literal, text, form):
    rows = every(len(form))
    assert garner("gather", f"{literal}:{dtype}", rows).text == text + "\n"
    assert json.loads(garner("gather", f"{literal}:{dtype}", rows, "--format=json").text)["data"] == form


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 6])
def test_packed_bytes(garner, bits):
    """Raw bytes of packed codes, against the layout written out plainly."""
    count = 21
    codes = [(7 * i + 3) % 2**bits for i in range(count)]
    raw = garner("gather", f"{codes}:u{bits}", every(count), "--format", "raw").out
    if bits == 1:
        packed = int("".join(map(str, codes)).ljust(24, "0"), 2).to_bytes(3, "big")
    elif bits in (2, 4):
        packed = sum(c << (bits * i) for i, c in enumerate(codes)).to_bytes(-(-count * bits // 8), "little")
    else:
        low, per = (2, 8) if bits == 3 else (4, 4)
        padded = codes + [0] * (-count % per)
        packed = b""
        for unit in (padded[i : i + per] for i in range(0, len(padded), per)):
            packed += int("".join(f"{c % 2**low:0{low}b}" for c in unit), 2).to_bytes(2, "big")
            packed += int("".join(f"{c >> low:0{bits - low}b}" for c in unit), 2).to_bytes(1, "big")
    assert raw == packed


def test_raw_bytes_are_little_endian(garner):
    assert garner("gather", "[1,-2]:i32", "[1,0]", "--format", "raw").out == struct.pack("<2i", -2, 1)
    assert garner("gather", "[1.5]:f64", "[0]", "--format", "raw").out == struct.pack("<d", 1.5)
    assert garner("gather", "[1.5-2j]", "[0]", "--format", "raw").out == struct.pack("<2f", 1.5, -2)
    assert garner("gather", "[true,false]", "[0,1]", "--format", "raw").out == b"\1\0"
