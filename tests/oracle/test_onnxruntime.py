# SPDX-License-Identifier: MIT
"""`garner run` against ONNX Runtime, bit by bit: models of each operator version with each type that it has,
and graphs of several. Where ONNX Runtime is known to differ, that it does so is asserted too.
GARNER_BUILD names the build folder (default: build)."""

import ctypes
import os
import pathlib
import subprocess

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

ort = pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed: nothing is compared with it")
ort.set_default_logger_severity(4)

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("GARNER_BUILD", "build"))
GARNER = (BUILD if BUILD.is_absolute() else ROOT / BUILD) / "garner"
SEED = int(os.environ.get("GARNER_TEST_SEED", "20240613"))

# The opsets in which something changed, and the last before each, up to what ONNX Runtime takes.
OPSETS = {"Gather": (1, 10, 11, 12, 13, 21), "GatherElements": (11, 12, 13, 21), "GatherND": (11, 12, 13, 21)}
SIZES = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2", 11: "f8", 12: "u4", 13: "u8",
         16: "u2"}
BF16, STRING = 16, 8


def make_model(operator, opset, dtype, index_type, **attributes):
    node = helper.make_node(operator, ["x", "i"], ["y"], name="n", **attributes)
    infos = [helper.make_tensor_value_info(name, number, None) for name, number in (("x", dtype), ("i", index_type))]
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("y", dtype, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def proto(array, dtype, name):
    if dtype == STRING:
        return helper.make_tensor(name, STRING, array.shape, [str(s).encode() for s in array.flat])
    return TensorProto(name=name, dims=array.shape, data_type=dtype, raw_data=np.ascontiguousarray(array).tobytes())


def garner(folder, model, inputs):
    """Exit code, and the outputs as TensorProtos by name."""
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    command = [GARNER, "run", "m.onnx"]
    for name, tensor in inputs.items():
        (folder / f"{name}.pb").write_bytes(tensor.SerializeToString())
        command.append(f"{name}={name}.pb")
    for output in model.graph.output:
        command += ["-o", f"{output.name}={output.name}.out.pb"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False,
                          env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
    if done.returncode:
        return done.returncode, done.stderr.decode()
    return 0, {o.name: TensorProto.FromString((folder / f"{o.name}.out.pb").read_bytes()) for o in model.graph.output}


def with_values(session, names, inputs):
    """bf16, which NumPy does not have, goes in and out as bits."""
    feeds = {}
    for name, tensor in inputs.items():
        if tensor.data_type == BF16:
            array = np.frombuffer(tensor.raw_data, "u2").reshape(tuple(tensor.dims))
            feeds[name] = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array.copy(), BF16)
        else:
            feeds[name] = ort.OrtValue.ortvalue_from_numpy(numpy_helper.to_array(tensor))
    for value in session.run_with_ort_values(names, feeds):
        shape = tuple(value.shape())
        yield BF16, shape, ctypes.string_at(value.data_ptr(), 2 * int(np.prod(shape, dtype=int)))


def with_arrays(session, names, inputs):
    for array in session.run(names, {name: numpy_helper.to_array(tensor) for name, tensor in inputs.items()}):
        if array.dtype == object:
            yield STRING, array.shape, [str(s) for s in array.flat]
        else:
            yield helper.np_dtype_to_tensor_dtype(array.dtype), array.shape, array.tobytes()


def runtime(model, inputs):
    """The outputs of ONNX Runtime by name, each as (type, shape, bytes or list of strings)."""
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [o.name for o in model.graph.output]
    run = with_values if any(t.data_type == BF16 for t in inputs.values()) else with_arrays
    return dict(zip(names, run(session, names, inputs)))


def same(ours, theirs):
    assert set(ours) == set(theirs)
    for name, tensor in ours.items():
        dtype, shape, content = theirs[name]
        got = [s.decode() for s in tensor.string_data] if dtype == STRING else tensor.raw_data
        assert (tensor.data_type, tuple(tensor.dims), got) == (dtype, shape, content), name


def random_data(rng, shape, dtype):
    if dtype == STRING:
        return np.array([f"s{n}" for n in range(int(np.prod(shape, dtype=int)))], object).reshape(shape)
    if dtype == 9:
        return rng.integers(0, 2, size=shape).astype(bool)
    kind = np.dtype(SIZES[dtype])
    data = np.frombuffer(rng.bytes(int(np.prod(shape, dtype=int)) * kind.itemsize), kind).reshape(shape)
    return data


def random_case(rng, operator, dtype, version):
    """Data, indices and attributes that every version of the operator allows."""
    shape = tuple(int(n) for n in rng.integers(1, 6, size=rng.integers(1, 5)))
    axis = int(rng.integers(-len(shape), len(shape)))
    if operator == "Gather":
        if dtype == STRING:
            axis = -1  # where each block is one string, which is all that ONNX Runtime moves
        indices = rng.integers(-shape[axis], shape[axis], size=tuple(rng.integers(0, 4, size=rng.integers(0, 3))))
        return random_data(rng, shape, dtype), np.asarray(indices), {"axis": axis}
    if operator == "GatherElements":
        smaller = [int(rng.integers(1, n + 1)) for n in shape]
        smaller[axis] = int(rng.integers(1, 8))
        return random_data(rng, shape, dtype), rng.integers(-shape[axis], shape[axis], size=smaller), {"axis": axis}
    batch = int(rng.integers(0, len(shape))) if version >= 12 else 0
    depth = int(rng.integers(1, len(shape) - batch + 1))
    inner = tuple(rng.integers(1, 4, size=rng.integers(0, 3)))
    parts = [rng.integers(-n, n, size=shape[:batch] + inner) for n in shape[batch:batch + depth]]
    return random_data(rng, shape, dtype), np.stack(parts, axis=-1), {"batch_dims": batch} if version >= 12 else {}


CASES = [(operator, opset) for operator, opsets in OPSETS.items() for opset in opsets]


@pytest.mark.parametrize("operator, opset", CASES)
def test_each_version_and_type(operator, opset, tmp_path):
    rng = np.random.default_rng([SEED, opset, len(operator)])
    for dtype in [*SIZES, STRING]:
        if dtype == BF16 and opset < 13:
            continue
        for index_type in (7,) if operator == "GatherND" else (6, 7):
            data, indices, attributes = random_case(rng, operator, dtype, opset)
            model = make_model(operator, opset, dtype, index_type, **attributes)
            inputs = {"x": proto(data, dtype, "x"), "i": proto(indices.astype(SIZES[index_type]), index_type, "i")}
            code, ours = garner(tmp_path, model, inputs)
            assert code == 0, ours
            same(ours, runtime(model, inputs))


def test_graphs(tmp_path):
    """All operators in one graph, with initializers, Constant and Identity, shared tensors and three outputs."""
    rng = np.random.default_rng(SEED)
    for opset in (12, 13, 18, 21):
        nodes = [helper.make_node("Constant", [], ["rows"], value_ints=[2, 0, -1]),
                 helper.make_node("Gather", ["x", "rows"], ["a"], axis=1),
                 helper.make_node("Identity", ["a"], ["b"]),
                 helper.make_node("GatherElements", ["b", "e"], ["c"], axis=2),
                 helper.make_node("GatherND", ["b", "nd"], ["d"], batch_dims=1),
                 helper.make_node("Gather", ["d", "rows0"], ["f"])]
        extents = (2, 4, 3)
        initializers = [numpy_helper.from_array(rng.integers(-3, 3, size=(2, 3, 5)), "e"),
                        numpy_helper.from_array(rng.integers(-3, 3, size=(2, 2, 2)), "nd"),
                        numpy_helper.from_array(np.array([1, 1, 0]), "rows0")]
        infos = [helper.make_tensor_value_info("x", 1, ["n", 4, 3])]
        outputs = [helper.make_tensor_value_info(name, 1, None) for name in ("c", "f", "b")]
        graph = helper.make_graph(nodes, "g", infos, outputs, initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        inputs = {"x": proto(random_data(rng, extents, 1), 1, "x")}
        code, ours = garner(tmp_path, model, inputs)
        assert code == 0, ours
        same(ours, runtime(model, inputs))


def test_refusals(tmp_path):
    """What both refuse: an index outside, an axis that is not there, types that a version does not list."""
    x, i = np.arange(6, dtype="f4").reshape(2, 3), np.array([0, 2])
    cases = [("Gather", 13, 1, 7, {}, x, i, 3), ("Gather", 13, 1, 7, {"axis": 2}, x, i, 3),
             ("Gather", 11, BF16, 7, {}, x.astype("u2"), i * 0, 3), ("GatherND", 13, 1, 6, {}, x, i[:, None] * 0, 3),
             ("GatherElements", 13, 1, 7, {}, x, i, 3), ("GatherElements", 10, 1, 7, {}, x, x.astype("i8") * 0, 4),
             ("GatherND", 11, 1, 7, {"batch_dims": 1}, x, i[:, None] * 0, 3)]
    for operator, opset, dtype, index_type, attributes, data, indices, expected in cases:
        model = make_model(operator, opset, dtype, index_type, **attributes)
        inputs = {"x": proto(data, dtype, "x"), "i": proto(indices.astype(SIZES[index_type]), index_type, "i")}
        code, message = garner(tmp_path, model, inputs)
        assert code == expected, message
        with pytest.raises(Exception, match="ONNXRuntimeError|RuntimeError"):
            runtime(model, inputs)


# ---- Where ONNX Runtime differs from the specification, and garner does not ----------------------------------


def test_theirs_strings_in_blocks(tmp_path):
    """Its Gather moves the first string of each block alone."""
    data, indices = np.array([["a", "b", "c"], ["d", "e", "f"]], object), np.array([1, 0])
    model = make_model("Gather", 13, STRING, 7)
    inputs = {"x": proto(data, STRING, "x"), "i": proto(indices, 7, "i")}
    code, ours = garner(tmp_path, model, inputs)
    assert code == 0 and list(ours["y"].string_data) == [b"d", b"e", b"f", b"a", b"b", b"c"]
    assert runtime(model, inputs)["y"][2] == ["d", "", "", "a", "", ""]


def test_theirs_batch_extents(tmp_path):
    """Its GatherND takes 4 batches of indices for 2 of data."""
    model = make_model("GatherND", 13, 1, 7, batch_dims=1)
    inputs = {"x": proto(np.arange(8, dtype="f4").reshape(2, 4), 1, "x"), "i": proto(np.array([[0], [1], [1], [0]]), 7, "i")}
    code, message = garner(tmp_path, model, inputs)
    assert code == 3 and "'n'" in message
    assert runtime(model, inputs)["y"][1] == (4,)


def test_theirs_empty_tuples(tmp_path):
    """Its GatherND takes tuples of no index."""
    model = make_model("GatherND", 13, 1, 7)
    inputs = {"x": proto(np.arange(4, dtype="f4").reshape(2, 2), 1, "x"), "i": proto(np.zeros((3, 0), "i8"), 7, "i")}
    code, message = garner(tmp_path, model, inputs)
    assert code == 3 and "'n'" in message
    assert runtime(model, inputs)["y"][1] == (3, 2, 2)


@pytest.mark.parametrize("dtype, kind", [(14, "c8"), (15, "c16")])
def test_theirs_no_complex_types(tmp_path, dtype, kind):
    data, indices = np.arange(6).reshape(3, 2).astype(kind) * 1j, np.array([2, 0])
    for operator, index in (("Gather", indices), ("GatherND", indices[:, None]), ("GatherElements", np.array([[2, 0]]))):
        model = make_model(operator, 13, dtype, 7)
        inputs = {"x": proto(data, dtype, "x"), "i": proto(index, 7, "i")}
        code, ours = garner(tmp_path, model, inputs)
        want = np.take_along_axis(data, index, 0) if operator == "GatherElements" else data[indices]
        assert code == 0 and ours["y"].raw_data == want.tobytes()
        with pytest.raises(Exception, match="ONNXRuntimeError|RuntimeError"):
            runtime(model, inputs)
