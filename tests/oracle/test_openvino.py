# SPDX-License-Identifier: MIT
"""Models that OpenVINO writes are read here and give what OpenVINO gives, bit by bit; where its CPU plugin
departs from the specification (docs/semantics.md), that is asserted too. GARNER_BUILD names the build folder."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

ov = pytest.importorskip("openvino", reason="openvino is not installed: tools/testenv installs it")
from openvino import opset1, opset5, opset6, opset7, opset8  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("GARNER_BUILD", "build"))
GARNER = (BUILD if BUILD.is_absolute() else ROOT / BUILD) / "garner"
SEED = int(os.environ.get("GARNER_TEST_SEED", "20240613"))

KINDS = ["gather-1", "gather-7", "gather-8", "gather-elements-6", "gather-nd-5", "gather-nd-8"]
TYPES = (
    "boolean bf16 f16 f32 f64 i4 i8 i16 i32 i64 u1 u2 u3 u4 u6 u8 u16 u32 u64 nf4 f8e4m3 f8e5m2 f8e8m0 f4e2m1 string"
).split()
# What the CPU plugin computes in a narrower type; only such values can be the same.
NARROWED = {"f64": np.float32, "i64": np.int32, "u64": np.int32, "u32": np.int32}
# What it cannot run, or crashes on; there the constant itself, as OpenVINO understands it, is the oracle.
PACKED = ["i4", "u1", "u2", "u3", "u4", "u6"]
NIBBLES = ["nf4", "f4e2m1"]
PLAIN = {"f32": ov.Type.f32, "f16": ov.Type.f16, "i32": ov.Type.i32, "u8": ov.Type.u8, "i8": ov.Type.i8}


def garner(*arguments, code=0):
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    done = subprocess.run([GARNER, *map(str, arguments)], capture_output=True, timeout=120, env=environment)
    assert done.returncode == code, (done.returncode, done.stderr.decode())
    return done.stderr.decode() if code else done.stdout


def number(value, dtype=np.int64):
    return opset8.constant(np.array(value, dtype))


def node(kind, data, indices, axis=0, batch_dims=0):
    """The operator; axis may be a node where it is an input."""
    axis_node = axis if isinstance(axis, (ov.Node, ov.Output)) else number(axis)
    if kind == "gather-1":
        return opset1.gather(data, indices, axis_node)
    if kind == "gather-7":
        return opset7.gather(data, indices, axis_node, batch_dims)
    if kind == "gather-8":
        return opset8.gather(data, indices, axis_node, batch_dims)
    if kind == "gather-elements-6":
        return opset6.gather_elements(data, indices, axis)
    return (opset5 if kind == "gather-nd-5" else opset8).gather_nd(data, indices, batch_dims)


CORE = ov.Core()


def infer(model, inputs):
    """What the CPU plugin gives: a list of tensors. Without the hint some CPUs compute floats in 16 bits."""
    compiled = CORE.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY"})
    request = compiled.create_infer_request()
    for port, value in zip(compiled.inputs, inputs):
        request.set_tensor(port, ov.Tensor(np.array(value, order="C")))
    request.infer()
    return [request.get_output_tensor(i) for i in range(len(compiled.outputs))]


def save(model, path):
    ov.save_model(model, path, compress_to_fp16=False)
    return path


# ---- Every type, as a constant of the .bin -------------------------------------------------------


def random_tensor(rng, name, shape):
    """A tensor of random bits, or of what survives where the plugin narrows."""
    kind = getattr(ov.Type, name)
    if name == "string":
        words = ["", "a", "ü", "four", "日本", "\x00\x01", "x" * 40]
        return ov.Tensor(np.array([words[i % 7] + str(i) for i in range(int(np.prod(shape)))]).reshape(shape))
    tensor = ov.Tensor(kind, ov.Shape(shape))
    if name in NARROWED:
        narrow = NARROWED[name]
        values = rng.integers(0, 2**31, tensor.size).astype(narrow) if narrow is np.int32 else rng.random(tensor.size, narrow)
        tensor.data[...] = values.reshape(shape)
        return tensor
    raw = np.frombuffer(rng.bytes(tensor.byte_size), np.uint8)
    if name in ("f16", "bf16"):  # the plugin may compute with these, and that makes other NaNs of some
        floats = rng.normal(size=tensor.size).astype(np.float32)
        raw = floats.astype(np.float16).view(np.uint8) if name == "f16" else (floats.view(np.uint32) >> 16).astype(np.uint16).view(np.uint8)
    tensor.data.view(np.uint8).reshape(-1)[:] = raw & 1 if name == "boolean" else raw
    return tensor


# Elements come in multiples of 8, so that packed rows of the result have no bits to spare.
SHAPES = {
    "gather-1": ((4, 3, 8), (2, 3), {"axis": 1}, 3),
    "gather-7": ((4, 3, 8), (4, 2), {"axis": 1, "batch_dims": 1}, 3),
    "gather-8": ((4, 3, 8), (4, 2), {"axis": 1, "batch_dims": 1}, 3),
    "gather-elements-6": ((4, 3, 8), (4, 5, 8), {"axis": 1}, 3),
    "gather-nd-5": ((2, 3, 4, 8), (2, 3, 2, 1), {"batch_dims": 2}, 4),
    "gather-nd-8": ((2, 3, 4, 8), (2, 3, 2, 1), {"batch_dims": 2}, 4),
}


def expected_elements(kind, data, indices, options):
    """By NumPy, on an array of anything."""
    axis, batch = options.get("axis", 0), options.get("batch_dims", 0)
    if kind == "gather-elements-6":
        return np.take_along_axis(data, indices.astype(np.int64), axis)
    if kind == "gather-1":
        return np.take(data, indices, axis)
    if kind.startswith("gather-nd"):
        flat = np.stack([data[at][indices[at][:, 0]] for at in np.ndindex(*data.shape[:batch])])
        shape = data.shape[:batch] + indices.shape[batch:-1] + data.shape[batch + 1 :]
        return flat.reshape((-1,) + shape[batch:] if kind == "gather-nd-5" else shape)
    return np.stack([np.take(part, index, axis - 1) for part, index in zip(data, indices)])


def elements_of(constant, words, name, shape):
    """The elements of a constant as OpenVINO understands them; of strings what it was made of."""
    if name == "string":
        return words.astype(object)
    if name in PACKED and name != "i4":
        return np.array(constant.get_vector()).astype(int).reshape(shape)
    halves = np.frombuffer(constant.data.tobytes(), np.uint8)
    codes = np.stack([halves & 15, halves >> 4], -1).reshape(shape).astype(int)
    return codes - 16 * (codes > 7) if name == "i4" else codes


def as_nibbles(elements):
    pairs = elements.reshape(-1, 2).astype(np.uint8)
    return (pairs[:, 0] | pairs[:, 1] << 4).tobytes()


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_type(kind, name, tmp_path):
    rng = np.random.default_rng([SEED, KINDS.index(kind), TYPES.index(name)])
    shape, picked, options, extent = SHAPES[kind]
    tensor = random_tensor(rng, name, shape)
    words = tensor.str_data if name == "string" else None
    constant = ov.op.Constant(tensor)
    indices = opset8.parameter(list(picked), ov.Type.i32, name="indices")
    model = ov.Model([node(kind, constant, indices, **options)], [indices], "one")
    path = save(model, tmp_path / "m.xml")
    index = rng.integers(0, extent, picked, dtype=np.int32)
    np.save(tmp_path / "i.npy", index)
    given = f"indices={tmp_path}/i.npy"
    if name == "string" or name in PACKED:
        want = expected_elements(kind, elements_of(constant, words, name, shape), index, options)
        assert json.loads(garner("run", path, given, "--format", "json"))["data"] == want.tolist()
        return
    got = garner("run", path, given, "--format", "raw")
    if name in NIBBLES:
        assert got == as_nibbles(expected_elements(kind, elements_of(constant, words, name, shape), index, options))
        return
    (want,) = infer(model, [index])
    assert got == want.data.tobytes()


# ---- Random shapes, everything dynamic, several operators in one file ----------------------------


def random_case(rng, kind):
    """data shape, indices, options"""
    rank = int(rng.integers(1, 5))
    shape = [int(n) for n in rng.integers(1, 6, rank)]
    options = {}
    if kind.startswith("gather-nd"):
        batch = int(rng.integers(0, rank))
        width = int(rng.integers(1, rank - batch + 1))
        inner = [int(n) for n in rng.integers(1, 4, rng.integers(0, 3))]
        parts = [rng.integers(0, n, shape[:batch] + inner) for n in shape[batch : batch + width]]
        return shape, np.stack(parts, -1), {"batch_dims": batch}
    axis = int(rng.integers(0, rank))
    options["axis"] = axis - rank * int(rng.integers(0, 2))
    if kind == "gather-elements-6":
        picked = shape[:axis] + [int(rng.integers(1, 7))] + shape[axis + 1 :]
        return shape, rng.integers(0, shape[axis], picked), options
    batch = 0 if kind == "gather-1" else int(rng.integers(0, axis + 1))
    picked = shape[:batch] + [int(n) for n in rng.integers(1, 4, rng.integers(0 if batch else 1, 3))]
    options["batch_dims"] = batch - len(picked) * int(batch < len(picked) and batch and rng.integers(0, 2))
    if kind == "gather-1":
        del options["batch_dims"]
    return shape, rng.integers(0, shape[axis], picked), options


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_random(kind, seed, tmp_path):
    rng = np.random.default_rng([SEED, seed, KINDS.index(kind)])
    nodes, parameters, arrays = [], [], []
    for i in range(10):
        shape, index, options = random_case(rng, kind)
        name = str(rng.choice(list(PLAIN)))
        kind_of_index = rng.choice(["i4", "i8"])
        array = rng.integers(0, 100, shape).astype({"f32": "f4", "f16": "f2", "i32": "i4", "u8": "u1", "i8": "i1"}[name])
        data = opset8.parameter([-1] * len(shape), PLAIN[name], name=f"data{i}")
        known = [-1] * index.ndim  # but how long tuples are is known before
        known[-1:] = [index.shape[-1]] if kind.startswith("gather-nd") else known[-1:]
        indices = opset8.parameter(known, ov.Type.i32 if kind_of_index == "i4" else ov.Type.i64, name=f"indices{i}")
        parameters += [data, indices]
        arrays += [array, index.astype(kind_of_index)]
        if kind.startswith("gather-") and kind[-2:] in ("-7", "-8") and "nd" not in kind and i % 3 == 0:
            axis = opset8.parameter([], ov.Type.i32, name=f"axis{i}")  # an axis that comes when it runs
            parameters.append(axis)
            arrays.append(np.array(options["axis"], np.int32))
            options["axis"] = axis
        made = node(kind, data, indices, **options)
        made.output(0).get_tensor().set_names({f"out{i}"})
        nodes.append(made)
    model = ov.Model(nodes, parameters, "many")
    path = save(model, tmp_path / "m.xml")
    given = []
    for parameter, array in zip(parameters, arrays):
        np.save(tmp_path / f"{parameter.friendly_name}.npy", array)
        given.append(f"{parameter.friendly_name}={tmp_path}/{parameter.friendly_name}.npy")
    (tmp_path / "out").mkdir()
    garner("run", path, *given, "--output-dir", tmp_path / "out")
    for i, want in enumerate(infer(model, arrays)):
        got = np.load(tmp_path / "out" / f"out{i}.npy")
        assert got.dtype == want.data.dtype and got.shape == tuple(want.shape), (i, parameters)
        assert got.tobytes() == want.data.tobytes(), i


@pytest.mark.parametrize("opset", [8, 9, 12, 16])
def test_later_opsets(opset, tmp_path):
    """The same model under another opset's name means the same, up to the last that has the operators."""
    data, index = np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.array([[1], [2]])
    parameter = opset8.parameter([2, 3, 4], ov.Type.f32, name="data")
    nodes = [
        opset8.gather(parameter, number(index), number(1), 1),
        opset6.gather_elements(parameter, number(np.zeros((2, 1, 4), np.int64)), 1),
        opset8.gather_nd(parameter, number(index), 1),
    ]
    model = ov.Model(nodes, [parameter], "m")
    path = save(model, tmp_path / "m.xml")
    text = path.read_text()
    for old in ("opset8", "opset6"):
        text = text.replace(f'version="{old}"', f'version="opset{opset}"')
    path.write_text(text)
    again = CORE.read_model(path)
    np.save(tmp_path / "data.npy", data)
    (tmp_path / "out").mkdir()
    garner("run", path, f"data={tmp_path}/data.npy", "--output-dir", tmp_path / "out")
    files = sorted((tmp_path / "out").iterdir(), key=lambda file: int(file.stem.split("_")[-1]))
    for file, want in zip(files, infer(again, [data]), strict=True):
        assert np.load(file).tobytes() == want.data.tobytes()
    path.write_text(text.replace(f"opset{opset}", "opset17"))
    message = garner("run", path, f"data={tmp_path}/data.npy", code=4)
    assert "1 × Gather" in message and "of version 'opset17' (it is in opset" in message
    assert message.endswith(": 3 operators that do not run here\n")


# ---- Names, conversions, topology ----------------------------------------------------------------


def test_names(tmp_path):
    data = opset8.parameter([3], ov.Type.f32, name="layer in")
    data.output(0).get_tensor().set_names({"a,b", "c\\d"})
    made = opset8.gather(data, number([2, 0]), number(0))
    made.friendly_name = "maker"
    made.output(0).get_tensor().set_names({"x,y", "z"})
    result = opset8.result(made, name="layer out")
    model = ov.Model([result], [data], "m")
    path = save(model, tmp_path / "m.xml")
    for given in ("a,b", "c\\d", "layer in"):
        for wanted in ("x,y", "z", "maker", "layer out"):
            file = tmp_path / "out.npy"
            garner("run", path, f"{given}=[1,2,3]:f32", "-o", f"{wanted}={file}")
            assert np.load(file).tolist() == [3.0, 1.0]
            file.unlink()
    garner("run", path, "a,b=[1,2,3]:f32", "-o", f"nothing={tmp_path}/out.npy", code=2)
    garner("run", path, "nothing=[1,2,3]:f32", code=2)
    again = CORE.read_model(path)
    assert again.input(0).names == {"a,b", "c\\d"}  # the escapes are OpenVINO's own


def test_conversions_and_sharing(tmp_path):
    """Integers converted on index and axis paths; one tensor taken several times; outputs that are inputs."""
    rng = np.random.default_rng(SEED)
    table = opset8.parameter([-1, 4], ov.Type.f32, name="table")
    raw = opset8.parameter([-1], ov.Type.u8, name="raw")
    axis = opset8.parameter([1], ov.Type.i64, name="axis")
    wide = opset8.convert(opset8.convert(raw, "i32"), "i64")
    first = opset8.gather(table, wide, opset8.convert(axis, "i32"))
    second = opset8.gather(first, wide, number([0]))
    third = opset8.gather(second, opset8.convert(number([3, 0], np.uint16), "i32"), number(-1, np.int32))
    for made, name in ((first, "first"), (second, "second"), (third, "third"), (wide, "wide")):
        made.output(0).get_tensor().set_names({name})
    model = ov.Model([first, third, second, wide, first], [table, raw, axis], "m")
    path = save(model, tmp_path / "m.xml")
    arrays = {"table": rng.random((9, 4), np.float32), "raw": np.array([8, 0, 3, 1, 1], np.uint8), "axis": np.array([0])}
    arrays["raw"][arrays["raw"] >= 5] = 4
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    (tmp_path / "out").mkdir()
    garner("run", path, *(f"{name}={tmp_path}/{name}.npy" for name in arrays), "--output-dir", tmp_path / "out")
    wanted = infer(model, list(arrays.values()))
    for name, want in zip(("first", "third", "second", "wide"), wanted):
        got = np.load(tmp_path / "out" / f"{name}.npy")
        assert got.tobytes() == want.data.tobytes() and got.dtype == want.data.dtype, name
    assert len(list((tmp_path / "out").iterdir())) == 5  # the output that is there twice, too


def test_compressed_to_half(tmp_path):
    """What ov.save_model does unless told otherwise: garner says what it does not run."""
    table = opset8.constant(np.random.default_rng(1).random((100, 100), np.float32))
    indices = opset8.parameter([2], ov.Type.i64, name="indices")
    ov.save_model(ov.Model([opset8.gather(table, indices, number(0))], [indices], "m"), tmp_path / "m.xml")
    message = garner("run", tmp_path / "m.xml", "indices=[1,2]", code=4)
    assert "Convert" in message and "f32" in message and "compress_to_fp16=False" in message


def test_other_operators_are_all_named(tmp_path):
    data = opset8.parameter([3], ov.Type.f32, name="data")
    relu = opset8.relu(data)
    relu.friendly_name = "first"
    sigmoid = opset8.sigmoid(relu)
    sigmoid.friendly_name = "second"
    save(ov.Model([opset8.gather(sigmoid, number([0]), number(0))], [data], "m"), tmp_path / "m.xml")
    message = garner("run", tmp_path / "m.xml", "data=[1,2,3]:f32", code=4)
    assert message.endswith(": 1 × ReLU, 1 × Sigmoid: 2 operators that do not run here\n")


# ---- Where OpenVINO's CPU plugin departs from the specification ----------------------------------


@pytest.mark.parametrize("kind", ["gather-1", "gather-7"])
def test_theirs_gives_zeros_for_negative_indices(kind, tmp_path):
    data = opset8.parameter([4, 2], ov.Type.f32, name="data")
    indices = opset8.parameter([3], ov.Type.i32, name="indices")
    model = ov.Model([node(kind, data, indices)], [data, indices], "m")
    path = save(model, tmp_path / "m.xml")
    array, index = np.arange(1, 9, dtype=np.float32).reshape(4, 2), np.array([-1, 2, -4], np.int32)
    np.save(tmp_path / "d.npy", array)
    np.save(tmp_path / "i.npy", index)
    got = garner("run", path, f"data={tmp_path}/d.npy", f"indices={tmp_path}/i.npy", "--format", "raw")
    assert got == array[index].tobytes()
    theirs = infer(model, [array, index])[0].data
    assert theirs.tolist() == [[0, 0], [5, 6], [0, 0]]
    np.save(tmp_path / "i.npy", np.array([1, 4, 0], np.int32))
    message = garner("run", path, f"data={tmp_path}/d.npy", f"indices={tmp_path}/i.npy", code=3)
    assert "indices[1] = 4 is outside [-4, 3] of data axis 0" in message
    assert infer(model, [array, np.array([1, 4, 0], np.int32)])[0].data.tolist() == [[3, 4], [0, 0], [1, 2]]


def test_gather_8_outside(tmp_path):
    """Negative indices count from the end, and any other gives zeros: here both agree."""
    data = opset8.parameter([4, 2], ov.Type.f32, name="data")
    indices = opset8.parameter([4], ov.Type.i32, name="indices")
    model = ov.Model([node("gather-8", data, indices)], [data, indices], "m")
    path = save(model, tmp_path / "m.xml")
    array, index = np.arange(1, 9, dtype=np.float32).reshape(4, 2), np.array([-1, 4, -5, -4], np.int32)
    np.save(tmp_path / "d.npy", array)
    np.save(tmp_path / "i.npy", index)
    got = np.frombuffer(garner("run", path, f"data={tmp_path}/d.npy", f"indices={tmp_path}/i.npy", "--format", "raw"), "f4")
    assert got.tolist() == [7, 8, 0, 0, 0, 0, 1, 2]
    assert infer(model, [array, index])[0].data.reshape(-1).tolist() == got.tolist()


@pytest.mark.parametrize("kind", ["gather-nd-5", "gather-nd-8", "gather-elements-6"])
def test_outside_is_refused_here(kind, tmp_path):
    """Theirs may read memory that is not its own, so it is not asked."""
    data = opset8.parameter([4, 2], ov.Type.f32, name="data")
    indices = opset8.parameter([3, 2] if kind == "gather-elements-6" else [3, 1], ov.Type.i32, name="indices")
    path = save(ov.Model([node(kind, data, indices)], [data, indices], "m"), tmp_path / "m.xml")
    literal = "[[0,0],[1,1],[9,0]]:i32" if kind == "gather-elements-6" else "[[0],[1],[9]]:i32"
    message = garner("run", path, "data=iota(4,2):f32", f"indices={literal}", code=3)
    assert "indices[2,0] = 9 is outside [-4, 3] of data axis 0" in message


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["i64", "u64", "f64"])
def test_theirs_narrows_64_bits(kind, name, tmp_path):
    shape, picked, options, _ = SHAPES[kind]
    rng = np.random.default_rng([SEED, KINDS.index(kind)])
    dtype = {"i64": np.int64, "u64": np.uint64, "f64": np.float64}[name]
    array = rng.random(shape) if name == "f64" else rng.integers(2**40, 2**62, shape).astype(dtype)
    data = opset8.parameter(list(shape), getattr(ov.Type, name), name="data")
    indices = opset8.parameter(list(picked), ov.Type.i32, name="indices")
    model = ov.Model([node(kind, data, indices, **options)], [data, indices], "m")
    path = save(model, tmp_path / "m.xml")
    index = np.zeros(picked, np.int32)
    np.save(tmp_path / "d.npy", array)
    np.save(tmp_path / "i.npy", index)
    got = garner("run", path, f"data={tmp_path}/d.npy", f"indices={tmp_path}/i.npy", "--format", "raw")
    assert got == expected_elements(kind, array, index, options).tobytes()
    theirs = infer(model, [array, index])[0].data
    assert theirs.tobytes() != got
    if name == "f64":
        assert np.allclose(theirs.reshape(-1), np.frombuffer(got, dtype), rtol=1e-6)
    else:
        assert np.abs(theirs.view(np.int64)).max() <= 2**31


def test_theirs_has_no_strings_elsewhere(tmp_path):
    """Its GatherElements and GatherND refuse strings; Gather takes them, and both give the same."""
    words = np.array([["a", "bb"], ["", "dddd"]])
    constant = ov.op.Constant(ov.Tensor(words))
    indices = opset8.parameter([2, 1], ov.Type.i32, name="indices")
    model = ov.Model([node("gather-nd-8", constant, indices)], [indices], "m")
    path = save(model, tmp_path / "m.xml")
    assert garner("run", path, "indices=[[1],[0]]:i32").decode() == '[["","dddd"],["a","bb"]]\n'
    with pytest.raises(RuntimeError):
        infer(model, [np.array([[1], [0]], np.int32)])
    model = ov.Model([node("gather-8", constant, indices)], [indices], "m")
    path = save(model, tmp_path / "g.xml")
    assert garner("run", path, "indices=[[1],[0]]:i32").decode() == '[[["","dddd"]],[["a","bb"]]]\n'
    assert infer(model, [np.array([[1], [0]], np.int32)])[0].str_data.tolist() == [[["", "dddd"]], [["a", "bb"]]]


def test_example(tmp_path):
    """The IR that people see first is one that OpenVINO reads, too."""
    subprocess.run([ROOT / "examples/prepare", tmp_path, GARNER], check=True, stderr=subprocess.DEVNULL)
    model = CORE.read_model(tmp_path / "sentence.xml")
    arrays = {"tokens": np.array([[1, 2, 3], [7, 5, 0]], np.uint8), "last": np.array([[2], [1]]), "wanted": np.array([[0, 3], [1, 1]])}
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    (tmp_path / "out").mkdir()
    given = [f"{name}={tmp_path}/{name}.npy" for name in arrays]
    garner("run", tmp_path / "sentence.xml", *given, "--output-dir", tmp_path / "out")
    for name, want in zip(("pooled", "features"), infer(model, [arrays[port.any_name] for port in model.inputs])):
        assert np.load(tmp_path / "out" / f"{name}.npy").tobytes() == want.data.tobytes()
